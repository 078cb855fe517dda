package rest

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Body describes the request body of a POST endpoint. Endpoints without a body use GET. A path that supports both has
// two endpoints.
//
// Validation order: the media type, then the body is read, then the query string is bound. Bind runs last, so it can
// use the bound parameters.
type Body struct {
	// Types are the accepted media types, without parameters. Examples use the first one.
	Types []string
	// MaxBytes is the maximum size in bytes. Longer bodies are rejected.
	MaxBytes int64
	// TooLarge is the response to longer bodies. Default: status 413.
	TooLarge *Problem
	// SizeFirst checks the size that the request announces before its media type. A longer body without an announced
	// size cannot be read.
	SizeFirst bool
	// Bind converts the body, which is not empty, to variables. It may return a [*Problem] as the response.
	Bind func(r *Request, body []byte) error
	// Doc describes the body in one or two sentences.
	Doc string
	// Members are the members of a JSON object. Other members are ignored.
	Members []BodyMember
	// Example is the body that is explained if a request has none.
	Example []byte
}

// BodyMember documents a member of a JSON body. Bind parses it.
type BodyMember struct {
	// Name and Type follow JSON Schema. Type is a type name such as "string".
	Name, Type string
	// Doc describes the member and its default.
	Doc string
}

// readBody reads the body of a request, at most MaxBytes. It returns a *Problem with status 413 or 415 if the size or
// the content type is rejected, or TooLarge for the size. An empty body, and one that cannot be read, is a 400. With
// SizeFirst, so is a longer one whose size was not announced.
func (b *Body) readBody(r *http.Request) ([]byte, error) {
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	switch {
	case b.SizeFirst && r.ContentLength > b.MaxBytes:
		detail := fmt.Sprintf("Request body %d exceeds maximum %d bytes", r.ContentLength, b.MaxBytes)
		p := ModernProblem(http.StatusRequestEntityTooLarge, detail)
		p.Items[0].Message = "Content Too Large"
		return nil, p
	case given == "":
		return nil, ModernProblem(http.StatusUnsupportedMediaType, "Content-Type is not supported")
	case err != nil || !slices.Contains(b.Types, media):
		return nil, ModernProblem(http.StatusUnsupportedMediaType,
			"Content-Type '"+strings.ReplaceAll(given, "; ", ";")+"' is not supported")
	case r.ContentLength > b.MaxBytes:
		return nil, b.tooLarge()
	}
	var content bytes.Buffer
	if r.ContentLength > 0 {
		content.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := content.ReadFrom(io.LimitReader(r.Body, b.MaxBytes+1))
	switch {
	case n > b.MaxBytes && !b.SizeFirst:
		return nil, b.tooLarge()
	case n > b.MaxBytes, err != nil || n == 0:
		return nil, ModernBad("Failed to read request")
	}
	return content.Bytes(), nil
}

// tooLarge returns the problem for a body with more than MaxBytes: that of the endpoint, or a general 413.
func (b *Body) tooLarge() *Problem {
	if b.TooLarge != nil {
		return b.TooLarge
	}
	return ModernProblem(http.StatusRequestEntityTooLarge,
		"The request has more than "+strconv.FormatInt(b.MaxBytes, 10)+" bytes")
}

// route has the endpoints of a path, by method. One of them may be nil.
type route struct {
	get, post *Endpoint
	segments  []segment
	pattern   string // without grammars, such as /api/v1/accounts/{id}
}

// segment is a part of a path: a literal, or the name of a parameter in braces. The values of a parameter match its
// grammar, or are not empty.
type segment struct {
	text    string
	grammar *regexp.Regexp
}

// grammarSyntax matches the grammar of a parameter in a path: a regular expression after its name and a colon.
var grammarSyntax = regexp.MustCompile(`:[^}]*}`)

// newRoute returns the route of a path such as /accounts/{id} below a prefix, without endpoints. It panics if the
// grammar of a parameter is invalid.
func newRoute(prefix, path string) *route {
	at := &route{pattern: grammarSyntax.ReplaceAllString(prefix+path, "}")}
	for text := range strings.SplitSeq(path, "/") {
		s := segment{text: grammarSyntax.ReplaceAllString(text, "}")}
		if _, grammar, ok := strings.Cut(strings.TrimSuffix(text, "}"), ":"); ok {
			s.grammar = regexp.MustCompile(grammar)
		}
		at.segments = append(at.segments, s)
	}
	return at
}

// outline is what all paths of a route have in common: the first segment, in lower case, and the number of segments.
type outline struct {
	first    string
	segments int
}

// outlineOf returns the outline of a path below the prefix, or of the pattern of such paths.
func outlineOf(path string) outline {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return outline{strings.ToLower(first), strings.Count(path, "/")}
}

// matches reports whether a part of a path can stand at the place of the segment. The part is not decoded. The letter
// case of literals does not matter. A grammar can match a part of the text unless it has anchors.
func (s segment) matches(part string) bool {
	switch {
	case !strings.HasPrefix(s.text, "{"): // a literal
		return strings.EqualFold(s.text, part)
	case s.grammar != nil:
		return s.grammar.MatchString(part)
	default:
		return part != ""
	}
}

// matches reports whether the route is that of a path below the prefix, which is not decoded. The caller has compared
// the numbers of segments ([outlineOf]): if the path had more, they would be ignored.
func (r *route) matches(escaped string) bool {
	for _, s := range r.segments {
		var part string
		if part, escaped, _ = strings.Cut(escaped, "/"); !s.matches(part) {
			return false
		}
	}
	return true
}

// param returns the decoded value of a parameter in a path that the route matches, or "" if the route does not
// have it. Text that cannot be decoded is returned as it is.
func (r *route) param(escaped, name string) string {
	for _, s := range r.segments {
		var part string
		part, escaped, _ = strings.Cut(escaped, "/")
		if s.text == "{"+name+"}" {
			if text, err := url.PathUnescape(part); err == nil {
				return text
			}
			return part
		}
	}
	return ""
}

// by returns the endpoint of an HTTP method, or nil if the method is not supported. HEAD is GET.
func (r *route) by(method string) *Endpoint {
	switch method {
	case http.MethodGet, http.MethodHead:
		return r.get
	case http.MethodPost:
		return r.post
	default:
		return nil
	}
}

// family returns the family that determines the form of errors of the path: that of GET if it has both methods. One of
// them must exist.
func (r *route) family() Family {
	if r.get != nil {
		return r.get.Family
	}
	return r.post.Family
}

// allow returns the value of the Allow header of a 405: the methods of the path.
func (r *route) allow() string {
	var methods []string
	if r.get != nil {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	if r.post != nil {
		methods = append(methods, http.MethodPost)
	}
	return strings.Join(methods, ", ")
}

// Method returns the HTTP method of the endpoint: POST if it has a body, else GET, which includes HEAD.
func (e *Endpoint) Method() string {
	if e.Body != nil {
		return http.MethodPost
	}
	return http.MethodGet
}
