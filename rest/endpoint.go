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

// Endpoint is one path of a REST API, as data: what it takes, and the document that answers it.
type Endpoint struct {
	// Path is the route below the API's prefix; names in braces stand for one segment, of any form or of the pattern after a colon.
	Path   string
	Family Family
	// Grammar is how the classic family reads the endpoint's parameters.
	Grammar Grammar
	// Params are the parameters of the query string. The modern family converts and checks them in this order.
	Params []Param
	// PathParams are the parameters of the path, for the modern family: they are converted before those of the query string.
	PathParams []Param
	// ObjectBound tells that a modern endpoint reads its parameters all at once: it complains of all that are bad, in few words.
	ObjectBound bool
	// DefaultLimit is the page size of a modern endpoint unless another is asked for; 0 means 25.
	DefaultLimit int
	// Body is what the endpoint takes that is asked with POST; nil for one that is asked with GET.
	Body *Body
	// PathFirst tells that the path is checked before the query string.
	PathFirst bool
	// BindPath reads the path's parameters.
	BindPath func(r *Request) error
	// Document is the file with the operation, or operations, that answer the endpoint.
	Document string
	// Operation chooses among several operations.
	Operation func(r *Request) string
	// Desc is the default order.
	Desc bool
	// Finish completes the variables when all parameters are bound. It may answer the request itself.
	Finish func(r *Request) error
	// Next are the parameters by which links.next goes on: the last parts of the page's key, in its order. Without any the answer has no links.
	Next []Cursor
	// NotFound returns the problem if the first root field of the document is null or an empty list, or if the outcome reports that something is missing. By
	// default it is 404 with the text of [Wording].
	NotFound func(r *Request, o *relay.Outcome) *Problem
	// MaxAge is for how long the answer may be kept, in seconds.
	MaxAge int
	// MaxAgeVolatile is the same for answers that may change soon although they show history.
	MaxAgeVolatile int
	// OmitEmpty are lists that are left out of the body where they are empty. None may be the last member of its object.
	OmitEmpty []string
	// TextOperations are operations that a modern endpoint answers as plain text: all they say is a member "text", which needs no escaping.
	TextOperations []string
	// OmitNull are groups of members that are left out of the objects of the body in which all of the group are null.
	OmitNull [][]string
	// MayBePartial tells that the database may lack a part of the answer, which is 206 then.
	MayBePartial bool
	// ExistsFirst tells that a query string is refused only where the path names something: otherwise the answer is that it does not.
	ExistsFirst bool
	// ErrorData tells that every error of the endpoint has a member data.
	ErrorData bool
	// Stream, if not nil, writes the answer while the document runs. False means that nothing has been written: the result is answered as ever.
	Stream func(w http.ResponseWriter, r *Request, run func(context.Context) *server.Result) (*server.Result, bool)
	// Describes is the operation of the document by which descriptions of the API tell what Stream writes. It is never run.
	Describes string
	// Keyed are the lists of that operation whose items, a key and a value, Stream writes as the members of an object.
	Keyed []string
	// Statuses are those of failures that only some endpoints have.
	Statuses []int
	// Undescribed leaves the path out of descriptions of the API: another path tells the same.
	Undescribed bool
	// EmptyEnds tells that nothing follows an empty page, even where the range of timestamps was cut.
	EmptyEnds bool
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
