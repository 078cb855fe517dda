package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
	"heliograph/internal/base/breadth"
)

// meanings is how many of the generated comparisons TestMeaning makes: one in so many, from firstMeaning on.
var (
	meanings     = flag.Int("meanings", breadth.Of(80, 20), "make one in so many comparisons of TestMeaning")
	firstMeaning = flag.Int("meaning", 0, "first comparison of TestMeaning, to make all in several runs")
)

// comparison is a request whose data must be a part of that of another request. With variables, the data must be equal.
type comparison struct {
	alone, beside string
	variables     map[string]any // of the other request
	by            way
}

// way is how requests are sent.
type way int

const (
	plain    way = iota
	deferred     // the first request has a deferred fragment
	asEvent      // the data is that of the first event
	asCSV        // the data is that of the first lines, by column
	byValue      // the requests differ in how an argument is given
	invalid      // the argument is out of range, and no value is compared
)

// meaning generates requests from the schema.
type meaning struct {
	schema  *ast.Schema
	samples map[string]string // of required arguments, by name, or by field and name
	out     []comparison
}

// leftOut are fields that read much more than a row, or need a token.
var leftOut = []string{
	"statusDrafts", "statusWebhooks", "call", "trace", "opcodes", "stats", "estimateGas",
	"callContract", "contractTrace", "estimateFee",
}

// arguments returns the required arguments of a field in parentheses. It reports false if there is no value for one.
func (m *meaning) arguments(f *ast.FieldDefinition, extra ...string) (string, bool) {
	list := extra
	for _, a := range f.Arguments {
		value, ok := m.samples[f.Name+"."+a.Name]
		required := a.Type.NonNull && a.DefaultValue == nil
		if !ok && required {
			if value, ok = m.samples[a.Name]; !ok {
				return "", false
			}
		}
		if ok {
			list = append(list, a.Name+": "+value)
		}
	}
	if len(list) == 0 {
		return "", true
	}
	return "(" + strings.Join(list, " ") + ")", true
}

// isList reports whether a field is a connection.
func isList(f *ast.FieldDefinition) bool { return strings.HasSuffix(f.Type.Name(), "Connection") }

// field returns the selection of a field with inner below it, or with "" that of a scalar. It reports false if the
// field cannot be selected.
func (m *meaning) field(f *ast.FieldDefinition, inner string) (string, bool) {
	var extra []string
	if f.Arguments.ForName("first") != nil && m.samples[f.Name+".first"] == "" {
		extra = []string{"first: 2"}
	}
	arguments, ok := m.arguments(f, extra...)
	if !ok || strings.HasPrefix(f.Name, "_") || slices.Contains(leftOut, f.Name) {
		return "", false
	}
	if inner != "" {
		inner = " { " + inner + " }"
	}
	return f.Name + arguments + inner, true
}

// leaves returns the scalar fields of a type.
func (m *meaning) leaves(def *ast.Definition) []string {
	var out []string
	for _, f := range def.Fields {
		if text, ok := m.field(f, ""); ok && m.schema.Types[f.Type.Name()].IsLeafType() {
			out = append(out, text)
		}
	}
	return out
}

// below returns the object whose fields are selected below a field, and the selection around them.
func (m *meaning) below(f *ast.FieldDefinition) (def *ast.Definition, before, after string) {
	def = m.schema.Types[f.Type.Name()]
	if nodes := def.Fields.ForName("nodes"); isList(f) && nodes != nil {
		def, before, after = m.schema.Types[nodes.Type.Name()], "nodes { ", " }"
	}
	if def.IsAbstractType() {
		before += "__typename "
	}
	return def, before, after
}

