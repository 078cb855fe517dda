package rowplan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/profile"
	"heliograph/internal/base/values"
)

const schemaText = `
type Query { authors: [Author!]! author: Author things: [Thing]! }
type Subscription { news(from: Int): Author! }
interface Thing { name: String! }
type Author implements Thing { name: String! upper(times: Int! = 1): String! tags: [String!]! nicks: [String!] books(first: Int! = 10): [Book!]! best: Book
  drafts: [Book!] all: [Book!]! stored: [Book] needed: [Book!]! favourite: Thing risky: String mustWork: String! reads: Int }
type Book implements Thing { name: String! author: Author }
`

type author struct {
	name   string
	nicks  []string
	best   *book
	stored []*book
}

type book struct{ name, by string }

type thing interface{ isThing() }

func (*author) isThing() {}
func (*book) isThing()   {}

// library is a database in memory. It counts batches and statements.
type library struct {
	t          *testing.T
	authors    []*author
	books      []*book
	batches    int
	statements []string
	fail       error // of the next batch
	tables     *rowplan.Tables
	relations  struct {
		books  *rowplan.Relation[*author, []*book]
		author *rowplan.Relation[*book, *author]
		risky  *rowplan.Relation[*author, string]
	}
}

type batch struct {
	l      *library
	queued []func()
}

func (b *batch) Run(context.Context) error {
	b.l.batches++
	if err := b.l.fail; err != nil {
		return err
	}
	for _, f := range b.queued {
		f()
	}
	return nil
}

// Mark implements [rowplan.Batch].
func (*batch) Mark(*profile.Place) {}

func (b *batch) queue(statement string, f func()) {
	b.queued = append(b.queued, func() {
		b.l.statements = append(b.l.statements, statement)
		f()
	})
}

// oneByOne returns the Load function of a field that is read for each parent separately.
func oneByOne[T, R any](
	read func(context.Context, T) (R, error),
) func(context.Context, rowplan.Request, []T, any) (rowplan.Results[R], error) {
	return func(ctx context.Context, _ rowplan.Request, of []T, _ any) (rowplan.Results[R], error) {
		return rowplan.OneByOne(ctx, of, read)
	}
}

