package rest

import (
	"context"
	"math"
	"net/http"
	"strings"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
)

// Endpoint is one path of a REST API, as data: its parameters, the document that answers it, and the form of the response.
type Endpoint struct {
	// Path is the route below the API's prefix. A name in braces matches one segment; a pattern may follow the name after a colon.
	Path   string
	Family Family
	Validation
	// Params are the parameters of the query string. The modern family converts and checks them in this order.
	Params []Param
	// PathParams are the parameters of the path. The modern family converts them before those of the query string.
	PathParams []Param
	// BindPath binds the parameters of the path to variables.
	BindPath func(r *Request) error
	// Body is the request body of a POST endpoint. Endpoints without one answer GET and HEAD.
	Body *Body
	// Document is the file with the operation, or operations, of the endpoint.
	Document string
	// Operation selects one of several operations by name.
	Operation func(r *Request) string
	// Finish completes the variables after all parameters are bound. It may return a response as an error ([Problem], [Direct]).
	Finish func(r *Request) error
	Paging
	// NotFound returns the problem if the first root field of the document is null or an empty list, or if the outcome reports that something is missing. By
	// default it is 404 with the text of [Wording].
	NotFound func(r *Request, o *relay.Outcome) *Problem
	// MaxAge is the max-age of the response in seconds.
	MaxAge int
	Shape
	Docs
}

// Validation has the options for validating a request.
type Validation struct {
	// Grammar is the syntax of query parameters. The classic family only.
	Grammar Grammar
	// PathFirst validates the path before the query string.
	PathFirst bool
	// ExistsFirst rejects an invalid query string only if the object of the path exists. Otherwise the response is that of a missing object.
	ExistsFirst bool
	// ObjectBound reports all invalid parameters at once, with short messages. The modern family only.
	ObjectBound bool
}

// Paging has the options of lists.
type Paging struct {
	// Next are the parameters of links.next: the last parts of the page's key, in its order. Without any, the response has no links.
	Next []Cursor
	// Desc is the default order.
	Desc bool
	// DefaultLimit is the default page size of the modern family. 0 means 25.
	DefaultLimit int
	// EmptyEnds omits links.next after an empty page even if the range of timestamps was cut.
	EmptyEnds bool
}

// Shape has the options for the response.
type Shape struct {
	// OmitEmpty are lists that are omitted if they are empty. None may be the last member of its object.
	OmitEmpty []string
	// OmitNull are groups of members that are omitted from objects in which all members of the group are null.
	OmitNull [][]string
	// TextOperations are operations whose response is plain text: the member "text" of their data, which needs no escaping.
	TextOperations []string
	// ErrorData adds the member data to every error.
	ErrorData bool
	// MaxAgeVolatile is the max-age in seconds of responses that may change soon although they show the past.
	MaxAgeVolatile int
	Streaming
}

// Streaming has the options of a response that is written while its document runs.
type Streaming struct {
	// Stream runs the document and writes the response. If it returns false, nothing was written, and the result is rendered as usual.
	Stream func(w http.ResponseWriter, r *Request, run func(context.Context) *server.Result) (*server.Result, bool)
	// Describes is the operation of the document that describes the streamed response in the OpenAPI document. It is never run.
	Describes string
	// Keyed are the lists of that operation whose items, a key and a value, are streamed as members of an object.
	Keyed []string
}

// Docs has the options for the OpenAPI document.
type Docs struct {
	// Undescribed omits the path, because another path is the same.
	Undescribed bool
	// Statuses are statuses of errors that only some endpoints have.
	Statuses []int
	// MayBePartial documents status 206, for responses of which the database has only a part.
	MayBePartial bool
}

// Param is one parameter of a query string, or of a modern endpoint's path.
type Param struct {
	Name string
	// Kind tells which values the classic family takes.
	Kind Kind
	// Read converts values for the modern family.
	Read Read
	// Most is how many values a list of the modern family may have; 0 means that the parameter is no list, and its first value counts.
	Most int
	// ListName is what the modern family calls the list where it has too many values.
	ListName string
	// Check says what is wrong with a converted value of the modern family, or nothing.
	Check func(Value) string
	// Bind puts the values, of which there is one at least, into the variables. Nil leaves that to the endpoint's Finish.
	Bind Bind
	// Doc says what the parameter does, in a sentence or two.
	Doc string
	// Single tells that one value counts, and operators do not, although the kind knows some.
	Single bool
}

