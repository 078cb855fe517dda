package tracing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Request is the span of an HTTP request.
type Request struct {
	span trace.Span
	name string // name of the GraphQL operation
}

type requestKey struct{}

// Begin starts the span of a request, as part of the trace in its traceparent header, and returns the request to
// serve, whose context has the span. It returns r and nil if tracing is off or the trace is not sampled. Streams have
// no child spans, because they can last for days. Operations on a WebSocket do not name its span.
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
	if slices.Contains(knownMethods, r.Method) {
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
		// available to the log, but without recording child spans
		ctx = trace.ContextWithSpanContext(ctx, span.SpanContext())
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // a WebSocket carries many operations
		ctx = context.WithValue(ctx, requestKey{}, req)
	}
	return r.WithContext(ctx), req
}

// Finish sets the name, route and status of the span, which [Request.End] ends. route is the pattern of the path,
// or empty. A status of 500 or more marks the span as failed. Unlike for [Request.End], r must not be nil.
func (r *Request) Finish(method, route string, status int) {
	if r.name == "" {
		if r.name = method; !slices.Contains(knownMethods, method) {
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

// End ends the span, so that it is exported. It does nothing if r is nil.
func (r *Request) End() {
	if r != nil {
		r.span.End()
	}
}

// knownMethods are the methods that can be part of a span name. Clients can send any method.
var knownMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace, "QUERY",
}

// maxNameLength is the length to which operation names, which clients choose, are truncated in span names.
const maxNameLength = 100

// spanName returns the name of an operation's span. The name of the operation, which clients choose, is cut to
// maxNameLength bytes; without a name, its kind is used.
func spanName(kind, operation string) string {
	if operation == "" {
		return "graphql " + kind
	}
	return "graphql " + operation[:min(len(operation), maxNameLength)]
}

// Received names the span of the request in ctx after its GraphQL operation and sets its attributes. A later operation
// of the same request, as in a batch, replaces them; such calls must not be concurrent. It does nothing if the request
// is not traced.
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

// Run starts the span of a GraphQL operation that serves another request, such as a REST request. It returns the
// context of the operation and a function that ends the span. If ctx has no recorded span, as in streams, these are
// ctx and a function that does nothing.
func (t *Traces) Run(ctx context.Context, kind, operation string) (of context.Context, end func()) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func() {}
	}
	ctx, span := t.tracer.Start(ctx, spanName(kind, operation),
		trace.WithAttributes(semconv.GraphQLOperationTypeKey.String(kind),
			semconv.GraphQLOperationName(operation)))
	return ctx, func() { span.End() }
}

// Statements returns a tracer of SQL statements for connections to the database, or nil if tracing is off. Spans
// contain the SQL text but no arguments. Statements outside of requests have no spans.
func (t *Traces) Statements() pgx.QueryTracer {
	if t == nil {
		return nil
	}
	return &statements{
		// All spans would name the same server, and the metrics of the pool report the waits for a connection.
		Tracer: otelpgx.NewTracer(otelpgx.WithTracerProvider(t.provider),
			otelpgx.WithMeterProvider(noop.NewMeterProvider()),
			otelpgx.WithDisableConnectionDetailsInAttributes(), otelpgx.WithDisableAcquireTracer()),
		own: t.tracer,
	}
}

// statements adds the row counts of batched statements to the tracer and removes values from errors.
type statements struct {
	*otelpgx.Tracer
	own trace.Tracer
}

// TraceQueryEnd implements [pgx.QueryTracer]: it ends the span of a statement, which is in ctx, and replaces the error
// by one that contains no values.
func (s *statements) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceQueryEnd(ctx, conn, data)
}

// TracePrepareEnd implements [pgx.PrepareTracer]: it ends the span of preparing a statement, which is in ctx, and
// replaces the error by one that contains no values.
func (s *statements) TracePrepareEnd(ctx context.Context, conn *pgx.Conn, data pgx.TracePrepareEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TracePrepareEnd(ctx, conn, data)
}

// TraceConnectEnd implements [pgx.ConnectTracer]: it ends the span of a new connection, which is in ctx, and replaces
// the error by one that contains no values.
func (s *statements) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceConnectEnd(ctx, data)
}

// TraceBatchQuery implements [pgx.BatchTracer]. It is called after the result of a statement has been read, so its
// span has no duration. The span of the batch does. Without a recorded span in ctx it does nothing.
func (s *statements) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	operation := otelpgx.SQLOperationName(ctx, data.SQL)
	_, span := s.own.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.DBSystemNamePostgreSQL, semconv.DBOperationName(operation), semconv.DBQueryText(data.SQL)))
	defer span.End()
	if err := withoutValues(data.Err); err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
		return
	}
	span.SetAttributes(otelpgx.RowsAffectedKey.Int64(data.CommandTag.RowsAffected()))
}

// TraceBatchEnd implements [pgx.BatchTracer]: it ends the span of the batch, which is in ctx, and replaces the error
// by one that contains no values.
func (s *statements) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceBatchEnd(ctx, conn, data)
}

// statementError replaces the text of an error in traces, because PostgreSQL and the driver include values in their
// messages.
type statementError struct {
	text  string
	cause error
}

// Error returns the text for spans, which contains no values of the database.
func (e *statementError) Error() string { return e.text }

// Unwrap returns the error of the statement.
func (e *statementError) Unwrap() error { return e.cause }

// withoutValues returns an error for a span that wraps err and whose text contains no values of the database: the
// SQLSTATE, the reason of the context, or the type of the error. It returns nil and [pgx.ErrNoRows] as they are.
func withoutValues(err error) error {
	var server *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, pgx.ErrNoRows):
		return err
	case errors.As(err, &server):
		return &statementError{"SQLSTATE " + server.Code, err}
	case errors.Is(err, context.Canceled):
		return &statementError{context.Canceled.Error(), err}
	case errors.Is(err, context.DeadlineExceeded):
		return &statementError{context.DeadlineExceeded.Error(), err}
	default:
		return &statementError{fmt.Sprintf("%T", err), err}
	}
}
