package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"heliograph/rest"
)

// components adds the components that operations refer to.
func (g *generator) components() {
	c := &g.doc.Components
	for _, name := range slices.Sorted(maps.Keys(g.bodies.shared)) {
		c.Schemas = append(c.Schemas, Member[*Schema]{name, g.bodies.shared[name]})
	}
	c.Schemas = append(c.Schemas, g.bodySchemas...)
	c.Schemas = append(c.Schemas, Member[*Schema]{"Links", links()}, Member[*Schema]{"Error", classicError()})
	c.Headers = Map[*Header]{
		{"ETag", &Header{Description: "Names this version of the answer. Sent back as If-None-Match, it is answered with 304 while nothing changed.",
			Required: true, Schema: &Schema{Type: Types{"string"}}}},
		{"Link", &Header{Description: "The page after this one, as in `links.next`; missing on the last.",
			Schema: &Schema{Type: Types{"string"}, Pattern: `^<.*>; rel="next"$`}}},
	}
	c.SecuritySchemes = Map[*SecurityScheme]{{"basic", &SecurityScheme{
		Type: "http", Scheme: "basic", Description: "Users whom the operator knows may have pages of another size. Everybody else asks without credentials.",
	}}}
	c.Responses = Map[*Response]{
		{"NotModified", &Response{
			Description: "What If-None-Match names is still the answer. There is no body.",
			Headers:     Map[*Header]{{"ETag", &Header{Ref: headerRef + "ETag"}}},
		}},
		{"Unauthorized", errorResponse("Error", "The credentials are nobody's.")},
	}
	modern := slices.ContainsFunc(g.api.Endpoints, func(e rest.Endpoint) bool { return e.Family == rest.Modern })
	families := []string{""}
	if modern {
		families = append(families, "Modern")
		c.Schemas = append(c.Schemas, Member[*Schema]{"ModernError", modernError()})
		c.Responses = append(c.Responses, Member[*Response]{"ModernMethodNotAllowed",
			errorResponse("ModernError", "The path is not asked so: most take GET and HEAD only.")})
	}
	if slices.ContainsFunc(g.api.Endpoints, func(e rest.Endpoint) bool { return e.Body != nil }) {
		c.Responses = append(c.Responses,
			Member[*Response]{"ModernTooLarge", errorResponse("ModernError", "The body is too long.")},
			Member[*Response]{"ModernUnsupported", errorResponse("ModernError", "The body is of another media type.")})
	}
	for _, status := range slices.Sorted(maps.Keys(rareErrors)) {
		if slices.ContainsFunc(g.api.Endpoints, func(e rest.Endpoint) bool { return slices.Contains(e.Statuses, status) }) {
			c.Responses = append(c.Responses, Member[*Response]{"Modern" + rareErrors[status].name, errorResponse("ModernError", rareErrors[status].doc)})
		}
	}
	for _, family := range families {
		for _, r := range []struct{ name, doc string }{
			{"BadRequest", "A parameter is unknown, has a value that it cannot have, or does not fit another."},
			{"NotFound", "There is no such thing."},
			{"InternalError", "Something went wrong that is not the request's fault."},
			{"Unavailable", "The database did not answer in time."},
		} {
			c.Responses = append(c.Responses, Member[*Response]{family + r.name, errorResponse(family+"Error", r.doc)})
		}
	}
}

// rareErrors are the errors that only some endpoints return, by status.
var rareErrors = map[int]struct{ name, doc string }{
	http.StatusNotAcceptable:   {"NotAcceptable", "The answer is only sent compressed: Accept-Encoding must have gzip."},
	http.StatusTooManyRequests: {"TooManyRequests", "There were too many requests in this second, or they may use too much gas."},
}

// errorResponse returns the description of an error response.
func errorResponse(schema, doc string) *Response {
	return &Response{Description: doc, Content: Map[*MediaType]{{"application/json", &MediaType{Schema: &Schema{Ref: schemaRef + schema}}}}}
}

// links returns the schema of the member links of lists.
func links() *Schema {
	s := newObject()
	s.Description = "Where the list goes on."
	s.put("next", &Schema{Type: Types{"string", "null"}, Description: "The path and query string of the following page. Null on the last."}, false)
	return s
}

// classicError returns the error schema of the classic family.
func classicError() *Schema {
	return envelope("What is wrong with a request.",
		&Schema{Type: Types{"string"}, Description: "What is wrong, such as `Invalid parameter: limit` or `Not found`."}, "More about it.")
}

// modernError returns the error schema of the modern family.
func modernError() *Schema {
	phrases := []string{}
	for _, status := range []int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusInternalServerError, http.StatusServiceUnavailable,
	} {
		phrases = append(phrases, "`"+http.StatusText(status)+"`")
	}
	return envelope("What is wrong with a request, as the newer endpoints say it.",
		&Schema{Type: Types{"string"}, Description: "The status in words: " + strings.Join(phrases,
			", ") + ". Of a contract that failed it is the response code."}, "What is wrong.")
}

func envelope(doc string, message *Schema, detail string) *Schema {
	item, status, s := newObject(), newObject(), newObject()
	item.put("message", message, false)
	item.put("detail", &Schema{Type: Types{"string"}, Description: detail}, true)
	item.put("data", &Schema{Type: Types{"string"}, Pattern: `^(0x([0-9a-f]{2})*)?$`, Description: "What a contract returned when it failed."}, true)
	status.put("messages", &Schema{Type: Types{"array"}, Items: item, MinItems: 1, Description: "One item for each problem."}, false)
	s.Description = doc
	s.put("_status", status, false)
	return s
}
