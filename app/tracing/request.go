package tracing

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Request is the span of a request that is being answered. Nil stands for none; its methods may be called all the same.
type Request struct {
	span trace.Span
	name string // by the operation of the graph that it asks for
}

// requestKey is the key of contexts of a *Request.
type requestKey struct{}

// Begin begins the span of a request, which continues the trace that its traceparent names. What it returns is to be answered instead. A stream may last for days and
// read a row every second, so that it has one span for itself alone.
func (t *Traces) Begin(r *http.Request, stream bool) (*http.Request, *Request) {
	if t == nil {
		return r, nil
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
	if !span.IsRecording() {
		return r, nil
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	span.SetAttributes(semconv.URLPath(r.URL.Path), semconv.URLScheme(scheme))
	if knownMethod(r.Method) {
		span.SetAttributes(semconv.HTTPRequestMethodKey.String(r.Method))
	} else {
		span.SetAttributes(semconv.HTTPRequestMethodOther, semconv.HTTPRequestMethodOriginal(r.Method))
	}
	if host, port, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		span.SetAttributes(semconv.ClientAddress(host))
		if n, err := strconv.Atoi(port); err == nil {
			span.SetAttributes(semconv.ClientPort(n))
		}
	} else { // as a trusted proxy tells it
		span.SetAttributes(semconv.ClientAddress(r.RemoteAddr))
	}
	req := &Request{span: span}
	if stream {
		ctx = trace.ContextWithSpanContext(ctx, span.SpanContext()) // the log knows the span, and nothing can be added to it
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // a WebSocket asks for many operations, at any time
		ctx = context.WithValue(ctx, requestKey{}, req)
	}
	return r.WithContext(ctx), req
}

// Finish tells how a request ended. route is the pattern of its path, empty where there is none.
func (r *Request) Finish(method, route string, status int) {
	if r == nil {
		return
	}
	if r.name == "" {
		if r.name = method; !knownMethod(method) {
			r.name = "HTTP"
		}
		if route != "" {
			r.name += " " + route
		}
	}
	r.span.SetName(r.name)
	if route != "" {
		r.span.SetAttributes(semconv.HTTPRoute(route))
	}
	r.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		r.span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		r.span.SetStatus(codes.Error, "")
	}
}

// End ends the span, whatever happened to the request.
func (r *Request) End() {
	if r != nil {
		r.span.End()
	}
}

// knownMethod tells whether a method may stand in the name of a span: clients can send whatever they like.
func knownMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace, "QUERY":
		return true
	default:
		return false
	}
}

// longestName is where names of operations are cut in the names of spans: clients choose them.
const longestName = 100

// spanName is the name of a span of an operation of the graph.
func spanName(kind, operation string) string {
	if operation == "" {
		return "graphql " + kind
	}
	return "graphql " + operation[:min(len(operation), longestName)]
}

// Received is told of the operation of the graph that a request asks for.
func (*Traces) Received(ctx context.Context, kind, operation string) {
	r, ok := ctx.Value(requestKey{}).(*Request)
	if !ok {
		return
	}
	r.name = spanName(kind, operation)
	r.span.SetAttributes(semconv.GraphQLOperationTypeKey.String(kind))
	if operation != "" {
		r.span.SetAttributes(semconv.GraphQLOperationName(operation))
	}
}

// Run is told of an operation of the graph that is run on behalf of a request for something else, and called with the context that it returns until end is called.
func (t *Traces) Run(ctx context.Context, kind, operation string) (of context.Context, end func()) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func() {}
	}
	ctx, span := t.tracer.Start(ctx, spanName(kind, operation), trace.WithAttributes(semconv.GraphQLOperationTypeKey.String(kind), semconv.GraphQLOperationName(operation)))
	return ctx, func() { span.End() }
}
