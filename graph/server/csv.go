package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/fault"
	"heliograph/graph/incremental"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
)

const (
	mediaCSV    = "text/csv"
	mediaNDJSON = "application/x-ndjson"
	// csvPage is the number of rows that are read at once. After each page, an export pauses for as long as the page
	// took, for other requests.
	csvPage = 100
	// Variables of the operation that reads a page.
	csvFirst = "csv_first"
	csvAfter = "csv_after"
)

// exportFormat is how the rows of an export are written.
type exportFormat struct {
	name, media, file string
	// lists reports whether rows can have lists.
	lists bool
	// row reads a row and writes it. end writes the last line of an export that is not complete; after is the cursor of
	// the last row.
	row func(x *export, page *bytes.Buffer, rows *decoder) error
	end func(page *bytes.Buffer, reason string, after any)
}

var exportFormats = map[string]*exportFormat{
	mediaCSV: {
		name: "CSV", media: mediaCSV + "; charset=utf-8; header=present", file: ".csv", row: csvRow, end: endCSV,
	},
	mediaNDJSON: {
		name: "NDJSON", media: mediaNDJSON + "; charset=utf-8", file: ".ndjson", lists: true, row: jsonLine,
		end: endNDJSON,
	},
}

// export is an operation whose only list is sent row by row.
type export struct {
	server    *Server
	format    *exportFormat
	operation graphql.OperationContext
	path      []string   // of the connection in the data
	rows      string     // nodes or edges
	columns   [][]string // if rows cannot have lists
	left      int        // rows until the limit
	more      bool
}

// serveExport reads all pages of the only list of an operation and writes its rows: as CSV (RFC 4180), one column for
// each selected scalar, or as lines with one JSON object each. It counts as a stream of the client while it runs,
// keeps the plans of its document for the next pages, and pauses after each page for as long as the page took, so that
// other requests run. An invalid request is refused with its status or 400, and one stream too many with 429. A
// failure of the first page is an error response, with the status of [refusedStatus] or 400. Of a later one it is the
// last line, because the status has been sent by then.
func (s *Server) serveExport(w http.ResponseWriter, r *http.Request, format *exportFormat) {
	h := w.Header()
	h.Add("Vary", "Accept")
	h.Set("Content-Type", mediaGraphQL+"; charset=utf-8")
	raw, bad := s.receive(w, r)
	var params *graphql.RawParams
	store := func() {}
	if bad == nil {
		params, store, bad = s.params(r, raw)
	}
	if bad != nil {
		writeErrors(w, max(bad.status, http.StatusBadRequest), gqlerror.List{bad.err})
		return
	}
	end, refused := admission.Of(r.Context()).Stream(s.o.Streams.Most, s.o.Streams.PerClient)
	if refused != nil {
		writeErrors(w, http.StatusTooManyRequests, oneError(fault.RateLimited, refused.Error()))
		return
	}
	defer end()
	x, errs := s.newExport(r.Context(), format, params, store)
	if errs != nil {
		writeErrors(w, http.StatusBadRequest, errs)
		return
	}
	s.docs.plans.Add(x.operation.Doc)
	defer s.docs.plans.Remove(x.operation.Doc)
	out := s.streamWriter(w)
	var page bytes.Buffer
	for first := true; first || x.more; first = false {
		start := time.Now() //nolint:forbidigo // measures a duration, and the injected clock may be fixed
		failed := x.page(r.Context(), &page)
		switch {
		case failed != nil && first:
			errs := gqlerror.List{failed}
			writeErrors(w, refusedStatus(h, errs, http.StatusBadRequest), errs)
			return
		case first:
			out.setHeaders(format.media)
			h.Set("Content-Disposition", `attachment; filename="`+
				cmp.Or(x.operation.Operation.Name, x.path[len(x.path)-1])+format.file+`"`)
		case failed != nil:
			x.end(&page, "incomplete: "+failed.Message)
		}
		if x.more && x.left == 0 {
			x.end(&page, fmt.Sprintf("cut after %d rows", s.o.CSVRows))
		}
		header := ""
		if first && x.columns != nil {
			header = strings.Join(slices.Collect(x.names), ",") + "\r\n"
		}
		if out.write(header, [][]byte{page.Bytes()}, "") != nil {
			return // the client has disconnected
		}
		page.Reset()
		if x.more {
			time.Sleep(time.Since(start)) //nolint:forbidigo // as above
		}
	}
}

