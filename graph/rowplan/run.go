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

	"heliograph/graph/fault"
	"heliograph/graph/scalar"
	"heliograph/internal/base/admission"
)

// Tables are the tables of all objects, by the Go types that resolvers return.
type Tables struct {
	Plans    Plans
	Buffers  Buffers
	NewBatch func() Batch
	// MaxResponse is the maximum number of bytes that the plans of one operation write. An operation that exceeds it fails. The default is [DefaultMaxResponse].
	MaxResponse int
	// Off leaves responses to gqlgen's executor. Relations are then loaded level by level with dataloaders.
	Off     bool
	entries map[reflect.Type]entry
	shared  shared
}

// DefaultMaxResponse is the default of [Tables.MaxResponse]: 16 MiB.
const DefaultMaxResponse = 16 << 20

// NewTables returns tables without objects.
func NewTables(newBatch func() Batch) *Tables {
	return &Tables{NewBatch: newBatch, MaxResponse: DefaultMaxResponse, entries: map[reflect.Type]entry{}}
}

// Register adds the plans of fields that return a T, a list of them or a stream of them.
func Register[T any](t *Tables, o *Object[T]) {
	object := ObjectOf(func() *Object[T] { return o })
	add(t, object)
	add(t, ListOf(object))
	addStream(t, object)
}

// RegisterList adds the plans of fields that return a list of values of an interface.
func RegisterList[I any](t *Tables, element Shape[I]) { add(t, ListOf(element)) }

// entry is a type that resolvers return.
type entry struct {
	// apply plans the field of fc, whose resolver has returned v.
	apply func(ctx context.Context, fc *graphql.FieldContext, v any) (any, error)
	// lookup is a func(context.Context, graphql.CollectedField) *plan[V]. It returns the plan of a field.
	lookup any
}

func add[V any](t *Tables, shape Shape[V]) {
	id := new(identity)
	find := func(ctx context.Context, f graphql.CollectedField) *plan[V] { return lookup(ctx, t, id, shape, f) }
	t.entries[reflect.TypeFor[V]()] = entry{lookup: find, apply: func(ctx context.Context, fc *graphql.FieldContext, v any) (any, error) {
		value, _ := v.(V)
		return start(ctx, t, find(ctx, fc.Field), fc, value)
	}}
}

// identity distinguishes entries by its address, which is unique because its size is not zero.
type identity struct{ _ byte }

// Apply returns what resolves a field after its resolver has returned v: a marshaler that writes the plan's JSON, or v for gqlgen's executor.
func (t *Tables) Apply(ctx context.Context, v any) (any, error) {
	fc := graphql.GetFieldContext(ctx)
	if !fc.IsResolver {
		return v, nil
	}
	e, ok := t.entries[reflect.TypeOf(v)]
	if !ok {
		return v, nil
	}
	return e.apply(ctx, fc, v)
}

// Plans caches the compiled plans of documents. The plans of documents that were not added are compiled for each operation.
type Plans struct {
	documents sync.Map // *ast.QueryDocument → *sync.Map of planKey → *plan[V]
}

// Add starts to cache the plans of a document.
func (p *Plans) Add(doc *ast.QueryDocument) { p.documents.LoadOrStore(doc, &sync.Map{}) }

// Remove removes the plans of a document from the cache.
func (p *Plans) Remove(doc *ast.QueryDocument) { p.documents.Delete(doc) }

// planKey identifies a plan. A field with an interface type has one for each type of object that it returns.
type planKey struct {
	field *ast.Field
	entry *identity
}

// plan is the compiled selection set of a field that returns a V.
type plan[V any] struct {
	node[V]
	slots       int
	conditions  []condition
	oneByOne    bool         // a field is read for each parent separately, and may fail for one of them
	unsupported bool         // gqlgen's executor has to resolve the field, because of a directive or a field
	size        atomic.Int64 // of the largest response so far, in bytes
}

// lookup returns the plan of a field. If gqlgen has merged the field of several selections, its plan is compiled each time.
func lookup[V any](ctx context.Context, t *Tables, id *identity, shape Shape[V], f graphql.CollectedField) *plan[V] {
	merged := len(f.Selections) != len(f.SelectionSet)
	cached, ok := t.Plans.documents.Load(graphql.GetOperationContext(ctx).Doc)
	if !ok || merged {
		return compile(shape, f)
	}
	plans := cached.(*sync.Map)
	key := planKey{f.Field, id}
	if p, ok := plans.Load(key); ok {
		return p.(*plan[V])
	}
	p, _ := plans.LoadOrStore(key, compile(shape, f))
	return p.(*plan[V])
}

func compile[V any](shape Shape[V], f graphql.CollectedField) *plan[V] {
	c := &compiler{}
	whole := *f.Field
	whole.SelectionSet = f.Selections
	n := shape.compile(c, &whole)
	return &plan[V]{node: n, slots: c.slots, conditions: c.conditions, oneByOne: c.oneByOne, unsupported: c.unsupported}
}

