package rowplan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/fault"
	"heliograph/graph/scalar"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/profile"
)

// Tables are the tables of all objects, by the Go types that resolvers return.
type Tables struct {
	Plans    Plans
	Buffers  Buffers
	NewBatch func() Batch
	// MaxResponse is the maximum number of bytes that the plans of one operation write. An operation that exceeds it
	// fails. The default is [DefaultMaxResponse].
	MaxResponse int
	entries     map[reflect.Type]entry
	shared      shared
}

// DefaultMaxResponse is the default of [Tables.MaxResponse]: 16 MiB.
const DefaultMaxResponse = 16 << 20

// NewTables returns tables to which no object type of the schema has been added. newBatch returns the batch that
// collects the statements of a level.
func NewTables(newBatch func() Batch) *Tables {
	return &Tables{NewBatch: newBatch, MaxResponse: DefaultMaxResponse, entries: map[reflect.Type]entry{}}
}

// Register adds an object to the tables, so that fields that return a T, a list of them or a stream of them have
// plans. Call it before requests are served: no lock protects the tables.
func Register[T any](t *Tables, o *Object[T]) {
	object := ObjectOf(func() *Object[T] { return o })
	add(t, object)
	add(t, ListOf(object))
	addStream(t, object)
}

// RegisterList adds an interface or union to the tables, so that fields that return a list of its values have plans.
// Call it before requests are served, as [Register].
func RegisterList[I any](t *Tables, element Shape[I]) { add(t, ListOf(element)) }

// entry is a type that resolvers return.
type entry struct {
	// apply plans the field of fc, whose resolver has returned v.
	apply func(ctx context.Context, fc *graphql.FieldContext, v any) (any, error)
	// lookup is a func(context.Context, graphql.CollectedField) *plan[V]. It returns the plan of a field.
	lookup any
}

// add adds a type to the tables: how its plans are found, and how they are applied to a value of a resolver. It
// replaces an earlier entry of the type, and takes no lock.
func add[V any](t *Tables, shape Shape[V]) {
	id := new(identity)
	find := func(ctx context.Context, f graphql.CollectedField) *plan[V] { return lookup(ctx, t, id, shape, f) }
	t.entries[reflect.TypeFor[V]()] = entry{
		lookup: find,
		apply: func(ctx context.Context, fc *graphql.FieldContext, v any) (any, error) {
			value, _ := v.(V)
			return start(ctx, t, find(ctx, fc.Field), fc, value)
		},
	}
}

// identity distinguishes entries by its address, which is unique because its size is not zero.
type identity struct{ _ byte }

// Apply executes the plan of the context's field for v, which its resolver returned. It loads related rows, and
// returns a marshaler with the JSON, or v unchanged if no object is registered for its type. For a channel of events,
// it returns a function; see [addStream]. The error is that of loading or of a response that is too large. It may be
// called concurrently.
func (t *Tables) Apply(ctx context.Context, v any) (any, error) {
	e, ok := t.entries[reflect.TypeOf(v)]
	if !ok {
		return v, nil
	}
	return e.apply(ctx, graphql.GetFieldContext(ctx), v)
}

// Unplanned is gqlgen's marshaler for values that plans write. It panics: it is called for none, because
// [Tables.Apply] returns another marshaler.
func Unplanned(v any) graphql.Marshaler {
	panic(fmt.Sprintf("no plan writes %T", v)) // recovered as the error of the field
}

// Plans caches the compiled plans of documents. The plans of documents that were not added are compiled for each
// operation.
type Plans struct {
	documents sync.Map // *ast.QueryDocument → *sync.Map: planKey → *plan[V], and the results of [PerOperation]
}

// Add makes p cache the plans of a document until [Plans.Remove]. Plans of other documents are compiled each time.
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
	slots      int
	conditions []condition
	size       atomic.Int64 // of the largest response so far, in bytes
}

// lookup returns the plan of a field, which it compiles on first use. It keeps it in t if the document was added to
// the plans; otherwise, and if gqlgen has merged the field of several selections, it compiles the plan each time.
func lookup[V any](ctx context.Context, t *Tables, id *identity, shape Shape[V], f graphql.CollectedField) *plan[V] {
	if merged := len(f.Selections) != len(f.SelectionSet); merged {
		return compile(shape, f)
	}
	return once(ctx, &t.Plans, planKey{f.Field, id}, func() *plan[V] { return compile(shape, f) })
}

// PerOperation returns what compute returns for the operation of ctx. If its document was added to p, the result is
// kept until that is removed, and requests share it; otherwise it is computed each time.
func PerOperation[V any](ctx context.Context, p *Plans, compute func(*ast.OperationDefinition) V) V {
	op := graphql.GetOperationContext(ctx).Operation
	return once(ctx, p, op, func() V { return compute(op) })
}