// end appends the last line of an export that is not complete, with the reason and the cursor, to page. It marks
// the export as ended.
func (x *export) end(page *bytes.Buffer, reason string) {
	x.more = false
	x.format.end(page, reason, x.operation.Variables[csvAfter])
}

// endCSV appends to page why an export ends early, as a comment line, with the cursor to continue with if there is
// one.
func endCSV(page *bytes.Buffer, reason string, after any) {
	line := "# " + reason
	if after, ok := after.(string); ok {
		line += fmt.Sprintf("; continue with after: %q", after)
	}
	csvLine(page, []string{line})
}

// endNDJSON appends to page why an export ends early, as a line with an object with errors, with the cursor to
// continue with if there is one.
func endNDJSON(page *bytes.Buffer, reason string, after any) {
	e := &gqlerror.Error{Message: reason, Extensions: map[string]any{"after": after}}
	_ = json.NewEncoder(page).Encode(map[string]any{"errors": gqlerror.List{e}}) // to memory
}

// names yields the names of the columns: the response names on the path to the scalar, separated by dots.
func (x *export) names(yield func(string) bool) {
	for _, path := range x.columns {
		if !yield(strings.Join(path, ".")) {
			return
		}
	}
}

// newExport parses, checks and prices the operation of an export, and makes it read pages. It works on a copy of the
// document, and executes nothing. It caches the document, calls store if that is valid, and reports the operation to
// the observer. It charges nothing: each page is charged when it is read.
func (s *Server) newExport(
	ctx context.Context, format *exportFormat, params *graphql.RawParams, store func(),
) (*export, gqlerror.List) {
	if _, errs := s.document(params.Query); errs != nil {
		return nil, errs
	}
	store()
	doc, err := parser.ParseQuery(&ast.Source{Input: params.Query}) // a copy, which is changed
	if err != nil {
		return nil, gqlerror.List{s.syntaxError(err)}
	}
	// adds the definitions; without rules there are no errors
	_ = validator.ValidateWithRules(s.Schema(), doc, &rules.Rules{})
	incremental.Extract(doc) // nothing is deferred
	def := doc.Operations.ForName(params.OperationName)
	switch {
	case def == nil:
		return nil, oneError(fault.BadUserInput, missingOperation(doc, params.OperationName))
	case def.Operation != ast.Query:
		return nil, oneError(fault.BadUserInput, "only a query can be exported as "+format.name)
	}
	variables, errs := coerce(s.Schema(), def, params.Variables)
	if errs != nil {
		return nil, errs
	}
	x := &export{server: s, format: format, left: s.o.CSVRows, operation: graphql.OperationContext{
		RawQuery: params.Query, OperationName: def.Name, Doc: doc, Operation: def, Variables: variables,
		Headers:     params.Headers,
		RecoverFunc: recovered, ResolverMiddleware: s.middleware, RootResolverMiddleware: noMiddleware,
	}}
	if err := x.find(def.SelectionSet); err != nil {
		return nil, oneError(fault.BadUserInput, format.name+err.Error())
	}
	_ = validator.ValidateWithRules(s.Schema(), doc, &rules.Rules{}) // as above
	if s.o.Observer != nil {
		s.o.Observer.Received(ctx, string(ast.Query), def.Name)
	}
	if cost := x.cost(); cost > s.o.Bounds.Cost {
		return nil, gqlerror.List{tooExpensive("operation", cost, s.o.Bounds.Cost)}
	}
	return x, nil
}

// csvPages are the page sizes of exports.
var csvPages = relay.Limits{Default: csvPage, Max: csvPage}

// cost returns the cost of the next page, in the unit of operations. It sets the variable of x with the size of
// the page.
func (x *export) cost() int {
	x.operation.Variables[csvFirst] = int64(min(csvPage, x.left))
	return limits.Price(x.operation.Operation, csvPages).Of(x.operation.Variables)
}

// collect returns the fields of a selection, whatever types of an interface or union they belong to. It leaves the
// cache of the operation empty, because the selection is changed afterwards.
func (x *export) collect(set ast.SelectionSet) []graphql.CollectedField {
	return graphql.CollectFields(&graphql.OperationContext{Doc: x.operation.Doc, Variables: x.operation.Variables},
		set, nil)
}

