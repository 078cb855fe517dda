package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
)

// subprotocol is the subprotocol of WebSockets: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
const subprotocol = "graphql-transport-ws"

// Close codes of the protocol.
const (
	closeBadRequest     websocket.StatusCode = 4400
	closeUnauthorized   websocket.StatusCode = 4401
	closeInitTimeout    websocket.StatusCode = 4408
	closeDuplicate      websocket.StatusCode = 4409
	closeTooManyInits   websocket.StatusCode = 4429
	closeBadSubprotocol websocket.StatusCode = 4406
)

// isWebSocket reports whether a request asks for an upgrade to a WebSocket. It reads the header Upgrade.
func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// serveWebSocket serves operations of any kind, many on one connection, with the subprotocol graphql-transport-ws. It
// returns after the connection and all its operations have ended. [Server.Close] closes the connection. A request
// that cannot be upgraded, for example one of another origin, gets an error response.
//
// gqlgen's transport.Websocket is not used: it closes with 1002 where the protocol requires 4400 to 4429, accepts
// duplicate operation ids, sends "complete" after "error", and limits neither the operations of a connection nor the
// time to write a message.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, OriginPatterns: s.o.Origins,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has written the response
	}
	defer func() { _ = conn.CloseNow() }()
	if conn.Subprotocol() != subprotocol {
		_ = conn.Close(closeBadSubprotocol, "Subprotocol not acceptable")
		return
	}
	conn.SetReadLimit(s.o.MaxBody)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &socket{server: s, conn: conn, headers: r.Header, cancel: cancel, operations: map[string]*subscription{}}
	defer c.running.Wait()
	defer cancel()
	defer context.AfterFunc(s.closing, func() {
		_ = conn.Close(websocket.StatusGoingAway, "The gateway is shutting down")
	})()
	go c.keepAlive(ctx)
	c.serve(ctx)
}

// socket is a WebSocket connection.
type socket struct {
	server  *Server
	conn    *websocket.Conn
	headers http.Header
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu         sync.Mutex               // held while messages of operations are sent
	operations map[string]*subscription // by ID, until either side completes them
	open       int                      // number of operations that have not stopped
}

// subscription is an operation of a WebSocket connection.
type subscription struct {
	end context.CancelFunc
}

// message is a message of the protocol.
type message struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// serve reads the messages of a client and handles each, until the connection ends. A client that sends no
// connection_init in time is disconnected. An invalid message closes the connection with a code of the protocol.
func (c *socket) serve(ctx context.Context) {
	// Not a deadline of Read, which would end the connection without a close code.
	late := time.AfterFunc(c.server.o.Streams.InitTimeout, func() {
		_ = c.conn.Close(closeInitTimeout, "Connection initialisation timeout")
	})
	defer late.Stop()
	initialised := false
	for {
		kind, raw, err := c.conn.Read(ctx)
		if err != nil {
			return
		}
		var m message
		if kind != websocket.MessageText || json.Unmarshal(raw, &m) != nil {
			_ = c.conn.Close(closeBadRequest, "Invalid message received")
			return
		}
		if code, reason := c.handle(ctx, &m, &initialised); code != 0 {
			_ = c.conn.Close(code, reason)
			return
		}
		if initialised {
			late.Stop()
		}
	}
}

// handle handles one message of the subprotocol for the reading loop of serve: it answers connection_init and ping,
// starts the operation of a subscribe message, and ends that of a complete message. It sets initialised on
// connection_init. The caller must not hold c.mu, and closes the connection with the code and the reason if the code
// is not 0.
func (c *socket) handle(
	ctx context.Context, m *message, initialised *bool,
) (code websocket.StatusCode, reason string) {
	switch m.Type {
	case "connection_init":
		if *initialised {
			return closeTooManyInits, "Too many initialisation requests"
		}
		*initialised = true
		return c.send(ctx, message{Type: "connection_ack"})
	case "ping":
		pong := message{Type: "pong", Payload: m.Payload}
		if string(m.Payload) == "null" {
			pong.Payload = nil // clients refuse a payload that is not an object
		}
		return c.send(ctx, pong)
	case "pong":
		return 0, ""
	case "subscribe":
		if !*initialised {
			return closeUnauthorized, "Unauthorized"
		}
		return c.subscribe(ctx, m)
	case "complete":
		c.mu.Lock()
		defer c.mu.Unlock()
		if s := c.operations[m.ID]; s != nil {
			s.end()
			delete(c.operations, m.ID) // the client can use the ID again at once
		}
		return 0, ""
	default:
		return closeBadRequest, "Invalid message received"
	}
}