type limit struct{ n int }

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{t: t}
	for _, name := range []string{"Ann", "Bob", "Cid"} {
		l.authors = append(l.authors, &author{name: name})
	}
	for i, by := range []string{"Ann", "Cid", "Ann", "Cid", "Cid"} {
		l.books = append(l.books, &book{fmt.Sprint("B", i), by})
	}
	l.authors[0].best, l.authors[0].nicks, l.authors[0].stored = l.books[2], []string{"a"}, []*book{l.books[0], nil}
	l.tables = rowplan.NewTables(func() rowplan.Batch { return &batch{l: l} })
	readLimit := func(_ context.Context, f *ast.Field, variables map[string]any) (any, error) {
		n, _ := f.ArgumentMap(variables)["first"].(json.Number)
		if n == "" {
			m, _ := f.ArgumentMap(variables)["first"].(int64)
			n = json.Number(strconv.FormatInt(m, 10))
		}
		i, err := n.Int64()
		if err == nil && i < 0 {
			err = errors.New("first is negative")
		}
		return limit{int(i)}, err
	}
	l.relations.books = &rowplan.Relation[*author, []*book]{
		Args: readLimit,
		Load: func(_ context.Context, q rowplan.Request, of []*author, args any) (rowplan.Results[[]*book], error) {
			out := make([][]*book, len(of))
			q.Batch.(*batch).queue("books", func() {
				for i, a := range of {
					for _, b := range l.books {
						if b.by == a.name && len(out[i]) < args.(limit).n {
							out[i] = append(out[i], b)
						}
					}
				}
			})
			return func() ([][]*book, error) { return out, nil }, nil
		},
	}
	l.relations.author = &rowplan.Relation[*book, *author]{
		Load: func(_ context.Context, q rowplan.Request, of []*book, _ any) (rowplan.Results[*author], error) {
			out := make([]*author, len(of))
			q.Batch.(*batch).queue("author", func() {
				for i, b := range of {
					for _, a := range l.authors {
						if a.name == b.by && a.name != "Bob" {
							out[i] = a
						}
					}
				}
			})
			return func() ([]*author, error) { return out, nil }, nil
		},
	}
	l.relations.risky = &rowplan.Relation[*author, string]{
		Load: oneByOne(func(_ context.Context, a *author) (string, error) {
			switch a.name {
			case "Bob":
				return "", errors.New("Bob fails")
			case "Panic":
				panic("panicked")
			}
			return "safe " + a.name, nil
		}),
	}
	count := &rowplan.Relation[*author, int32]{
		Load: oneByOne(func(context.Context, *author) (int32, error) { return 7, nil }),
	}
	var authors *rowplan.Object[*author]
	var books *rowplan.Object[*book]
	authorTable := func() *rowplan.Object[*author] { return authors }
	bookTable := func() *rowplan.Object[*book] { return books }
	authors = rowplan.NewObject([]string{"Author", "Thing"}, map[string]rowplan.Field[*author]{
		"name": rowplan.Scalar(func(dst []byte, a *author, s scalar.Style) []byte {
			return scalar.AppendString(dst, a.name, s)
		}),
		"tags": rowplan.Get(func(a *author) []string {
			return strings.Split(a.name, "")
		}, rowplan.ListOf(rowplan.ScalarOf(scalar.AppendString))),
		"nicks": rowplan.Get(func(a *author) []string {
			return a.nicks
		}, rowplan.NullableListOf(rowplan.ScalarOf(scalar.AppendString))),
		"best":   rowplan.Get(func(a *author) *book { return a.best }, rowplan.ObjectOf(bookTable)),
		"books":  rowplan.ReadMany(l.relations.books, bookTable),
		"stored": rowplan.NullableMany(func(a *author) []*book { return a.stored }, bookTable),
		"needed": rowplan.Many(func(a *author) []*book { return a.stored }, bookTable),
		"all":    rowplan.Many(func(*author) []*book { return l.books }, bookTable),
		"upper": rowplan.Compute(func(_ context.Context, f *ast.Field, v map[string]any) (int, error) {
			n, ok := f.ArgumentMap(v)["times"].(int64)
			if !ok {
				return 0, errors.New("times is not a number")
			}
			return int(n), nil
		}, func(a *author, n int) string {
			return strings.Repeat(strings.ToUpper(a.name), n)
		}, rowplan.ScalarOf(scalar.AppendString)),
		"favourite": rowplan.Get(func(a *author) thing {
			switch a.name {
			case "Ann":
				return l.books[1]
			case "Bob":
				return l.authors[0]
			}
			return nil
		}, rowplan.AnyOf(rowplan.CaseOf[thing](authorTable), rowplan.CaseOf[thing](bookTable))),
		"risky":    rowplan.Read(l.relations.risky, rowplan.ScalarOf(scalar.AppendString)),
		"mustWork": rowplan.Read(l.relations.risky, rowplan.ScalarOf(scalar.AppendString)),
		"reads": rowplan.Read(count, rowplan.ScalarOf(func(dst []byte, n int32, _ scalar.Style) []byte {
			return fmt.Append(dst, n)
		})),
	})
	books = rowplan.NewObject([]string{"Book", "Thing"}, map[string]rowplan.Field[*book]{
		"name": rowplan.Scalar(func(dst []byte, b *book, s scalar.Style) []byte {
			return scalar.AppendString(dst, b.name, s)
		}),
		"author": rowplan.Read(l.relations.author, rowplan.ObjectOf(authorTable)),
	})
	rowplan.Register(l.tables, authors)
	rowplan.Register(l.tables, books)
	rowplan.RegisterList(l.tables, rowplan.AnyOf(rowplan.CaseOf[thing](authorTable), rowplan.CaseOf[thing](bookTable)))
	return l
}

