// Package server runs operations: those that come over HTTP, and the documents of the REST side in process, through one executor.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"runtime/debug"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
)

// Options say how operations are run.
type Options struct {
	Schema graphql.ExecutableSchema
	Tables *rowplan.Tables
	// Operation makes what resolvers need in the context of one operation.
	Operation func() values.Value
	// Classify tells the code and the text of an error that has none of its own.
	Classify func(error) *fault.Error
	// Base completes entity ids that are given without shard or realm.
	Base ledger.EntityID
	// Limits are the page sizes of clients of the graph.
	Limits relay.Limits
	// Documents is how many parsed documents of clients are kept.
	Documents int
	// CheckVariables makes the variables of documents in process be checked as those of clients are. It is for tests.
	CheckVariables bool
	// Bounds are what documents of clients may ask for.
	Bounds limits.Limits
	// MaxBody bounds the size of a request body in bytes, MaxValues how many JSON values it may have.
	MaxBody   int64
	MaxValues int
	// IntrospectionOff refuses documents of clients that ask for the schema; SuggestionsOff tells no names that are like a wrong one.
	IntrospectionOff, SuggestionsOff bool
	// Trusted are documents by ids, which are known from the start, beside those of the REST side. OnlyTrusted refuses all others.
	Trusted     map[string]string
	OnlyTrusted bool
	// CacheBytes bounds the answers that are kept, 0 for none. Head tells the newest consensus timestamp, which all of them depend on.
	CacheBytes int64
	Head       func(context.Context) (int64, error)
	// Streams bound subscriptions, Origins are the origins of pages that may open WebSockets (patterns as of [path.Match]).
	Streams StreamOptions
	Origins []string
	// NewID makes the ids of errors whose reasons only the log tells.
	NewID  func() string
	Logger *slog.Logger
	// Observer is told of operations. Nil stands for nobody.
	Observer Observer
}

// Observer is told which operations there are. Their kind is query, mutation or subscription; the name is empty where an operation has none.
type Observer interface {
	// Received is told of the operation that a request of a client asks for, when it is known to be good; of one whose answer was kept, too.
	Received(ctx context.Context, kind, name string)
	// Run is told of an operation that is run in process. It runs with the context that is returned, and end is called afterwards.
	Run(ctx context.Context, kind, name string) (of context.Context, end func())
}

// Server runs operations.
type Server struct {
	o        Options
	exec     *executor.Executor
	docs     *documents
	graphEnv *scalar.Env
	restEnvs map[scalar.Style]*scalar.Env
	// presenter and middleware are the methods present and field, made functions once.
	presenter  graphql.ErrorPresenterFunc
	middleware graphql.FieldMiddleware
	costLimit  string     // as the header has it
	responses  *responses // nil when no answers are kept
	streams    streams
	closing    context.Context //nolint:containedctx // of the server's life, which connections depend on that no request ends
	close      context.CancelFunc
}

// New makes a server.
func New(o Options) (*Server, error) {
	docs, err := newDocuments(o.Documents, &o.Tables.Plans, o.Limits)
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, exec: executor.New(o.Schema), docs: docs,
		graphEnv: &scalar.Env{Style: scalar.GraphQL, Base: o.Base},
		restEnvs: map[scalar.Style]*scalar.Env{}, costLimit: strconv.Itoa(o.Bounds.Cost),
	}
	for _, style := range []scalar.Style{scalar.REST, scalar.RESTCompact, scalar.Status} {
		s.restEnvs[style] = &scalar.Env{Style: style, Base: o.Base}
	}
	s.closing, s.close = context.WithCancel(context.Background())
	if err := s.trust(); err != nil {
		return nil, err
	}
	if o.CacheBytes > 0 {
		s.responses = newResponses(o.CacheBytes, o.Head)
	}
	s.presenter, s.middleware = s.present, s.field
	s.exec.SetErrorPresenter(s.presenter)
	s.exec.SetRecoverFunc(recovered)
	s.exec.Use(extension.Introspection{})
	s.exec.SetQueryCache(docs)
	return s, nil
}

// recovered is what a client sees of a resolver that panicked.
func recovered(_ context.Context, p any) error {
	return &panicError{value: p, stack: debug.Stack()}
}

// Close closes all WebSockets.
func (s *Server) Close() { s.close() }

// answersAlone is around every root field, and does nothing.
func answersAlone(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

// field is around every field: it notes where the page of a REST answer ends, and lets the row plan answer.
func (s *Server) field(ctx context.Context, next graphql.Resolver) (any, error) {
	v, err := next(ctx)
	if err != nil || v == nil {
		return v, err
	}
	fc := graphql.GetFieldContext(ctx)
	if !fc.IsResolver {
		return v, nil
	}
	if fc.Field.Alias == pageAlias {
		if page, ok := v.(interface{ Last() (int, relay.Key) }); ok && !reflect.ValueOf(v).IsNil() {
			h := relay.HintsOf(ctx)
			h.Rows, h.Last = page.Last()
		}
	}
	return s.o.Tables.Apply(ctx, v)
}

// pageAlias is the alias of the root field that holds the page of a REST answer.
const pageAlias = "page"

// present is what a client sees of an error.
func (s *Server) present(ctx context.Context, err error) *gqlerror.Error {
	if errors.Is(err, errTold) {
		return nil
	}
	var own *fault.Error
	var parsed *gqlerror.Error
	switch {
	case errors.As(err, &own):
	case errors.As(err, &parsed) && parsed.Err == nil: // the document or its variables are wrong
		return parsed
	default:
		if parsed != nil {
			err = parsed.Err
		}
		own = s.o.Classify(err)
	}
	e := coded(own.Code, own.Message)
	e.Path = graphql.GetPath(ctx)
	maps.Copy(e.Extensions, own.Extra)
	if own.Code == fault.Internal || own.Code == fault.Unavailable { // the client learns an id, the log the reason
		id := s.o.NewID()
		e.Extensions["id"] = id
		attrs := []any{"id", id, "field", e.Path.String(), "error", err}
		var panicked *panicError
		if errors.As(err, &panicked) {
			attrs = append(attrs, "stack", string(panicked.stack))
		}
		s.o.Logger.ErrorContext(ctx, "a field could not be answered", attrs...)
	}
	return e
}

// panicError is a resolver's panic.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func coded(code fault.Code, message string) *gqlerror.Error {
	return &gqlerror.Error{Message: message, Extensions: map[string]any{"code": string(code)}}
}

// received tells the observer of a client's operation.
func (s *Server) received(ctx context.Context, op *ast.OperationDefinition) {
	if s.o.Observer != nil {
		s.o.Observer.Received(ctx, string(op.Operation), op.Name)
	}
}

// context prepares the context of a client's operation.
func (s *Server) context(ctx context.Context) context.Context {
	return values.Context(graphql.StartOperationTrace(ctx), s.graphEnv.Value(), s.o.Limits.Value(), new(rowplan.Store).Value(), s.o.Operation())
}

// Schema is the graph's schema. It is not to be changed.
func (s *Server) Schema() *ast.Schema { return s.o.Schema.Schema() }
