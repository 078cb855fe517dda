package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
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

// responseMedia returns the media type of the response to GET and POST requests: that which the client prefers, or
// application/json if it accepts none.
func responseMedia(h http.Header) string {
	return cmp.Or(accept.Best(h["Accept"], mediaJSON, mediaGraphQL, mediaEvents, mediaCSV, mediaNDJSON), mediaJSON)
}

// jsonMedia returns the media type of a JSON response: that which the client prefers, or application/json.
func jsonMedia(h http.Header) string {
	return cmp.Or(accept.Best(h["Accept"], mediaJSON, mediaGraphQL), mediaJSON)
}

// errorStatus returns the HTTP status of a response without data, according to the GraphQL over HTTP
// specification: 400 for its own media type, and 200 for application/json.
func errorStatus(media string) int {
	if media == mediaGraphQL {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// refusedStatus returns the HTTP status of a response without data: 429 above a rate limit or 503 if the database is
// busy or does not respond, both with the header Retry-After, which it sets in h, and 500 after an internal error.
// Otherwise it returns the given status.
func refusedStatus(h http.Header, errs gqlerror.List, otherwise int) int {
	switch {
	case len(errs) == 0:
	case unavailable(errs):
		h.Set("Retry-After", retryAfter(errs))
		return http.StatusServiceUnavailable
	case errs[0].Extensions["code"] == string(fault.RateLimited):
		if h.Get("Retry-After") == "" { // of a stream, whose operations do not set it; the limit is that of a minute
			h.Set("Retry-After", "60")
		}
		return http.StatusTooManyRequests
	case errs[0].Extensions["code"] == string(fault.Internal):
		return http.StatusInternalServerError
	}
	return otherwise
}

// WriteError writes a GraphQL response with a single error and without data, for a request that the gateway refuses
// before it reaches the server. The Accept header selects the media type, and the response must not be stored. If w
// already has a Retry-After header in seconds, the error repeats it as retryAfter.
func WriteError(w http.ResponseWriter, r *http.Request, status int, code fault.Code, message string) {
	w.Header().Add("Vary", "Accept")
	w.Header()["Content-Type"] = contentTypes[jsonMedia(r.Header)]
	e := coded(code, message)
	if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err == nil {
		e.Extensions["retryAfter"] = after // seconds
	}
	writeErrors(w, status, gqlerror.List{e})
}

// writeErrors writes a response with errors and without data, which must not be stored. The caller has set the
// content type. If the errors cannot be encoded, it writes an internal error with status 500.
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

// writeInternalError logs that a response could not be encoded, and writes an error with status 500 instead. The
// caller has set the content type and has not written to w.
func (s *Server) writeInternalError(ctx context.Context, w http.ResponseWriter, err error) {
	s.o.Logger.ErrorContext(ctx, "encoding a response failed", "error", err)
	writeErrors(w, http.StatusInternalServerError, oneError(fault.Internal, "internal error"))
}

// Values of common headers. They are shared between responses: replace them, do not change them.
var (
	contentTypes = map[string][]string{
		mediaJSON:    {mediaJSON + "; charset=utf-8"},
		mediaGraphQL: {mediaGraphQL + "; charset=utf-8"},
	}
	notStored = []string{"no-store"}
)

// dataMember is the start of a response, and closingBrace its end.
var dataMember, closingBrace = []byte(`{"data":`), []byte{'}'}

// bound changes a response that is too large to one with only an error. The error of a plan is in the response
// already; what gqlgen writes has no limit.
func (s *Server) bound(resp *graphql.Response) {
	most := s.o.Tables.MaxResponse
	tooLarge := func(e *gqlerror.Error) bool { return e.Extensions["code"] == string(fault.TooComplex) }
	switch i := slices.IndexFunc(resp.Errors, tooLarge); {
	case i >= 0:
		resp.Data, resp.Errors = nil, resp.Errors[i:i+1]
	case len(resp.Data) > most:
		resp.Data, resp.Errors = nil, oneError(fault.TooComplex, rowplan.TooLarge(most).Error())
	}
}

// responseTail returns the JSON of a response after the data: the errors, the extensions and the closing brace. It
// starts with a comma if there are any. Without any, it is the shared closingBrace, which callers must not change.
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
	more    bool // the next part follows at once, so that both can be sent together
}

// streamWriter returns the writer of a response in parts to w, with the write timeout of the options.
func (s *Server) streamWriter(w http.ResponseWriter) streamWriter {
	return streamWriter{w: w, c: http.NewResponseController(w), timeout: s.o.Streams.WriteTimeout}
}

// setHeaders sets the headers of a response that is sent in parts, which must not be cached, and prevents that
// proxies collect the parts. It sends nothing.
func (s *streamWriter) setHeaders(contentType string) {
	h := s.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store, no-transform") // compression would delay parts
	h.Set("X-Accel-Buffering", "no")                 // and so would buffering by proxies
}

// write sends a part and flushes it, unless another part follows at once. It moves the write deadline, and fails
// if the client does not read the part within the timeout.
func (s *streamWriter) write(before string, json [][]byte, after string) error {
	s.buf = append(s.buf[:0], before...)
	for _, b := range json {
		s.buf = append(s.buf, b...)
	}
	s.buf = append(s.buf, after...)
	//nolint:forbidigo // deadlines use the system clock; only tests have a writer without deadlines
	_ = s.c.SetWriteDeadline(time.Now().Add(s.timeout))
	if _, err := s.w.Write(s.buf); err != nil {
		return err //nolint:wrapcheck // callers only check for nil
	}
	if s.more {
		return nil
	}
	return s.c.Flush() //nolint:wrapcheck // callers only check for nil
}

// quoted matches long quotes of the request in messages. The first 100 characters remain.
var quoted = regexp.MustCompile(`("[^"]{100})[^"]+`)

// coded returns an error of a response with the code of the API as an extension. Quotes in long messages are cut.
func coded(code fault.Code, message string) *gqlerror.Error {
	if len(message) > maxQuote {
		message = quoted.ReplaceAllString(message, "$1…")
	}
	return &gqlerror.Error{Message: message, Extensions: map[string]any{"code": string(code)}}
}

// oneError returns a list with a single error of [coded].
func oneError(code fault.Code, message string) gqlerror.List {
	return gqlerror.List{coded(code, message)}
}

// present returns the error in the response for an error of a resolver, with code and path, or nil if it was reported
// before. Errors of the document or its variables are returned as they are. Internal errors, and those of a database
// that does not respond, have a general message and an id under which it logs the details.
func (s *Server) present(ctx context.Context, err error) *gqlerror.Error {
	if errors.Is(err, errReported) {
		return nil
	}
	var own *fault.Error
	var parsed *gqlerror.Error
	switch {
	case errors.As(err, &own):
		// name the argument
		if n := len(graphql.GetPath(ctx)); own.Code == fault.BadUserInput && errors.As(err, &parsed) &&
			len(parsed.Path) > n {
			own = &fault.Error{
				Code: own.Code, Message: fmt.Sprintf("%v: %s", parsed.Path[n:], own.Message),
				Extra: own.Extra, Err: own.Err,
			}
		}
	case errors.As(err, &parsed) && parsed.Err == nil: // the document or its variables are invalid
		return parsed
	default:
		if parsed != nil {
			err = parsed.Err
		}
		own = s.o.Classify(err)
	}
	e := coded(own.Code, own.Message)
	e.Err = own.Err
	e.Path = slices.Concat(graphql.GetPath(ctx), rowplan.PathOf(err))
	maps.Copy(e.Extensions, own.Extra)
	if own.Code == fault.Internal || own.Code == fault.Unavailable && own.Err == nil {
		id := s.o.NewID()
		e.Extensions["id"] = id
		attrs := []any{"id", id, "field", e.Path.String(), "error", err}
		var panicked *panicError
		if errors.As(err, &panicked) {
			attrs = append(attrs, "stack", string(panicked.stack))
		}
		level := slog.LevelError
		if own.Code == fault.Unavailable {
			level = slog.LevelWarn
		}
		s.o.Logger.Log(ctx, level, "resolving a field failed", attrs...)
	}
	return e
}

// withoutData matches data whose fields are all null.
var withoutData = regexp.MustCompile(`^(null|\{("\w+":null,?)*\})$`)

// unavailable reports whether a part of a response is missing because the database is busy or does not respond.
func unavailable(errs gqlerror.List) bool {
	return slices.ContainsFunc(errs, func(e *gqlerror.Error) bool {
		return e.Extensions["code"] == string(fault.Unavailable)
	})
}

// retryAfter returns the value of the header Retry-After for a response with errors: the most seconds that one of
// them names, at least 1.
func retryAfter(errs gqlerror.List) string {
	seconds := 1
	for _, e := range errs {
		n, _ := e.Extensions["retryAfter"].(int)
		seconds = max(seconds, n)
	}
	return strconv.Itoa(seconds)
}

// panicError is the error of a resolver that panicked.
type panicError struct {
	value any
	stack []byte
}

// Error returns the value of the panic for the log. Clients get a general message.
func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered returns the error for a panic of a resolver, with the stack of the caller. gqlgen calls it.
func recovered(_ context.Context, p any) error {
	return &panicError{value: p, stack: debug.Stack()}
}

// maxMessage is the maximum length of an error message, in bytes, that quotes the request.
const maxMessage = 300

// maxQuote is the maximum length of a quote of the request in a message, in characters.
const maxQuote = 100

// badInput changes errors of parsing and validation and returns errs: it gives them the code BAD_USER_INPUT in
// place of gqlgen's codes, and truncates long messages.
func badInput(errs gqlerror.List) gqlerror.List {
	for _, e := range errs {
		e.Message = truncate(quoted.ReplaceAllString(e.Message, "$1…"))
		for i, step := range e.Path {
			if name, ok := step.(ast.PathName); ok {
				e.Path[i] = ast.PathName(truncate(string(name)))
			}
		}
		if e.Extensions == nil {
			e.Extensions = map[string]any{}
		}
		e.Extensions["code"] = string(fault.BadUserInput)
	}
	return errs
}

// truncate returns the message of an error, cut to whole characters in maxMessage bytes and "…" if it is longer.
func truncate(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
