// Package openapi generates the OpenAPI 3.1 document of a REST API from the tables and GraphQL documents that serve
// it, so the two cannot differ. It runs at build time: rest/generate writes the document to files that the gateway
// embeds.
package openapi

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/list"
	"heliograph/rest"
	v2 "heliograph/rest/v2"
)

// The paths of components.
const (
	schemaRef   = "#/components/schemas/"
	responseRef = "#/components/responses/"
	headerRef   = "#/components/headers/"
)

//go:embed texts.json document.json examples.json scalars.json
var files embed.FS

// read decodes an embedded JSON file. It panics if the file does not exist or does not have the JSON of a T.
func read[T any](name string) (v T) {
	text, err := files.ReadFile(name)
	if err = cmp.Or(err, json.Unmarshal(text, &v)); err != nil {
		panic(err) // the embedded files are checked by tests
	}
	return v
}

// What the tables of the endpoints do not have. document.json has the parts of the document that do not depend on
// them.
var (
	// texts are descriptions of tags, summaries of operations whose root field serves several paths, by operation id,
	// and descriptions of the parameters of paths, by the path up to the parameter: "topics/{id}".
	texts = read[struct {
		Tags, Summaries map[string]string
		Parameters      map[string]pathParam
	}]("texts.json")
	// examples are responses of the demo network, by operation id.
	examples = read[map[string]json.RawMessage]("examples.json")
	// scalars are the schemas of scalars as formatted in REST responses. A test ensures that all are known.
	scalars = read[map[string]*Schema]("scalars.json")
)

// Files returns the files that are generated from the REST APIs, by their paths in the repository. It writes none. It
// fails if an endpoint cannot be described; see [New].
func Files(api *rest.API) (map[string][]byte, error) {
	d, err := New(api)
	if err != nil {
		return nil, err
	}
	asJSON, err := d.JSON()
	if err != nil {
		return nil, err
	}
	asYAML, err := yaml.JSONToYAML(asJSON)
	status, err2 := yaml.JSONToYAML([]byte(v2.Description))
	if err = cmp.Or(err, err2); err != nil {
		return nil, fmt.Errorf("writing a description as YAML: %w", err)
	}
	return map[string][]byte{
		"docs/rest-to-graphql.md": []byte(guide(api, "../rest/v1/documents")),
		"rest/v1/openapi.json":    asJSON,
		"rest/v1/openapi.yml":     asYAML,
		"rest/v2/openapi.yml":     status,
	}, nil
}

type generator struct {
	api    *rest.API
	bodies *bodies
	doc    *Document
	// bodySchemas are the schemas of complete bodies, by name.
	bodySchemas Map[*Schema]
}

// New returns the OpenAPI document of an API, without the endpoints that are Undocumented. In place of the gateway's
// version and settings it has placeholders, see [rest.Config.FillOpenAPI]. It fails if a keyed list has items without
// a key and a value, or if the example of a body is invalid.
func New(api *rest.API) (*Document, error) {
	g := &generator{
		api: api, bodies: &bodies{graph: api.Server.Schema(), shared: map[string]*Schema{}},
		doc: read[*Document]("document.json"),
	}
	for i := range api.Endpoints {
		e := &api.Endpoints[i]
		if e.Undocumented {
			continue
		}
		err := cmp.Or(g.endpoint(e), g.bodies.err)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", e.Path, err)
		}
	}
	names := slices.Sorted(maps.Keys(g.bodies.shared))
	shared := list.Map(names, func(name string) Member[*Schema] {
		return Member[*Schema]{name, g.bodies.shared[name]}
	})
	g.doc.Components.Schemas = slices.Concat(shared, g.bodySchemas, g.doc.Components.Schemas)
	return g.doc, nil
}