// each calls select with each selection of fields of an object: its scalars, and below its objects each scalar.
func (m *meaning) each(def *ast.Definition, selection func(alone, beside string)) {
	all := strings.Join(m.leaves(def), " ")
	for _, f := range def.Fields {
		if m.schema.Types[f.Type.Name()].IsLeafType() {
			if one, ok := m.field(f, ""); ok {
				selection(one, all)
			}
			continue
		}
		inner, before, after := m.below(f)
		scalars := m.leaves(inner)
		if len(scalars) == 0 {
			scalars = []string{"__typename"}
		}
		beside, ok := m.field(f, before+strings.Join(scalars, " ")+after)
		if !ok {
			continue
		}
		for _, one := range append(slices.Clone(scalars), "__typename") {
			if alone, ok := m.field(f, before+one+after); ok {
				selection(alone, all+" "+beside)
			}
		}
		for _, deeper := range inner.Fields { // such as holdings { balanceValue { usd } }
			object, b, a := m.below(deeper)
			if object.IsLeafType() || isList(deeper) {
				continue
			}
			for _, one := range m.leaves(object) {
				if text, ok := m.field(deeper, b+one+a); ok {
					if alone, ok := m.field(f, before+text+after); ok {
						selection(alone, all+" "+beside+" "+alone)
					}
				}
			}
		}
	}
}

// at adds the requests of the fields at a place.
func (m *meaning) at(before, after string, def *ast.Definition) {
	if def.IsAbstractType() || def.IsLeafType() {
		return
	}
	m.each(def, func(alone, beside string) {
		by := plain
		if strings.HasPrefix(before, "subscription") {
			by = asEvent
		}
		m.out = append(m.out,
			comparison{alone: before + alone + after, beside: before + beside + " " + alone + after, by: by})
		if strings.HasPrefix(before, "{ node(") {
			fragment := "... @defer { " + alone + " }"
			if len(m.out)%2 == 0 { // a fragment that has nothing but another one
				fragment = "... @defer { " + fragment + " }"
			}
			m.out = append(m.out, comparison{
				alone:  before + "__typename " + fragment + after,
				beside: before + "__typename " + alone + after, by: deferred,
			})
		}
		if strings.HasSuffix(before, "nodes { ") && !strings.Contains(alone, "{") && !strings.Contains(beside, "{") {
			m.out = append(m.out, comparison{alone: before + alone + after, beside: before + beside + after, by: asCSV})
		}
	})
}

// values adds the requests of the arguments of an object's fields, each by literal, by variable and by default.
func (m *meaning) values(before, after string, def *ast.Definition) {
	for _, f := range def.Fields {
		if strings.HasPrefix(f.Name, "_") || slices.Contains(leftOut, f.Name) {
			continue
		}
		inner, open, end := m.below(f)
		selection := ""
		if !inner.IsLeafType() {
			selection = " { " + open + append(m.leaves(inner), "__typename")[0] + end + " }"
		}
		for _, a := range f.Arguments {
			for _, literal := range m.literals(a.Type, 2) {
				without := *f
				without.Arguments = slices.DeleteFunc(slices.Clone(f.Arguments),
					func(other *ast.ArgumentDefinition) bool { return other == a })
				with := func(header, value string) (string, bool) {
					arguments, ok := m.arguments(&without, a.Name+": "+value)
					return header + before + f.Name + arguments + selection + after, ok
				}
				alone, ok := with("", literal)
				variable, _ := with("query($v: "+a.Type.String()+") ", "$v")
				byDefault, _ := with("query($v: "+a.Type.String()+" = "+literal+") ", "$v")
				by := byValue
				if literal == outOfRange {
					by = invalid
				}
				if ok {
					m.out = append(m.out,
						comparison{alone, variable, map[string]any{"v": m.value(literal)}, by},
						comparison{alone, byDefault, nil, by})
				}
			}
		}
	}
}

// literals returns values of an input type.
func (m *meaning) literals(t *ast.Type, depth int) []string {
	var out []string
	if !t.NonNull {
		out = append(out, "null")
	}
	def := m.schema.Types[t.Name()]
	switch {
	case t.Elem != nil:
		for _, one := range m.literals(t.Elem, depth) {
			if one != outOfRange {
				out = append(out, "["+one+"]")
			}
		}
	case def.Kind == ast.Enum:
		out = append(out, def.EnumValues[len(def.EnumValues)-1].Name)
	case def.Kind == ast.InputObject && depth > 0:
		for _, f := range def.Fields {
			for _, one := range m.literals(f.Type, depth-1) {
				out = append(out, "{"+f.Name+": "+one+"}")
			}
		}
	case def.Kind == ast.Scalar:
		if one, ok := scalarLiterals[def.Name]; ok {
			out = append(out, one)
		}
		if depth == 2 {
			out = append(out, outOfRange)
		}
	}
	return out
}