var schema = gqlparser.MustLoadSchema(&ast.Source{Input: schemaText})

// operation returns the context of the first root field of a document.
func operation(t *testing.T, query string, variables map[string]any, stores ...*rowplan.Store) context.Context {
	t.Helper()
	doc, err := gqlparser.LoadQueryWithRules(schema, query, rules.NewDefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	return contextOf(t, doc, variables, stores...)
}

func contextOf(
	t *testing.T, doc *ast.QueryDocument, variables map[string]any, stores ...*rowplan.Store,
) context.Context {
	t.Helper()
	op := doc.Operations[0]
	oc := &graphql.OperationContext{
		Doc: doc, Operation: op, Variables: variables, RecoverFunc: func(_ context.Context, p any) error {
			return fmt.Errorf("recovered: %v", p)
		},
	}
	ctx := graphql.WithOperationContext(t.Context(), oc)
	ctx = graphql.WithResponseContext(ctx, func(_ context.Context, err error) *gqlerror.Error {
		return gqlerror.Wrap(err)
	}, nil)
	for _, s := range stores {
		ctx = values.Context(ctx, s.Value()) //nolint:fatcontext // at most one store for each case
	}
	f := op.SelectionSet[0].(*ast.Field)
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query"})
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{
		IsResolver: true,
		Field:      graphql.CollectedField{Field: f, Selections: f.SelectionSet},
	})
}

func written(t *testing.T, v any) string {
	t.Helper()
	m, ok := v.(graphql.Marshaler)
	if !ok {
		t.Fatalf("%T is not a marshaler", v)
	}
	var b bytes.Buffer
	m.MarshalGQL(&b)
	return b.String()
}

