package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"heliograph/rest/rawjson"
)

// Document is an OpenAPI document (https://spec.openapis.org/oas/v3.1.0), limited to the fields that this gateway
// uses. Raw parts are read from document.json.
type Document struct {
	OpenAPI    string          `json:"openapi"`
	Info       json.RawMessage `json:"info"`
	Servers    json.RawMessage `json:"servers"`
	Security   json.RawMessage `json:"security"`
	Tags       []Map[any]      `json:"tags"`
	Paths      Map[Map[any]]   `json:"paths"` // operations by method
	Components struct {
		Schemas         Map[*Schema]    `json:"schemas"`
		Responses       json.RawMessage `json:"responses"`
		Headers         json.RawMessage `json:"headers"`
		SecuritySchemes json.RawMessage `json:"securitySchemes"`
	} `json:"components"`
}

// Schema is a JSON schema of dialect 2020-12, or a reference to one.
type Schema struct {
	Ref                  string       `json:"$ref,omitempty"`
	Description          string       `json:"description,omitempty"`
	Type                 Types        `json:"type,omitempty"`
	Format               string       `json:"format,omitempty"`
	ContentEncoding      string       `json:"contentEncoding,omitempty"`
	Pattern              string       `json:"pattern,omitempty"`
	Enum                 []any        `json:"enum,omitempty"`
	Const                any          `json:"const,omitempty"`
	Default              any          `json:"default,omitempty"`
	Minimum              *int64       `json:"minimum,omitempty"`
	Maximum              *int64       `json:"maximum,omitempty"`
	Items                *Schema      `json:"items,omitempty"`
	MinItems             int          `json:"minItems,omitempty"`
	MaxItems             any          `json:"maxItems,omitempty"`
	Properties           Map[*Schema] `json:"properties,omitempty"`
	Required             []string     `json:"required,omitempty"`
	PatternProperties    Map[*Schema] `json:"patternProperties,omitempty"`
	AdditionalProperties *bool        `json:"additionalProperties,omitempty"`
	AnyOf                []*Schema    `json:"anyOf,omitempty"`
}

// typed returns the schema of values with some JSON types.
func typed(types ...string) *Schema { return &Schema{Type: types} }

// Types are the JSON types of a value.
type Types []string

// MarshalJSON returns a single type as a string, and several as an array.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return encode(t[0])
	}
	return encode([]string(t))
}

// Map is a JSON object that preserves the order of its members.
type Map[T any] []Member[T]

// Member is a member of a [Map].
type Member[T any] struct {
	Name  string
	Value T
}

// object returns a JSON object with some names, which are strings, and values, in turn. It omits empty values. The
// number of members must be even, or it panics.
func object(members ...any) Map[any] {
	var m Map[any]
	for pair := range slices.Chunk(members, 2) {
		if pair[1] != nil && !reflect.ValueOf(pair[1]).IsZero() {
			m = append(m, Member[any]{pair[0].(string), pair[1]})
		}
	}
	return m
}

// Get returns the value of a member and whether it exists.
func (m Map[T]) Get(name string) (value T, ok bool) {
	for _, member := range m {
		if member.Name == name {
			return member.Value, true
		}
	}
	return value, false
}

// UnmarshalJSON appends the members of an object to m in order. It does not decode escapes in their names. It returns
// the first error, of the text or of a value, after it has appended the others.
func (m *Map[T]) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	for name, value := range rawjson.Members(compact.Bytes(), "") {
		member := Member[T]{Name: string(name)}
		err = cmp.Or(err, json.Unmarshal(value, &member.Value))
		*m = append(*m, member)
	}
	return err
}

// MarshalJSON returns an object with the members in order. It fails if a value cannot be encoded.
func (m Map[T]) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, member := range m {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := encode(member.Name)
		if err != nil {
			return nil, err
		}
		value, err := encode(member.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// encode returns the JSON of v, in which <, > and & are not escaped. It fails for a v that JSON cannot express.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding a part of the description: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// JSON returns the document as indented JSON. The result is deterministic. It fails if a raw part of d is not valid
// JSON.
func (d *Document) JSON() ([]byte, error) {
	compact, err := encode(d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("laying out the description: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
