package rest

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
)

// Endpoint is one path of a REST API, as data: its parameters, the document that it runs, and the form of the
// response.
type Endpoint struct {
	// Path is the route below the API's prefix. A name in braces matches one segment; a pattern may follow the name
	// after a colon.
	Path   string
	Family Family
	// Grammar is the syntax of query parameters. The classic family only.
	Grammar Grammar
	// Params are the parameters of the query string. The modern family converts and checks them in this order.
	Params []Param
	// PathParams are the parameters of the path. The modern family converts them before those of the query string.
	PathParams []Param
	// BindPath binds the parameters of the path to variables.
	BindPath func(r *Request) error
	// Body is the request body of a POST endpoint. Endpoints without a body support GET and HEAD.
	Body *Body
	// Document is the file with the operation, or operations, of the endpoint.
	Document string
	// Operation selects one of several operations by name.
	Operation func(r *Request) string
	// Finish completes the variables after all parameters are bound. It may return a response as an error ([Problem],
	// [Direct]).
	Finish func(r *Request) error
	// Next are the parameters of links.next: the last parts of the page's key, in its order. Without any, the response
	// has no links.
	Next []Cursor
	// Desc is the default order.
	Desc bool
	// NotFound returns the problem if the first root field of the document is null or an empty list, or if the outcome
	// reports that something is missing. By default it is 404 with the text of [Wording].
	NotFound func(r *Request, o *relay.Outcome) *Problem
	// MaxAge is the max-age of the response in seconds.
	MaxAge int
	Options

	route    *route    // of Path; set by [API.Init], as is prepared
	prepared *prepared // from Document
}

// Options are what only some endpoints have.
type Options struct {
	// Admit returns the problem of a request that exceeds the rate limit of the endpoint, which counts invalid requests
	// too. Resolvers do not count admitted requests again ([relay.Admitted]).
	Admit func(c *Config) *Problem
	// PathFirst validates the path before the query string.
	PathFirst bool
	// ExistsFirst rejects an invalid query string only if the object of the path exists. Otherwise the response is
	// that of a missing object.
	ExistsFirst bool
	// ObjectBound reports all invalid parameters at once, with short messages. The modern family only.
	ObjectBound bool

	// DefaultLimit is the default page size of the modern family. 0 means 25.
	DefaultLimit int
	// EmptyEnds omits links.next after an empty page even if the range of timestamps was cut.
	EmptyEnds bool

	// OmitEmpty are lists that are omitted if they are empty. None may be the last member of its object.
	OmitEmpty []string
	// OmitNull are groups of members that are omitted from objects in which all members of the group are null.
	OmitNull [][]string
	// TextOperations are operations whose response is plain text: the member "text" of their data, which needs no
	// escaping.
	TextOperations []string
	// ErrorData adds the member data to every error.
	ErrorData bool
	// MaxAgeVolatile is the max-age in seconds of responses that may change soon although they show the past.
	MaxAgeVolatile int

	// Stream runs the document and writes the response. If it returns false, nothing was written, and the result is
	// rendered as usual.
	Stream func(w http.ResponseWriter, r *Request, run func(context.Context) *server.Result) (*server.Result, bool)
	// Describes is the operation of the document that describes the streamed response in the OpenAPI document. It is
	// never run.
	Describes string
	// Keyed are lists whose items, a key and a value, are members of an object in the body: of that operation, or of
	// the response if nothing is streamed.
	Keyed []string

	// Undocumented omits the path, because another path is the same.
	Undocumented bool
	// Statuses are statuses of errors that only some endpoints have.
	Statuses []int
	// MayBePartial documents status 206, for responses of which the database has only a part.
	MayBePartial bool
}

// Param is a parameter of a query string, or of the path of a modern endpoint.
type Param struct {
	Name string
	// Kind is the kind of values that the parameter accepts.
	Kind Kind
	// MaxValues is the maximum number of values of a list in the modern family. 0 means that the parameter is not a
	// list and its first value applies.
	MaxValues int
	// ListName is the name of the list in the modern family's error for too many values.
	ListName string
	// Check returns the error text for a converted value of the modern family, or "".
	Check func(Value) string
	// Bind converts the values, at least one, to variables. If it is nil, the endpoint's Finish does so.
	Bind Bind
	// Doc describes the parameter in one or two sentences.
	Doc string
	// Single reports that only one value applies and operators are not supported, even if the kind supports them.
	Single bool
}