// TestPlans compares JSON, statements and round trips.
func TestPlans(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query      string
		variables  map[string]any
		want       string
		statements string
	}{
		"columns": {
			`{authors{name t:tags nicks best{name} __typename}}`, nil,
			`[{"name":"Ann","t":["A","n","n"],"nicks":["a"],"best":{"name":"B2"},"__typename":"Author"},` +
				`{"name":"Bob","t":["B","o","b"],"nicks":null,"best":null,"__typename":"Author"},{"name":"Cid",` +
				`"t":["C","i","d"],"nicks":null,"best":null,"__typename":"Author"}]`, "",
		},
		"lists": {
			`{authors{stored{name}}}`,
			nil, `[{"stored":[{"name":"B0"},null]},{"stored":null},{"stored":null}]`, "",
		},
		"a relation": {
			`{authors{books{name}}}`,
			nil,
			`[{"books":[{"name":"B0"},{"name":"B2"}]},{"books":[]},{"books":[{"name":"B1"},{"name":"B3"},` +
				`{"name":"B4"}]}]`, "books",
		},
		"two levels": {
			`{authors{name books(first:1){name author{name}}}}`,
			nil,
			`[{"name":"Ann","books":[{"name":"B0","author":{"name":"Ann"}}]},{"name":"Bob","books":[]},` +
				`{"name":"Cid","books":[{"name":"B1","author":{"name":"Cid"}}]}]`, "books author",
		},
		"below objects and lists": {
			`{authors{best{author{name}} stored{author{name}}}}`, nil,
			`[{"best":{"author":{"name":"Ann"}},"stored":[{"author":{"name":"Ann"}},null]},{"best":null,` +
				`"stored":null},{"best":null,"stored":null}]`, "author author",
		},
		"same level": {
			`{authors{a:books(first:1){name} b:books(first:2){name}}}`,
			nil,
			`[{"a":[{"name":"B0"}],"b":[{"name":"B0"},{"name":"B2"}]},{"a":[],"b":[]},{"a":[{"name":"B1"}],` +
				`"b":[{"name":"B1"},{"name":"B3"}]}]`, "books books",
		},
		"computed": {
			`query($n:Int!){authors{upper(times:$n) name}}`,
			map[string]any{"n": int64(2)},
			`[{"upper":"ANNANN","name":"Ann"},{"upper":"BOBBOB","name":"Bob"},{"upper":"CIDCID","name":"Cid"}]`, "",
		},
		"an interface": {
			`{authors{favourite{name __typename ...on Book{author{name}} ...on ` +
				`Author{books(first:1){name}}}}}`, nil,
			`[{"favourite":{"name":"B1","__typename":"Book","author":{"name":"Cid"}}},{"favourite":{"name":"Ann",` +
				`"__typename":"Author","books":[{"name":"B0"}]}},{"favourite":null}]`, "books author",
		},
		"methods": {`{authors{reads}}`, nil, `[{"reads":7},{"reads":7},{"reads":7}]`, ""},
		"fragments": {
			`{authors{...A ...on Thing{name ...on Book{name}}}} fragment A on Author{tags ` +
				`...on Author{name}}`, nil,
			`[{"tags":["A","n","n"],"name":"Ann"},{"tags":["B","o","b"],"name":"Bob"},{"tags":["C","i","d"],` +
				`"name":"Cid"}]`, "",
		},
		"conditions": {
			`query($y:Boolean!,$n:Boolean!){authors{name @skip(if:$n) tags @skip(if:$y) ` +
				`books @include(if:$n){name} ...@include(if:$n){nicks}}}`,
			map[string]any{"y": true, "n": false},
			`[{"name":"Ann"},{"name":"Bob"},{"name":"Cid"}]`, "",
		},
		"nothing": {
			`query($n:Boolean!){authors{name @include(if:$n)}}`,
			map[string]any{"n": false},
			`[{},{},{}]`, "",
		},
		"merged": {
			`{authors{books(first:1){name} books(first:1){author{name}}}}`,
			nil,
			`[{"books":[{"name":"B0","author":{"name":"Ann"}}]},{"books":[]},{"books":[{"name":"B1",` +
				`"author":{"name":"Cid"}}]}]`, "books author",
		},
		"merged under conditions": {
			`query($y:Boolean!,$n:Boolean!){authors{books(first:1) @include(if:$n){name} ` +
				`name books(first:1) @include(if:$y){author{name}} name}}`,
			map[string]any{"y": true, "n": false},
			`[{"name":"Ann","books":[{"author":{"name":"Ann"}}]},{"name":"Bob","books":[]},{"name":"Cid",` +
				`"books":[{"author":{"name":"Cid"}}]}]`, "books author",
		},
		"merged with one condition": {
			`query($y:Boolean!){authors{books(first:1){name} books(first:1) ` +
				`@skip(if:$y){author{name}}}}`,
			map[string]any{"y": true},
			`[{"books":[{"name":"B0"}]},{"books":[]},{"books":[{"name":"B1"}]}]`, "books",
		},
		"no rows below": {
			`{authors{books(first:0){name author{books{name}}}}}`, nil,
			`[{"books":[]},{"books":[]},{"books":[]}]`, "books",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			got, err := l.tables.Apply(operation(t, c.query, c.variables), l.authors)
			if err != nil {
				t.Fatal(err)
			}
			if text := written(t, got); text != c.want {
				t.Errorf("got\n%s, want\n%s", text, c.want)
			}
			if got := strings.Join(l.statements, " "); got != c.statements {
				t.Errorf("statements %q, want %q", got, c.statements)
			}
		})
	}
}