// PathDoc describes a part of paths to people; what it takes, the endpoint knows.
type PathDoc struct {
	// Doc says what the part stands for.
	Doc string
	// Pattern is a regular expression that the whole part matches; empty when that says nothing.
	Pattern string
	// Example is a value of the right form.
	Example string
}

// AnyNumber is the number of values of a list without bound.
const AnyNumber = math.MaxInt

// Bind puts the values of a parameter into the variables of the document.
type Bind func(r *Request, values []Value) error

// Cursor is a parameter by which a page is continued.
type Cursor struct {
	Param string
	// Skip leaves the parameter as it is: its place in the key does not count.
	Skip bool
	// Print writes the value at a place of the page's last row.
	Print func(dst []byte, v any) []byte
	// Key reads a value of the parameter for comparison; ok is false when it is none.
	Key func(c *Config, text string) (key int64, ok bool)
	// Inclusive tells that rows with the same value can follow. The modern family finds that out itself.
	Inclusive bool
	// Empty tells whether bounds of the parameter contradict each other, for values that no Key holds.
	Empty func(r *Request, bounds []Value) bool
	// Optional tells that the value 0 is none: the modern family leaves the parameter out of the link then.
	Optional bool
	// Final tells that no row can follow one with this value. Nil means that the bounds tell it.
	Final func(v any, desc bool) bool
}

// Segments are the parts of a path that stand for names in braces.
type Segments []Segment

// Segment is a part of a path, decoded.
type Segment struct{ Name, Text string }

// Get is the text of a segment.
func (s Segments) Get(name string) string {
	for i := range s {
		if s[i].Name == name {
			return s[i].Text
		}
	}
	return ""
}

// Request is one request while it is read.
type Request struct {
	Config    *Config
	HTTP      *http.Request
	Endpoint  *Endpoint
	Query     Query
	Path      Segments
	Variables map[string]any
	Limit     int
	Desc      bool
	// Next, if not nil, are the parameters by which this request goes on in place of the endpoint's. An empty list means that nothing can follow.
	Next []Cursor
	// Cut is the end of a bounded timestamp range in paging direction, when the range was cut: the page goes on there.
	Cut *int64
	// ask asks the graph something before the answer.
	ask asker
	// notes are what one part of the endpoint leaves for another.
	notes map[string]any

	most      int // the greatest page size
	style     scalar.Style
	document  *server.Document
	converted map[string][]Value // of the modern family
}

// Set puts a value into the variables; dots in the name lead into input objects. A nil map is not set.
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

// SetNote leaves something for another part of the endpoint, which finds it with [Request.Note].
func (r *Request) SetNote(name string, v any) {
	if r.notes == nil {
		r.notes = map[string]any{}
	}
	r.notes[name] = v
}

// Note is what another part of the endpoint has left; nil for nothing.
func (r *Request) Note(name string) any { return r.notes[name] }

// Ask runs another operation of the endpoint's document.
func (r *Request) Ask(operation string, variables map[string]any) *server.Result {
	return r.ask(r.HTTP.Context(), server.Call{Document: r.document, Operation: operation, Variables: variables, Style: scalar.REST, Limits: relay.Limits{Default: 1, Max: 1}})
}

// Order is the order in which the page is wanted.
func (r *Request) Order() string {
	if r.Desc {
		return string(relay.Desc)
	}
	return string(relay.Asc)
}

// cursors are the parameters by which the request goes on.
func (r *Request) cursors() []Cursor {
	if r.Next != nil {
		return r.Next
	}
	return r.Endpoint.Next
}

// Values are the values of a parameter that were accepted, in the order of the request.
func (r *Request) Values(name string) []Value {
	if r.Endpoint.Family == Modern {
		return r.converted[name]
	}
	var out []Value
	for _, text := range r.Query.Get(name) {
		v, _ := r.Endpoint.Grammar.read(text)
		out = append(out, v)
	}
	return out
}

// Direct is an answer that needs no document: an empty page.
type Direct struct{ Body string }

func (d *Direct) Error() string { return "answered without asking the database" }
