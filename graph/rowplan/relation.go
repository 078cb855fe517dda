package rowplan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/profile"
)

// Batch collects statements that are sent to the database together.
type Batch interface {
	// Run sends them in one round trip and passes each its result. Without statements there is no round trip.
	Run(ctx context.Context) error
	// Mark sets the field that reads the statements which are added from now on. It is called only if they are
	// recorded.
	Mark(*profile.Place)
}

// Request is one read of a field for all parents of a level.
type Request struct {
	// Batch takes the statements of the level.
	Batch Batch
	// Selection is what is selected below the field.
	Selection Selection

	run *run
}

// Ending returns a context that ends when the rows of the plan have been read, or will not be. It is for goroutines
// that wait for the batch. For a request that is not of a plan, it returns ctx. It changes the run of the plan without
// a lock: only the Load that got q calls it, before it returns.
func (q Request) Ending(ctx context.Context) context.Context {
	if q.run == nil {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	q.run.cancels = append(q.run.cancels, cancel)
	return ctx
}

// Results returns one result per parent, in the order of the parents, once the batch has run. The error can be
// [ParentErrors].
type Results[R any] = func() ([]R, error)

// Relation is a field that is read for many parents at once.
type Relation[T, R any] struct {
	// Args reads the field's arguments, once for all parents. It is nil if the field has none.
	Args Args[any]
	// Load queues the statements that read the field for all parents. It may queue none.
	Load func(ctx context.Context, q Request, parents []T, args any) (Results[R], error)
}

// queue reads the arguments of a field and calls Load, which queues statements in the batch of q. The returned
// function has the results after the batch has run. Invalid arguments are an error, and then nothing is queued.
func (rel *Relation[T, R]) queue(
	ctx context.Context, q Request, f *ast.Field, variables map[string]any, parents []T,
) (Results[R], error) {
	var args any
	if rel.Args != nil {
		var err error
		if args, err = rel.Args(ctx, f, variables); err != nil {
			return nil, err
		}
	}
	return rel.Load(ctx, q, parents, args)
}

// fieldError is the error of a field below the field of a plan, for all parents. In lists it has the path of the first
// object.
type fieldError struct {
	path ast.Path
	error
}

// Unwrap returns the error of the field, without its path.
func (e *fieldError) Unwrap() error { return e.error }

// PathOf returns the path of the field that failed below the field of a plan, or nil for errors that have none.
func PathOf(err error) ast.Path {
	var of *fieldError
	if errors.As(err, &of) {
		return of.path
	}
	return nil
}

// ParentErrors are the errors of single parents: one element per parent, nil for those without an error.
type ParentErrors []error

// Error returns the messages of all parents, one a line. Clients see the error of each parent instead.
func (e ParentErrors) Error() string { return errors.Join(e...).Error() }

// OrNil returns the errors, or nil if no parent has one.
func (e ParentErrors) OrNil() error {
	if slices.ContainsFunc(e, func(err error) bool { return err != nil }) {
		return e
	}
	return nil
}

// OneByOne starts to read a field for each parent separately and concurrently, for example because each has its own
// limits. The reads do not wait for the batch of the level. The returned function waits for all of them; a panic is
// the error of its parent. The error of OneByOne itself is always nil. If the plan fails before, nothing waits, and
// the reads go on.
func OneByOne[T, R any](
	ctx context.Context, parents []T, read func(ctx context.Context, parent T) (R, error),
) (Results[R], error) {
	got, errs := make([]R, len(parents)), make(ParentErrors, len(parents))
	var done sync.WaitGroup
	for i, parent := range parents {
		done.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = graphql.GetOperationContext(ctx).Recover(ctx, p)
				}
			}()
			got[i], errs[i] = read(ctx, parent)
		})
	}
	return func() ([]R, error) {
		done.Wait()
		return got, errs.OrNil()
	}, nil
}

// Read returns a field of a table that the relation rel reads for all rows of a level, and whose JSON shape
// describes. If the read fails for one row, the field is null with the error there. An error for all rows fails the
// plan.
//
//go:noinline
func Read[T, R any](rel *Relation[T, R], shape Shape[R]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		slot, path := c.slot(), slices.Clone(c.path)
		inner := shape.compile(c, f)
		return node[T]{
			relations: []string{""},
			put: func(dst []byte, r *run, _ T) []byte {
				v, err := r.slots[slot].(*results[R]).take()
				if err != nil {
					r.fail(err)
					return append(dst, "null"...)
				}
				return inner.write(dst, r, v)
			},
			load: func(ctx context.Context, r *run, rows []T) error {
				return load(ctx, r, slot, path, f, rel, rows, inner.load)
			},
		}
	}}
}

// ReadMany returns a field with a list of objects that the relation rel reads. child returns the table of their
// fields. A nil list is empty.
//
//go:noinline
func ReadMany[T, C any](rel *Relation[T, []C], child func() *Object[C]) Field[T] {
	return Read(rel, ListOf(ObjectOf(child)))
}

// results are the results of a relation, and the errors of single parents or nil. Rows are written in the order in
// which they were loaded, so the writer takes one result after the other.
type results[R any] struct {
	rows []R
	errs ParentErrors
	next int
}