// TestRoundTrips checks that a level takes one round trip, and that a cached plan gives the same JSON.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	doc := gqlparser.MustLoadQueryWithRules(schema,
		`{authors{a:books(first:1){author{name}} b:books(first:2){author{name}}}}`, rules.NewDefaultRules())
	l.tables.Plans.Add(doc)
	var first string
	for range 2 {
		l.batches, l.statements = 0, nil
		got, err := l.tables.Apply(contextOf(t, doc, nil), l.authors)
		if err != nil {
			t.Fatal(err)
		}
		text := written(t, got)
		if first == "" {
			first = text
		}
		if text != first || l.batches != 2 || len(l.statements) != 4 {
			t.Errorf("%d batches, %v, %s", l.batches, l.statements, text)
		}
		l.tables.Buffers.Put([]byte(text))
	}
	l.tables.Plans.Remove(doc)
}

// TestValues plans single values, lists of interfaces and values that have no plan.
func TestValues(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for _, c := range []struct {
		query string
		value any
		want  string
	}{
		{`{author{name}}`, l.authors[0], `{"name":"Ann"}`},
		{`{author{name}}`, (*author)(nil), `null`},
		{
			`{things{name ...on Book{author{name}}}}`,
			[]thing{l.books[0], nil, l.authors[1]},
			`[{"name":"B0","author":{"name":"Ann"}},null,{"name":"Bob"}]`,
		},
	} {
		got, err := l.tables.Apply(operation(t, c.query, nil), c.value)
		if err != nil {
			t.Fatal(err)
		}
		if text := written(t, got); text != c.want {
			t.Errorf("got %s, want %s", text, c.want)
		}
	}
	if got, err := l.tables.Apply(operation(t, `{author{name}}`, nil), 5); got != 5 || err != nil {
		t.Errorf("a value without a table: got %v, %v, want 5", got, err)
	}
	var out strings.Builder
	got, _ := l.tables.Apply(operation(t, `{author{name}}`, nil), l.authors[0])
	got.(graphql.Marshaler).MarshalGQL(&out)
	if out.String() != `{"name":"Ann"}` {
		t.Errorf("a writer that is not a buffer received %s", out.String())
	}
}

