package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
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
	mediaCSV = "text/csv"
	// csvPage is the number of rows that are read at once. After each page, an export pauses for as long as the page
	// took, for other requests.
	csvPage = 100
	// Variables of the operation that reads a page.
	csvFirst = "csv_first"
	csvAfter = "csv_after"
)

// export is an operation whose only list is sent as CSV.
type export struct {
	server    *Server
	operation graphql.OperationContext
	path      []string // of the connection in the data
	rows      string   // nodes or edges
	columns   [][]string
	left      int // rows until the limit
	more      bool
}

// serveCSV reads all pages of the only list of an operation and writes its rows as CSV (RFC 4180), one column for each
// selected scalar.
func (s *Server) serveCSV(w http.ResponseWriter, r *http.Request) {
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
		writeErrors(w, http.StatusTooManyRequests, gqlerror.List{coded(fault.RateLimited, refused.Error())})
		return
	}
	defer end()
	x, errs := s.newExport(r.Context(), params, store)
	if errs != nil {
		writeErrors(w, http.StatusBadRequest, errs)
		return
	}
	s.docs.plans.Add(x.operation.Doc)
	defer s.docs.plans.Remove(x.operation.Doc)
	out := s.streamWriter(w)
	var page bytes.Buffer
	lines := &csvWriter{page: &page}
	for first := true; first || x.more; first = false {
		start := time.Now() //nolint:forbidigo // measures a duration, and the injected clock may be fixed
		failed := x.page(r.Context(), lines)
		switch {
		case failed != nil && first:
			writeErrors(w, http.StatusBadRequest, gqlerror.List{failed})
			return
		case first:
			out.setHeaders(mediaCSV + "; charset=utf-8; header=present")
			h.Set("Content-Disposition", `attachment; filename="`+
				cmp.Or(x.operation.Operation.Name, x.path[len(x.path)-1])+`.csv"`)
		case failed != nil:
			x.end(lines, "incomplete: "+failed.Message)
		}
		if x.more && x.left == 0 {
			x.end(lines, fmt.Sprintf("cut after %d rows", s.o.CSVRows))
		}
		header := ""
		if first {
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

// end writes the last line of an export that is not complete.
func (x *export) end(lines *csvWriter, reason string) {
	x.more = false
	line := "# " + reason
	if after, ok := x.operation.Variables[csvAfter].(string); ok {
		line += fmt.Sprintf("; continue with after: %q", after)
	}
	lines.write([]string{line})
}

// names yields the names of the columns: the response names on the path to the scalar, separated by dots.
func (x *export) names(yield func(string) bool) {
	for _, path := range x.columns {
		if !yield(strings.Join(path, ".")) {
			return
		}
	}
}

// newExport prepares the export of an operation. It calls store if the document is valid.
func (s *Server) newExport(ctx context.Context, params *graphql.RawParams, store func()) (*export, gqlerror.List) {
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
	incremental.Extract(doc) // nothing is deferred in CSV
	def := doc.Operations.ForName(params.OperationName)
	switch {
	case def == nil:
		return nil, gqlerror.List{coded(fault.BadUserInput, missingOperation(doc, params.OperationName))}
	case def.Operation != ast.Query:
		return nil, gqlerror.List{coded(fault.BadUserInput, "only a query can be exported as CSV")}
	}
	variables, errs := coerce(s.Schema(), def, params.Variables)
	if errs != nil {
		return nil, errs
	}
	x := &export{server: s, left: s.o.CSVRows, operation: graphql.OperationContext{
		RawQuery: params.Query, OperationName: def.Name, Doc: doc, Operation: def, Variables: variables,
		Headers:     params.Headers,
		RecoverFunc: recovered, ResolverMiddleware: s.middleware, RootResolverMiddleware: noMiddleware,
	}}
	if err := x.find(def.SelectionSet); err != nil {
		return nil, gqlerror.List{coded(fault.BadUserInput, err.Error())}
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

var errNoList = errors.New("CSV requires an operation that selects one list: a connection at the root, or below " +
	"objects without other fields than id")

// find finds the connection below a selection and its columns. It makes the operation page through the connection.
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
			return errors.New("CSV requires either nodes or edges of the list")
		}
		x.rows = part.Alias
		if err := x.add(nil, part.Selections); err != nil {
			return err
		}
	}
	if x.columns == nil {
		return errors.New("CSV requires scalar fields of the nodes of the list")
	}
	return x.paginate(f.Field)
}

// paginate makes a connection field read the page that the variables select.
func (x *export) paginate(f *ast.Field) error {
	args := f.ArgumentMap(x.operation.Variables)
	if args["last"] != nil || args["before"] != nil {
		return errors.New("CSV is exported forward: last and before are not supported")
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

func (x *export) add(path []string, set ast.SelectionSet) error {
	for _, f := range x.collect(set) {
		at := append(slices.Clone(path), f.Alias)
		def := x.server.Schema().Types[f.Definition.Type.Name()]
		switch {
		case f.Definition.Type.Elem != nil || strings.HasSuffix(def.Name, "Connection"):
			return fmt.Errorf("%s is a list: CSV has scalar columns only", strings.Join(at, "."))
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

// page reads the next page and writes its rows.
func (x *export) page(ctx context.Context, lines *csvWriter) *gqlerror.Error {
	s := x.server
	if limited := charge(ctx, x.cost()/costPerPoint); limited != nil {
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
	of := &operation{entry: &entry{doc: x.operation.Doc, lists: true}, oc: &x.operation, scans: 1}
	next, ctx := s.start(values.Context(s.context(values.Context(ctx, turn.Value()), of), csvPages.Value()),
		&x.operation)
	resp := next(ctx)
	if resp == nil {
		return timedOut()
	}
	defer s.Done(resp.Data)
	s.bound(resp)
	if len(resp.Errors) > 0 {
		return resp.Errors[0]
	}
	var data map[string]any
	decoder := json.NewDecoder(bytes.NewReader(resp.Data))
	decoder.UseNumber()
	if err := decoder.Decode(&data); err != nil {
		return coded(fault.Internal, "internal error")
	}
	list, _ := member(data, x.path).(map[string]any)
	rows, _ := list[x.rows].([]any)
	line := make([]string, len(x.columns))
	for _, row := range rows {
		for i, path := range x.columns {
			line[i] = cell(member(row, path), i == 0)
		}
		lines.write(line)
	}
	x.left -= len(rows)
	x.more, _ = member(list, []string{csvAfter, "hasNextPage"}).(bool)
	x.operation.Variables[csvAfter] = member(list, []string{csvAfter, "endCursor"})
	return nil
}

// member returns the value at a path, or nil if there is none.
func member(of any, path []string) any {
	for _, name := range path {
		object, _ := of.(map[string]any)
		of = object[name]
	}
	return of
}

// number matches text that spreadsheets read as a number, and amounts of hbars, whatever their first character.
var number = regexp.MustCompile(`^-?\d+(\.\d+)?( ℏ)?$`)

// cell returns the text of a value. Text that spreadsheets would execute as a formula gets an apostrophe, and so
// does text in the first column that could be taken for the last line of an incomplete export.
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

// csvWriter writes lines of CSV that end with CR LF. Line breaks in values stay as they are, which
// [csv.Writer.UseCRLF] would change.
type csvWriter struct {
	page *bytes.Buffer
}

// write writes a line.
func (w *csvWriter) write(values []string) {
	if len(values) == 1 && values[0] == "" {
		w.page.WriteString(`""`) // readers skip empty lines
	}
	line := csv.NewWriter(w.page)
	_ = line.Write(values) // to memory
	line.Flush()
	w.page.Truncate(w.page.Len() - 1)
	w.page.WriteString("\r\n")
}