// run is one execution of a plan.
type run struct {
	tables      *Tables
	store       *Store
	variables   map[string]any
	style       scalar.Style
	holds       []bool // the conditions of the plan that hold
	slots       []any  // results of relations and arguments of computed fields
	batch       Batch  // of the level; nil before its first statement
	after       []func(context.Context) error
	byLoaders   bool  // dataloaders load the rows, for gqlgen's executor
	readsStore  bool  // results may be in the store
	writesStore bool  // results go to the store
	failed      error // the errors of single parents
	loaded      bool  // by Ahead
	most        int   // the maximum length of the JSON in bytes; lists end there
}

func newRun[V any](ctx context.Context, t *Tables, p *plan[V], nested bool) *run {
	r := &run{
		tables: t, variables: graphql.GetOperationContext(ctx).Variables, style: scalar.EnvOf(ctx).Style, byLoaders: t.Off || p.unsupported,
		most: t.MaxResponse,
	}
	r.holds = evaluate(p.conditions, r.variables)
	if p.load != nil {
		r.slots = make([]any, p.slots)
		r.store = storeOf(ctx)
		r.readsStore = r.store.inParts || nested && r.store.used()
		r.writesStore = r.store.inParts || p.oneByOne
	}
	return r
}

// level returns the batch of the level that is being queued.
func (r *run) level() Batch {
	if r.batch == nil {
		r.batch = r.tables.NewBatch()
	}
	return r.batch
}

// finish sends one batch per level of relations.
func (r *run) finish(ctx context.Context) error {
	for len(r.after) > 0 {
		if r.batch != nil && r.batch.Len() > 0 {
			if err := r.batch.Run(ctx); err != nil {
				return loading(err)
			}
			r.batch = nil
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

func loading(err error) error { return fmt.Errorf("loading related rows: %w", err) }

// start loads the related rows of v that the selection of a field needs, and returns the marshaler that writes v. If gqlgen's executor has to resolve the
// field, start returns v, and the store has what has been loaded.
func start[V any](ctx context.Context, t *Tables, p *plan[V], fc *graphql.FieldContext, v V) (any, error) {
	r := storeOf(ctx).takeAhead(fc)
	if r == nil {
		r = newRun(ctx, t, p, fc.Parent != nil && fc.Parent.Parent != nil) // a root field is resolved once
	}
	if p.load != nil && !r.loaded {
		if err := p.load(ctx, r, []V{v}); err != nil {
			return nil, err
		}
		if err := r.finish(ctx); err != nil {
			return nil, err
		}
	}
	if r.byLoaders || r.failed != nil {
		return v, nil //nolint:nilerr // the executor reports the error at the path of the parent that failed
	}
	return graphql.WriterFunc(func(w io.Writer) { p.marshal(ctx, w, r, v) }), nil
}

// marshal writes the JSON of v. If the response becomes too large, it adds an error and writes null.
func (p *plan[V]) marshal(ctx context.Context, w io.Writer, r *run, v V) {
	buf, ok := w.(*bytes.Buffer)
	if !ok {
		buf = new(bytes.Buffer)
	}
	admission.Of(ctx).Build(ctx)
	written := &storeOf(ctx).written
	r.most = r.tables.MaxResponse - int(written.Load())
	r.tables.Buffers.grow(buf, int(p.size.Load())+slack)
	b := p.put(buf.AvailableBuffer(), r, v)
	switch n := int64(len(b)); {
	case written.Add(n) > int64(r.tables.MaxResponse):
		graphql.AddError(ctx, TooLarge(r.tables.MaxResponse))
		b = append(b[:0], "null"...)
	case n > p.size.Load():
		p.size.Store(n)
	}
	buf.Write(b)
	if !ok {
		_, _ = w.Write(buf.Bytes()) // gqlgen's writers are in memory
	}
}

// TooLarge returns the error of a response that has more bytes than the maximum.
func TooLarge(most int) error {
	return &fault.Error{Code: fault.TooComplex, Message: fmt.Sprintf("the response is larger than %d bytes: request smaller pages or fewer fields", most)}
}

// slack is the size in bytes of what follows the JSON of a plan in a response.
const slack = 512

// Sizes in bytes of the buffers that are reused. Smaller ones are cheap to allocate, and no response is larger by default. The collector frees unused ones.
const (
	minReused = 1 << 10
	maxReused = 16 << 20
)

// Buffers reuses the memory of responses that have been sent.
type Buffers struct {
	pool sync.Pool // of *[]byte
}

// Put returns the memory of a response to the pool. The caller must not use it any more.
func (b *Buffers) Put(response []byte) {
	if c := cap(response); c >= minReused && c <= maxReused {
		free := response[:0]
		b.pool.Put(&free)
	}
}

// grow makes sure that n more bytes fit into buf without another allocation. The memory that buf had goes back to the pool.
func (b *Buffers) grow(buf *bytes.Buffer, n int) {
	if buf.Available() >= n {
		return
	}
	n += buf.Len()
	free, _ := b.pool.Get().(*[]byte)
	if free == nil || cap(*free) < n {
		memory := make([]byte, 0, n)
		free = &memory
	}
	old := buf.Bytes()
	*buf = *bytes.NewBuffer(append(*free, old...))
	b.Put(old)
}
