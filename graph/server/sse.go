package server

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
)

const mediaEvents = "text/event-stream"

// wantsEvents tells whether a client can read server-sent events, and asks for them.
func wantsEvents(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(header, ",") {
			if media, _, err := mime.ParseMediaType(strings.TrimSpace(item)); err == nil && media == mediaEvents {
				return true
			}
		}
	}
	return false
}

// serveEvents answers with server-sent events, as the protocol "GraphQL over Server-Sent Events" says for distinct connections: an event "next" for each
// answer, "complete" at the end.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Accept")
	raw, bad := s.receive(w, r)
	if bad != nil {
		h.Set("Content-Type", mediaJSON+"; charset=utf-8")
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	events := &eventWriter{w: w, c: http.NewResponseController(w), timeout: s.o.Streams.WriteTimeout}
	h.Set("Content-Type", mediaEvents)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // which proxies take for a wish to see events when they happen
	params, keep, bad := s.params(r, raw)
	if bad == nil && r.Method != http.MethodPost {
		// A page that is not ours can make a browser send a GET: it must not change anything.
		if e, errs := s.document(params.Query); errs == nil {
			if op := e.doc.Operations.ForName(params.OperationName); op != nil && op.Operation == ast.Mutation {
				h.Set("Allow", "POST")
				h.Set("Content-Type", mediaJSON+"; charset=utf-8")
				writeErrors(w, http.StatusMethodNotAllowed, gqlerror.List{coded(fault.BadUserInput, "send a mutation with POST")})
				return
			}
		}
	}
	stop := events.keepAlive(s.o.Streams.KeepAlive)
	defer stop()
	var errs gqlerror.List
	if bad != nil {
		errs = gqlerror.List{bad.err}
	} else {
		if events.comment() != nil { // the client learns at once that it is heard
			return
		}
		errs = s.stream(r.Context(), params, keep, events.next)
	}
	if errs != nil {
		if b, err := json.Marshal(errs); err == nil && events.next([]byte(`{"data":null,"errors":`), b, []byte("}")) != nil {
			return
		}
	}
	_ = events.complete() // a client that has gone is no concern of ours
}

// eventWriter writes events to one client.
type eventWriter struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	timeout time.Duration

	mu  sync.Mutex
	buf []byte
}

// next writes the JSON of an answer, or of a part of one.
func (e *eventWriter) next(json ...[]byte) error {
	return e.write("event: next\ndata: ", append(json, []byte("\n\n"))...)
}

func (e *eventWriter) complete() error { return e.write("event: complete\ndata:\n\n") }

// comment writes what clients do not see.
func (e *eventWriter) comment() error { return e.write(":\n\n") }

func (e *eventWriter) write(head string, parts ...[]byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buf = append(e.buf[:0], head...)
	for _, p := range parts {
		e.buf = append(e.buf, p...)
	}
	_ = e.c.SetWriteDeadline(time.Now().Add(e.timeout)) //nolint:forbidigo // the network's clock; a writer without deadlines is a test's
	if _, err := e.w.Write(e.buf); err != nil {
		return err //nolint:wrapcheck // only whether there is one matters
	}
	return e.c.Flush() //nolint:wrapcheck // as above
}

// keepAlive writes a comment in every interval until stop is called.
func (e *eventWriter) keepAlive(interval time.Duration) (stop func()) {
	ticker, done := time.NewTicker(interval), make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
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
		ended.Wait()
	}
}
