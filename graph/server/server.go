// Package server runs operations: those that come over HTTP, and the documents of the REST side in process, through one executor.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/ledger"
)

// Options say how operations are run.
type Options struct {
	Schema graphql.ExecutableSchema
	Tables *rowplan.Tables
	// PrepareContext adds what resolvers need for one operation.
	PrepareContext func(context.Context) context.Context
	// Classify tells the code and the text of an error that has none of its own.
	Classify func(error) *fault.Error
	// Base completes entity ids that are given without shard or realm.
	Base ledger.EntityID
	// Limits are the page sizes of clients of the graph.
	Limits relay.Limits
	// Documents is how many parsed documents of clients are kept.
	Documents int
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
	// NewID makes the ids of errors whose reasons only the log tells.
	NewID  func() string
	Logger *slog.Logger
}

// Server runs operations.
type Server struct {
	o        Options
	exec     *executor.Executor
	docs     *documents
	graphEnv *scalar.Env
	restEnvs map[scalar.Style]*scalar.Env

	costLimit string     // as the header has it
	responses *responses // nil when no answers are kept
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
	for _, style := range []scalar.Style{scalar.REST, scalar.RESTCompact} {
		s.restEnvs[style] = &scalar.Env{Style: style, Base: o.Base}
	}
	if err := s.trust(); err != nil {
		return nil, err
	}
	if o.CacheBytes > 0 {
		if s.responses, err = newResponses(o.CacheBytes, o.Head); err != nil {
			return nil, err
		}
	}
	s.exec.SetQueryCache(docs)
	s.exec.SetErrorPresenter(s.present)
	s.exec.SetRecoverFunc(func(ctx context.Context, p any) error {
		return &panicError{value: p, stack: debug.Stack()}
	})
	s.exec.Use(extension.Introspection{})
	s.exec.AroundFields(s.field)
	return s, nil
}

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

// context prepares the context of one operation.
func (s *Server) context(ctx context.Context, env *scalar.Env, limits relay.Limits) context.Context {
	ctx = relay.WithLimits(scalar.WithEnv(graphql.StartOperationTrace(ctx), env), limits)
	return s.o.PrepareContext(rowplan.WithStore(ctx))
}

// Schema is the graph's schema. It is not to be changed.
func (s *Server) Schema() *ast.Schema { return s.o.Schema.Schema() }

// Document is an operation document of the REST side, parsed and checked once.
type Document struct {
	text string
	doc  *ast.QueryDocument
}

// Prepare parses and checks a document, and keeps it for good.
func (s *Server) Prepare(text string) (*Document, error) {
	doc, errs := gqlparser.LoadQuery(s.o.Schema.Schema(), text) //nolint:staticcheck // its replacement takes the same rules as an argument
	if errs != nil {
		return nil, fmt.Errorf("checking a document: %w", errs)
	}
	s.docs.pin(text, doc)
	return &Document{text: text, doc: doc}, nil
}

// Text is the document as it was written.
func (d *Document) Text() string { return d.text }

// Operations are the operations of the document.
func (d *Document) Operations() ast.OperationList { return d.doc.Operations }

// Done hands back the memory of an answer that has been sent: neither data nor a part of it may be used any more. Answers that are not handed
// back are left to the garbage collector.
func (s *Server) Done(data []byte) { s.o.Tables.Buffers.Give(data) }

// Result is the answer to a document. Who is done with the data may say so with [Server.Done].
type Result struct {
	Data   []byte // the JSON of data
	Errors gqlerror.List
	Hints  relay.Hints
}

// Call says how to run a document.
type Call struct {
	Document  *Document
	Operation string
	Variables map[string]any
	Style     scalar.Style
	Limits    relay.Limits
}

// Run runs a document in process. A nil result means that the caller has gone.
func (s *Server) Run(ctx context.Context, c Call) *Result {
	res := &Result{}
	ctx = relay.WithHints(s.context(ctx, s.restEnvs[c.Style], c.Limits), &res.Hints)
	oc, errs := s.exec.CreateOperationContext(ctx, &graphql.RawParams{Query: c.Document.text, OperationName: c.Operation, Variables: c.Variables})
	if errs != nil {
		res.Errors = errs
		return res
	}
	run, ctx := s.exec.DispatchOperation(ctx, oc)
	resp := run(ctx)
	if resp == nil {
		return nil
	}
	res.Data, res.Errors = resp.Data, resp.Errors
	return res
}
