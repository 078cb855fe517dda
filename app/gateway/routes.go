package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"heliograph/app/assistants"
	"heliograph/app/media"
	"heliograph/app/web/apidocs"
	"heliograph/app/web/assets"
	"heliograph/app/web/graphiql"
	"heliograph/app/web/statuspage"
	"heliograph/graph"
	"heliograph/graph/server"
	"heliograph/internal/base/respond"
	"heliograph/internal/base/values"
	"heliograph/rest"
	v1 "heliograph/rest/v1"
	v2 "heliograph/rest/v2"
)

// graphPath is the path of the GraphQL API.
const graphPath = "/graphql"

// graphiqlPath is the path of GraphiQL.
const graphiqlPath = "/graphiql"

// mcpPath is the path of the tools for language models.
const mcpPath = "/mcp"

// docsPath is the path of the documentation of a REST API below its prefix.
const docsPath = "/docs"

// Public returns a new handler of the public port: its routes, and around them the middleware that limits transfers,
// finds the client, records requests, recovers from panics and limits rates, in this order. Health checks need no
// turn. It reads no database.
func (g *Gateway) Public() http.Handler {
	r := chi.NewRouter()
	g.health(r)
	for _, prefix := range []string{v1.Prefix, v2.Prefix} {
		r.HandleFunc(prefix+docsPath, g.serveDocs) // before the API, which checks credentials first
		r.HandleFunc(prefix+docsPath+"/*", g.serveDocs)
	}
	r.Handle(v1.Prefix+"/*", g.v1)
	r.Handle(v2.Prefix, g.v2)
	r.Handle(v2.Prefix+"/*", g.v2)
	r.Group(func(r chi.Router) {
		r.Use(g.cors)
		schema := g.schema
		if g.o.Graph.IntrospectionOff {
			schema = rest.NotFoundHandler
		}
		r.Get("/graphql/schema.graphql", schema)
		r.Get("/graphql/explain", g.explain)
		r.Post("/graphql/explain", g.explain)
		r.Handle(media.Pattern, g.files)
		// The middleware responds to preflight requests.
		r.Options("/graphql/schema.graphql", rest.NotFoundHandler)
		r.Options("/graphql/explain", rest.NotFoundHandler)
	})
	for pattern, texts := range assistants.Texts() {
		r.Handle(pattern, texts)
	}
	if g.o.Graph.MCP {
		o := assistants.Options{
			Version: g.o.Version, Graph: g.graph, Schema: g.graph.Schema(), Explain: g.Explain,
			MaxBody: g.o.Graph.MaxBody,
		}
		if g.o.Graph.IntrospectionOff {
			o.Schema = nil
		}
		r.Handle(mcpPath, assistants.Tools(o))
	}
	page := graphiql.Handler()
	r.Handle(graphiqlPath, page)
	r.Handle(graphiqlPath+"/*", page)
	for _, path := range statuspage.Paths() {
		r.Handle(path, g.site)
	}
	r.NotFound(rest.NotFoundHandler)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if r.Match(chi.NewRouteContext(), method, req.URL.Path) {
				w.Header().Add("Allow", method)
			}
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	})
	// GraphQL and the REST API, which finds its endpoints itself, in any letter case, respond to unknown methods.
	operations := g.cors(http.HandlerFunc(g.serveGraph))
	routed := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path == graphPath:
			operations.ServeHTTP(w, req)
		case isREST(req) && !strings.HasPrefix(req.URL.Path, v1.Prefix+docsPath):
			g.v1.ServeHTTP(w, req)
		default:
			r.ServeHTTP(w, req)
		}
	})
	return chi.Chain(defaultTransfer().limit, g.client, g.record, g.recover, g.rate).Handler(routed)
}

// isREST reports whether the path of r is the prefix of the REST API, /api/v1, or below it, in any letter case.
func isREST(r *http.Request) bool {
	p := r.URL.Path
	return strings.EqualFold(p[:min(len(p), len(v1.Prefix))], v1.Prefix) &&
		(len(p) == len(v1.Prefix) || p[len(v1.Prefix)] == '/')
}

// Admin returns the handler of the admin port: health checks, GraphQL, metrics and profiles. It requires no
// credentials, so only trusted hosts may reach the port.
func (g *Gateway) Admin() http.Handler {
	r := chi.NewRouter()
	r.Use(g.adminHost)
	g.health(r)
	r.With(forAdmin, defaultTransfer().limit, g.client, g.record, g.recover, g.rate).
		Method(http.MethodPost, graphPath, g.graph)
	r.Handle("/metrics", promhttp.HandlerFor(g.metrics.registry, promhttp.HandlerOpts{}))
	r.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	r.HandleFunc("/debug/pprof/*", pprof.Index)
	return r
}

