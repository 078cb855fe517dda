package rest

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
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

// readBody reads the body of a request. It returns a *Problem if the body is rejected.
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

// tooLarge returns the problem for a body with more than MaxBytes.
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
	names     []string // parameter names by segment; "" for a literal segment
	pattern   string   // without regular expressions, such as /api/v1/accounts/{id}
}

// newRoute returns the route of a path such as /accounts/{id} below a prefix. A regular expression may follow the name
// after a colon.
func newRoute(prefix, path string) *route {
	at := &route{pattern: grammarSyntax.ReplaceAllString(prefix+path, "}")}
	for segment := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(strings.Trim(segment, "{}"), ":")
		if !strings.HasPrefix(segment, "{") {
			name = ""
		}
		at.names = append(at.names, name)
	}
	return at
}

// params returns the decoded path parameters of a request by name.
func (r *route) params(escaped string) map[string]string {
	params := map[string]string{}
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
		params[name] = text
	}
	return params
}

// by returns the endpoint of a method, or nil if the method is not supported.
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

// family returns the family that words the errors of a path.
func (r *route) family() Family {
	if r.get != nil {
		return r.get.Family
	}
	return r.post.Family
}

// allow returns the value of the Allow header.
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

// Method returns POST, or GET, which includes HEAD.
func (e *Endpoint) Method() string {
	if e.Body != nil {
		return http.MethodPost
	}
	return http.MethodGet
}
