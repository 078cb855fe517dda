package server

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/maypok86/otter/v2"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
)

// rejection is the response to a request that is not executed.
type rejection struct {
	status int
	err    *gqlerror.Error
}

// reject returns a rejection with the code BAD_USER_INPUT.
func reject(status int, format string, args ...any) *rejection {
	return &rejection{status, coded(fault.BadUserInput, fmt.Sprintf(format, args...))}
}

// receive returns the query string of a GET request, or the body of a POST request.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) ([]byte, *rejection) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return []byte(r.URL.RawQuery), nil
	case http.MethodPost:
		if r.ContentLength > s.o.MaxBody {
			w.Header().Set("Connection", "close") // the rest of the body must not be parsed as the next request
			return nil, bodyTooLarge(s.o.MaxBody)
		}
		return receiveBody(http.MaxBytesReader(w, r.Body, s.o.MaxBody), r.ContentLength, r.Header.Get("Content-Type"))
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		return nil, reject(http.StatusMethodNotAllowed, "the method must be GET, HEAD or POST")
	}
}

// receiveBody reads the body of a POST request. size is its Content-Length, or negative if it is unknown. Content types that HTML forms can send are
// rejected.
func receiveBody(r io.Reader, size int64, contentType string) ([]byte, *rejection) {
	if contentType != mediaJSON { // parsing takes time
		media, params, err := mime.ParseMediaType(contentType)
		charset, hasCharset := params["charset"]
		if err != nil || media != mediaJSON || hasCharset && !strings.EqualFold(charset, "utf-8") {
			return nil, reject(http.StatusUnsupportedMediaType, "the content type must be application/json in UTF-8")
		}
	}
	raw := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead)) // ReadFrom needs MinRead free bytes to detect the end
	_, err := raw.ReadFrom(r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge(tooLarge.Limit)
	case err != nil:
		return nil, reject(http.StatusBadRequest, "the request body is incomplete")
	}
	return raw.Bytes(), nil
}

func bodyTooLarge(limit int64) *rejection {
	return reject(http.StatusRequestEntityTooLarge, "the request body is larger than %d bytes", limit)
}

// params reads the parameters of a request from its query string or body. It returns a function that stores a valid persisted query; see [Server.resolveID].
// A rejection with status 200 is reported with the same status as an invalid document.
func (s *Server) params(r *http.Request, raw []byte) (params *graphql.RawParams, store func(), bad *rejection) {
	var documentID string
	if r.Method == http.MethodPost {
		params, documentID, bad = readBody(raw, s.o.MaxValues)
	} else {
		params, documentID, bad = readQuery(string(raw), s.o.MaxValues)
	}
	if bad != nil {
		return nil, nil, bad
	}
	params.Headers = r.Header
	store, failed := s.resolveID(params, documentID)
	switch {
	case failed != nil:
		return nil, nil, &rejection{http.StatusOK, failed}
	case params.Query == "":
		return nil, nil, reject(http.StatusBadRequest, "query is missing")
	}
	return params, store, nil
}

// readBody reads the parameters in the body of a POST request. maxValues is the maximum number of JSON values in variables and extensions.
func readBody(raw []byte, maxValues int) (params *graphql.RawParams, documentID string, bad *rejection) {
	var body struct {
		Query         document       `json:"query"`
		OperationName string         `json:"operationName"`
		DocumentID    string         `json:"documentId"`
		Variables     map[string]any `json:"variables"`
		Extensions    map[string]any `json:"extensions"`
	}
	switch err := decode(raw, maxValues, &body); {
	case errors.Is(err, errTooManyValues):
		return nil, "", tooManyValues("the request body", maxValues)
	case err != nil:
		return nil, "", reject(http.StatusBadRequest, "the request body must be a JSON object with query, operationName, variables and extensions")
	}
	params = &graphql.RawParams{Query: string(body.Query), OperationName: body.OperationName, Variables: body.Variables, Extensions: body.Extensions}
	return params, body.DocumentID, nil
}

// readQuery reads the parameters of a GET request. maxValues is the maximum number of JSON values in each of variables and extensions.
func readQuery(raw string, maxValues int) (params *graphql.RawParams, documentID string, bad *rejection) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, "", reject(http.StatusBadRequest, "the query string is malformed")
	}
	params = &graphql.RawParams{Query: q.Get("query"), OperationName: q.Get("operationName")}
	for _, p := range []struct {
		name string
		into *map[string]any
	}{{"variables", &params.Variables}, {"extensions", &params.Extensions}} {
		text := q.Get(p.name)
		if text == "" {
			continue
		}
		switch err := decode([]byte(text), maxValues, p.into); {
		case errors.Is(err, errTooManyValues):
			return nil, "", tooManyValues(p.name, maxValues)
		case err != nil:
			return nil, "", reject(http.StatusBadRequest, "%s must be a JSON object", p.name)
		}
	}
	return params, q.Get("documentId"), nil
}

// document is the text of a document in a request. Clients repeat few documents, and finding a text by its JSON is faster than decoding it again.
type document string

var texts = otter.Must(&otter.Options[string, document]{MaximumSize: 256})

const maxText = 8 << 10 // maximum length of the JSON of a text that is kept, in bytes

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *document) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	raw, err := from.ReadValue()
	if known, ok := texts.GetIfPresent(unsafe.String(unsafe.SliceData(raw), len(raw))); ok {
		*t = known
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, (*string)(t))
	}
	if err == nil && len(raw) <= maxText {
		texts.Set(string(raw), *t)
	}
	return err //nolint:wrapcheck // the caller reports only that it failed
}

func tooManyValues(where string, limit int) *rejection {
	return &rejection{http.StatusBadRequest, coded(fault.TooComplex, fmt.Sprintf("%s has more than %d JSON values, or more than %d nested in each other",
		where, limit, maxNesting))}
}

var errTooManyValues = errors.New("too many values")

// maxNesting is the maximum nesting of JSON values.
const maxNesting = 1000

// decode decodes JSON with at most maxValues values in maps and lists. Numbers become [stdjson.Number], which preserves their digits. Duplicate names, invalid
// UTF-8 and text after the value are errors.
func decode(raw []byte, maxValues int, into any) error {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.left = maxValues
	return json.Unmarshal(raw, into, d.options) //nolint:wrapcheck // callers report only that it failed
}

// decoder has the options to decode one text at a time. They cache what they find out about types.
type decoder struct {
	left    int // number of values that can follow
	options json.Options
}

var decoders = sync.Pool{New: func() any {
	d := new(decoder)
	d.options = json.WithUnmarshalers(json.UnmarshalFromFunc(d.element))
	return d
}}

// element decodes a number in a map or a list, and counts the values.
func (d *decoder) element(from *jsontext.Decoder, v *any) error {
	d.left--
	if d.left < 0 || from.StackDepth() > maxNesting {
		return errTooManyValues
	}
	if from.PeekKind() != '0' {
		return errors.ErrUnsupported // decode it as usual
	}
	t, err := from.ReadToken()
	*v = stdjson.Number(t.String())
	return err //nolint:wrapcheck // wrapped by the caller
}
