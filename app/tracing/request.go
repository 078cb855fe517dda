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

// Request is the span of an HTTP request. The methods of a nil Request do nothing.
type Request struct {
	span trace.Span
	name string // name of the GraphQL operation
}

type requestKey struct{}

// Begin starts the span of a request, as part of the trace in its traceparent header, and returns the request to serve. Streams have no child
// spans, because they can last for days.
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
	} else { // set from X-Forwarded-For, without a port
		span.SetAttributes(semconv.ClientAddress(r.RemoteAddr))
	}
	req := &Request{span: span}
	if stream {
		ctx = trace.ContextWithSpanContext(ctx, span.SpanContext()) // available to the log, but without recording child spans
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // a WebSocket carries many operations
		ctx = context.WithValue(ctx, requestKey{}, req)
	}
	return r.WithContext(ctx), req
}

// Finish sets the name, route and status of the span. route is the pattern of the path, or empty.
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

// End ends the span.
func (r *Request) End() {
	if r != nil {
		r.span.End()
	}
}

// knownMethod reports whether a method can be part of a span name. Clients can send any method.
func knownMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions,
		http.MethodTrace, "QUERY":
		return true
	default:
		return false
	}
}

// maxNameLength is the length to which operation names, which clients choose, are truncated in span names.
const maxNameLength = 100

func spanName(kind, operation string) string {
	if operation == "" {
		return "graphql " + kind
	}
	return "graphql " + operation[:min(len(operation), maxNameLength)]
}

// Received records the GraphQL operation of a request.
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

// Run starts the span of a GraphQL operation that serves another request, such as a REST request. It returns the context of the operation and a
// function that ends the span.
func (t *Traces) Run(ctx context.Context, kind, operation string) (of context.Context, end func()) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func() {}
	}
	ctx, span := t.tracer.Start(ctx, spanName(kind, operation), trace.WithAttributes(semconv.GraphQLOperationTypeKey.String(kind),
		semconv.GraphQLOperationName(operation)))
	return ctx, func() { span.End() }
}
