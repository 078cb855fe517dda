package rest

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Body is what an endpoint takes that is asked with POST. An endpoint without one is asked with GET. Where a path is asked with both it has two
// endpoints.
//
// The media type is looked at first, then the body is read, then the query string; Bind comes last, so that it finds the parameters bound.
type Body struct {
	// Types are the media types that are read; what follows a semicolon does not matter. The first one is what examples have.
	Types []string
	// Most is how many bytes there may be. More are refused.
	Most int64
	// Bind puts the body, which has a byte at least, into the variables. It may answer the request itself with a [*Problem].
	Bind func(r *Request, body []byte) error
	// Doc says what the body is, in a sentence or two.
	Doc string
	// Members are what a JSON object has; others are passed over.
	Members []BodyMember
	// Example is a body that is explained where there is none.
	Example []byte
}

// BodyMember describes a member of a body that is a JSON object to people. Bind reads it.
type BodyMember struct {
	// Name and Type are as JSON schema has them; the type is a name such as "string".
	Name, Type string
	// Doc says what the member does, and what is taken where it is missing.
	Doc string
}

// readBody reads the body of a request; a *Problem says why it is not taken.
func (b *Body) readBody(r *http.Request) ([]byte, error) {
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	switch {
	case given == "":
		return nil, modern(http.StatusUnsupportedMediaType, "Content-Type is not supported")
	case err != nil || !slices.Contains(b.Types, media):
		return nil, modern(http.StatusUnsupportedMediaType, "Content-Type '"+strings.ReplaceAll(given, "; ", ";")+"' is not supported")
	case r.ContentLength > b.Most:
		return nil, b.tooLong()
	}
	var content bytes.Buffer
	if r.ContentLength > 0 {
		content.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := content.ReadFrom(io.LimitReader(r.Body, b.Most+1))
	switch {
	case n > b.Most:
		return nil, b.tooLong()
	case err != nil || n == 0:
		return nil, ModernBad("Failed to read request")
	}
	return content.Bytes(), nil
}

func (b *Body) tooLong() *Problem {
	return modern(http.StatusRequestEntityTooLarge, "The request has more than "+strconv.FormatInt(b.Most, 10)+" bytes")
}

// route are the endpoints of a path, by method. One of them may be nil.
type route struct {
	get, post *Endpoint
	names     []string // of the parameters in the path, by segment; empty where the segment is a literal
}

// newRoute makes the route of a path such as /accounts/{id}; what follows a colon in braces is the form of the segment.
func newRoute(path string) *route {
	at := &route{}
	for segment := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(strings.Trim(segment, "{}"), ":")
		if !strings.HasPrefix(segment, "{") {
			name = ""
		}
		at.names = append(at.names, name)
	}
	return at
}

// params are the segments of a request's path that stand for braces, decoded; nil when there are none.
func (r *route) params(escaped string) Segments {
	var params Segments
	for _, name := range r.names {
		var segment string
		segment, escaped, _ = strings.Cut(escaped, "/")
		if name == "" {
			continue
		}
		text, err := url.PathUnescape(segment)
		if err != nil {
			text = segment
		}
		params = append(params, Segment{name, text})
	}
	return params
}

// by is the endpoint for a method, nil when there is none.
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

// family is the family of the path.
func (r *route) family() Family {
	if r.get != nil {
		return r.get.Family
	}
	return r.post.Family
}

// allow are the methods of the path, as the header says them.
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

// Method is how the endpoint is asked: GET, which stands for HEAD too, or POST.
func (e *Endpoint) Method() string {
	if e.Body != nil {
		return http.MethodPost
	}
	return http.MethodGet
}
