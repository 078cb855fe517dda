package tracing

import (
	"context"
	"errors"
	"fmt"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Statements returns a tracer of SQL statements, or nil if tracing is off. Spans do not contain arguments. Statements outside of requests have no
// spans.
func (t *Traces) Statements() pgx.QueryTracer {
	if t == nil {
		return nil
	}
	return &statements{
		// All spans would name the same server, and the metrics of the pool report the waits for a connection.
		Tracer: otelpgx.NewTracer(otelpgx.WithTracerProvider(t.provider), otelpgx.WithMeterProvider(noop.NewMeterProvider()),
			otelpgx.WithDisableConnectionDetailsInAttributes(), otelpgx.WithDisableAcquireTracer()),
		own: t.tracer,
	}
}

// statements adds the row counts of batched statements to the tracer and removes values from errors.
type statements struct {
	*otelpgx.Tracer
	own trace.Tracer
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (s *statements) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceQueryEnd(ctx, conn, data)
}

// TracePrepareEnd implements [pgx.PrepareTracer].
func (s *statements) TracePrepareEnd(ctx context.Context, conn *pgx.Conn, data pgx.TracePrepareEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TracePrepareEnd(ctx, conn, data)
}

// TraceConnectEnd implements [pgx.ConnectTracer].
func (s *statements) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceConnectEnd(ctx, data)
}

// TraceBatchQuery implements [pgx.BatchTracer]. It is called after the result of a statement has been read, so its span has no duration. The span
// of the batch does.
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

// TraceBatchEnd implements [pgx.BatchTracer].
func (s *statements) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceBatchEnd(ctx, conn, data)
}

// statementError replaces the text of an error in traces, because PostgreSQL and the driver include values in their messages.
type statementError struct {
	text  string
	cause error
}

func (e *statementError) Error() string { return e.text }

func (e *statementError) Unwrap() error { return e.cause }

// withoutValues returns an error that wraps err and whose text contains no values.
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
