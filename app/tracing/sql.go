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

// Statements traces the statements of a pool; nil where traces are off. What a statement was given never gets into a span, and statements that belong to no request
// have none.
func (t *Traces) Statements() pgx.QueryTracer {
	if t == nil {
		return nil
	}
	return &statements{
		// All spans would name the same server, and waiting for a connection is what the metrics of the pool tell.
		Tracer: otelpgx.NewTracer(otelpgx.WithTracerProvider(t.provider), otelpgx.WithMeterProvider(noop.NewMeterProvider()),
			otelpgx.WithDisableConnectionDetailsInAttributes(), otelpgx.WithDisableAcquireTracer()),
		own: t.tracer,
	}
}

// statements adds to the tracer how many rows the statements of a batch have given, and takes values out of errors.
type statements struct {
	*otelpgx.Tracer
	own trace.Tracer
}

// TraceQueryEnd is called at the end of a statement.
func (s *statements) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceQueryEnd(ctx, conn, data)
}

// TracePrepareEnd is called when a statement has been prepared.
func (s *statements) TracePrepareEnd(ctx context.Context, conn *pgx.Conn, data pgx.TracePrepareEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TracePrepareEnd(ctx, conn, data)
}

// TraceConnectEnd is called when a connection has been made, or not.
func (s *statements) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceConnectEnd(ctx, data)
}

// TraceBatchQuery is called when the answer to one statement of a batch has been read: its span has no length, that of the batch has.
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

// TraceBatchEnd is called at the end of a batch.
func (s *statements) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	data.Err = withoutValues(data.Err)
	s.Tracer.TraceBatchEnd(ctx, conn, data)
}

// statementError is what traces tell of an error of a statement: PostgreSQL and the driver repeat values in their texts.
type statementError struct {
	text  string
	cause error
}

func (e *statementError) Error() string { return e.text }

func (e *statementError) Unwrap() error { return e.cause }

// withoutValues is an error whose text holds no values.
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
