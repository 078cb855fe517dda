package resolvers_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
)

// pastSchema knows which fields can be read at a past moment.
type pastSchema struct {
	*ast.Schema
	sources map[string]string // by field, such as "Account.memo"
}

func newPastSchema(t *testing.T) *pastSchema {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for line := range strings.Lines(graph.PastSources) {
		parts := strings.SplitN(strings.TrimSpace(line), ",", 3)
		sources[parts[0]] = parts[1]
	}
	return &pastSchema{s, sources}
}

// below calls visit with each object that can be read below LedgerState.
func (s *pastSchema) below(visit func(*ast.Definition)) {
	seen := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		def := s.Types[name]
		if seen[name] || def.IsLeafType() {
			return
		}
		seen[name] = true
		if def.IsAbstractType() {
			for _, possible := range s.GetPossibleTypes(def) {
				walk(possible.Name)
			}
			return
		}
		visit(def)
		for _, f := range def.Fields {
			if s.sources[name+"."+f.Name] != "unknown" && s.sources[name+"."+f.Name] != "" {
				walk(f.Type.Name())
			}
		}
	}
	walk("LedgerState")
}

// TestPastSources checks the table of the fields at past moments: every field below LedgerState has a line, and every
// line has a field.
func TestPastSources(t *testing.T) {
	t.Parallel()
	s, found := newPastSchema(t), map[string]bool{}
	kinds := []string{"versions", "transfers", "rows", "unchanged", "computed", "moment", "unknown"}
	s.below(func(def *ast.Definition) {
		for _, f := range def.Fields {
			name := def.Name + "." + f.Name
			if found[name] = true; !slices.Contains(kinds, s.sources[name]) {
				t.Errorf("%s has no source in graph/past.csv: it would be an error", name)
			}
		}
	})
	for name := range s.sources {
		if !found[name] {
			t.Errorf("%s of graph/past.csv is not below LedgerState", name)
		}
	}
}

// differs are the fields that have another value in the newest state of the ledger than in the present, with the reasons.
var differs = map[string]string{
	"Balance.timestamp": "the moment", "Balance.timestampIso": "the moment",
	"TokenHolder.timestamp": "the moment", "TokenHolder.timestampIso": "the moment",
	"TokenHolderConnection.timestamp": "the moment",
	"NetworkSupply.timestamp":         "the moment", "NetworkSupply.timestampIso": "the moment",
	"Contract.state": "in another order; see TestPastSlots",
	"Contract.call":  "it takes arguments",
}

// selection returns the fields of an object that the present and the past have, with objects to a depth.
func (s *pastSchema) selection(def *ast.Definition, depth int) string {
	var out []string
	for _, f := range def.Fields {
		if one := s.field(def, f, depth); one != "" {
			out = append(out, one)
		}
	}
	return strings.Join(out, " ")
}

// field returns the selection of a field, or "" if it cannot be compared.
func (s *pastSchema) field(def *ast.Definition, f *ast.FieldDefinition, depth int) string {
	name := def.Name + "." + f.Name
	source := s.sources[name]
	if source == "" || source == "unknown" || differs[name] != "" ||
		slices.Contains([]string{"cursor", "edges", "startCursor", "endCursor"}, f.Name) {
		return ""
	}
	arguments := ""
	for _, a := range f.Arguments {
		switch {
		case a.Name == "first":
			arguments = "(first: 3)"
		case a.Name == "timestamp" && a.Type.NonNull:
			arguments = `(first: 3, timestamp: {gte: "2026-05-17T00:00:00Z", lt: "2026-05-17T12:00:00Z"})`
			return f.Name + arguments + " { nodes { id amount } }"
		case a.Type.NonNull && a.DefaultValue == nil:
			return ""
		}
	}
	of := s.Types[f.Type.Name()]
	switch {
	case of.IsLeafType():
		return f.Name + arguments
	case of.IsAbstractType():
		return f.Name + arguments + " { __typename }"
	case strings.HasSuffix(of.Name, "Connection"):
		depth++ // its nodes are on the level of the list
	}
	if depth == 0 {
		return ""
	}
	inner := s.selection(of, depth-1)
	if inner == "" {
		return ""
	}
	return f.Name + arguments + " { " + inner + " }"
}

// maxSelection is the size of the selections of a document, in characters.
const maxSelection = 9_000

// overwritten matches changes of values that are overwritten without a version: a state has none.
var overwritten = regexp.MustCompile(`,?\{"field":"(ethereumNonce|totalSupply)",[^}]*\}`)