// once returns what compute returns for a key, which is computed once for documents that were added to p, and each
// time for others. Two operations that start at the same time can both compute it.
func once[K comparable, V any](ctx context.Context, p *Plans, key K, compute func() V) V {
	cached, ok := p.documents.Load(graphql.GetOperationContext(ctx).Doc)
	if !ok {
		return compute()
	}
	plans := cached.(*sync.Map)
	if v, ok := plans.Load(key); ok {
		return v.(V)
	}
	v, _ := plans.LoadOrStore(key, compute())
	return v.(V)
}

// compile returns the plan for a field of an operation, for [lookup], which keeps it. It reads the document and the
// tables, and changes neither.
func compile[V any](shape Shape[V], f graphql.CollectedField) *plan[V] {
	c := &compiler{}
	whole := *f.Field
	whole.SelectionSet = f.Selections
	n := shape.compile(c, &whole)
	return &plan[V]{node: n, slots: c.slots, conditions: c.conditions}
}

// run is one execution of a plan.
type run struct {
	tables    *Tables
	store     *Store
	variables map[string]any
	style     scalar.Style
	holds     []bool // the conditions of the plan that hold
	slots     []any  // results of relations and arguments of computed fields
	batch     Batch  // of the level; nil before its first statement
	after     []func(context.Context) error
	loaded    bool                 // by Ahead
	depth     int                  // level of the batch; what a plan reads itself is on level 1
	cancels   []context.CancelFunc // see [Request.Ending]
	most      int                  // the maximum length of the JSON in bytes; lists end there
	// tracing makes the writer keep the path and collect errors. Without it, nulls are written without errors, and the
	// writer starts again with it.
	tracing bool
	path    ast.Path
	failed  []error // with the paths of their fields
	nulls   int     // in non-null places
}

// newRun returns the state of one execution of a plan: variables, style of scalars, conditions of directives, and
// places for the results of relations. It reads the operation, the store and the style from ctx.
func newRun[V any](ctx context.Context, t *Tables, p *plan[V]) *run {
	r := &run{
		tables: t, store: storeOf(ctx), variables: graphql.GetOperationContext(ctx).Variables,
		style: scalar.EnvOf(ctx).Style, most: t.MaxResponse, depth: 2,
	}
	r.holds = evaluate(p.conditions, r.variables)
	if p.load != nil {
		r.slots = make([]any, p.slots)
	}
	return r
}

// leave removes the last step of the path, which is recorded only while errors are traced.
func (r *run) leave() {
	if r.tracing {
		r.path = r.path[:len(r.path)-1]
	}
}

// fail adds an error of the field that is being written to those of the response, with the current path, which is
// complete only while errors are traced.
func (r *run) fail(err error) {
	r.failed = append(r.failed, &fieldError{slices.Clone(r.path), err})
}

// missing records that the field or the element that is being written is null, but must not be. While errors are
// traced, it adds an error if there is none for the field.
func (r *run) missing() {
	r.nulls++
	isBelow := func(err error) bool { return HasPrefix(PathOf(err), r.path) }
	if r.tracing && !slices.ContainsFunc(r.failed, isBelow) {
		r.fail(errNull)
	}
}

var errNull = errors.New("a value is null that must not be")

// HasPrefix reports whether a path starts with another.
func HasPrefix(path, prefix ast.Path) bool {
	return len(prefix) <= len(path) && slices.Equal(prefix, path[:len(prefix)])
}

// level returns the batch of the level that is being queued, which it creates on the first call.
func (r *run) level() Batch {
	if r.batch == nil {
		r.batch = r.tables.NewBatch()
	}
	return r.batch
}

// mark returns the context in which a field is read. If statements are recorded, it also marks those that are added to
// the batch from now on with the field's path and level.
func (r *run) mark(ctx context.Context, path ast.Path) context.Context {
	if !r.store.Recorded {
		return ctx
	}
	field := slices.Concat(graphql.GetPath(ctx), path).String()
	// one statement reads the field for all rows
	at := &profile.Place{Field: strings.ReplaceAll(field, "[0]", ""), Level: r.depth}
	r.level().Mark(at)
	return at.Context(ctx)
}

