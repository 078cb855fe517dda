// Package scalar encodes and decodes the scalars and enums of the graph. Each value type has one Append function for
// its JSON. gqlgen's marshal functions and the row plans both call it, so that their results are equal.
package scalar

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
)

// Style selects the encoding of scalars that differ between GraphQL and REST. For example, 64-bit integers are strings
// in GraphQL and numbers in REST, and bytes are hex in GraphQL and base64 in REST.
type Style uint8

const (
	// GraphQL is the style of the public graph.
	GraphQL Style = iota
	// REST is the style of /api/v1.
	REST
	// RESTCompact is REST with "0.0" for timestamp 0, as in the newer of the two REST families.
	RESTCompact
	// Status is the style of the documents of /api/v2: lower-case enum values, times in the zone of the page, and
	// strings with escaped HTML characters.
	Status
)

// Env configures the encoding and decoding of scalars.
type Env struct {
	Style Style
	// Base completes entity ids without shard or realm.
	Base ledger.EntityID
	// ChainID is that of the network, for the checksums of ids.
	ChainID uint64
	// Find returns the id of the entity with an EVM address. If it is nil, such addresses are rejected in place of an
	// id.
	Find func(context.Context, ledger.EVMAddress) (ledger.EntityID, error)
}

var envKey = values.NewKey[*Env]()

// Value returns a value that makes e the environment of a context, which [EnvOf] returns.
func (e *Env) Value() values.Value { return envKey.Is(e) }

var defaultEnv = &Env{}

// EnvOf returns the environment in ctx: the style and the shard and realm of the operation. The default is the GraphQL
// style with shard and realm 0.
func EnvOf(ctx context.Context) *Env {
	if env, ok := envKey.Of(ctx); ok {
		return env
	}
	return defaultEnv
}

var null = []byte("null")

// Func appends the JSON of v to dst.
type Func[T any] func(dst []byte, v T, style Style) []byte

// marshaler adapts an Append function to gqlgen.
type marshaler[T any] struct {
	v     T
	write Func[T]
}

// MarshalGQLContext implements graphql.ContextMarshaler: it writes the JSON of the value to w, in the style of the
// operation of ctx.
func (m marshaler[T]) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(m.write(make([]byte, 0, 64), m.v, EnvOf(ctx).Style)); err != nil {
		return fmt.Errorf("encoding a scalar: %w", err)
	}
	return nil
}

// with returns the marshaler for gqlgen that writes v with write in the style of the context.
func with[T any](v T, write Func[T]) graphql.ContextMarshaler { return marshaler[T]{v, write} }

// nullable appends null if v is unknown, and its value otherwise.
func nullable[T any](dst []byte, v ledger.Null[T], style Style, write Func[T]) []byte {
	if !v.Valid {
		return append(dst, null...)
	}
	return write(dst, v.V, style)
}

// orNull parses an input value with parse; a null stays null and is not parsed. With an error, the result has no
// meaning.
func orNull[T any](ctx context.Context, v any, parse func(context.Context, any) (T, error)) (ledger.Null[T], error) {
	if v == nil {
		return ledger.Null[T]{}, nil
	}
	got, err := parse(ctx, v)
	return ledger.Of(got), err
}

// inputText returns the text of a string or number that a client has sent for a scalar. Other types are an error
// BAD_USER_INPUT.
func inputText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case fmt.Stringer: // json.Number
		return v.String(), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case int:
		return strconv.Itoa(v), nil
	default:
		return "", fault.Input("a string is required, not %s", nameOf(v))
	}
}

// Kind returns the JSON type of an input value, for error messages: null, string, boolean, list, object or number.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	default: // all kinds of numbers
		return "number"
	}
}

// nameOf returns the JSON type of an input value, with an article, for error messages.
func nameOf(v any) string {
	switch kind := Kind(v); kind {
	case "null":
		return kind
	case "object":
		return "an object"
	default:
		return "a " + kind
	}
}

// AppendPointer appends the value that v points to, or null.
func AppendPointer[T any](dst []byte, v *T, style Style, write Func[T]) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return write(dst, *v, style)
}

// outputOnly returns an error BAD_USER_INPUT. It is the body of Unmarshal functions of types that are not inputs.
//
//nolint:unparam // the result is that of gqlgen's functions
func outputOnly[T any]() (none T, err error) {
	return none, fault.Input("values of the type %T are not an input", none)
}

// parsed parses a scalar that is a string or a number in the input. Errors of parse, null and other types are errors
// BAD_USER_INPUT.
func parsed[T any](v any, parse func(text string) (T, error)) (T, error) {
	var none T
	text, err := inputText(v)
	if err != nil {
		return none, err
	}
	got, err := parse(text)
	if err != nil {
		return none, fault.Input("%s", strings.TrimSuffix(err.Error(), ": "+ledger.ErrSyntax.Error()))
	}
	return got, nil
}
