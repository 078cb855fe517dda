// Package scalar writes and reads the graph's scalars. Each value type has one Append function, which says how it looks in JSON; gqlgen's
// marshal functions and the row plans both call it, so the two ways of answering cannot differ.
package scalar

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
)

// Style is the dialect in which scalars are written. Where the two worlds differ (64-bit integers are strings in GraphQL and numbers in
// REST, bytes are hex here and base64 there) the style decides.
type Style uint8

const (
	// GraphQL is the style of the public graph.
	GraphQL Style = iota
	// REST is the style of the answers of /api/v1.
	REST
	// RESTCompact is REST, but the instant 0 is written "0.0". The newer of the two REST families prints it so.
	RESTCompact
	// Status is the style of the documents of /api/v2: names as status pages have them, instants in the zone of the page, and text in which what HTML
	// would take for markup is escaped.
	Status
)

// Env is what writing and reading scalars depends on.
type Env struct {
	Style Style
	// Base completes entity ids that are given without shard or realm.
	Base ledger.EntityID
}

var envKey = values.NewKey[*Env]()

// Value is env for contexts in which scalars are written and read by it.
func (e *Env) Value() values.Value { return envKey.Is(e) }

var defaultEnv = &Env{}

// EnvOf returns the context's environment: the graph's style and shard and realm 0 where none was set.
func EnvOf(ctx context.Context) *Env {
	if env, ok := envKey.Of(ctx); ok {
		return env
	}
	return defaultEnv
}

var null = []byte("null")

// Func appends the JSON of v to dst.
type Func[T any] func(dst []byte, v T, style Style) []byte

// marshaler lets gqlgen write a value with its Append function.
type marshaler[T any] struct {
	v     T
	write Func[T]
}

func (m marshaler[T]) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(m.write(make([]byte, 0, 64), m.v, EnvOf(ctx).Style)); err != nil {
		return fmt.Errorf("writing a scalar: %w", err)
	}
	return nil
}

func with[T any](v T, write Func[T]) graphql.ContextMarshaler { return marshaler[T]{v, write} }

// nullable makes the Append function of a value that may be unknown.
func nullable[T any](dst []byte, v ledger.Null[T], style Style, write Func[T]) []byte {
	if !v.Valid {
		return append(dst, null...)
	}
	return write(dst, v.V, style)
}

// inputText returns the text of a scalar given as a string, or as a number where digits alone are a valid text.
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
		return "", fault.Input("a string is needed, not %T", v)
	}
}

// AppendPointer writes what v points to, or null.
func AppendPointer[T any](dst []byte, v *T, style Style, write Func[T]) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return write(dst, *v, style)
}

// input makes an error of reading a value the client's.
func input[T any](v T, err error) (T, error) {
	if err != nil {
		return v, fault.Input("%v", err)
	}
	return v, nil
}