// finish runs the batch of each level and then what waits for its results, which may begin the next level, until no
// relation is left. It stops at the first error. It does not end the contexts of [Request.Ending].
func (r *run) finish(ctx context.Context) error {
	for len(r.after) > 0 {
		if r.batch != nil {
			if err := r.batch.Run(ctx); err != nil {
				return fmt.Errorf("loading related rows: %w", err)
			}
			r.batch = nil
		}
		r.depth++
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

// end ends the contexts that [Request.Ending] has returned in this run, once its rows have been read or that has
// failed.
func (r *run) end() {
	for _, cancel := range r.cancels {
		cancel()
	}
}

// start loads the related rows of v that the selection of a field needs, and returns a marshaler with the JSON of v.
// It waits until the client may build another response before it writes, and fails if the responses of the operation
// are too large. The JSON is written here and not by the marshaler, so that a null can take the place of the whole
// field. Errors of single fields are added to the response of ctx. If the JSON is null, it returns [graphql.Null].
func start[V any](ctx context.Context, t *Tables, p *plan[V], fc *graphql.FieldContext, v V) (any, error) {
	ctx = scopeOf(ctx, v)
	r := storeOf(ctx).takeAhead(fc)
	if r == nil {
		r = newRun(ctx, t, p)
	}
	if err := p.read(ctx, r, v); err != nil {
		return nil, err
	}
	if err := admission.Of(ctx).Build(ctx); err != nil {
		return nil, err
	}
	written := &r.store.written
	r.most = t.MaxResponse - int(written.Load())
	b := p.write(t.Buffers.get(int(p.size.Load())+slack), r, v)
	if written.Add(int64(len(b))) > int64(t.MaxResponse) {
		return nil, TooLarge(t.MaxResponse)
	}
	for _, err := range r.failed {
		graphql.AddError(ctx, err)
	}
	if isNull(b) {
		return graphql.Null, nil
	}
	return &response{b, &t.Buffers}, nil
}

// read loads the related rows of v, if they are not loaded yet. At the end, also after an error, it ends the contexts
// of [Request.Ending].
func (p *plan[V]) read(ctx context.Context, r *run, v V) error {
	if p.load == nil || r.loaded {
		return nil
	}
	defer r.end()
	if err := p.load(ctx, r, []V{v}); err != nil {
		return err
	}
	return r.finish(ctx)
}

// write appends the JSON of v, whose relations have been read, to dst, which must be empty. If a null has to be
// reported it writes v twice, the second time with the paths of errors, which it leaves in r. It records the largest
// size in p.
func (p *plan[V]) write(dst []byte, r *run, v V) []byte {
	b := p.put(dst, r, v)
	if r.nulls > 0 && !r.tracing { // write it again for the errors
		r.tracing = true
		for _, slot := range r.slots {
			if results, ok := slot.(interface{ rewind() }); ok {
				results.rewind()
			}
		}
		b = p.put(b[:0], r, v)
	}
	if n := int64(len(b)); n > p.size.Load() {
		p.size.Store(n)
	}
	return b
}

// response is the JSON of a field. Its memory is reused after it has been written.
type response struct {
	json    []byte
	buffers *Buffers
}

// MarshalGQL implements graphql.Marshaler. It gives the memory of the response back to the pool, so it must be called
// once. If w is a [bytes.Buffer] without room for it, w gets other memory from the pool.
func (m *response) MarshalGQL(w io.Writer) {
	if buf, ok := w.(*bytes.Buffer); ok {
		m.buffers.grow(buf, len(m.json)+slack)
	}
	_, _ = w.Write(m.json) // gqlgen's writers are in memory
	m.buffers.Put(m.json)
	m.json = nil
}

// TooLarge returns the QUERY_TOO_COMPLEX error of a response that has more bytes than the maximum.
func TooLarge(most int) error {
	return &fault.Error{
		Code:    fault.TooComplex,
		Message: fmt.Sprintf("the response is larger than %d bytes: request smaller pages or fewer fields", most),
	}
}

// slack is the size in bytes of what follows the JSON of a plan in a response.
const slack = 512

// Sizes in bytes of the buffers that are reused. Smaller ones are cheap to allocate, and no response is larger by
// default. The collector frees unused ones.
const (
	minReused = 1 << 10
	maxReused = 16 << 20
)

// Buffers reuses the memory of responses that have been sent. With new memory for each, REST lists of 25 rows take 7 %
// (messages), 11 % (accounts) and 16 % (transactions) more CPU time in BenchmarkWays of app/testing/bench, and
// allocate twice as many bytes.
type Buffers struct {
	pool sync.Pool // of *[]byte
}

// Put returns the memory of a response to the pool. The caller must not use it any more. It drops memory that is
// smaller than minReused or larger than maxReused.
func (b *Buffers) Put(response []byte) {
	if c := cap(response); c >= minReused && c <= maxReused {
		free := response[:0]
		b.pool.Put(&free)
	}
}

// get returns an empty slice with a capacity of at least n bytes, from the pool if the next one there fits. A smaller
// one is dropped.
func (b *Buffers) get(n int) []byte {
	free, _ := b.pool.Get().(*[]byte)
	if free == nil || cap(*free) < n {
		return make([]byte, 0, max(n, minReused)) // so that it can be reused
	}
	return *free
}

// grow makes sure that n more bytes fit into buf without another allocation. The memory that buf had goes back to the
// pool. The caller must not use earlier results of buf.Bytes any more.
func (b *Buffers) grow(buf *bytes.Buffer, n int) {
	if buf.Available() >= n {
		return
	}
	old := buf.Bytes()
	*buf = *bytes.NewBuffer(append(b.get(len(old)+n), old...))
	b.Put(old)
}
