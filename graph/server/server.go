// Package server runs operations: those that come over HTTP, and the documents of the REST side in process, through one executor.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
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
	// MaxTokens bounds the length of a document.
	MaxTokens int
	// MaxBody bounds the size of a request body in bytes.
	MaxBody int64
	Logger  *slog.Logger
}

// Server runs operations.
type Server struct {
	o        Options
	exec     *executor.Executor
	docs     *documents
	graphEnv *scalar.Env
	restEnvs map[scalar.Style]*scalar.Env
}

// New makes a server.
func New(o Options) (*Server, error) {
	docs, err := newDocuments(o.Documents, &o.Tables.Plans)
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, exec: executor.New(o.Schema), docs: docs,
		graphEnv: &scalar.Env{Style: scalar.GraphQL, Base: o.Base},
		restEnvs: map[scalar.Style]*scalar.Env{},
	}
	for _, style := range []scalar.Style{scalar.REST, scalar.RESTCompact, scalar.Status} {
		s.restEnvs[style] = &scalar.Env{Style: style, Base: o.Base}
	}
	s.exec.SetQueryCache(docs)
	s.exec.SetParserTokenLimit(o.MaxTokens)
	s.exec.SetErrorPresenter(s.present)
	s.exec.SetRecoverFunc(func(ctx context.Context, p any) error {
		o.Logger.ErrorContext(ctx, "a resolver panicked", "panic", p)
		return &fault.Error{Code: fault.Internal, Message: "internal error"}
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
		if own = s.o.Classify(err); own.Code == fault.Internal || own.Code == fault.Unavailable {
			s.o.Logger.ErrorContext(ctx, "a field could not be answered", "field", graphql.GetPath(ctx).String(), "error", err)
		}
	}
	e := coded(own.Code, own.Message)
	e.Path = graphql.GetPath(ctx)
	maps.Copy(e.Extensions, own.Extra)
	return e
}

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

// documents keeps parsed documents: those of the REST side for good, those of clients while they are used, and with each its plans.
type documents struct {
	pinned map[string]*ast.QueryDocument // written before the first request only
	recent *lru.Cache[string, *ast.QueryDocument]
	plans  *rowplan.Plans
}

func newDocuments(size int, plans *rowplan.Plans) (*documents, error) {
	recent, err := lru.NewWithEvict(size, func(_ string, doc *ast.QueryDocument) { plans.Forget(doc) })
	if err != nil {
		return nil, fmt.Errorf("making the document cache: %w", err)
	}
	return &documents{pinned: map[string]*ast.QueryDocument{}, recent: recent, plans: plans}, nil
}

func (d *documents) pin(text string, doc *ast.QueryDocument) {
	undefer(doc)
	d.pinned[text] = doc
	d.plans.Keep(doc)
}

// Get implements gqlgen's cache interface.
func (d *documents) Get(_ context.Context, text string) (*ast.QueryDocument, bool) {
	if doc, ok := d.pinned[text]; ok {
		return doc, true
	}
	return d.recent.Get(text)
}

// Add implements gqlgen's cache interface.
func (d *documents) Add(_ context.Context, text string, doc *ast.QueryDocument) {
	undefer(doc)
	d.plans.Keep(doc)
	d.recent.Add(text, doc)
}

// undefer takes every @defer out of a document: answers come whole, which is a server's right.
func undefer(doc *ast.QueryDocument) {
	for _, op := range doc.Operations {
		undeferSet(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		undeferSet(f.SelectionSet)
	}
}

func undeferSet(set ast.SelectionSet) {
	isDefer := func(d *ast.Directive) bool { return d.Name == "defer" }
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			undeferSet(s.SelectionSet)
		case *ast.InlineFragment:
			s.Directives = slices.DeleteFunc(s.Directives, isDefer)
			undeferSet(s.SelectionSet)
		case *ast.FragmentSpread:
			s.Directives = slices.DeleteFunc(s.Directives, isDefer)
		}
	}
}
