package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/accept"
)

// Media types of responses.
const (
	mediaJSON    = "application/json"
	mediaGraphQL = "application/graphql-response+json"
	mediaEvents  = "text/event-stream"
	mediaParts   = "multipart/mixed"
)

// Headers that report the cost of an operation and its limit, in canonical form.
const (
	costHeader      = "X-Query-Cost"
	costLimitHeader = "X-Query-Cost-Limit"
)

// responseMedia returns the media type of the response to GET and POST requests: application/json unless the client prefers
// application/graphql-response+json.
func responseMedia(h http.Header) string {
	return cmp.Or(accept.Best(h["Accept"], mediaJSON, mediaGraphQL), mediaJSON)
}

// errorStatus returns the status of a response without data, according to the GraphQL over HTTP specification.
func errorStatus(media string) int {
	if media == mediaGraphQL {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// WriteError writes a GraphQL response with a single error, for a request that does not reach the server.
func WriteError(w http.ResponseWriter, r *http.Request, status int, code fault.Code, message string) {
	w.Header().Add("Vary", "Accept")
	w.Header()["Content-Type"] = contentTypes[responseMedia(r.Header)]
	writeErrors(w, status, gqlerror.List{coded(code, message)})
}

// writeErrors writes a response without data.
func writeErrors(w http.ResponseWriter, status int, errs gqlerror.List) {
	b, err := json.Marshal(struct {
		Errors gqlerror.List `json:"errors"`
	}{errs})
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"errors":[{"message":"internal error"}]}`)
	}
	w.Header()["Cache-Control"] = notStored
	w.WriteHeader(status)
	_, _ = w.Write(b) // fails only if the client has disconnected
}

// writeInternalError logs that a response could not be encoded, and writes an error instead.
func (s *Server) writeInternalError(ctx context.Context, w http.ResponseWriter, err error) {
	s.o.Logger.ErrorContext(ctx, "encoding a response failed", "error", err)
	writeErrors(w, http.StatusInternalServerError, gqlerror.List{coded(fault.Internal, "internal error")})
}

// Values of common headers. They are shared between responses: replace them, do not change them.
var (
	contentTypes = map[string][]string{mediaJSON: {mediaJSON + "; charset=utf-8"}, mediaGraphQL: {mediaGraphQL + "; charset=utf-8"}}
	notStored    = []string{"no-store"}
)

// dataMember is the start of a response, and closingBrace its end.
var dataMember, closingBrace = []byte(`{"data":`), []byte{'}'}

// bound replaces a response that is too large by an error. The error of a plan is in the response already; gqlgen's executor has no limit.
func (s *Server) bound(resp *graphql.Response) {
	most := s.o.Tables.MaxResponse
	tooLarge := func(e *gqlerror.Error) bool { return e.Extensions["code"] == string(fault.TooComplex) }
	switch i := slices.IndexFunc(resp.Errors, tooLarge); {
	case i >= 0:
		resp.Data, resp.Errors = nil, resp.Errors[i:i+1]
	case len(resp.Data) > most:
		resp.Data, resp.Errors = nil, gqlerror.List{coded(fault.TooComplex, rowplan.TooLarge(most).Error())}
	}
}

// responseTail returns the JSON of a response after the data: the errors, the extensions and the closing brace.
func responseTail(resp *graphql.Response) ([]byte, error) {
	if len(resp.Errors) == 0 && len(resp.Extensions) == 0 {
		return closingBrace, nil
	}
	tail, err := json.Marshal(struct {
		Errors     gqlerror.List  `json:"errors,omitempty"`
		Extensions map[string]any `json:"extensions,omitempty"`
	}{resp.Errors, resp.Extensions})
	if err != nil {
		return nil, fmt.Errorf("encoding errors and extensions: %w", err)
	}
	tail[0] = ',' // in place of the opening brace
	return tail, nil
}

// orNull returns data, or a JSON null if it is nil.
func orNull(data []byte) []byte {
	if data == nil {
		return []byte("null")
	}
	return data
}

// streamWriter writes parts of a response to one client, and flushes each.
type streamWriter struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	timeout time.Duration // for one part
	buf     []byte
}

func (s *Server) streamWriter(w http.ResponseWriter) streamWriter {
	return streamWriter{w: w, c: http.NewResponseController(w), timeout: s.o.Streams.WriteTimeout}
}

func (s *streamWriter) setHeaders(contentType string) {
	h := s.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store, no-transform") // compression would delay parts
	h.Set("X-Accel-Buffering", "no")                 // and so would buffering by proxies
}

// write writes a part. It fails if the client does not read it within the timeout.
func (s *streamWriter) write(before string, json [][]byte, after string) error {
	s.buf = append(s.buf[:0], before...)
	for _, b := range json {
		s.buf = append(s.buf, b...)
	}
	s.buf = append(s.buf, after...)
	_ = s.c.SetWriteDeadline(time.Now().Add(s.timeout)) //nolint:forbidigo // deadlines use the system clock; only tests have a writer without deadlines
	if _, err := s.w.Write(s.buf); err != nil {
		return err //nolint:wrapcheck // callers only check for nil
	}
	return s.c.Flush() //nolint:wrapcheck // callers only check for nil
}