// The errors of exports follow the name of the format.
var errNoList = errors.New(" requires an operation that selects one list: a connection at the root, or below " +
	"objects without other fields than id")

// find searches the only connection below a selection and sets the path and the rows of x, and its columns if the
// format cannot have lists. It changes the operation so that it pages through the connection. An error is the end of
// a sentence that begins with the format.
func (x *export) find(set ast.SelectionSet) error {
	fields := slices.DeleteFunc(x.collect(set), func(f graphql.CollectedField) bool {
		return f.Name == "id" || f.Name == "__typename"
	})
	if len(fields) > 1 {
		return fmt.Errorf("%w; remove %s or %s", errNoList, fields[0].Alias, fields[1].Alias)
	}
	if len(fields) == 0 || fields[0].Definition.Type.Elem != nil {
		return errNoList
	}
	f := fields[0]
	x.path = append(x.path, f.Alias)
	def := x.server.Schema().Types[f.Definition.Type.Name()]
	if def.IsLeafType() {
		return errNoList
	}
	if !strings.HasSuffix(def.Name, "Connection") {
		return x.find(f.Selections)
	}
	for _, part := range x.collect(f.Selections) {
		if part.Definition.Type.Elem == nil {
			continue // pageInfo, totalCount
		}
		if x.rows != "" {
			return errors.New(" requires either nodes or edges of the list")
		}
		x.rows = part.Alias
		if x.format.lists {
			continue
		}
		if err := x.add(nil, part.Selections); err != nil {
			return err
		}
	}
	if x.columns == nil && (x.rows == "" || !x.format.lists) {
		return errors.New(" requires scalar fields of the nodes of the list")
	}
	return x.paginate(f.Field)
}

// paginate changes a connection field of the operation so that it reads the page that the variables of x select, and
// pageInfo. It sets the variable of the cursor to the argument after. It fails for backward pages.
func (x *export) paginate(f *ast.Field) error {
	args := f.ArgumentMap(x.operation.Variables)
	if args["last"] != nil || args["before"] != nil {
		return errors.New(" is exported forward: last and before are not supported")
	}
	x.operation.Variables[csvAfter] = args["after"]
	f.Arguments = slices.DeleteFunc(f.Arguments, func(a *ast.Argument) bool {
		return slices.Contains([]string{"first", "last", "after", "before"}, a.Name)
	})
	def := x.operation.Operation
	for name, variable := range map[string]struct{ name, typ string }{
		"first": {csvFirst, "Int"},
		"after": {csvAfter, "String"},
	} {
		f.Arguments = append(f.Arguments,
			&ast.Argument{Name: name, Value: &ast.Value{Raw: variable.name, Kind: ast.Variable}})
		def.VariableDefinitions = append(def.VariableDefinitions,
			&ast.VariableDefinition{Variable: variable.name, Type: ast.NamedType(variable.typ, nil)})
	}
	field := func(name string) ast.Selection { return &ast.Field{Alias: name, Name: name} }
	info := &ast.Field{
		Alias: csvAfter, Name: "pageInfo",
		SelectionSet: ast.SelectionSet{field("hasNextPage"), field("endCursor")},
	}
	f.SelectionSet = append(f.SelectionSet, info)
	return nil
}

// add adds the columns of a selection to x: the path of each scalar, which begins with path. It fails for lists. An
// error is the end of a sentence that begins with the format.
func (x *export) add(path []string, set ast.SelectionSet) error {
	for _, f := range x.collect(set) {
		at := append(slices.Clone(path), f.Alias)
		def := x.server.Schema().Types[f.Definition.Type.Name()]
		switch {
		case f.Definition.Type.Elem != nil || strings.HasSuffix(def.Name, "Connection"):
			return fmt.Errorf(" has scalar columns only: %s is a list", strings.Join(at, "."))
		case def.IsLeafType():
			x.columns = append(x.columns, at)
		default:
			if err := x.add(at, f.Selections); err != nil {
				return err
			}
		}
	}
	return nil
}