// ValuesOf returns the values that a parameter accepts: their form, the operators, and whether several values apply.
// form points to the kind of p. ops has no element if values have no operator.
func (e *Endpoint) ValuesOf(p *Param) (form *Kind, ops []Op, list bool) {
	switch {
	case e.Family == Modern:
		return &p.Kind, p.Kind.Ops, p.MaxValues > 1
	// An integer that supports eq only is a plain integer.
	case p.Single || len(p.Kind.Ops) == 0 || len(p.Kind.Ops) == 1 && p.Kind.Max > 0:
		return &p.Kind, nil, false
	default:
		return &p.Kind, p.Kind.Ops, true
	}
}

// Unlimited is the maximum of an unlimited list.
const Unlimited = math.MaxInt

// Bind converts the values of a parameter to variables of the document.
type Bind func(r *Request, values []Value) error

// Cursor is a parameter that continues a page.
type Cursor struct {
	Param string
	// Skip does not change the parameter: its position in the key is ignored.
	Skip bool
	// Print appends the parameter's value for the last row of the page.
	Print func(dst []byte, v any) []byte
	// Key converts a value of the parameter to a comparable form. ok is false if the value is invalid.
	Key func(c *Config, text string) (key int64, ok bool)
	// Inclusive reports that more rows can have the same value. The modern family detects this itself.
	Inclusive bool
	// Empty reports whether bounds of the parameter contradict each other. It is for values without a Key.
	Empty func(r *Request, bounds []Value) bool
	// Optional reports that the value 0 means no value. The modern family then omits the parameter from the link.
	Optional bool
	// Final reports whether no row can follow a row with this value. If it is nil, the bounds decide.
	Final func(v any, desc bool) bool
}

// Request is a request while it is converted to variables.
type Request struct {
	Config    *Config
	HTTP      *http.Request
	Endpoint  *Endpoint
	Query     Query
	Variables map[string]any
	Limit     int
	Desc      bool
	// Selected replaces the operation that the endpoint selects if it is not empty.
	Selected string
	// Next are the endpoint's Next, or their replacement. Without any, no page can follow.
	Next []Cursor
	// Cut is the end, in paging direction, of a timestamp range that was cut. The next page continues there.
	Cut *int64
	// runHelper runs helper operations before the endpoint's operation.
	runHelper helperFunc
	path      string // escaped, below the prefix of the API
	maxLimit  int    // the maximum page size
	style     scalar.Style
	converted map[string][]Value // modern family only
}

// Path returns the decoded value of a parameter in the path of the request, or "" if the endpoint does not have it.
func (r *Request) Path(name string) string { return r.Endpoint.route.param(r.path, name) }

// Set sets a variable of the document in r.Variables. Dots in the name select fields of input objects, which Set
// creates. It replaces an earlier value, but ignores a nil map.
func (r *Request) Set(variable string, v any) {
	if m, ok := v.(map[string]any); ok && m == nil {
		return
	}
	into := r.Variables
	for {
		name, rest, nested := strings.Cut(variable, ".")
		if !nested {
			into[name] = v
			return
		}
		next, ok := into[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			into[name] = next
		}
		into, variable = next, rest
	}
}

// RunOperation runs another operation of the endpoint's document with the given variables and a page size of 1, for
// validation, and returns its data. It adds default values to variables, which must not be nil. It fails with the
// problem of the response if the operation fails, the context has ended, or the request is only explained.
func (r *Request) RunOperation(operation string, variables map[string]any) ([]byte, error) {
	return r.runHelper(r.HTTP.Context(), r.Endpoint.Family, server.Call{
		Document: r.Endpoint.prepared.document, Operation: operation, Variables: variables, Style: scalar.REST,
		Limits: relay.Limits{Default: 1, Max: 1},
	})
}

// Order returns the requested order as an enum value of the graph: ASC or DESC.
func (r *Request) Order() string {
	if r.Desc {
		return string(relay.Desc)
	}
	return string(relay.Asc)
}

// Values returns the accepted values of a parameter in the order of the request, or nil. With the grammar [InOrder],
// equal texts are one value. Those of the modern family are converted, and must not be changed. Those of the classic
// family are only split into operator and text, in a new slice.
func (r *Request) Values(name string) []Value {
	if r.Endpoint.Family == Modern {
		return r.converted[name]
	}
	texts := r.Query.Get(name)
	var out []Value
	for i, text := range texts {
		if r.Endpoint.Grammar == InOrder && slices.Contains(texts[:i], text) {
			continue
		}
		v, _ := r.Endpoint.Grammar.read(text)
		out = append(out, v)
	}
	return out
}

// Direct is a response that needs no document: an empty page.
type Direct struct{ Body string }

// Error implements error. A Direct is no failure: it is the body of the response.
func (d *Direct) Error() string { return "response without a query" }