// endpoint adds an endpoint to the OpenAPI document: its path, tag, parameters, body and responses. An error of the
// schema of a response is kept in g.bodies.err instead of returned.
func (g *generator) endpoint(e *rest.Endpoint) error {
	operations := bodyOperations(g.api, e)
	whole := operations
	if e.Describes != "" {
		whole = ast.OperationList{g.api.Document(e).Operations().ForName(e.Describes)}
	}
	id, tag := operationID(e), resourceOf(e.Path)
	body := object("schema", g.bodyRef(operations[0].Name, id, g.bodies.body(e, whole)), "example", examples[id])
	// A null root field of the graph is a 404 in REST.
	description := strings.ReplaceAll(oneLine(rest.Roots(operations[0])[0].Definition.Description), "Null when",
		"404 when")
	summary, description, _ := strings.Cut(description, ". ")
	link, err := g.graphiql(e)
	if err != nil {
		return err
	}
	if link != "" {
		description = strings.TrimSpace(description + "\n\n[Open in GraphiQL](" + link + ")")
	}
	if !slices.ContainsFunc(g.doc.Tags, func(t Map[any]) bool { return t[0].Value == tag }) {
		g.doc.Tags = append(g.doc.Tags, object("name", tag, "description", texts.Tags[tag]))
	}
	at := slices.IndexFunc(g.doc.Paths, func(m Member[Map[any]]) bool { return m.Name == e.Path })
	if at < 0 {
		at = len(g.doc.Paths)
		g.doc.Paths = append(g.doc.Paths, Member[Map[any]]{Name: e.Path})
	}
	g.doc.Paths[at].Value = append(g.doc.Paths[at].Value, object(strings.ToLower(e.Method()), object(
		"tags", []string{tag}, "summary", cmp.Or(texts.Summaries[id], strings.TrimSuffix(summary, ".")),
		"description", description, "operationId", id, "parameters", g.parameters(e),
		"requestBody", requestBody(e.Body), "responses", g.responses(e, body)))...)
	return nil
}

// requestBody returns the OpenAPI description of the body of requests, or nil if they have none. A body without
// members is described as binary, without its example.
func requestBody(b *rest.Body) Map[any] {
	if b == nil {
		return nil
	}
	s := typed("string")
	s.Format = "binary"
	var example json.RawMessage
	if b.Members != nil {
		s, example = newObject(true), b.Example
	}
	for _, m := range b.Members {
		member := typed(m.Type)
		member.Description = m.Doc
		if m.Type == "array" {
			member.Items = newObject(true)
		}
		s.put(m.Name, member, true)
	}
	var content Map[any]
	for _, t := range b.Types {
		content = append(content, object(t, object("schema", s, "example", example))...)
	}
	return object("description", b.Doc, "required", true, "content", content)
}

// bodyRef stores the schema of a body in g, unless it has an equal one, and returns a reference to it. Its name is
// that of the operation, or that of the endpoint if the operation's name is taken by another schema. id is the
// endpoint's operation id.
func (g *generator) bodyRef(operation, id string, body *Schema) *Schema {
	name := operation + "Response"
	if old, ok := g.bodySchemas.Get(name); ok && !reflect.DeepEqual(old, body) {
		name = strings.ToUpper(id[:1]) + id[1:] + "Response"
	}
	if _, ok := g.bodySchemas.Get(name); !ok {
		g.bodySchemas = append(g.bodySchemas, Member[*Schema]{name, body})
	}
	return &Schema{Ref: schemaRef + name}
}

// resourceOf returns the first segment of an endpoint's path, such as accounts, which groups the endpoints.
func resourceOf(path string) string {
	resource, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return resource
}

// operationID returns an endpoint's operation id, built from its method and path: "/topics/{id}/messages" is
// getTopicsByIdMessages.
func operationID(e *rest.Endpoint) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(e.Method()))
	for segment := range strings.SplitSeq(strings.Trim(e.Path, "/"), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			b.WriteString("By")
			segment = strings.TrimSuffix(name, "}")
		}
		for word := range strings.SplitSeq(segment, "-") {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

type pathParam struct {
	name string
	// Doc describes the parameter. Pattern matches all values, or is empty if it would match anything. Example is a
	// value of the demo network.
	Doc, Pattern, Example string
}

// pathParams returns the parameters in a path, with their descriptions from texts.json. A parameter without one has
// its name only.
func pathParams(path string) []pathParam {
	var out []pathParam
	before := ""
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if strings.HasPrefix(segment, "{") {
			p := texts.Parameters[before+"/"+segment]
			p.name = strings.Trim(segment, "{}")
			out = append(out, p)
		}
		before = segment
	}
	return out
}

