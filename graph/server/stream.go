package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/values"
)

// StreamOptions bound answers that come in many parts.
type StreamOptions struct {
	// Most is how many streams there may be at a time; PerConnection how many of them on one WebSocket.
	Most, PerConnection int
	// KeepAlive is how often a silent connection is told that it lives.
	KeepAlive time.Duration
	// WriteTimeout is how long a client may take to read one event.
	WriteTimeout time.Duration
	// QueryTimeout bounds what is no subscription. 0 means never.
	QueryTimeout time.Duration
}

// DefaultStreams are bounds for a gateway that serves the public.
func DefaultStreams() StreamOptions {
	return StreamOptions{Most: 20_000, PerConnection: 100, KeepAlive: 12 * time.Second, WriteTimeout: 10 * time.Second}
}

// Streams tells whether a request may be answered for as long as its client likes.
func Streams(r *http.Request) bool { return wantsEvents(r) || wantsWebSocket(r) }

// streams counts what is streamed.
type streams struct{ open atomic.Int64 }

// StreamsOpen is how many streams there are now.
func (s *Server) StreamsOpen() int { return int(s.streams.open.Load()) }

// stream runs an operation and sends each of its answers, or each part of it, as pieces of JSON. It returns what is wrong with the request, or why the
// stream ended before its client wanted it to. The pieces are overwritten when send has returned.
func (s *Server) stream(ctx context.Context, params *graphql.RawParams, keep func(), send func(json ...[]byte) error) gqlerror.List {
	if s.streams.open.Add(1) > int64(s.o.Streams.Most) {
		s.streams.open.Add(-1)
		return gqlerror.List{coded(fault.RateLimited, "too many subscriptions are open on this server; try again later")}
	}
	defer s.streams.open.Add(-1)
	var ending relay.Ending
	ctx, cancel := context.WithCancel(values.Context(s.context(ctx), ending.Value()))
	defer cancel()
	op, errs := s.prepare(ctx, params, keep)
	if errs != nil {
		return errs
	}
	if op.oc.Operation.Operation != ast.Subscription && s.o.Streams.QueryTimeout > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, s.o.Streams.QueryTimeout)
		defer end()
	}
	if sp := op.split(); sp != nil {
		err := s.deliver(ctx, op, sp, nil, func(_ bool, json ...[]byte) error { return send(json...) })
		if errors.Is(err, context.DeadlineExceeded) {
			return gqlerror.List{tookTooLong()}
		}
		return nil // what has come of it, or its client has gone
	}
	next, ctx := s.exec.DispatchOperation(ctx, op.oc)
	for {
		// What one event has loaded is of no use to the next, and would be kept for as long as the stream.
		resp := next(values.Context(ctx, new(rowplan.Store).Value(), s.o.Operation()))
		if resp == nil {
			break
		}
		tail, err := tailOf(resp)
		if err != nil {
			return gqlerror.List{coded(fault.Internal, "internal error")}
		}
		if send([]byte(dataMember), orNull(resp.Data), tail) != nil {
			return nil // the client has gone
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return gqlerror.List{tookTooLong()}
	}
	if err := ending.Err(); err != nil && ctx.Err() == nil {
		return gqlerror.List{coded(fault.Unavailable, err.Error())}
	}
	return nil
}

func tookTooLong() *gqlerror.Error { return coded(fault.Timeout, "the request took too long") }
