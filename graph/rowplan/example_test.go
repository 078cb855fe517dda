package rowplan_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/profile"
)

type (
	topic   struct{ id, creator int64 }
	account struct{ memo string }
)

// statements are those of one level of an operation. A batch of the storage would send them to PostgreSQL.
type statements []func()

// Run implements [rowplan.Batch].
func (s *statements) Run(context.Context) error {
	fmt.Println("round trip with", len(*s), "statement")
	for _, run := range *s {
		run()
	}
	return nil
}

// Mark implements [rowplan.Batch]. Only recorded statements have marks.
func (*statements) Mark(*profile.Place) {}

// A plan reads the accounts of both topics with one statement, and then writes the JSON of the whole list.
func Example() {
	stored := map[int64]*account{7: {"treasury"}, 8: {"operator"}}

	accounts := rowplan.NewObject([]string{"Account"}, map[string]rowplan.Field[*account]{
		"memo": rowplan.Scalar(func(dst []byte, a *account, s scalar.Style) []byte {
			return scalar.AppendString(dst, a.memo, s)
		}),
	})
	creator := &rowplan.Relation[*topic, *account]{
		Load: func(_ context.Context, q rowplan.Request, of []*topic, _ any) (rowplan.Results[*account], error) {
			found := make([]*account, len(of))
			queue := q.Batch.(*statements)
			*queue = append(*queue, func() {
				for i, t := range of {
					found[i] = stored[t.creator]
				}
			})
			return func() ([]*account, error) { return found, nil }, nil
		},
	}
	topics := rowplan.NewObject([]string{"Topic"}, map[string]rowplan.Field[*topic]{
		"id": rowplan.Get(func(t *topic) string { return fmt.Sprint("0.0.", t.id) },
			rowplan.ScalarOf(scalar.AppendString)),
		"creator": rowplan.Read(creator, rowplan.ObjectOf(func() *rowplan.Object[*account] { return accounts })),
	})
	tables := rowplan.NewTables(func() rowplan.Batch { return new(statements) })
	rowplan.Register(tables, topics)

	// What the resolver of topics has returned becomes what marshals the field.
	field := rootField(`{ topics { id creator { memo } } }`)
	json, err := tables.Apply(field, []*topic{{4001, 7}, {4002, 8}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var response bytes.Buffer
	json.(graphql.Marshaler).MarshalGQL(&response)
	fmt.Println(response.String())
	// Output:
	// round trip with 1 statement
	// [{"id":"0.0.4001","creator":{"memo":"treasury"}},{"id":"0.0.4002","creator":{"memo":"operator"}}]
}

// rootField returns the context in which gqlgen resolves the root field of a document.
func rootField(document string) context.Context {
	doc := gqlparser.MustLoadQueryWithRules(gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { topics: [Topic!]! }
		type Topic { id: String! creator: Account }
		type Account { memo: String! }`}), document, rules.NewDefaultRules())
	field := doc.Operations[0].SelectionSet[0].(*ast.Field)
	ctx := graphql.WithOperationContext(context.Background(), &graphql.OperationContext{
		Doc: doc, Operation: doc.Operations[0],
	})
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Object: "Query", Field: graphql.CollectedField{Field: field, Selections: field.SelectionSet},
	})
}