// adminKey is the key of requests of the admin port.
var adminKey = values.NewKey[bool]()

// forAdmin is middleware that marks the context of requests of the admin port, whose clients can request plans.
func forAdmin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(values.Context(r.Context(), adminKey.Is(true))))
	})
}

// adminHost is middleware of the admin port that responds with 421 if the Host header is neither an IP address,
// localhost nor one of AdminHosts: a web page can make browsers send requests to a local port under a name that it
// controls.
func (g *Gateway) adminHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower((&url.URL{Host: r.Host}).Hostname())
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" &&
			!slices.Contains(g.o.AdminHosts, host) {
			http.Error(w, "unknown host; permit it with --admin-hosts", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serveGraph serves the GraphQL API at graphPath. If the path is opened in a browser, it redirects to GraphiQL.
func (g *Gateway) serveGraph(w http.ResponseWriter, r *http.Request) {
	if server.OpensPage(r) {
		w.Header().Add("Vary", "Accept")
		http.Redirect(w, r, graphiqlPath, http.StatusFound)
		return
	}
	g.graph.ServeHTTP(w, r)
}

var schemaTag = respond.WeakTag([]byte(graph.SDL))

// schema serves /graphql/schema.graphql: it responds with the schema as SDL, or with 304 if the client has it.
func (g *Gateway) schema(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/graphql; charset=utf-8")
	w.Header().Set("Cache-Control", assets.Checked)
	respond.Write(w, r, http.StatusOK, schemaTag, []byte(graph.SDL))
}

// maxExplained is the maximum size of a request body to explain, in bytes. No endpoint accepts a larger one.
const maxExplained = 1 << 20

// explain responds with the document and variables of the REST path in the parameter "path", with the body of POST
// as the body of that request. It runs nothing. Errors are JSON with the status that the REST API would have.
func (g *Gateway) explain(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.Method == http.MethodPost {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxExplained)); err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "the body cannot be read, or is too long"})
			return
		}
	}
	x, err := g.Explain(r.Context(), r.URL.Query().Get("path"), body)
	var problem *rest.Problem
	switch {
	case errors.As(err, &problem):
		writeJSON(w, problem.Status, map[string]string{"error": problem.Error()})
	case err != nil:
		g.o.Logger.ErrorContext(r.Context(), "explaining a REST path failed", "error", err)
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "internal error"})
	default:
		writeJSON(w, http.StatusOK, x)
	}
}

// writeJSON writes v as the whole response, with its content type and the given status. A value that cannot be
// encoded becomes an empty object with the status 500.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b) // fails only if the client has disconnected
}

// newDocs returns the handlers of the HTML references and OpenAPI documents of the REST APIs, by the prefix of the
// API. It generates the documents, which takes a while. It fails if an embedded file of the reference is invalid.
func newDocs(cfg *rest.Config, version string) (map[string]http.Handler, error) {
	all := map[string]http.Handler{}
	for prefix, describe := range map[string]func(*rest.Config, string) (json, yaml []byte){
		v1.Prefix: v1.OpenAPI, v2.Prefix: v2.OpenAPI,
	} {
		o := apidocs.Options{Prefix: prefix + docsPath}
		o.JSON, o.YAML = describe(cfg, version)
		h, err := apidocs.Handler(o)
		if err != nil {
			return nil, err
		}
		all[prefix] = h
	}
	return all, nil
}

// serveDocs serves the HTML reference of the REST API whose prefix the path has. The references are rendered on the
// first request. If that fails, all requests get 500 until the gateway is restarted.
func (g *Gateway) serveDocs(w http.ResponseWriter, r *http.Request) {
	docs, err := g.docs()
	if err != nil {
		g.o.Logger.ErrorContext(r.Context(), "rendering the REST API documentation failed", "error", err)
		http.Error(w, "The API documentation is not available.", http.StatusInternalServerError)
		return
	}
	docs[r.URL.Path[:len(v1.Prefix)]].ServeHTTP(w, r) // both prefixes have the same length
}

// Explain returns the document and variables that a request for a REST path with the given body runs, without running
// them. target is a path of either REST API with its query string, after "POST " for an endpoint with a body. A nil
// body stands for the example of the endpoint. Endpoints without a body and paths of the status API ignore it. An
// invalid request is an error of type [*rest.Problem].
func (g *Gateway) Explain(ctx context.Context, target string, body []byte) (*rest.Explanation, error) {
	if strings.HasPrefix(target, v2.Prefix+"/") {
		return g.v2.Explain(target)
	}
	return g.v1.Explain(ctx, target, body)
}