// pastRoots are the fields with which objects are read, now and in a state of the ledger.
var pastRoots = map[string][]string{
	"Account": {
		"account(id: 2)", "account(id: 1001)", "account(id: 1002)", "account(id: 1003)", "account(id: 1009)",
		"account(id: 1013)", "account(id: 1015)", "account(id: 1017)", "account(id: 3003)", "account(id: 98)", "account(id: 9999999)",
	},
	"Contract": {"contract(id: 3001)", "contract(id: 3011)", "contract(id: 2901)"},
	"File":     {"file(id: 112)", "file(id: 150)"},
	"NFT":      {"nft(token: 2007, serialNumber: 1)", "nft(token: 2007, serialNumber: 4)", "nft(token: 2010, serialNumber: 1)"},
	"Schedule": {"schedule(id: 5001)", "schedule(id: 5002)", "schedule(id: 5003)", "schedule(id: 5004)"},
	"Token": {
		"token(id: 2001)", "token(id: 2002)", "token(id: 2004)", "token(id: 2006)", "token(id: 2007)", "token(id: 2008)",
		"token(id: 2010)",
	},
	"Topic": {"topic(id: 4001)", "topic(id: 4002)"},
}

// TestNewestState checks that the state of the ledger at its newest block is the present, for every field that both
// have.
func TestNewestState(t *testing.T) {
	t.Parallel()
	g, s := testenv.Shared(t), newPastSchema(t)
	newest := newestBlock(t, g)
	compared := 0
	for typ, roots := range pastRoots {
		def := s.Types[typ]
		for _, f := range def.Fields {
			field := s.field(def, f, 2)
			if len(field) > maxSelection {
				field = s.field(def, f, 1)
			}
			if field == "" {
				continue
			}
			for some := range slices.Chunk(roots, max(1, maxSelection/len(field))) {
				var objects strings.Builder
				for i, root := range some {
					fmt.Fprintf(&objects, " r%d: %s { %s }", i, root, field)
				}
				compared += sameState(t, g, typ+"."+f.Name, objects.String(), newest)
			}
		}
	}
	network := s.selection(s.Types["NetworkSupply"], 1)
	compared += sameState(t, g, "the network",
		`network { supply { `+network+` } exchangeRate { timestamp currentRate { centEquivalent } } fees { timestamp fees { gas } } stake { `+
			s.selection(s.Types["NetworkStake"], 2)+` } }`, newest)
	if compared < 500 {
		t.Errorf("only %d objects were compared", compared)
	}
}

// newestBlock returns the number of the newest block.
func newestBlock(t *testing.T, g *testenv.Gateway) string {
	t.Helper()
	var out struct {
		Data struct {
			Blocks struct{ Nodes []struct{ Number string } }
		}
	}
	body := g.Query(t, `{ blocks(first: 1) { nodes { number } } }`, nil).Body
	if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.Data.Blocks.Nodes) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return out.Data.Blocks.Nodes[0].Number
}

// sameState compares the objects of two selections, and returns their number.
func sameState(t *testing.T, g *testenv.Gateway, what, objects, block string) int {
	t.Helper()
	var a, b struct {
		Data   map[string]json.RawMessage
		Errors []struct{ Message string }
	}
	for document, into := range map[string]any{
		"{ " + objects + " }": &a, "{ ledger(at: {block: {number: " + block + "}}) { " + objects + " } }": &b,
	} {
		body := g.Query(t, document, nil).Body
		if err := json.Unmarshal([]byte(body), into); err != nil {
			t.Fatalf("%s: %v: %.300s", what, err, body)
		}
	}
	if len(a.Errors)+len(b.Errors) > 0 {
		t.Errorf("%s: now %v, then %v", what, a.Errors, b.Errors)
		return 0
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(b.Data["ledger"], &state); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for name := range a.Data {
		x, y := overwritten.ReplaceAllString(string(a.Data[name]), ""), string(state[name])
		x = strings.ReplaceAll(x, "[,", "[")
		if x != y {
			x, y = difference(x, y)
			t.Errorf("%s, %s:\n now %s\nthen %s", what, name, x, y)
		}
	}
	return len(a.Data)
}

// difference returns the surroundings of the first difference of two texts.
func difference(a, b string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	start := max(i-150, 0)
	return a[start:min(i+100, len(a))], b[start:min(i+100, len(b))]
}
