package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"heliograph/rest/rawjson"
)

// Document is an OpenAPI document (https://spec.openapis.org/oas/v3.1.0), limited to the fields that this gateway
// uses. Raw parts are read from document.json.
type Document struct {
	OpenAPI    string          `json:"openapi"`
	Info       json.RawMessage `json:"info"`
	Servers    json.RawMessage `json:"servers"`
	Security   json.RawMessage `json:"security"`
	Tags       []Tag           `json:"tags"`
	Paths      Map[*PathItem]  `json:"paths"`
	Components struct {
		Schemas         Map[*Schema]    `json:"schemas"`
		Responses       json.RawMessage `json:"responses"`
		Headers         json.RawMessage `json:"headers"`
		SecuritySchemes json.RawMessage `json:"securitySchemes"`
	} `json:"components"`
}

// Tag groups operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// PathItem has the operations of a path.
type PathItem struct {
	Get  *Operation `json:"get,omitempty"`
	Post *Operation `json:"post,omitempty"`
}

// Operations returns the operations of the path in the order of the document.
func (p *PathItem) Operations() []*Operation {
	var all []*Operation
	for _, op := range []*Operation{p.Get, p.Post} {
		if op != nil {
			all = append(all, op)
		}
	}
	return all
}

// Operation is one endpoint.
type Operation struct {
	Tags        []string       `json:"tags"`
	Summary     string         `json:"summary"`
	Description string         `json:"description,omitempty"`
	OperationID string         `json:"operationId"`
	Parameters  []*Parameter   `json:"parameters,omitempty"`
	RequestBody *RequestBody   `json:"requestBody,omitempty"`
	Responses   Map[*Response] `json:"responses"`
}

// RequestBody is the request body of an operation.
type RequestBody struct {
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Content     Map[*MediaType] `json:"content"`
}

// Parameter is a path or query parameter.
type Parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Style       string  `json:"style,omitempty"`
	Explode     *bool   `json:"explode,omitempty"`
	Schema      *Schema `json:"schema"`
	Example     string  `json:"example,omitempty"`
}

// Response is a response, or a reference to one.
type Response struct {
	Ref         string          `json:"$ref,omitempty"`
	Description string          `json:"description,omitempty"`
	Headers     Map[*Header]    `json:"headers,omitempty"`
	Content     Map[*MediaType] `json:"content,omitempty"`
}

// Header is a response header, or a reference to one.
type Header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// MediaType is the content of a body.
type MediaType struct {
	Schema  *Schema `json:"schema"`
	Example any     `json:"example,omitempty"`
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

// Types are the JSON types of a value.
type Types []string

// MarshalJSON writes a single type as a string.
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

// Get returns the value of a member and whether it exists.
func (m Map[T]) Get(name string) (value T, ok bool) {
	for _, member := range m {
		if member.Name == name {
			return member.Value, true
		}
	}
	return value, false
}

// UnmarshalJSON reads the members in order.
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

// MarshalJSON writes the members in order.
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

// encode returns JSON in which <, > and & are not escaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding a part of the description: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// JSON returns the document as JSON. The result is deterministic.
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