// outOfRange is a number that no type of the schema has.
const outOfRange = "9223372036854775808"

// scalarLiterals are values of scalars.
var scalarLiterals = map[string]string{
	"AccountRef": `"0.0.1001"`, "Boolean": "true", "ContractRef": `"0.0.3001"`, "EntityID": `"1001"`, "Float": "1.5",
	"Hex": `"0x01"`, "ID": `"x"`, "Int": "2", "Integer": "2", "Long": "2", "String": `"a"`, "Timestamp": `"1.5"`,
	"EVMAddress": `"0x0000000000000000000000000000000000000bb9"`, "DateTime": `"2026-07-01T00:00:00Z"`,
	"Date": `"2026-07-01"`, "Bytes": `"AQ=="`, "TransactionType": "CRYPTOTRANSFER", "ResponseCode": "SUCCESS",
}

// value returns the JSON value of a literal.
func (m *meaning) value(literal string) any {
	doc, err := parser.ParseQuery(&ast.Source{Input: "{ f(a: " + literal + ") }"})
	if err != nil {
		return err
	}
	v, valueErr := doc.Operations[0].SelectionSet[0].(*ast.Field).Arguments[0].Value.Value(nil)
	if valueErr != nil {
		return json.Number(literal) // out of range
	}
	return v
}