// TestErrors checks the errors of arguments and batches.
func TestErrors(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for query, want := range map[string]string{
		`{authors{books(first:-1){name}}}`:    "first is negative",
		`{authors{books{name author{name}}}}`: "the database failed",
	} {
		l.fail = errors.New("the database failed")
		if _, err := l.tables.Apply(operation(t, query, nil), l.authors); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
	if _, err := l.tables.Apply(operation(t, `query($n:Int!){authors{upper(times:$n)}}`, map[string]any{"n": "x"}),
		l.authors); err == nil {
		t.Error("an invalid argument of a computed field is accepted")
	}
}

// TestTooLarge checks that all plans of an operation share the maximum size of a response, and that lists end when it
// is exceeded.
func TestTooLarge(t *testing.T) { // not parallel: it measures allocations
	l := newLibrary(t)
	var store rowplan.Store
	l.tables.MaxResponse = 100_000
	for i, c := range []struct {
		authors int
		fails   bool
	}{{1000, false}, {1_000_000, true}, {1, true}} { // the rows of the second field would have 14 MB
		ctx := operation(t, `{authors{name}}`, nil, &store)
		list := make([]*author, c.authors)
		for i := range list {
			list[i] = l.authors[0]
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := l.tables.Apply(ctx, list)
		runtime.ReadMemStats(&after)
		if c.fails {
			if err == nil || !strings.Contains(err.Error(), "larger than 100000 bytes") {
				t.Errorf("field %d: %v", i, err)
			}
		} else if got := written(t, v); err != nil || len(got) < 10*c.authors {
			t.Errorf("field %d: %d bytes, %v", i, len(got), err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
			t.Errorf("field %d: %d bytes were allocated", i, used)
		}
	}
}

// TestFieldErrors checks that a field that fails for one parent is null with an error at its path, and that the null
// takes the place of the next nullable value if the field is non-null. What has been read for other parents remains.
func TestFieldErrors(t *testing.T) {
	t.Parallel()
	for query, c := range map[string]struct{ want, errors string }{
		`{authors{risky books(first:1){name}}}`: {
			`[{"risky":"safe Ann","books":[{"name":"B0"}]},{"risky":null,"books":[]},{"risky":"safe ` +
				`Cid","books":[{"name":"B1"}]}]`, "[1].risky: Bob fails",
		},
		`{authors{mustWork books(first:1){name}}}`: {`null`, "[1].mustWork: Bob fails"},
		`{authors{favourite{...on Author{mustWork} name} books{name}}}`: {`[{"favourite":{"name":"B1"},` +
			`"books":[{"name":"B0"},{"name":"B2"}]},{"favourite":{"mustWork":"safe ` +
			`Ann","name":"Ann"},"books":[]},{"favourite":null,"books":[{"name":"B1"},{"name":"B3"},` +
			`{"name":"B4"}]}]`, ""},
		`{authors{name needed{name author{name}} books(first:1){name}}}`: {
			`null`,
			"[0].needed[1]: a value is null that must not be",
		},
		`{authors{books(first:1){author{mustWork risky}} stored{name}}}`: {`[{"books":[{"author":{"mustWork":"safe ` +
			`Ann","risky":"safe Ann"}}],"stored":[{"name":"B0"},null]},{"books":[],"stored":null},` +
			`{"books":[{"author":{"mustWork":"safe Cid","risky":"safe Cid"}}],"stored":null}]`, ""},
	} {
		l := newLibrary(t)
		ctx := operation(t, query, nil, new(rowplan.Store))
		got, err := l.tables.Apply(ctx, l.authors)
		if err != nil {
			t.Fatal(err)
		}
		var errs []string
		for _, e := range graphql.GetErrors(ctx) {
			errs = append(errs, rowplan.PathOf(e.Unwrap()).String()+": "+
				strings.TrimPrefix(e.Message, "input: authors "))
		}
		if text, failed := written(t, got), strings.Join(errs, ", "); text != c.want || failed != c.errors {
			t.Errorf("%s: %s, %s", query, text, failed)
		}
	}
	l := newLibrary(t)
	ctx := operation(t, `{authors{name risky}}`, nil)
	got, err := l.tables.Apply(ctx, []*author{{name: "Panic"}})
	if err != nil || written(t, got) != `[{"name":"Panic","risky":null}]` || len(graphql.GetErrors(ctx)) != 1 {
		t.Errorf("a panic: %v, %v", err, graphql.GetErrors(ctx))
	}
	if text := (rowplan.ParentErrors{nil, errors.New("one")}).Error(); text != "one" {
		t.Error(text)
	}
}

// TestParts checks that later parts of a response read only what is missing, and have the errors of single rows.
func TestParts(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	ctx := operation(t, `{authors{books{name}}}`, nil, rowplan.NewPartsStore())
	if _, err := l.tables.Apply(ctx, l.authors[:1]); err != nil || len(l.statements) != 1 {
		t.Fatalf("%v, %v", l.statements, err)
	}
	got, err := l.tables.Apply(ctx, l.authors)
	if err != nil || len(l.statements) != 2 {
		t.Fatalf("%v, %v", l.statements, err)
	}
	if text := written(t,
		got); text != `[{"books":[{"name":"B0"},{"name":"B2"}]},{"books":[]},{"books":[{"name":"B1"},{"name":"B3"},`+
		`{"name":"B4"}]}]` {
		t.Error(text)
	}
	if _, err := l.tables.Apply(ctx, l.authors); err != nil || len(l.statements) != 2 {
		t.Errorf("%v, %v", l.statements, err)
	}
	if !rowplan.SelectionOf(ctx).Has("anything") || !rowplan.SelectionOf(ctx).HasOther("books") {
		t.Error("Has and HasOther must assume that later parts select more fields")
	}
	ctx = operation(t, `{authors{risky}}`, nil, rowplan.NewPartsStore())
	for n := range 2 {
		got, err := l.tables.Apply(ctx, l.authors)
		const want = `[{"risky":"safe Ann"},{"risky":null},{"risky":"safe Cid"}]`
		if err != nil || written(t, got) != want || len(graphql.GetErrors(ctx)) != n+1 {
			t.Errorf("an error of a row: %v, %v, %v", got, err, graphql.GetErrors(ctx))
		}
	}
}

// TestSelection looks into fragments and merged fields.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := rowplan.SelectionOf(operation(t,
		`{authors{name ...A ...on Author{books{author{name}}}}} fragment A on Author{books{name} tags}`, nil))
	books := s.Below("books")
	if !s.Has("tags") || s.Has("nicks") || !books.Has("name") || !books.Below("author").Has("name") ||
		books.Has("tags") {
		t.Error("Has or Below is wrong")
	}
	if s.HasOther("name", "tags", "books") || !s.HasOther("name") {
		t.Error("HasOther is wrong")
	}
}

