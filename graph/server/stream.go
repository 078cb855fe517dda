package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
)

// StreamOptions configure WebSockets and server-sent events.
type StreamOptions struct {
	// Most is the maximum number of operations on all connections, PerConnection the maximum number on one WebSocket,
	// and PerClient the maximum number of a client, 0 for no limit.
	Most, PerConnection, PerClient int
	// KeepAlive is the interval of keep-alive messages.
	KeepAlive time.Duration
	// InitTimeout is how long a client of a WebSocket can take to send connection_init.
	InitTimeout time.Duration
	// WriteTimeout is how long a client can take to read one message.
	WriteTimeout time.Duration
	// QueryTimeout is the timeout of queries and mutations. 0 is no timeout.
	QueryTimeout time.Duration
}

// DefaultStreams returns options for a public gateway. Queries and mutations have no timeout.
func DefaultStreams() StreamOptions {
	return StreamOptions{
		Most: 20_000, PerConnection: 100, PerClient: 5000, InitTimeout: 10 * time.Second, KeepAlive: 12 * time.Second,
		WriteTimeout: 10 * time.Second,
	}
}

// Streams reports whether the response to a request can last as long as the client stays connected: that of a
// WebSocket, server-sent events or an export. It reads the headers only.
func Streams(r *http.Request) bool {
	if isWebSocket(r) {
		return true
	}
	media := responseMedia(r.Header)
	return media == mediaEvents || exportFormats[media] != nil
}

// stream executes an operation and sends each response, or each part of it, as pieces of JSON. It returns the errors
// of an invalid request, or the reason why the server ended the operation, or nil if it is complete or the client has
// disconnected. A subscription gives its turn back before it starts, other operations before their first response is
// sent. store is called once the document is valid, to keep it for requests with its ID. The pieces are valid until
// send returns. more reports whether another response follows at once. The request has a size in bytes.
func (s *Server) stream(
	ctx context.Context, size int, params *graphql.RawParams, store func(), send func(more bool, json ...[]byte) error,
) gqlerror.List {
	end, refused := admission.Of(ctx).Stream(s.o.Streams.Most, s.o.Streams.PerClient)
	if refused != nil {
		return oneError(fault.RateLimited, refused.Error())
	}
	defer end()
	turn := admission.Of(ctx).Another()
	defer turn.End()
	if err := enter(ctx, turn, size); err != nil {
		return gqlerror.List{err}
	}
	ctx = values.Context(ctx, turn.Value())
	op, errs := s.prepare(ctx, params, store)
	if errs != nil {
		return errs
	}
	var ending relay.Ending
	ctx, cancel := context.WithCancel(values.Context(s.context(ctx, op), ending.Value()))
	defer cancel()
	if op.oc.Operation.Operation == ast.Subscription {
		turn.End()
	} else if s.o.Streams.QueryTimeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, s.o.Streams.QueryTimeout)
		defer stop()
	}
	if split := op.split(); split != nil {
		err := s.deliver(ctx, op, split, nil, func(_ bool, json ...[]byte) error {
			turn.Leave()
			return send(false, json...)
		})
		if errors.Is(err, context.DeadlineExceeded) {
			return gqlerror.List{timedOut()}
		}
		return nil // complete, or the client has disconnected
	}
	next, ctx := s.start(ctx, op.oc)
	for {
		// Each event has its own store and loaders: later events must read the data again, and a long stream must not
		// retain it.
		own := new(rowplan.Store)
		resp := next(values.Context(ctx, own.Value(), s.o.Operation(), op.work(ctx, s)))
		if resp == nil {
			break
		}
		s.bound(resp)
		tail, err := responseTail(resp)
		if err != nil {
			return oneError(fault.Internal, "internal error")
		}
		turn.Leave() // clients can take long to read
		if send(own.More, dataMember, orNull(resp.Data), tail) != nil {
			return nil // the client has disconnected
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return gqlerror.List{timedOut()}
	}
	if err := ending.Err(); err != nil && ctx.Err() == nil {
		return oneError(fault.Unavailable, err.Error())
	}
	return nil
}