// take returns the result of the next row. Rows are written in the order in which they were read. A value beside an
// error has no meaning. take panics after the last row.
func (s *results[R]) take() (v R, err error) {
	at := s.next
	s.next++
	if s.errs != nil {
		err = s.errs[at]
	}
	return s.rows[at], err
}

// rewind makes take start again at the first row, to write the results a second time.
func (s *results[R]) rewind() { s.next = 0 }

// load queues the statements of a relation for rows. After the batch of the level has run, it stores the results in
// the slot and calls below with them. Without rows it queues nothing and calls below at once. An error for all
// parents fails the plan; those of single parents are stored.
func load[T, R any](
	ctx context.Context, r *run, slot int, path ast.Path, f *ast.Field, rel *Relation[T, R], rows []T,
	below func(context.Context, *run, []R) error,
) error {
	done := func(ctx context.Context, got []R, errs ParentErrors) error {
		r.slots[slot] = &results[R]{rows: got, errs: errs}
		if below == nil {
			return nil
		}
		return below(ctx, r, got)
	}
	if len(rows) == 0 {
		return done(ctx, nil, nil) // the relations below store empty results too
	}
	fetch, err := fetchOf(r.mark(ctx, path), r, f, rel, rows)
	if err != nil {
		return &fieldError{path, err}
	}
	r.after = append(r.after, func(ctx context.Context) error {
		got, err := fetch()
		var single ParentErrors
		switch {
		case errors.As(err, &single):
			r.tracing = true
		case err != nil:
			return &fieldError{path, err}
		case len(got) != len(rows):
			return &fieldError{path, fmt.Errorf("%d results for %d parents", len(got), len(rows))}
		}
		return done(ctx, got, single)
	})
	return nil
}

// fetchOf queues a relation for rows and returns the function that has its results. In a response that is sent in
// parts, it keeps them in the store, and what an earlier part has read is not read again. An error for all parents is
// not kept, so that a later part reads them again.
func fetchOf[T, R any](ctx context.Context, r *run, f *ast.Field, rel *Relation[T, R], rows []T) (Results[R], error) {
	below := Selection{set: f.SelectionSet, all: r.store.inParts}
	if !r.store.inParts {
		return rel.queue(ctx, Request{Batch: r.level(), Selection: below, run: r}, f, r.variables, rows)
	}
	at := func(row T) place { return place{f.Position, rel, row} }
	missing := slices.DeleteFunc(slices.Clone(rows), func(row T) bool {
		_, read := r.store.read.Load(at(row))
		return read
	})
	fetch := func() ([]R, error) { return nil, nil }
	if len(missing) > 0 {
		var err error
		fetch, err = rel.queue(ctx, Request{Batch: r.level(), Selection: below, run: r}, f, r.variables, missing)
		if err != nil {
			return nil, err
		}
	}
	return func() ([]R, error) {
		got, err := fetch()
		errs := make(ParentErrors, len(missing))
		if err != nil && !errors.As(err, &errs) {
			return nil, err
		}
		for i, row := range missing {
			r.store.read.Store(at(row), outcome[R]{got[i], errs[i]})
		}
		out, errs := make([]R, len(rows)), make(ParentErrors, len(rows))
		for i, row := range rows {
			read, _ := r.store.read.Load(at(row))
			one, _ := read.(outcome[R])
			out[i], errs[i] = one.value, one.err
		}
		return out, errs.OrNil()
	}, nil
}

// Ahead loads the relations of the value that the root field of ctx will return, together with the value itself: queue
// queues the statement that reads it into the batch of the first level. key is a value with the columns by which the
// relations in byKey are read, which are paths such as "holdings.tokens". If only such relations are selected, Ahead
// returns a function, which makes the plan of the field use what was loaded: the resolver calls it if the value that
// was read has the relations of key. Otherwise, and if a relation cannot be queued, it returns nil, and has read
// nothing. An error of a batch or a relation is returned. V must be a registered type; otherwise it panics.
func Ahead[V any](ctx context.Context, t *Tables, key V, byKey []string, queue func(Batch)) (use func(), err error) {
	store, fc := storeOf(ctx), graphql.GetFieldContext(ctx)
	p := t.entries[reflect.TypeFor[V]()].lookup.(func(context.Context, graphql.CollectedField) *plan[V])(ctx, fc.Field)
	other := func(name string) bool { return !slices.Contains(byKey, name) }
	if p.relations == nil || slices.ContainsFunc(p.relations, other) || store.inParts {
		return nil, nil //nolint:nilnil // see above
	}
	r := newRun(ctx, t, p)
	defer r.end()
	r.depth = 1
	queue(r.level())
	if p.load(ctx, r, []V{key}) != nil {
		return nil, nil //nolint:nilnil // reported for values that exist, when their relations are loaded
	}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	r.loaded = true
	return func() {
		store.mu.Lock()
		defer store.mu.Unlock()
		if store.ahead == nil {
			store.ahead = map[*graphql.FieldContext]*run{}
		}
		store.ahead[fc] = r
	}, nil
}
