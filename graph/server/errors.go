package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
)

// quoted matches long quotes of the request in messages. The first 100 characters remain.
var quoted = regexp.MustCompile(`("[^"]{100})[^"]+`)

func coded(code fault.Code, message string) *gqlerror.Error {
	if len(message) > maxQuote {
		message = quoted.ReplaceAllString(message, "$1…")
	}
	return &gqlerror.Error{Message: message, Extensions: map[string]any{"code": string(code)}}
}

// present converts an error of a resolver to the error in the response. Details of internal errors are logged under an id that the response has.
func (s *Server) present(ctx context.Context, err error) *gqlerror.Error {
	if errors.Is(err, errReported) {
		return nil
	}
	var own *fault.Error
	var parsed *gqlerror.Error
	switch {
	case errors.As(err, &own):
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
	e.Path = graphql.GetPath(ctx)
	maps.Copy(e.Extensions, own.Extra)
	if own.Code == fault.Internal || own.Code == fault.Unavailable && own.Err == nil {
		id := s.o.NewID()
		e.Extensions["id"] = id
		attrs := []any{"id", id, "field", e.Path.String(), "error", err}
		var panicked *panicError
		if errors.As(err, &panicked) {
			attrs = append(attrs, "stack", string(panicked.stack))
		}
		s.o.Logger.ErrorContext(ctx, "resolving a field failed", attrs...)
	}
	return e
}

// withoutData matches data whose fields are all null.
var withoutData = regexp.MustCompile(`^(null|\{("\w+":null,?)*\})$`)

// unavailable reports whether a part of a response is missing because the database is busy or does not respond.
func unavailable(errs gqlerror.List) bool {
	return slices.ContainsFunc(errs, func(e *gqlerror.Error) bool { return e.Extensions["code"] == string(fault.Unavailable) })
}

// panicError is the error of a resolver that panicked.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered converts a panic of a resolver to an error.
func recovered(_ context.Context, p any) error {
	return &panicError{value: p, stack: debug.Stack()}
}

// maxMessage is the maximum length of an error message, in bytes, that quotes the request.
const maxMessage = 300

// maxQuote is the maximum length of a quote of the request in a message, in characters.
const maxQuote = 100

// badInput gives errors of parsing and validation the code BAD_USER_INPUT in place of gqlgen's codes, and truncates long messages.
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

// truncate returns text, shortened to maxMessage.
func truncate(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
