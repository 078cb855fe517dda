package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json/jsontext"

	"heliograph/graph/fault"
)

// readQuery reads the parameters of a GET request.
func readQuery(raw string, values int, p *graphql.RawParams) (documentID string, bad *refusal) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return "", refuse(http.StatusBadRequest, "the query string is malformed")
	}
	p.Query, p.OperationName = q.Get("query"), q.Get("operationName")
	for _, member := range []struct {
		name string
		into *map[string]any
	}{{"variables", &p.Variables}, {"extensions", &p.Extensions}} {
		text := q.Get(member.name)
		if text == "" {
			continue
		}
		d := newValueReader([]byte(text), values)
		*member.into, err = d.object()
		switch {
		case errors.Is(err, errManyValues):
			return "", manyValues(member.name+" have", values)
		case err != nil || d.end() != nil:
			return "", refuse(http.StatusBadRequest, member.name+" must be a JSON object")
		}
	}
	return q.Get("documentId"), nil
}

func tooLarge(limit int64) *refusal {
	return refuse(http.StatusRequestEntityTooLarge, "the request body has more than "+strconv.FormatInt(limit, 10)+" bytes")
}

// receiveBody reads the body of a POST request. size is how long it says it is, negative when it does not say.
func receiveBody(r io.Reader, size int64, contentType string) ([]byte, *refusal) {
	media, params, err := mime.ParseMediaType(contentType)
	charset, hasCharset := params["charset"]
	if err != nil || media != mediaJSON || hasCharset && !strings.EqualFold(charset, "utf-8") {
		return nil, refuse(http.StatusUnsupportedMediaType, "the content type must be application/json in UTF-8")
	}
	raw := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead)) // reading wants room behind the end
	_, err = raw.ReadFrom(r)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, tooLarge(long.Limit)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "the request body ended early")
	}
	return raw.Bytes(), nil
}

// readBody reads the parameters in the body of a POST request, which may have so many JSON values.
func readBody(raw []byte, values int, p *graphql.RawParams) (documentID string, bad *refusal) {
	d := newValueReader(raw, values)
	documentID, err := d.params(p)
	if err == nil {
		err = d.end()
	}
	switch {
	case errors.Is(err, errManyValues):
		return "", manyValues("the request body has", values)
	case err != nil:
		return "", refuse(http.StatusBadRequest, "the request body must be a JSON object with query, operationName, variables and extensions")
	}
	return documentID, nil
}

func manyValues(what string, limit int) *refusal {
	return &refusal{http.StatusBadRequest, coded(fault.TooComplex, fmt.Sprintf("%s more than %d values", what, limit))}
}

// The reasons not to read a JSON text; others are of its syntax.
var (
	errManyValues = errors.New("too many values")
	errOtherValue = errors.New("a value of another kind is expected")
)

// valueReader reads JSON in one pass, and no more values than it may: objects are map[string]any, arrays []any, and numbers json.Number, which
// stay as they were written. The same name twice in an object is an error (RFC 8259, §4, leaves it open), and so is what is not UTF-8.
type valueReader struct {
	d    *jsontext.Decoder
	left int
}

func newValueReader(raw []byte, values int) *valueReader {
	return &valueReader{jsontext.NewDecoder(bytes.NewBuffer(raw)), values}
}

// end is an error when something follows.
func (v *valueReader) end() error {
	switch _, err := v.d.ReadToken(); {
	case err == nil:
		return errOtherValue
	case errors.Is(err, io.EOF):
		return nil
	default:
		return fmt.Errorf("reading the end: %w", err)
	}
}

func (v *valueReader) token() (jsontext.Token, error) {
	t, err := v.d.ReadToken()
	if err != nil {
		return t, fmt.Errorf("reading a value: %w", err)
	}
	return t, nil
}

// params reads the object of a POST request.
func (v *valueReader) params(p *graphql.RawParams) (documentID string, err error) {
	err = v.members(func(name string) (err error) {
		switch name {
		case "query":
			p.Query, err = v.text()
		case "operationName":
			p.OperationName, err = v.text()
		case "documentId":
			documentID, err = v.text()
		case "variables":
			p.Variables, err = v.object()
		case "extensions":
			p.Extensions, err = v.object()
		default:
			_, err = v.value()
		}
		return err
	})
	return documentID, err
}

// members calls read for each member of an object; it has to read the value.
func (v *valueReader) members(read func(name string) error) error {
	if t, err := v.token(); err != nil || t.Kind() != '{' {
		return errors.Join(err, errOtherValue)
	}
	for {
		name, err := v.token()
		if err != nil {
			return err
		}
		if name.Kind() == '}' {
			return nil
		}
		if err := v.spend(); err != nil {
			return err
		}
		if err := read(name.String()); err != nil {
			return err
		}
	}
}

// spend counts a value.
func (v *valueReader) spend() error {
	v.left--
	if v.left < 0 {
		return errManyValues
	}
	return nil
}

// text reads a string, or null as an empty one.
func (v *valueReader) text() (string, error) {
	t, err := v.token()
	switch {
	case err != nil || t.Kind() == 'n':
		return "", err
	case t.Kind() != '"':
		return "", errOtherValue
	}
	return t.String(), nil
}

// object reads an object, or null as nil.
func (v *valueReader) object() (map[string]any, error) {
	if v.d.PeekKind() == 'n' {
		_, err := v.token()
		return nil, err
	}
	m := map[string]any{}
	return m, v.members(func(name string) (err error) {
		m[name], err = v.value()
		return err
	})
}

func (v *valueReader) value() (any, error) {
	switch v.d.PeekKind() {
	case '{':
		return v.object()
	case '[':
		return v.array()
	default:
	}
	t, err := v.token()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '"':
		return t.String(), nil
	case '0':
		return json.Number(t.String()), nil
	case 't', 'f':
		return t.Bool(), nil
	default:
		return nil, nil
	}
}

func (v *valueReader) array() ([]any, error) {
	if _, err := v.token(); err != nil {
		return nil, err
	}
	list := []any{}
	for v.d.PeekKind() != ']' {
		if err := v.spend(); err != nil {
			return nil, err
		}
		item, err := v.value()
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := v.token()
	return list, err
}