// TestStream checks that subscribers with the same selection share what is read for an event.
func TestStream(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	doc := gqlparser.MustLoadQueryWithRules(schema,
		`subscription($n:Int!,$unused:Int){news(from:$unused){name books(first:$n){name}}}`, rules.NewDefaultRules())
	l.tables.Plans.Add(doc)
	subscribe := func(variables map[string]any, events ...*author) string {
		t.Helper()
		channel := make(chan *author, len(events))
		for _, e := range events {
			channel <- e
		}
		close(channel)
		ctx := contextOf(t, doc, variables)
		var stream <-chan *author = channel
		v, err := l.tables.Apply(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		next := v.(func(context.Context) graphql.Marshaler)
		var out strings.Builder
		for m := next(ctx); m != nil; m = next(ctx) {
			m.MarshalGQL(&out)
		}
		for _, e := range graphql.GetErrors(ctx) {
			out.WriteString(e.Message)
		}
		return out.String()
	}
	for unused := range int64(3) {
		want := `{"news":{"name":"Ann","books":[{"name":"B0"}]}}`
		if got := subscribe(map[string]any{"n": int64(1), "unused": unused}, l.authors[0]); got != want ||
			len(l.statements) != 1 {
			t.Errorf("%s, %v", got, l.statements)
		}
	}
	if got := subscribe(map[string]any{"n": int64(2)}, l.authors[0], l.authors[2]); len(l.statements) != 3 {
		t.Errorf("%s, %v", got, l.statements)
	}
	waiting := make(chan *author, 2)
	waiting <- l.authors[0]
	waiting <- l.authors[1]
	var source <-chan *author = waiting
	v, err := l.tables.Apply(contextOf(t, doc, map[string]any{"n": int64(1)}), source)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		var own rowplan.Store
		v.(func(context.Context) graphql.Marshaler)(values.Context(contextOf(t, doc, map[string]any{"n": int64(1)}),
			own.Value()))
		if own.More != want {
			t.Errorf("another event is waiting: %t", own.More)
		}
	}
	l.fail = errors.New("the database failed")
	if got := subscribe(map[string]any{"n": int64(3)}, l.authors[0]); !strings.Contains(got, `{"news":null}`) ||
		!strings.Contains(got, "the database failed") {
		t.Error(got)
	}
	l.fail = nil
	if got := subscribe(map[string]any{"n": int64(3)}, l.authors[0]); !strings.Contains(got, "B2") {
		t.Errorf("after an error: %s", got)
	}
	ended, cancel := context.WithCancel(contextOf(t, doc, nil))
	var channel <-chan *author = make(chan *author)
	v, _ = l.tables.Apply(ended, channel)
	cancel()
	if v.(func(context.Context) graphql.Marshaler)(ended) != nil {
		t.Error("the stream continues after its context ended")
	}
}