// graphiql returns a link to the endpoint's document in GraphiQL, or "" if the path has no example. It fails if the
// example of a POST endpoint cannot be explained.
func (g *generator) graphiql(e *rest.Endpoint) (string, error) {
	path := g.api.Prefix + e.Path
	for _, p := range pathParams(e.Path) {
		if p.Example == "" {
			return "", nil
		}
		path = strings.Replace(path, "{"+p.name+"}", p.Example, 1)
	}
	if e.Body == nil {
		return "/graphiql?rest=" + url.QueryEscape(path), nil
	}
	// A link has no HTTP method, so this one contains the document.
	x, err := g.api.Explain(context.Background(), e.Method()+" "+path, nil)
	if err != nil {
		return "", err
	}
	variables, err := json.Marshal(x.Variables)
	if err != nil {
		return "", fmt.Errorf("encoding the variables: %w", err)
	}
	return "/graphiql?" + url.Values{"query": {x.Query}, "variables": {string(variables)}}.Encode(), nil
}

// parameters returns the OpenAPI descriptions of the parameters of an endpoint in its path and query string.
func (g *generator) parameters(e *rest.Endpoint) []Map[any] {
	var out []Map[any]
	for _, p := range pathParams(e.Path) {
		s := typed("string")
		if p.Pattern != "" {
			s.Pattern = "^(?:" + p.Pattern + ")$"
		}
		out = append(out, object("name", p.name, "in", "path", "description", p.Doc, "required", true, "schema", s,
			"example", p.Example))
	}
	for i := range e.Params {
		out = append(out, query(e, &e.Params[i]))
	}
	return out
}

// maxValues returns the maximum number of values of a list for its schema, or nil if it is unlimited. In the classic
// family it is the placeholder of the setting, which [rest.Config.FillOpenAPI] replaces.
func maxValues(e *rest.Endpoint, p *rest.Param) any {
	switch {
	case e.Family == rest.Classic:
		return rest.MaxRepeatsPlaceholder
	case p.MaxValues == rest.Unlimited:
		return nil
	default:
		return p.MaxValues
	}
}

// query returns the OpenAPI description of a parameter of the query string: its type, its default, and whether it
// can have operators and be repeated.
func query(e *rest.Endpoint, p *rest.Param) Map[any] {
	form, ops, isList := e.ValuesOf(p)
	doc, style, s := p.Doc, "", formSchema(form)
	if s.Type[0] != "integer" || len(ops) > 0 {
		doc = strings.TrimSpace(p.Doc + " " + form.Doc)
	}
	if p.Name == "limit" {
		s.Default = rest.LimitDefaultPlaceholder
		if e.Family == rest.Modern {
			s.Default = e.ModernLimit()
		}
		s.Minimum = new(int64(1))
	}
	if p.Name == "order" {
		s.Default = "asc"
		if e.Desc {
			s.Default = "desc"
		}
	}
	if len(ops) > 1 {
		s = withOperators(form, ops)
		doc = strings.TrimSpace(doc + " May have an operator in front: " + opList(ops, ", ") + ".")
	}
	if isList {
		style, s = "form", &Schema{Type: Types{"array"}, Items: s, MaxItems: maxValues(e, p)}
	}
	return object("name", p.Name, "in", "query", "description", doc, "style", style, "explode", isList, "schema", s)
}

