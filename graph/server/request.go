package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
)

// rejection is the response to a request that is not executed.
type rejection struct {
	status int
	err    *gqlerror.Error
}

// reject returns a rejection of a request with an HTTP status and an error with the code BAD_USER_INPUT.
func reject(status int, format string, args ...any) *rejection {
	return &rejection{status, coded(fault.BadUserInput, fmt.Sprintf(format, args...))}
}

// receive returns the query string of a GET or HEAD request, or the body of a POST request, which it reads up to
// MaxBody bytes. It rejects larger bodies, other methods, with the header Allow, and other content types.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) ([]byte, *rejection) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return []byte(r.URL.RawQuery), nil
	case http.MethodPost:
		if r.ContentLength > s.o.MaxBody {
			w.Header().Set("Connection", "close") // the rest of the body must not be parsed as the next request
			return nil, bodyTooLarge(s.o.MaxBody)
		}
		body := io.Reader(r.Body)
		if r.ContentLength < 0 { // unknown
			body = http.MaxBytesReader(w, r.Body, s.o.MaxBody)
		}
		return receiveBody(body, r.ContentLength, r.Header.Get("Content-Type"))
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		return nil, reject(http.StatusMethodNotAllowed, "the method must be GET, HEAD or POST")
	}
}

// receiveBody reads the body of a POST request, or returns the bytes of one that is in memory. size is its
// Content-Length, which the caller has compared with the limit of r and which is allocated at once, or negative if it
// is unknown. It rejects content types other than application/json in UTF-8 with 415, because HTML forms can send some
// of them, a body above the limit of r with 413, and one that cannot be read with 400.
func receiveBody(r io.Reader, size int64, contentType string) ([]byte, *rejection) {
	if contentType != mediaJSON { // parsing takes time
		media, params, err := mime.ParseMediaType(contentType)
		charset, hasCharset := params["charset"]
		if err != nil || media != mediaJSON || hasCharset && !utf8Names[strings.ToLower(charset)] {
			return nil, reject(http.StatusUnsupportedMediaType, "the content type must be application/json in UTF-8")
		}
	}
	if whole, ok := r.(interface{ Bytes() []byte }); ok {
		return whole.Bytes(), nil
	}
	// ReadFrom needs MinRead free bytes to detect the end
	raw := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead))
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

// utf8Names are the names of UTF-8, in lower case: the preferred name and the aliases of the IANA registry, and
// US-ASCII, which is a part of it.
var utf8Names = map[string]bool{
	"utf-8": true, "utf8": true, "csutf8": true, "unicode-1-1-utf-8": true, "us-ascii": true, "ascii": true,
}

// bodyTooLarge returns the rejection with status 413 of a body that is larger than limit bytes.
func bodyTooLarge(limit int64) *rejection {
	return reject(http.StatusRequestEntityTooLarge, "the request body is larger than %d bytes", limit)
}

// params reads the parameters of a request from its query string or body. It returns a function that stores a valid
// persisted query; see [Server.resolveID]. A rejection with status 200 is reported with the same status as an invalid
// document.
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
	return s.resolve(r, params, documentID)
}

// resolve completes the parameters of an operation: it sets the headers, and the query if documentID or an extension
// has the ID of a document. It returns params and the function that stores a valid persisted query. An ID that is
// unknown or does not match is a rejection with status 200, for which callers use that of an invalid document. A
// missing query is one with 400.
func (s *Server) resolve(
	r *http.Request, params *graphql.RawParams, documentID string,
) (of *graphql.RawParams, store func(), bad *rejection) {
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

// readBody reads the parameters in the body of a POST request. documentID is "" if it has none. maxValues is the
// maximum number of JSON values in variables and extensions. A body that is malformed, no JSON object, or has too many
// values or members of wrong types is rejected with 400.
func readBody(raw []byte, maxValues int) (params *graphql.RawParams, documentID string, bad *rejection) {
	err := decode(raw, maxValues, func(d *decoder) (err error) {
		params, documentID, err = d.params()
		return err
	})
	return params, documentID, undecoded(err, "the request body", maxValues,
		" with query, operationName, variables and extensions (not a batch)")
}

// params reads the parameters of one operation: query, variables and others. Absent ones are empty, and unknown
// members are skipped. It fails if a member has another type, there are too many values, or the JSON is malformed.
func (d *decoder) params() (params *graphql.RawParams, documentID string, err error) {
	params = &graphql.RawParams{}
	err = d.members(func(name string) (err error) {
		switch name {
		case "query":
			params.Query, err = d.string()
		case "operationName":
			params.OperationName, err = d.string()
		case "documentId":
			documentID, err = d.string()
		case "variables":
			params.Variables, err = d.object()
		case "extensions":
			params.Extensions, err = d.object()
		default:
			err = d.SkipValue()
		}
		return err //nolint:wrapcheck // undecoded describes it
	})
	return params, documentID, err
}

// readQuery reads the parameters of a GET request from its query string. documentID is "" if it has none. maxValues is
// the maximum number of JSON values in each of variables and extensions. If one of these is no JSON object or has too
// many values, or the query string is malformed, the request is rejected with 400.
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
		err := decode([]byte(text), maxValues, func(d *decoder) (err error) { *p.into, err = d.object(); return err })
		if bad := undecoded(err, p.name, maxValues, ""); bad != nil {
			return nil, "", bad
		}
	}
	return params, q.Get("documentId"), nil
}

// undecoded returns the rejection with status 400 for an error of [decode], or nil for nil. what names the text, and
// members, which can be empty, follows "must be a JSON object" in the message.
func undecoded(err error, what string, maxValues int, members string) *rejection {
	var (
		syntax *jsontext.SyntacticError
		kind   *kindError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		place := fmt.Sprintf("after %d bytes", syntax.ByteOffset)
		if syntax.JSONPointer != "" {
			place += fmt.Sprintf(", at %.*s", maxPointer, syntax.JSONPointer)
		}
		return reject(http.StatusBadRequest, "%s is not valid JSON: %v, %s", what, syntax.Err, place)
	case errors.As(err, &kind) && kind.at != "":
		return reject(http.StatusBadRequest, "%s: %v", what, kind)
	case errors.Is(err, errTooManyValues):
		text := fmt.Sprintf("%s has more than %d JSON values, or more than %d nested in each other", what, maxValues,
			MaxNesting)
		return &rejection{http.StatusBadRequest, coded(fault.TooComplex, text)}
	default:
		return reject(http.StatusBadRequest, "%s must be a JSON object%s", what, members)
	}
}
