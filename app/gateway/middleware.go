package gateway

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"heliograph/graph/server"
	"heliograph/rest"
)

// client is middleware that sets r.RemoteAddr to the client address that trusted proxies report in X-Forwarded-For,
// which can have a port there. That is the last one that is no trusted proxy, or the first one if all are. Addresses
// to the left of an invalid one are ignored. If the peer is no trusted proxy, the header is ignored and a warning is
// logged once. During the shutdown it makes the server close the connection after the response.
func (g *Gateway) client(next http.Handler) http.Handler {
	var warned sync.Once
	// parse returns the address in a text, which can have a port, and whether it is that of a trusted proxy.
	parse := func(text string) (addr netip.Addr, trusted bool) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			at, _ := netip.ParseAddrPort(text)
			addr = at.Addr()
		}
		return addr, slices.ContainsFunc(g.o.Proxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.closing.Load() {
			w.Header().Set("Connection", "close")
		}
		if forwarded := r.Header["X-Forwarded-For"]; len(forwarded) > 0 {
			_, trusted := parse(r.RemoteAddr)
			if !trusted {
				warned.Do(func() {
					g.o.Logger.WarnContext(r.Context(),
						"X-Forwarded-For of a peer that is not a trusted proxy is ignored, so all its clients share "+
							"one limit; if it is your proxy, set --trusted-proxies", "peer", r.RemoteAddr)
				})
			}
			// The client is the last address that is not a trusted proxy.
			hops := strings.Split(strings.Join(forwarded, ","), ",")
			for i := len(hops) - 1; i >= 0 && trusted; i-- {
				var addr netip.Addr
				if addr, trusted = parse(strings.TrimSpace(hops[i])); addr.IsValid() {
					r.RemoteAddr = addr.String()
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// record is middleware that adds each request to the access log, the metrics and the traces after next has responded.
// Requests that were refused are not in the access log. Of a handler that aborts the connection it only ends the span.
func (g *Gateway) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now() //nolint:forbidigo // measures a duration, and the injected clock may be fixed
		r, span := g.o.Traces.Begin(r, streams(r))
		defer span.End()
		if span != nil && chi.RouteContext(r.Context()) == nil { // for the pattern of the route
			r = r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, chi.NewRouteContext()))
		}
		next.ServeHTTP(w, r)
		took := time.Since(start) //nolint:forbidigo // as above
		l := limited(w)
		status := cmp.Or(l.status, http.StatusOK)
		if span != nil {
			span.Finish(r.Method, g.pattern(r), status)
		}
		label := family(r.URL.Path)
		g.metrics.observe(label, status, took)
		if l.refused { // the log has their number
			return
		}
		g.o.AccessLog.request(r, levelOf(label, status), status, l.size, start, took, l.key)
	})
}

// streams reports whether the response to r is a stream of the GraphQL endpoint without a deadline: a subscription
// or a WebSocket.
func streams(r *http.Request) bool { return r.URL.Path == graphPath && server.Streams(r) }

// pattern returns the route pattern of a request that was served, for its span, or an empty string if no route
// matches. GraphQL and a document of the status API have their path.
func (g *Gateway) pattern(r *http.Request) string {
	if isREST(r) {
		if pattern := g.v1.Pattern(r); pattern != "" {
			return pattern
		}
	}
	if r.URL.Path == graphPath || g.v2.Has(r.URL.Path) {
		return r.URL.Path
	}
	return chi.RouteContext(r.Context()).RoutePattern()
}

// recover is middleware that responds with status 500 and logs the stack if a handler panics. It passes on
// [http.ErrAbortHandler]. If the response has begun, its status remains, and the error is appended to its body.
func (g *Gateway) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
				panic(p)
			}
			g.o.Logger.ErrorContext(r.Context(), "a handler panicked", "panic", p, "stack", string(debug.Stack()))
			rest.Reject(w, r, http.StatusInternalServerError, "Internal error")
		}()
		next.ServeHTTP(w, r)
	})
}