// enter counts the memory of a request, of size bytes, and waits for the turn of an operation. It returns the error
// for the client if the queue refuses it or the context ends. The caller must end the turn in either case.
func enter(ctx context.Context, turn *admission.Turn, size int) *gqlerror.Error {
	turn.Hold(size)
	err := turn.Enter(ctx)
	if err == nil {
		return nil
	}
	refusal := admission.RefusalOf(err)
	if refusal == nil {
		return timedOut() // the client has left
	}
	busy := fault.Busy(refusal)
	e := coded(busy.Code, busy.Message)
	maps.Copy(e.Extensions, busy.Extra)
	return e
}

// timedOut returns the TIMEOUT error, for clients, of an operation whose time is up.
func timedOut() *gqlerror.Error { return coded(fault.Timeout, "the request timed out") }

// serveEvents serves an operation with server-sent events, according to the "distinct connections mode" of the
// protocol "GraphQL over Server-Sent Events": an event "next" for each response, and "complete" at the end. A request
// that [Server.receive] rejects, and a mutation with GET, get an ordinary response with their status. Other errors of
// a request are an event "next".
//
// gqlgen's transport.SSE is not used: it does not support GET, its "complete" event has no data and browsers ignore
// it, it has no write deadline, and its goroutine can write after the handler has returned.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	raw, bad := s.receive(w, r)
	if bad != nil {
		writeEventsError(w, bad)
		return
	}
	params, store, bad := s.params(r, raw)
	if bad == nil && r.Method != http.MethodPost && s.isMutation(params.Query, params.OperationName) {
		w.Header().Set("Allow", "POST")
		// any web page can send a GET request
		writeEventsError(w, reject(http.StatusMethodNotAllowed, "a mutation requires POST"))
		return
	}
	events := &eventWriter{out: s.streamWriter(w)}
	events.out.setHeaders(mediaEvents)
	stop := events.keepAlive(s.o.Streams.KeepAlive)
	defer stop()
	var errs gqlerror.List
	if bad != nil {
		errs = gqlerror.List{bad.err}
	} else {
		if events.write(false /* more */, comment, nil, "") != nil { // sends the headers before the first event
			return
		}
		errs = s.stream(r.Context(), len(raw), params, store, events.next)
	}
	if errs != nil {
		if b, err := json.Marshal(errs); err == nil &&
			events.next(false /* more */, []byte(`{"data":null,"errors":`), b, []byte("}")) != nil {
			return
		}
	}
	_ = events.write(false, "event: complete\ndata:\n\n", nil, "") // fails only if the client has disconnected
}

// isMutation reports whether the operation of a request is a mutation. It reports false if the document is invalid. It
// caches a valid document.
func (s *Server) isMutation(query, operationName string) bool {
	e, errs := s.document(query)
	if errs != nil {
		return false
	}
	op := e.doc.Operations.ForName(operationName)
	return op != nil && op.Operation == ast.Mutation
}

// writeEventsError writes a rejection before the first event as an ordinary JSON response with its status.
func writeEventsError(w http.ResponseWriter, bad *rejection) {
	w.Header().Set("Content-Type", mediaJSON+"; charset=utf-8")
	writeErrors(w, bad.status, gqlerror.List{bad.err})
}

type eventWriter struct {
	mu  sync.Mutex
	out streamWriter
}

// next writes an event with a response or a part of one to the client. If more reports that another one follows at
// once, it can wait for that. It fails if the client has disconnected, or does not read the event within the write
// timeout.
func (e *eventWriter) next(more bool, json ...[]byte) error {
	return e.write(more, "event: next\ndata: ", json, "\n\n")
}

// write sends a part of the stream, not at the same time as another one. If more reports that another part follows at
// once, the part is not flushed. It fails if the client has disconnected, or does not read the part within the write
// timeout.
func (e *eventWriter) write(more bool, before string, json [][]byte, after string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.out.more = more
	return e.out.write(before, json, after)
}

// comment is ignored by clients.
const comment = ":\n\n"

// keepAlive writes a comment at each interval until stop is called or a write fails. No goroutine waits meanwhile,
// because there are many streams. stop waits for a comment that is being written. Call it once.
func (e *eventWriter) keepAlive(interval time.Duration) (stop func()) {
	var timer *time.Timer
	e.mu.Lock()
	defer e.mu.Unlock()
	timer = time.AfterFunc(interval, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if timer != nil && e.out.write(comment, nil, "") == nil {
			timer.Reset(interval)
		}
	})
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		timer.Stop()
		timer = nil
	}
}
