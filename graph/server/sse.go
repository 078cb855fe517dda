package server

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/internal/base/accept"
)

func acceptsEvents(r *http.Request) bool {
	quality, named := accept.Encoding(r.Header["Accept"], mediaEvents) // the elements of both headers have the same syntax
	return named && quality > 0
}

// serveEvents serves an operation with server-sent events, according to the "distinct connections mode" of the protocol "GraphQL over Server-Sent Events":
// an event "next" for each response, and "complete" at the end.
//
// gqlgen's transport.SSE is not used: it does not support GET, its "complete" event has no data and browsers ignore it, it has no write deadline, and its
// goroutine can write after the handler has returned.
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
		writeEventsError(w, reject(http.StatusMethodNotAllowed, "a mutation requires POST")) // any web page can send a GET request
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
		if events.comment() != nil { // sends the headers before the first event
			return
		}
		errs = s.stream(r.Context(), params, store, events.next)
	}
	if errs != nil {
		if b, err := json.Marshal(errs); err == nil && events.next([]byte(`{"data":null,"errors":`), b, []byte("}")) != nil {
			return
		}
	}
	_ = events.complete() // fails only if the client has disconnected
}

// isMutation reports whether the operation of a request is a mutation. It reports false if the document is invalid.
func (s *Server) isMutation(query, operationName string) bool {
	e, errs := s.document(query)
	if errs != nil {
		return false
	}
	op := e.doc.Operations.ForName(operationName)
	return op != nil && op.Operation == ast.Mutation
}

func writeEventsError(w http.ResponseWriter, bad *rejection) {
	w.Header().Set("Content-Type", mediaJSON+"; charset=utf-8")
	writeErrors(w, bad.status, gqlerror.List{bad.err})
}

type eventWriter struct {
	mu  sync.Mutex
	out streamWriter
}

// next writes an event with a response or a part of one.
func (e *eventWriter) next(json ...[]byte) error { return e.write("event: next\ndata: ", json, "\n\n") }

func (e *eventWriter) complete() error { return e.write("event: complete\ndata:\n\n", nil, "") }

// comment writes a comment, which clients ignore.
func (e *eventWriter) comment() error { return e.write(":\n\n", nil, "") }

func (e *eventWriter) write(before string, json [][]byte, after string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out.write(before, json, after)
}

// keepAlive writes a comment at each interval until stop is called.
func (e *eventWriter) keepAlive(interval time.Duration) (stop func()) {
	ticker, done := time.NewTicker(interval), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if e.comment() != nil {
					return
				}
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		running.Wait()
	}
}
