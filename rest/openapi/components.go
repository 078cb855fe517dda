package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// components adds the components that operations refer to.
func (g *generator) components() {
	c := &g.doc.Components
	for _, name := range slices.Sorted(maps.Keys(g.bodies.shared)) {
		c.Schemas = append(c.Schemas, Member[*Schema]{name, g.bodies.shared[name]})
	}
	c.Schemas = append(c.Schemas, g.bodySchemas...)
	c.Schemas = append(c.Schemas, Map[*Schema]{
		{"Links", links()},
		{"Error", envelope("An error.", "The error, such as `Invalid parameter: limit` or `Not found`.")},
		{"ModernError", modernError()},
	}...)
	c.Headers = Map[*Header]{
		{"ETag", &Header{
			Description: "The version of the response. A request with this value in If-None-Match returns 304 if the response has not changed.",
			Required:    true, Schema: &Schema{Type: Types{"string"}},
		}},
		{"Link", &Header{
			Description: "The next page, as in `links.next`. Missing on the last page.",
			Schema:      &Schema{Type: Types{"string"}, Pattern: `^<.*>; rel="next"$`},
		}},
	}
	c.SecuritySchemes = Map[*SecurityScheme]{
		{"basic", &SecurityScheme{Type: "http", Scheme: "basic", Description: "Optional credentials, which can have another maximum page size."}},
		{"key", &SecurityScheme{Type: "apiKey", In: "header", Name: "X-API-Key", Description: "An optional API key, which has a rate limit of its own."}},
	}
	c.Responses = Map[*Response]{
		{"NotModified", &Response{
			Description: "The response has not changed since the version in If-None-Match. No body.",
			Headers:     Map[*Header]{{"ETag", &Header{Ref: headerRef + "ETag"}}},
		}},
		{"Unauthorized", errorResponse("Error", "The credentials are invalid, or the API key is unknown.")},
		{"TooManyRequests", busy("Error", "The client exceeded a limit: requests per minute, or calls or gas per second.")},
		{"ModernMethodNotAllowed", errorResponse("ModernError", "The method is not supported. Most paths support only GET and HEAD.")},
		{"ModernTooLarge", errorResponse("ModernError", "The request body is too large.")},
		{"ModernUnsupported", errorResponse("ModernError", "The media type of the request body is not supported.")},
	}
	for _, status := range slices.Sorted(maps.Keys(rareErrors)) {
		c.Responses = append(c.Responses, Member[*Response]{"Modern" + rareErrors[status].name, errorResponse("ModernError", rareErrors[status].doc)})
	}
	for _, family := range []string{"", "Modern"} {
		for _, r := range []struct{ name, doc string }{
			{"BadRequest", "A parameter is unknown, has an invalid value, or conflicts with another parameter."},
			{"NotFound", "The requested object does not exist."},
			{"InternalError", "An internal error."},
			{"SchemaMismatch", "The database lacks a table or column that the response needs. The message has its name."},
		} {
			c.Responses = append(c.Responses, Member[*Response]{family + r.name, errorResponse(family+"Error", r.doc)})
		}
		unavailable := busy(family+"Error", "The database did not respond in time, or too many requests are waiting.")
		c.Responses = append(c.Responses, Member[*Response]{family + "Unavailable", unavailable})
	}
}

// rareErrors are the errors that only some endpoints return, by status.
var rareErrors = map[int]struct{ name, doc string }{
	http.StatusNotAcceptable: {"NotAcceptable", "The response is always compressed: Accept-Encoding must include gzip."},
}

// errorResponse returns the description of an error response.
func errorResponse(schema, doc string) *Response {
	return &Response{Description: doc, Content: Map[*MediaType]{{"application/json", &MediaType{Schema: &Schema{Ref: schemaRef + schema}}}}}
}

// busy returns the description of an error response to a request that can be repeated later.
func busy(schema, doc string) *Response {
	r := errorResponse(schema, doc)
	r.Headers = Map[*Header]{{"Retry-After", &Header{Description: "Seconds to wait before the request is repeated.", Schema: &Schema{Type: Types{"integer"}}}}}
	return r
}

// links returns the schema of the member links of lists.
func links() *Schema {
	s := newObject()
	s.Description = "The link to the next page."
	s.put("next", &Schema{Type: Types{"string", "null"}, Description: "The path and query string of the next page. Null on the last page."}, false)
	return s
}

// modernError returns the error schema of the modern family.
func modernError() *Schema {
	phrases := []string{}
	for _, status := range []int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusInternalServerError, http.StatusNotImplemented, http.StatusServiceUnavailable,
	} {
		phrases = append(phrases, "`"+http.StatusText(status)+"`")
	}
	return envelope("An error of the newer endpoints.",
		"The text of the status: "+strings.Join(phrases, ", ")+". For a contract that failed, the response code.")
}

// envelope returns an error schema. message describes the member message.
func envelope(doc, message string) *Schema {
	item, status, s := newObject(), newObject(), newObject()
	item.put("message", &Schema{Type: Types{"string"}, Description: message}, false)
	item.put("detail", &Schema{Type: Types{"string"}, Description: "Details of the error."}, true)
	item.put("data", &Schema{Type: Types{"string"}, Pattern: `^(0x([0-9a-f]{2})*)?$`, Description: "The output of a contract that failed."}, true)
	status.put("messages", &Schema{Type: Types{"array"}, Items: item, MinItems: 1, Description: "One item per error."}, false)
	s.Description = doc
	s.put("_status", status, false)
	return s
}
