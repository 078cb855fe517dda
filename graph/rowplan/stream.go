package rowplan

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"heliograph/graph/scalar"
)

// addStream adds subscription fields that return a channel of T to the tables. gqlgen has no middleware for events,
// but accepts a function that returns the marshaler of the next event. This function waits for an event, and returns
// nil when the channel is closed or the context ends. Subscriptions with equal selections share the JSON of an event.
// For each event the function sets [Store.More]. A failure is added to the response of its event and does not end the
// stream.
func addStream[T any](t *Tables, shape Shape[T]) {
	id := new(identity)
	t.entries[reflect.TypeFor[<-chan T]()] = entry{apply: func(ctx context.Context, fc *graphql.FieldContext,
		v any,
	) (any, error) {
		p := lookup(ctx, t, id, shape, fc.Field)
		events, _ := v.(<-chan T)
		oc := graphql.GetOperationContext(ctx)
		key := eventKey{
			plan: p, variables: usedVariables(oc.Doc, fc.Field.Selections, oc.Variables),
			style: scalar.EnvOf(ctx).Style,
		}
		return func(ctx context.Context) graphql.Marshaler {
			select {
			case event, ok := <-events:
				if !ok {
					return nil
				}
				storeOf(ctx).More = len(events) > 0
				own := *fc
				ctx = graphql.WithFieldContext(ctx, &own)
				key := key
				key.row = event
				data := t.shared.read(ctx, key, func() ([]byte, []error, error) { return p.event(ctx, t, event) })
				return graphql.WriterFunc(func(w io.Writer) {
					for _, part := range [][]byte{[]byte(`{"` + fc.Field.Alias + `":`), data, {'}'}} {
						_, _ = w.Write(part) // gqlgen's writers are in memory
					}
				})
			case <-ctx.Done():
				return nil
			}
		}, nil
	}}
}

// event reads the related rows of an event and returns its JSON, and the errors of its fields, which it does not add
// to the response. It fails if the rows cannot be read or the JSON is too large.
func (p *plan[V]) event(ctx context.Context, t *Tables, v V) ([]byte, []error, error) {
	r := newRun(ctx, t, p)
	if err := p.read(ctx, r, v); err != nil {
		return nil, nil, err
	}
	b := p.write(make([]byte, 0, p.size.Load()), r, v)
	if len(b) > t.MaxResponse {
		return nil, nil, TooLarge(t.MaxResponse)
	}
	return b, r.failed, nil
}

// eventKey identifies what a selection shows of an event. Subscribers of a feed receive the same row.
type eventKey struct {
	row, plan any
	variables string
	style     scalar.Style
}

// sharedBytes bounds the memory of shared events in bytes, and sharedEvents their number.
const (
	sharedBytes  = 16 << 20
	sharedEvents = 4096
)

// shared holds the JSON of the newest events: related rows are read once per distinct selection, and not once per
// subscriber.
type shared struct {
	mu     sync.Mutex
	events map[eventKey]*event
	order  []eventKey // oldest first
	bytes  int
}

type event struct {
	done   chan struct{} // closed when the others are set
	data   []byte
	failed []error // of its fields
	err    error
}

// read returns the JSON of an event, which subscribers share and must not change. The first subscriber renders it, and
// the others wait. If that fails, the first one reports the error, and one of the others renders it again. Errors are
// added to the response of ctx; if the event has no data, or ctx ends, the JSON is null.
func (s *shared) read(ctx context.Context, key eventKey, render func() ([]byte, []error, error)) []byte {
	for {
		e, first := s.join(key)
		if first {
			s.run(ctx, key, e, render)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return []byte("null")
		}
		if e.err == nil {
			for _, err := range e.failed {
				graphql.AddError(ctx, err)
			}
			return e.data
		}
		if first {
			graphql.AddError(ctx, e.err)
			return []byte("null")
		}
		// The error may be the end of the first subscriber's context, so read the event again.
	}
}

// join returns the event of a key, which the first call adds to s. The caller with first has to call [shared.run]; the
// others wait until e.done is closed.
func (s *shared) join(key eventKey) (e *event, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.events[key]; e != nil {
		return e, false
	}
	if s.events == nil {
		s.events = map[eventKey]*event{}
	}
	e = &event{done: make(chan struct{})}
	s.events[key] = e
	return e, true
}

// run renders an event for all subscriptions with the same selection, and wakes those that wait. It keeps at most
// sharedEvents renderings with sharedBytes, and none that failed. A panic of render is the error of the event.
func (s *shared) run(ctx context.Context, key eventKey, e *event, render func() ([]byte, []error, error)) {
	defer func() {
		if p := recover(); p != nil {
			e.err = graphql.GetOperationContext(ctx).Recover(ctx, p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.err != nil {
			delete(s.events, key)
		} else {
			s.order, s.bytes = append(s.order, key), s.bytes+len(e.data)
			for len(s.order) > sharedEvents || s.bytes > sharedBytes && len(s.order) > 1 {
				s.bytes -= len(s.events[s.order[0]].data)
				delete(s.events, s.order[0])
				s.order = s.order[1:]
			}
		}
		close(e.done)
	}()
	e.data, e.failed, e.err = render()
}

// usedVariables returns the values of the variables that a selection set or a fragment of its document uses, as text.
// Subscriptions with the same selection set and text share the responses of an event.
func usedVariables(doc *ast.QueryDocument, set ast.SelectionSet, variables map[string]any) string {
	var text strings.Builder
	formatter.NewFormatter(&text).FormatQueryDocument(&ast.QueryDocument{
		Operations: ast.OperationList{{SelectionSet: set}}, Fragments: doc.Fragments,
	})
	used := map[string]any{}
	for name, value := range variables {
		if strings.Contains(text.String(), "$"+name) { // also within a longer name or a string, which only shares less
			used[name] = value
		}
	}
	return fmt.Sprintf("%#v", used) // sorted by name
}