// requests returns all requests.
func (m *meaning) requests(ids map[string]string) []comparison {
	for _, f := range m.schema.Query.Fields {
		def := m.schema.Types[f.Type.Name()]
		field, ok := m.field(f, "SELECTION")
		if !ok || def.IsLeafType() {
			continue
		}
		before, after, _ := strings.Cut("{ "+field+" }", "SELECTION")
		if nodes := def.Fields.ForName("nodes"); isList(f) && nodes != nil {
			node := m.schema.Types[nodes.Type.Name()]
			m.at(before+"nodes { ", " }"+after, node)
			m.at(before+"edges { node { ", " } }"+after, node)
			continue
		}
		m.at(before, after, def)
	}
	m.values("{ ", " }", m.schema.Query)
	for _, f := range m.schema.Subscription.Fields {
		from := `from: "1"`
		if f.Arguments.ForName("from").Type.Name() != "Timestamp" {
			from = "from: 0"
		}
		if arguments, ok := m.arguments(f, from); ok {
			m.at("subscription { "+f.Name+arguments+" { ", " } }", m.schema.Types[f.Type.Name()])
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(ids)) {
		id := ids[typ]
		m.values(`{ node(id: "`+id+`") { ... on `+typ+` { `, ` } } }`, m.schema.Types[typ])
		m.at(`{ node(id: "`+id+`") { ... on `+typ+` { `, ` } } }`, m.schema.Types[typ])
		m.at(`{ nodes(ids: ["`+id+`"]) { ... on `+typ+` { `, ` } } }`, m.schema.Types[typ])
		m.at(`{ _entities(representations: [{__typename: "`+typ+`", id: "`+id+`"}]) { ... on `+typ+` { `, ` } } }`,
			m.schema.Types[typ])
	}
	return m.out
}

// sampleValues are values of required arguments in the demo network.
func sampleValues(t *testing.T, g *testenv.Gateway) map[string]string {
	t.Helper()
	var data struct {
		ContractResults struct {
			Nodes []struct{ Hash, ConsensusTimestamp string }
		}
		Schedules     struct{ Nodes []struct{ EntityID string } }
		TopicMessages struct {
			Nodes []struct{ ConsensusTimestamp string }
		}
		Transactions struct {
			Nodes []struct{ ConsensusTimestamp string }
		}
	}
	g.Data(t, `{ contractResults(first: 1) { nodes { hash consensusTimestamp } } schedules(first: 1) { nodes { entityId } }
		topicMessages(topic: "0.0.4001", first: 1) { nodes { consensusTimestamp } } transactions(first: 1) { nodes { consensusTimestamp } } }`, nil, &data)
	values := map[string]string{
		"account.id": `"0.0.1001"`, "token.id": `"0.0.2001"`, "topic.id": `"0.0.4001"`, "contract.id": `"0.0.3001"`,
		"topic": `"0.0.4001"`, "token": `"0.0.2007"`,
		"contract": `"0.0.3001"`, "account": `"0.0.1001"`, "owner": `"0.0.1001"`, "sender": `"0.0.1001"`,
		"serialNumber": "1", "hookId": "1", "block.number": "1",
		"nftAllowances.owner": `"0.0.1001"`, "airdrops.sender": `"0.0.1001"`, "text": `"0.0.1001"`,
		"search.query": `"0.0.1001"`,
		"ids":          `["0.0.1001", "0.0.99999999", "0.0.1002"]`, "numbers": "[1, 99999999, 2]",
		"keys":            `[{token: "0.0.2007", serialNumber: 1}, {token: "0.0.2007", serialNumber: 99999}]`,
		"hashes":          fmt.Sprintf("[%q]", data.ContractResults.Nodes[0].Hash),
		"timestamps":      fmt.Sprintf("[%q]", data.Transactions.Nodes[0].ConsensusTimestamp),
		"tokensByIds.ids": `["0.0.2001"]`, "topicsByIds.ids": `["0.0.4001"]`, "contractsByIds.ids": `["0.0.3001"]`,
		"nodes.ids": `["x"]`, "transactionsByIds.ids": `["0.0.1001-1-1"]`,
		"contractActions.hash":   fmt.Sprintf("%q", data.ContractResults.Nodes[0].Hash),
		"contractResult.hash":    fmt.Sprintf("%q", data.ContractResults.Nodes[0].Hash),
		"schedule.id":            fmt.Sprintf("%q", data.Schedules.Nodes[0].EntityID),
		"timestamp":              fmt.Sprintf("%q", data.Transactions.Nodes[0].ConsensusTimestamp),
		"topicMessage.timestamp": fmt.Sprintf("%q", data.TopicMessages.Nodes[0].ConsensusTimestamp),
	}
	return values
}

// globalIDs returns a global ID of each type that a list of the query type has.
func (m *meaning) globalIDs(t *testing.T, g *testenv.Gateway) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, f := range m.schema.Query.Fields {
		def := m.schema.Types[f.Type.Name()]
		nodes := def.Fields.ForName("nodes")
		if nodes == nil || m.schema.Types[nodes.Type.Name()].Fields.ForName("id") == nil {
			continue
		}
		document, ok := m.field(f, "nodes { id }")
		if !ok {
			continue
		}
		var data map[string]struct{ Nodes []struct{ ID string } }
		if json.Unmarshal([]byte(responseText(t, g, "{ "+document+" }", nil, false)), &data) == nil &&
			len(data[f.Name].Nodes) > 0 {
			ids[nodes.Type.Name()] = data[f.Name].Nodes[0].ID
		}
	}
	return ids
}

// responseText returns the data of a query, and reports errors that no honest query has.
func responseText(t *testing.T, g *testenv.Gateway, document string, variables map[string]any, mayFail bool) string {
	t.Helper()
	got := g.Query(t, document, variables)
	var a struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	if err := json.Unmarshal([]byte(got.Body), &a); err != nil || got.Status >= 500 {
		t.Errorf("%s\nstatus %d: %s", document, got.Status, got.Body)
	}
	if len(a.Errors) > 0 && !mayFail && !strings.Contains(got.Body, `"BAD_USER_INPUT"`) ||
		strings.Contains(got.Body, `"INTERNAL"`) {
		t.Errorf("%s\n%s", document, got.Body)
	}
	return string(a.Data)
}

