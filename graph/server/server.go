// Package server executes GraphQL operations: those of clients over HTTP, WebSockets and server-sent events, and the
// documents of the REST side in process.
package server

import (
	"context"
	"log/slog"
	"reflect"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
)

// Settings are the options that operators set. The tags describe the flags of the command line.
type Settings struct {
	// Bounds limit the documents of clients.
	Bounds limits.Limits `embed:""`
	// CSVRows is the maximum number of rows of an export as CSV or NDJSON.
	CSVRows int `name:"csv-rows" env:"HELIOGRAPH_CSV_ROWS" min:"1" default:"100000" help:"Maximum number of rows of a CSV or NDJSON export."`
	// MaxBody is the maximum size of a request body in bytes, MaxValues the maximum number of JSON values in it.
	MaxBody   int64 `name:"max-body-bytes" env:"HELIOGRAPH_MAX_BODY_BYTES" min:"1" default:"524288" help:"Maximum size of a GraphQL request body in bytes."`
	MaxValues int   `name:"max-body-values" env:"HELIOGRAPH_MAX_BODY_VALUES" min:"1" default:"10000" help:"Maximum number of JSON values in a GraphQL request body, including the variables."`
	// Trusted are documents by id that clients can execute, in addition to those of the REST side. OnlyTrusted rejects
	// all others.
	Trusted     map[string]string `kong:"-"`
	OnlyTrusted bool              `kong:"-"`
	// CacheBytes is the maximum size of the response cache, 0 to disable it.
	CacheBytes int64 `name:"response-cache-bytes" env:"HELIOGRAPH_RESPONSE_CACHE_BYTES" min:"0" default:"67108864" help:"Maximum size of the cache of GraphQL responses in bytes, and at most an eighth of the memory limit; 0 disables it. Cached responses expire with the next block. --cache=off disables it too."`
	// DocumentBytes is the maximum total length of cached documents of clients in bytes.
	DocumentBytes int `kong:"-"`
	// Streams configure WebSockets and server-sent events.
	Streams StreamOptions `kong:"-"`
	// IntrospectionOff rejects introspection by clients. SuggestionsOff removes similar names from validation errors.
	IntrospectionOff, SuggestionsOff bool `kong:"-"`
}

// Options configure a server.
type Options struct {
	Settings

	Schema graphql.ExecutableSchema
	Tables *rowplan.Tables
	// Operation returns the value that resolvers need in the context of one operation.
	Operation func() values.Value
	// Work returns the value that storage needs in the context of one operation. scans reports whether one of its lists
	// is a scan, or one of its fields below a past state, and event whether it is a subscription.
	Work func(ctx context.Context, scans, event bool) values.Value
	// Scans reports whether a list at the root is a scan because of its filters, of which given reports whether one is
	// given.
	Scans func(list string, given func(filter string) bool) bool
	// Classify returns the code and the message for an error without a code.
	Classify func(error) *fault.Error
	// Base completes entity ids without shard or realm.
	Base ledger.EntityID
	// ChainID is that of the network, for the checksums of ids.
	ChainID uint64
	// FindAddress returns the id of the entity with an EVM address, for clients of the graph. It can be nil.
	FindAddress func(context.Context, ledger.EVMAddress) (ledger.EntityID, error)
	// Limits are the page sizes for clients of the graph.
	Limits relay.Limits
	// Head returns the newest consensus timestamp, on which all cached responses depend. Followed returns the time of
	// the newest row that subscriptions have read. It is optional.
	Head     func(context.Context) (int64, error)
	Followed func() int64
	// Origins are the origins that can open WebSockets, as patterns of [path.Match].
	Origins []string
	// NewID returns a new id for an internal error. The response has the id, and the log has the id and the details.
	NewID  func() string
	Logger *slog.Logger
	// Observer is notified of operations. It can be nil.
	Observer Observer
}

// Observer is notified of operations. Their kind is query, mutation or subscription. The name of an anonymous
// operation is empty.
type Observer interface {
	// Received is called for each valid operation of a client, including those whose response is cached.
	Received(ctx context.Context, kind, name string)
	// Run is called before an operation is executed in process. The operation uses the returned context, and end is
	// called after it.
	Run(ctx context.Context, kind, name string) (of context.Context, end func())
}

// Server executes operations.
type Server struct {
	o        Options
	docs     *documents
	graphEnv *scalar.Env
	envs     map[scalar.Style]*scalar.Env // of operations in process
	// presenter and middleware are the methods present and field. A method value allocates each time.
	presenter  graphql.ErrorPresenterFunc
	middleware graphql.FieldMiddleware
	costLimit  string          // value of the header
	responses  *responseCache  // nil if disabled
	closing    context.Context //nolint:containedctx // lifetime of the server, which WebSockets depend on
	close      context.CancelFunc
}

// New returns a new server, with the trusted documents validated. It fails if a trusted document is invalid. It
// reads no database. Call [Server.Close] at the end.
func New(o Options) (*Server, error) {
	s := &Server{
		o: o, docs: newDocuments(o.DocumentBytes, &o.Tables.Plans, o.Limits),
		graphEnv: &scalar.Env{Style: scalar.GraphQL, Base: o.Base, ChainID: o.ChainID, Find: o.FindAddress},
		envs:     map[scalar.Style]*scalar.Env{}, costLimit: strconv.Itoa(o.Bounds.Cost),
	}
	s.envs[scalar.GraphQL] = s.graphEnv
	for _, style := range []scalar.Style{scalar.REST, scalar.RESTCompact, scalar.Status} {
		s.envs[style] = &scalar.Env{Style: style, Base: o.Base}
	}
	s.closing, s.close = context.WithCancel(context.Background())
	if err := s.trust(); err != nil {
		return nil, err
	}
	if o.CacheBytes > 0 {
		s.responses = newResponseCache(o.CacheBytes, o.Head, o.Followed)
	}
	s.presenter, s.middleware = s.present, s.field
	return s, nil
}

// Close closes all WebSockets with a code after which clients connect again. Other requests are served as before.
func (s *Server) Close() { s.close() }

// Schema returns the schema of the graph. Callers must not modify it.
func (s *Server) Schema() *ast.Schema { return s.o.Schema.Schema() }

// field is the middleware of all fields. It records the notes of resolvers and the end of the page of a REST
// response in the context's outcome, and executes row plans, which read related rows.
func (s *Server) field(ctx context.Context, next graphql.Resolver) (any, error) {
	v, err := next(ctx)
	if err != nil {
		err = relay.Collect(ctx, err)
	}
	if err != nil || v == nil {
		return v, err
	}
	if graphql.GetFieldContext(ctx).Field.Alias == relay.PageAlias {
		if page, ok := v.(interface{ Last() (int, relay.Key) }); ok && !reflect.ValueOf(v).IsNil() {
			rows, last := page.Last()
			relay.SetPage(ctx, rows, last)
		}
	}
	return s.o.Tables.Apply(ctx, v)
}

// context returns the context in which an operation runs, with a new store and the work of the request for admission.
func (s *Server) context(ctx context.Context, op *operation) context.Context {
	return s.contextWith(ctx, &rowplan.Store{Recorded: admission.Of(ctx).Recorded() != nil}, op.work(ctx, s))
}

// contextWith returns the context of an operation of a client: with the style of scalars and the page sizes for
// clients, a new value of [Options.Operation], and a store and a work, which the operations of a batch share.
func (s *Server) contextWith(ctx context.Context, store *rowplan.Store, work values.Value) context.Context {
	return values.Context(ctx, s.graphEnv.Value(), s.o.Limits.Value(), store.Value(), s.o.Operation(), work)
}