// subscribe starts the operation of a message in the background, charges a point, and sends errors of the request.
// The background goroutine sends the responses and the end of the operation, unless the client has completed it. The
// caller must not hold c.mu, and closes the connection if the code is not 0.
func (c *socket) subscribe(ctx context.Context, m *message) (code websocket.StatusCode, reason string) {
	if m.ID == "" || len(m.Payload) == 0 {
		return closeBadRequest, "Invalid message received"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, running := c.operations[m.ID]; running {
		return closeDuplicate, "Subscriber for " + m.ID[:min(len(m.ID), 64)] + " already exists"
	}
	most := c.server.o.Streams.PerConnection
	if len(c.operations) >= most || c.open >= 2*most { // completed ones may not have stopped yet
		return c.fail(ctx,
			m.ID, oneError(fault.RateLimited, "too many operations are running on this connection"))
	}
	if limited := charge(ctx, 1); limited != nil {
		return c.fail(ctx, m.ID, gqlerror.List{limited})
	}
	params, documentID, bad := readBody(m.Payload, c.server.o.MaxValues)
	if bad != nil {
		return c.fail(ctx, m.ID, gqlerror.List{bad.err})
	}
	params.Headers = c.headers
	store, failed := c.server.resolveID(params, documentID)
	if failed != nil {
		return c.fail(ctx, m.ID, gqlerror.List{failed})
	}
	running, end := context.WithCancel(ctx)
	started := &subscription{end: end}
	c.operations[m.ID] = started
	c.open++
	c.running.Go(func() {
		defer end()
		errs := c.server.stream(running, len(m.Payload), params, store, func(_ bool, json ...[]byte) error {
			next := message{Type: "next", ID: m.ID, Payload: slices.Concat(json...)}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.operations[m.ID] != started {
				return context.Canceled
			}
			return c.write(ctx, next)
		})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
		switch {
		case c.operations[m.ID] != started: // the client has completed it, and may use its ID again
			return
		case errs != nil:
			c.fail(ctx, m.ID, errs)
		default:
			_ = c.write(ctx, message{Type: "complete", ID: m.ID})
		}
		delete(c.operations, m.ID)
	})
	return 0, ""
}

// fail sends the errors that end an operation to the client. The caller holds c.mu, and closes the connection if the
// code is not 0.
func (c *socket) fail(ctx context.Context, id string, errs gqlerror.List) (websocket.StatusCode, string) {
	b, err := json.Marshal(errs)
	if err != nil {
		return websocket.StatusInternalError, "Internal error"
	}
	return c.send(ctx, message{Type: "error", ID: id, Payload: b})
}

// send sends a message, and returns the code 0, or StatusGoingAway if it cannot be sent. The caller closes the
// connection if the code is not 0, and may hold c.mu.
func (c *socket) send(ctx context.Context, m message) (websocket.StatusCode, string) {
	if c.write(ctx, m) != nil {
		return websocket.StatusGoingAway, ""
	}
	return 0, ""
}

// write sends a message, whether the caller holds c.mu or not. It closes the connection and fails if the client does
// not read the message within the timeout. On shutdown it fails and sends nothing: the close code ends all operations,
// and clients such as graphql-ws connect and subscribe again after it, but not after an error.
func (c *socket) write(ctx context.Context, m message) error {
	if err := c.server.closing.Err(); err != nil {
		return err //nolint:wrapcheck // callers only check for nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err //nolint:wrapcheck // callers only check for nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.server.o.Streams.WriteTimeout)
	defer cancel()
	if err := c.conn.Write(ctx, websocket.MessageText, b); err != nil {
		c.cancel()
		return err //nolint:wrapcheck // callers only check for nil
	}
	return nil
}

// keepAlive sends pings at the interval of the options until ctx ends, and closes the connection if the client
// does not respond within the write timeout.
func (c *socket) keepAlive(ctx context.Context) {
	ticker := time.NewTicker(c.server.o.Streams.KeepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			wait, cancel := context.WithTimeout(ctx, c.server.o.Streams.WriteTimeout)
			err := c.conn.Ping(wait)
			cancel()
			if err != nil {
				c.cancel()
				return
			}
		}
	}
}
