package rowplan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/scalar"
)

// run is one execution of a plan.
type run struct {
	slots     []any // the results of relations
	variables map[string]any
	holds     []bool // whether the conditions of the plan let their fields through
	style     scalar.Style
	remembers bool // results are also kept: for gqlgen's resolvers, or for later parts of the answer
	recalls   bool // results may be known already
	store     *Store
	batch     Batch
	newBatch  func() Batch
	after     []func(context.Context) error // what to do when the batch has run
}

// finish sends batch after batch until nothing waits: one round trip for each level of relations.
func (r *run) finish(ctx context.Context) error {
	for len(r.after) > 0 {
		if r.batch.Len() > 0 {
			if err := r.batch.Run(ctx); err != nil {
				return fmt.Errorf("loading related rows: %w", err)
			}
			r.batch = r.newBatch()
		}
		after := r.after
		r.after = nil
		for _, f := range after {
			if err := f(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// plan is a compiled selection set of a field that yields a T.
type plan[T any] struct {
	node[T]
	slots      int
	conditions []conditions
	partial    bool
	size       atomic.Int64 // of the largest answer so far, in bytes
}

// entry starts the plan of a Go type.
type entry func(ctx context.Context, t *Tables, fc *graphql.FieldContext, v any) (any, error)

// Plans are the compiled plans of the documents that are kept; a document that is not kept is compiled each time.
type Plans struct {
	documents sync.Map // *ast.QueryDocument → *sync.Map of planKey → *plan[T]
}

// Keep starts to keep the plans of a document.
func (p *Plans) Keep(doc *ast.QueryDocument) { p.documents.LoadOrStore(doc, &sync.Map{}) }

// Forget drops the plans of a document.
func (p *Plans) Forget(doc *ast.QueryDocument) { p.documents.Delete(doc) }

// Apply answers a field whose resolver has returned v from a plan, or loads what it can and returns v for gqlgen to go on with.
func (t *Tables) Apply(ctx context.Context, v any) (any, error) {
	fc := graphql.GetFieldContext(ctx)
	if t.Off || !fc.IsResolver {
		return v, nil
	}
	start, ok := t.entries[reflect.TypeOf(v)]
	if !ok {
		return v, nil
	}
	return start(ctx, t, fc, v)
}

// oneEntry plans fields that yield a T.
func oneEntry[T any](o *Object[T]) entry {
	return func(ctx context.Context, t *Tables, fc *graphql.FieldContext, v any) (any, error) {
		row, _ := v.(T)
		if isNil(row) {
			return v, nil
		}
		return start(ctx, t, o, fc, v, []T{row}, func(r *run, p *plan[T], dst []byte) []byte { return p.put(dst, r, row) })
	}
}

// manyEntry plans fields that yield a []T.
func manyEntry[T any](o *Object[T]) entry {
	return func(ctx context.Context, t *Tables, fc *graphql.FieldContext, v any) (any, error) {
		rows, _ := v.([]T)
		return start(ctx, t, o, fc, v, present(rows), func(r *run, p *plan[T], dst []byte) []byte { return putList(dst, r, rows, p.put) })
	}
}

// start loads what the field's selection needs for rows, and returns the marshaler that writes it; v itself where the plan is partial.
func start[T any](ctx context.Context, t *Tables, o *Object[T], fc *graphql.FieldContext, v any, rows []T, write func(*run, *plan[T], []byte) []byte) (any, error) {
	oc := graphql.GetOperationContext(ctx)
	p := lookup(t, o, oc.Doc, fc.Field)
	if p.partial && p.load == nil {
		return v, nil
	}
	r := &run{slots: make([]any, p.slots), variables: oc.Variables, holds: evaluate(p.conditions, oc.Variables), style: scalar.EnvOf(ctx).Style}
	if p.load != nil {
		r.store, r.newBatch = storeOf(ctx), t.NewBatch
		inParts := r.store != nil && r.store.inParts
		r.remembers, r.recalls = p.partial || inParts, inParts || fc.Parent != nil && fc.Parent.Parent != nil // a root field is read once
		r.batch = r.newBatch()
		if err := p.load(ctx, r, rows); err != nil {
			return nil, err
		}
		if err := r.finish(ctx); err != nil {
			return nil, err
		}
	}
	if p.partial {
		return v, nil
	}
	return graphql.WriterFunc(func(w io.Writer) {
		buf, ok := w.(*bytes.Buffer)
		if !ok {
			buf = new(bytes.Buffer)
		}
		t.Buffers.room(buf, int(p.size.Load())+slack)
		b := write(r, p, buf.AvailableBuffer())
		buf.Write(b)
		if n := int64(len(b)); n > p.size.Load() {
			p.size.Store(n)
		}
		if !ok {
			_, _ = w.Write(buf.Bytes()) // the writers that gqlgen hands out are in memory
		}
	}), nil
}

// slack is room behind an answer, in bytes, for the end of the document and for what a caller may have to append.
const slack = 512

// lookup returns the plan of a field. A field that gqlgen has merged of several selections has none of its own.
func lookup[T any](t *Tables, o *Object[T], doc *ast.QueryDocument, f graphql.CollectedField) *plan[T] {
	merged := len(f.Selections) != len(f.SelectionSet)
	kept, ok := t.Plans.documents.Load(doc)
	if !ok || merged {
		return compile(o, f.Selections)
	}
	plans := kept.(*sync.Map)
	key := planKey{f.Field, o}
	if p, ok := plans.Load(key); ok {
		return p.(*plan[T])
	}
	p, _ := plans.LoadOrStore(key, compile(o, f.Selections))
	return p.(*plan[T])
}

// planKey is what a plan is kept by: a field that yields an interface has a plan for each type of object that it yields.
type planKey struct {
	field  *ast.Field
	object any // *Object[T]
}

func compile[T any](o *Object[T], set ast.SelectionSet) *plan[T] {
	c := &compiler{}
	n := o.compile(c, set)
	return &plan[T]{node: n, slots: c.slots, conditions: c.all, partial: c.partial}
}