// formSchema returns the schema of a parameter's value without an operator. It is a Boolean, an enum, an integer, or a
// text with a pattern: the first of these that the kind documents, or else any text.
func formSchema(f *rest.Kind) *Schema {
	s := typed("string")
	switch {
	case slices.Equal(f.Enum, []string{"true", "false"}):
		s.Type = Types{"boolean"}
	case f.Enum != nil:
		for _, w := range f.Enum {
			s.Enum = append(s.Enum, w)
		}
	case f.Max > 0:
		s.Type, s.Format = Types{"integer"}, "int64"
		if f.Min > math.MinInt64 {
			s.Minimum = new(f.Min)
		}
		if f.Max < math.MaxInt64 {
			s.Maximum = new(f.Max)
		}
	case f.Pattern != "":
		s.Pattern = "^(?:" + f.Pattern + ")$"
	}
	return s
}

// withOperators returns the schema of a parameter's value with an optional operator, as a text with a pattern. f is
// the kind of the values, and ops are the operators.
func withOperators(f *rest.Kind, ops []rest.Op) *Schema {
	pattern := f.Pattern
	switch {
	case f.Enum != nil:
		pattern = strings.Join(f.Enum, "|")
	case f.Max > 0 && f.Min > 0:
		pattern = `0*[1-9]\d*`
	case f.Max > 0:
		pattern = `\d+`
	case pattern == "":
		pattern = ".+"
	}
	return &Schema{Type: Types{"string"}, Pattern: "^((" + opList(ops, "|") + "):)?(?:" + pattern + ")$"}
}

// opList returns operators as one text with a separator.
func opList(ops []rest.Op, separator string) string {
	return strings.Join(list.Map(ops, func(o rest.Op) string { return string(o) }), separator)
}

// responses returns the OpenAPI descriptions of the responses of an endpoint by status. body is the content of
// 200.
func (g *generator) responses(e *rest.Endpoint, body Map[any]) Map[any] {
	lifetime := typed("string")
	lifetime.Enum = []any{cacheControl(e.MaxAge)}
	if e.MaxAgeVolatile > 0 {
		lifetime.Enum = append(lifetime.Enum, cacheControl(e.MaxAgeVolatile))
	}
	var tag, link, text, partial any
	if e.Stream == nil { // a streamed response has no ETag
		tag = object("$ref", headerRef+"ETag")
	}
	if len(e.Next) > 0 {
		link = object("$ref", headerRef+"Link")
	}
	if e.TextOperations != nil {
		text = object("schema", typed("string"))
	}
	headers := object("Cache-Control", object("description", "The lifetime of the response in caches.",
		"required", true, "schema", lifetime), "ETag", tag, "Link", link)
	content := object("application/json", body, "text/plain", text)
	if e.MayBePartial {
		partial = object("description", "The answer, of which the database lacks a part.", "headers", headers,
			"content", content)
	}
	out := object("200", object("description", "The response.", "headers", headers, "content", content),
		"206", partial)
	problem := func(status int, name string) {
		out = append(out, object(strconv.Itoa(status), object("$ref", responseRef+name))...)
	}
	family := ""
	if e.Family == rest.Modern {
		family = "Modern"
	}
	if e.Body == nil && e.Stream == nil {
		problem(http.StatusNotModified, "NotModified")
	}
	problem(http.StatusBadRequest, family+"BadRequest")
	problem(http.StatusUnauthorized, "Unauthorized")
	problem(http.StatusNotFound, family+"NotFound")
	if e.Family == rest.Modern {
		problem(http.StatusMethodNotAllowed, "ModernMethodNotAllowed")
	}
	if e.Body != nil {
		problem(http.StatusRequestEntityTooLarge, "ModernTooLarge")
		problem(http.StatusUnsupportedMediaType, "ModernUnsupported")
	}
	for _, status := range e.Statuses {
		problem(status, "Modern"+strings.ReplaceAll(http.StatusText(status), " ", ""))
	}
	problem(http.StatusTooManyRequests, "TooManyRequests")
	problem(http.StatusInternalServerError, family+"InternalError")
	problem(http.StatusNotImplemented, family+"SchemaMismatch")
	problem(http.StatusServiceUnavailable, family+"Unavailable")
	return out
}

// cacheControl returns the value of Cache-Control for a lifetime in seconds.
func cacheControl(age int) string { return "public, max-age=" + strconv.Itoa(age) }