// isPart reports whether all values of one response are in another.
func isPart(part, of any) bool {
	switch part := part.(type) {
	case map[string]any:
		other, ok := of.(map[string]any)
		for name, value := range part {
			v, has := other[name]
			ok = ok && has && isPart(value, v)
		}
		return ok
	case []any:
		other, ok := of.([]any)
		return ok && slices.EqualFunc(part, other, isPart)
	default:
		return reflect.DeepEqual(part, of)
	}
}

// nulls reports nulls in non-null places of the data of an operation. Its fields have no aliases.
func (m *meaning) nulls(v any, t *ast.Type, path string) string {
	switch {
	case v == nil && t.NonNull:
		return path
	case v == nil:
		return ""
	case t.Elem != nil:
		for i, element := range v.([]any) {
			if at := m.nulls(element, t.Elem, fmt.Sprintf("%s.%d", path, i)); at != "" {
				return at
			}
		}
		return ""
	}
	def := m.schema.Types[t.NamedType]
	object, _ := v.(map[string]any)
	if name, ok := object["__typename"].(string); ok {
		def = m.schema.Types[name]
	}
	if def.Kind != ast.Object {
		return ""
	}
	for name, value := range object {
		if f := def.Fields.ForName(name); f != nil {
			if at := m.nulls(value, f.Type, path+"."+name); at != "" {
				return at
			}
		}
	}
	return ""
}

func loadSchema(t *testing.T) *ast.Schema {
	t.Helper()
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestMeaning checks that a field means the same wherever it stands: for each type, and each way to an object of it,
// the value of each field alone equals the value beside all others, in a deferred fragment, in an event and in CSV, and
// an argument means the same as a literal, a variable and a default. No value is null in a non-null place. The
// requests are generated from the schema, and all of them are sent in make nightly.
func TestMeaning(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	m := &meaning{schema: loadSchema(t), samples: sampleValues(t, g)}
	all := m.requests(m.globalIDs(t, g))
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var chosen []comparison
	for i := *firstMeaning; i < len(all); i += max(*meanings, 1) {
		chosen = append(chosen, all[i])
	}
	t.Logf("%d of %d comparisons", len(chosen), len(all))
	work := make(chan comparison)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for c := range work {
				t.Run("", func(t *testing.T) { m.compare(t, g, c) })
			}
		})
	}
	for _, c := range chosen {
		work <- c
	}
	close(work)
	workers.Wait()
}

func (m *meaning) compare(t *testing.T, g *testenv.Gateway, c comparison) {
	t.Helper()
	var part, of any
	switch c.by {
	case deferred:
		part, of = fromParts(t, g, c.alone), decoded(responseText(t, g, c.beside, nil, false))
		if of != nil && !reflect.DeepEqual(part, of) {
			t.Errorf("%s\nmerged: %v\nsingle: %v", c.alone, part, of)
		}
	case asEvent:
		part, of = firstEvent(t, g, c.alone), firstEvent(t, g, c.beside)
	case asCSV:
		part, of = columns(t, g, c.alone), columns(t, g, c.beside)
	case invalid:
		responseText(t, g, c.alone, nil, true)
		responseText(t, g, c.beside, c.variables, true)
		return
	case byValue:
		part = decoded(responseText(t, g, c.alone, nil, true))
		of = decoded(responseText(t, g, c.beside, c.variables, true))
		if !reflect.DeepEqual(part, of) {
			t.Errorf("%s\n%s\nliteral: %v\nother:   %v", c.alone, c.beside, part, of)
		}
	case plain:
		part, of = decoded(responseText(t, g, c.alone, nil, false)), decoded(responseText(t, g, c.beside, nil, false))
	}
	if part == nil || of == nil { // rejected, for example because of its cost
		return
	}
	if !isPart(part, of) {
		t.Errorf("%s\nalone:  %v\nbeside: %v", c.alone, part, of)
	}
	root := "Query"
	if c.by == asEvent {
		root = "Subscription"
	}
	if at := m.nulls(part, ast.NamedType(root, nil), ""); at != "" && c.by != asCSV {
		t.Errorf("%s\n%s is null: %v", c.alone, at, part)
	}
}