// page charges and executes the next page in a turn of its own and within the timeout of queries, and appends its
// rows to page. It sets x.more and the cursor of the following page. An error of any field fails the whole page.
func (x *export) page(ctx context.Context, page *bytes.Buffer) *gqlerror.Error {
	s := x.server
	if limited := charge(ctx, x.cost()/CostPerPoint); limited != nil {
		return limited
	}
	turn := admission.Of(ctx).Another()
	defer turn.End()
	if err := enter(ctx, turn, 0); err != nil {
		return err
	}
	if s.o.Streams.QueryTimeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, s.o.Streams.QueryTimeout)
		defer stop()
	}
	of := &operation{entry: &entry{doc: x.operation.Doc}, oc: &x.operation, scans: 1}
	resp := s.run(values.Context(s.context(values.Context(ctx, turn.Value()), of), csvPages.Value()), &x.operation)
	if resp == nil {
		return timedOut()
	}
	defer s.Done(resp.Data)
	s.bound(resp)
	if len(resp.Errors) > 0 {
		return resp.Errors[0]
	}
	x.more, x.operation.Variables[csvAfter] = false, nil
	read := func(d *decoder) error { return x.write(page, d, x.path) }
	if err := decode(orNull(resp.Data), math.MaxInt, read); err != nil {
		return coded(fault.Internal, "internal error")
	}
	return nil
}

// write appends the rows of the connection at a path below an object, which d reads, to page. It sets the variables
// of x for the next page, and counts the rows down in x.left.
func (x *export) write(page *bytes.Buffer, d *decoder, path []string) error {
	return d.members(func(name string) error {
		switch {
		case len(path) > 0 && name == path[0]:
			return x.write(page, d, path[1:])
		case len(path) == 0 && name == csvAfter:
			info, err := d.object()
			x.more, _ = info["hasNextPage"].(bool)
			x.operation.Variables[csvAfter] = info["endCursor"]
			return err
		case len(path) == 0 && name == x.rows && d.PeekKind() == '[':
			_, err := d.ReadToken()
			return errors.Join(err, d.elements(func() error {
				x.left--
				return x.format.row(x, page, d)
			}))
		default:
			return d.SkipValue()
		}
	})
}

// csvRow reads the next row of rows and appends it to page as a line of CSV with the columns of x. A column below an
// object that is null is empty.
func csvRow(x *export, page *bytes.Buffer, rows *decoder) error {
	row, err := rows.value()
	if err != nil {
		return err
	}
	line := make([]string, len(x.columns))
	for i, path := range x.columns {
		line[i] = cell(member(row, path), i == 0)
	}
	csvLine(page, line)
	return nil
}

// jsonLine reads the next row of rows and appends it to page as a line of JSON, which has no line breaks. With an
// error, the line is not complete.
func jsonLine(_ *export, page *bytes.Buffer, rows *decoder) error {
	row, err := rows.ReadValue()
	page.Write(row)
	page.WriteByte('\n')
	return err //nolint:wrapcheck // becomes an internal error
}

// member returns the value at a path of member names in decoded JSON, or nil if there is none.
func member(of any, path []string) any {
	for _, name := range path {
		object, _ := of.(map[string]any)
		of = object[name]
	}
	return of
}

// number matches text that spreadsheets read as a number, and amounts of hbars, whatever their first character.
var number = regexp.MustCompile(`^-?\d+(\.\d+)?( ℏ)?$`)

// cell returns the text of a value in a CSV export. Text that spreadsheets would execute as a formula gets an
// apostrophe, and so does text in the first column that could be taken for the last line of an incomplete export.
// Null is empty.
func cell(v any, first bool) string {
	if v == nil {
		return ""
	}
	text := fmt.Sprint(v)
	start, _ := utf8.DecodeRuneInString(text)
	switch {
	case text == "" || number.MatchString(text):
		return text
	case strings.ContainsRune(formulas, start) || unicode.In(start, unicode.Cc, unicode.Cf) || first && start == '#':
		return "'" + text
	default:
		return text
	}
}

// formulas are the characters with which spreadsheets start a formula, also in full width.
const formulas = "=+-@＝＋－＠"

// csvLine appends a line of CSV that ends with CR LF to page. Line breaks in values stay as they are, which
// [csv.Writer.UseCRLF] would change.
func csvLine(page *bytes.Buffer, values []string) {
	if len(values) == 1 && values[0] == "" {
		page.WriteString(`""`) // readers skip empty lines
	}
	line := csv.NewWriter(page)
	_ = line.Write(values) // to memory
	line.Flush()
	page.Truncate(page.Len() - 1)
	page.WriteString("\r\n")
}