// decoded returns the value of a JSON text, or nil if it has none.
func decoded(text string) (v any) {
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// fromParts returns the merged data of a response that is sent in parts.
func fromParts(t *testing.T, g *testenv.Gateway, document string) any {
	t.Helper()
	got := g.Do(t, http.MethodPost, "/graphql", body(t, document, nil), "Content-Type: "+plainMedia,
		"Accept: multipart/mixed;deferSpec=20220824, application/json")
	if got.Header.Get("Content-Type") != partsType {
		object, _ := decoded(got.Body).(map[string]any)
		return object["data"]
	}
	parts := readParts(t, got)
	data := parts[0].Data
	for _, p := range parts {
		for _, one := range p.Incremental {
			data = put(t, data, one)
		}
	}
	text, err := json.Marshal(data) // the numbers of parts have another type
	if err != nil {
		t.Fatal(err)
	}
	return decoded(string(text))
}

// firstEvent returns the data of the first event of a subscription.
func firstEvent(t *testing.T, g *testenv.Gateway, document string) any {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := bufio.NewReader(post(ctx, t, g, document, "text/event-stream").Body)
	for {
		text := chunk(t, r, "\n\n")
		switch event, found := strings.CutPrefix(text, "event: next\ndata: "); {
		case found:
			var a struct{ Data, Errors any }
			testenv.Decode(t, event, &a)
			if a.Errors != nil {
				t.Errorf("%s\n%s", document, event)
			}
			return a.Data
		case strings.HasPrefix(text, "event: complete"):
			return nil
		}
	}
}

// columns returns the first lines of an export, by column.
func columns(t *testing.T, g *testenv.Gateway, document string) any {
	t.Helper()
	got := export(t, g, document, nil)
	if got.Status != http.StatusOK {
		return nil
	}
	out := map[string]any{}
	lines := records(t, got)
	for i, name := range lines[0] {
		values := []any{}
		for _, line := range lines[1:min(len(lines), 20)] {
			values = append(values, strings.TrimPrefix(line[i], "'")) // which the first column has before formulas
		}
		out[name] = values
	}
	return out
}

// TestSubscriptionConditions checks that a subscription whose only field is skipped is an error of the request.
func TestSubscriptionConditions(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, document := range []string{
		`subscription { blocks @skip(if: true) { number } }`, `subscription { blocks @include(if: false) { number } }`,
		`subscription($s: Boolean! = true) { blocks @skip(if: $s) { number } }`,
		`subscription { ... @skip(if: true) { blocks { number } } }`,
		`subscription { ...S } fragment S on Subscription { blocks @skip(if: true) { number } }`,
	} {
		text, err := io.ReadAll(post(t.Context(), t, g, document, "text/event-stream").Body)
		if err != nil || !strings.Contains(string(text), `"errors":[`) || strings.Contains(string(text), "INTERNAL") ||
			strings.Contains(string(text), `"path"`) {
			t.Errorf("%s: %v %s", document, err, text)
		}
	}
}

// TestSameMeaning has requests of kinds that once had other data, or none, in the form of pairs: the same fields in
// another place or form.
func TestSameMeaning(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, c := range []comparison{
		{alone: `{accounts(first:1,filter:{id:{gte:"0.0.1001"}}){nodes{entityId holdings{balance accountId ` +
			`tokens{balance}}}}}`, beside: `{accounts(first:1,filter:{id:{gte:"0.0.1001"}}){nodes{entityId memo ` +
			`holdings{balance accountId tokens{balance}}}}}`},
		{
			alone:  `{accounts(last:1,filter:{id:{lte:"0.0.1001"}}){edges{node{entityId holdings{balance}}}}}`,
			beside: `{accounts(last:1,filter:{id:{lte:"0.0.1001"}}){edges{node{entityId memo holdings{balance}}}}}`,
		},
		{
			alone:  `{account(id:"0.0.1001"){entityId holdings{balanceValue{usd}}}}`,
			beside: `{account(id:"0.0.1001"){entityId memo holdings{balanceValue{usd}}}}`,
		},
		{
			alone:  `{account(id:"0.0.1001"){entityId holdings{balanceValue{usd} account{memo} tokens{balance}}}}`,
			beside: `{account(id:"0.0.1001"){entityId memo holdings{balanceValue{usd} account{memo} tokens{balance}}}}`,
		},
		{
			alone:  `{account(id:"0.0.1001"){entityId holdings{account{memo} tokens{balance}}}}`,
			beside: `{account(id:"0.0.1001"){entityId memo holdings{account{memo} tokens{balance}}}}`,
		},
		{
			alone:  `{token(id:"0.0.2001"){balances(at:{eq:"1.5"}){nodes{__typename}}} blocks(first:1){nodes{number}}}`,
			beside: `{token(id:"0.0.2001"){balances(at:{lt:"1.5"}){nodes{__typename}}} blocks(first:1){nodes{number}}}`,
		},
		{
			alone:  `{token(id:"0.0.2001"){balances(at:{in:[]}){nodes{__typename}}}}`,
			beside: `{token(id:"0.0.2001"){balances(at:{gt:"5",lt:"4"}){nodes{__typename}}}}`,
		},
		{alone: `{tokens(first:2,filter:{types:[FUNGIBLE_COMMON]}){nodes{balances(at:{eq:"1.5"}){nodes{accountId} ` +
			`pageInfo{hasNextPage}}}}}`, beside: `{tokens(first:2,filter:{types:[FUNGIBLE_COMMON]}){nodes{memo ` +
			`balances(at:{eq:"1.5"}){nodes{accountId} pageInfo{hasNextPage}}}}}`},
	} {
		alone, beside := responseText(t, g, c.alone, nil, false), responseText(t, g, c.beside, nil, false)
		var part, of any
		testenv.Decode(t, alone, &part)
		testenv.Decode(t, beside, &of)
		if part == nil || !isPart(part, of) || strings.Contains(alone, `"balance":null`) {
			t.Errorf("%s\nalone:  %s\nbeside: %s", c.alone, alone, beside)
		}
	}
}

// TestDeferredFragments checks that fragments whose only fields are deferred further, or skipped, are delivered.
func TestDeferredFragments(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, document := range []string{
		`{account(id:"0.0.1001"){entityId ... @defer { ... @defer { balance } }}}`,
		`{account(id:"0.0.1001"){entityId ... @defer { ... @defer { ... @defer { balance } } }}}`,
		`{account(id:"0.0.1001"){entityId ...A @defer}} fragment A on Account { ...B @defer } fragment B on ` +
			`Account { balance }`,
		`{account(id:"0.0.1001"){entityId ... @defer { memo @skip(if: true) ... @defer { balance } }}}`,
		`{accounts(first:3){nodes{entityId ... @defer { ... @defer { balance } }}}}`,
		`{account(id:"0.0.1001"){entityId ... @defer { holdings { ... @defer { balance } } }}}`,
		`{__typename ... @defer { ... @defer { blocks(first:1){nodes{number}} } }}`,
	} {
		var want any
		g.Data(t, document, nil, &want)
		parts := inParts(t, g, document, nil)
		got := parts[0].Data
		for _, p := range parts {
			for _, one := range p.Incremental {
				got = put(t, got, one)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nmerged: %v\nsingle: %v", document, got, want)
		}
	}
	got := export(t, g, `{account(id:"0.0.1001"){... @defer {transfers{nodes{amount}}}}}`, nil)
	if lines := records(t, got); len(lines) < 2 {
		t.Errorf("CSV of a deferred list: %s", got.Body)
	}
}

// TestInvalidInput checks that invalid literals, variables and references are errors of the request or of their place,
// and that no message names a Go type.
func TestInvalidInput(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	schema := loadSchema(t)
	type request struct {
		query     string
		variables map[string]any
		request   bool   // the error has no path, and there is no data
		want      string // in the body
	}
	requests := []request{
		{`{block(number:9223372036854775808){number}}`, nil, true, `"line":1,"column":15`},
		{`{block(number:1e999){number}}`, nil, true, `out of range`},
		{`{blocks(first:4294967297){nodes{number}}}`, nil, true, `out of range`},
		{`query($n:Long=9223372036854775808){block(number:$n){number}}`, nil, true, `out of range`},
		{`{accounts(filter:{id:{in:[99999999999999999999]}}){nodes{id}}}`, nil, true, `"line":1`},
		{`query($n:Int){blocks(first:$n){nodes{number}}}`, map[string]any{"n": "1"}, true, `got invalid value`},
		{`query($n:Int){blocks(first:$n){nodes{number}}}`, map[string]any{"n": 4294967297}, true, `got invalid value`},
		{`query($n:Int){blocks(first:$n){nodes{number}}}`, map[string]any{"n": 1.5}, true, `got invalid value`},
		{`query($n:Int){blocks(first:$n){nodes{number}}}`, map[string]any{"n": []any{1}}, true, `got invalid value`},
		{
			`query($b:Boolean!){blocks(first:1) @skip(if:$b){nodes{number}}}`,
			map[string]any{"b": "true"},
			true,
			`got invalid value`,
		},
		{`query($c:String){blocks(after:$c){nodes{number}}}`, map[string]any{"c": 1}, true, `got invalid value`},
		{`query($o:Order!){blocks(order:$o){nodes{number}}}`, map[string]any{"o": "desc"}, true, `got invalid value`},
		{`query($s:Int){blocks(first:$s){nodes{number}}}`, map[string]any{"s": true}, true, `got invalid value`},
		{
			`query($m:LedgerMoment!){ledger(at:$m){at}}`,
			map[string]any{"m": map[string]any{"block": map[string]any{"hash": nil}}},
			true,
			`LedgerBlock must have exactly one field`,
		},
		{
			`query($m:LedgerMoment!){ledger(at:$m){at}}`,
			map[string]any{"m": map[string]any{"time": "1.5", "block": map[string]any{"number": 1}}},
			true,
			`LedgerMoment must have exactly one field`,
		},
	}
	for _, f := range schema.Query.Fields { // each argument of these types
		for _, a := range f.Arguments {
			if slices.Contains([]string{"EntityID", "AccountRef", "ContractRef", "Long", "Timestamp"},
				a.Type.NamedType) {
				selection := "{ __typename }"
				if schema.Types[f.Type.Name()].IsLeafType() {
					selection = ""
				}
				for _, value := range []string{"9223372036854775808", "1e999", "-99999999999999999999"} {
					requests = append(requests,
						request{fmt.Sprintf("{ %s(%s: %s) %s }", f.Name, a.Name, value, selection), nil, false, ""})
				}
			}
		}
	}
	for _, c := range requests {
		got := g.Query(t, c.query, c.variables)
		a, codes := read(t, got)
		if got.Status >= 500 || codes == "" || strings.Contains(got.Body, "INTERNAL") ||
			!strings.Contains(got.Body, c.want) ||
			c.request && (a.Data != nil || strings.Contains(got.Body, `"path"`)) {
			t.Errorf("%s %v: status %d: %s", c.query, c.variables, got.Status, got.Body)
		}
		for _, word := range []string{"json.Number", "<nil>", "interface {}", "map[", "int64", "float64"} {
			if strings.Contains(got.Body, word) {
				t.Errorf("%s: %q is in %s", c.query, word, got.Body)
			}
		}
	}
	for _, list := range []string{
		`["x"]`, `[5]`, `[{__typename: "Account", id: 5}, 5]`,
		`[{__typename: "Account", entityId: "0.0.1001"}, 5, "x", [], {}]`,
	} {
		got := g.Query(t, `{_entities(representations:`+list+`){__typename}}`, nil)
		if got.Status >= 500 || strings.Contains(got.Body, "INTERNAL") {
			t.Errorf("%s: status %d: %s", list, got.Status, got.Body)
		}
		if strings.Contains(list, "0.0.1001") &&
			!strings.Contains(got.Body, `{"_entities":[{"__typename":"Account"},null,null,null,null]}`) {
			t.Errorf("%s: %s", list, got.Body)
		}
	}
}
