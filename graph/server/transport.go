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
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
)

const (
	mediaJSON    = "application/json"
	mediaGraphQL = "application/graphql-response+json"
)

// ServeHTTP answers GET and POST as the GraphQL over HTTP specification says (draft of 2023, §5 and §6): request errors have no data member,
// and are 200 to clients that know only application/json. Bodies other than application/json are refused, so no HTML form can send one.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Accept")
	media := accepted(r.Header.Values("Accept"))
	h.Set("Content-Type", media+"; charset=utf-8")

	params := &graphql.RawParams{Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	var bad *refusal
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		bad = readQuery(r.URL.RawQuery, params)
	case http.MethodPost:
		bad = readBody(http.MaxBytesReader(w, r.Body, s.o.MaxBody), min(r.ContentLength, s.o.MaxBody), r.Header.Get("Content-Type"), params)
	default:
		h.Set("Allow", "GET, HEAD, POST")
		bad = refuse(http.StatusMethodNotAllowed, "only GET and POST are supported")
	}
	if bad == nil && params.Query == "" {
		bad = refuse(http.StatusBadRequest, "query is missing")
	}
	if bad != nil {
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	params.ReadTime.End = graphql.Now()

	ctx := s.context(r.Context(), s.graphEnv, s.o.Limits)
	oc, errs := s.exec.CreateOperationContext(ctx, params)
	if errs != nil {
		status := http.StatusOK
		if media == mediaGraphQL {
			status = http.StatusBadRequest
		}
		writeErrors(w, status, withCodes(errs))
		return
	}
	if r.Method != http.MethodPost && oc.Operation.Operation != ast.Query {
		h.Set("Allow", "POST")
		writeErrors(w, http.StatusMethodNotAllowed, gqlerror.List{coded(fault.BadUserInput, "GET runs queries only; send a "+string(oc.Operation.Operation)+" with POST")})
		return
	}
	run, ctx := s.exec.DispatchOperation(ctx, oc)
	resp := run(ctx)
	if resp == nil { // the client has gone
		return
	}
	writeResponse(w, resp)
	s.Done(resp.Data)
}

// refusal is why a request is not run.
type refusal struct {
	status int
	err    *gqlerror.Error
}

func refuse(status int, message string) *refusal {
	return &refusal{status, coded(fault.BadUserInput, message)}
}

// accepted chooses the media type of the answer. application/json stands for clients that do not say.
func accepted(accept []string) string {
	best, quality := mediaJSON, -1.0
	for _, header := range accept {
		for item := range strings.SplitSeq(header, ",") {
			media, params, err := mime.ParseMediaType(strings.TrimSpace(item))
			if err != nil {
				continue
			}
			q := 1.0
			if text, ok := params["q"]; ok {
				if q, err = strconv.ParseFloat(text, 64); err != nil {
					continue
				}
			}
			switch media {
			case mediaGraphQL:
			case mediaJSON, "application/*", "*/*":
				media = mediaJSON
			default:
				continue
			}
			if q > quality && q > 0 {
				best, quality = media, q
			}
		}
	}
	return best
}

// readQuery reads the parameters of a GET request.
func readQuery(raw string, p *graphql.RawParams) *refusal {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return refuse(http.StatusBadRequest, "the query string is malformed")
	}
	p.Query, p.OperationName = q.Get("query"), q.Get("operationName")
	for name, into := range map[string]*map[string]any{"variables": &p.Variables, "extensions": &p.Extensions} {
		if text := q.Get(name); text != "" {
			if err := json.Unmarshal([]byte(text), (*object)(into)); err != nil {
				return refuse(http.StatusBadRequest, name+" must be a JSON object")
			}
		}
	}
	return nil
}

// body is the JSON object of a POST request.
type body struct {
	Query         *string `json:"query"`
	OperationName *string `json:"operationName"`
	Variables     object  `json:"variables"`
	Extensions    object  `json:"extensions"`
}

// object is a JSON object whose numbers stay as they were written.
type object map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode((*map[string]any)(o)); err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	return nil
}

// readBody reads the parameters of a POST request. size is how long the body says it is, negative when it does not say.
func readBody(r io.Reader, size int64, contentType string, p *graphql.RawParams) *refusal {
	media, params, err := mime.ParseMediaType(contentType)
	charset, hasCharset := params["charset"]
	if err != nil || media != mediaJSON || hasCharset && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusUnsupportedMediaType, "the content type must be application/json in UTF-8")
	}
	raw := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead)) // reading wants room behind the end
	_, err = raw.ReadFrom(r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "the request body has more than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes")
	case err != nil:
		return refuse(http.StatusBadRequest, "the request body ended early")
	}
	var b body
	if err := json.Unmarshal(raw.Bytes(), &b); err != nil {
		return refuse(http.StatusBadRequest, "the request body must be a JSON object with query, operationName, variables and extensions")
	}
	if b.Query != nil {
		p.Query = *b.Query
	}
	if b.OperationName != nil {
		p.OperationName = *b.OperationName
	}
	p.Variables, p.Extensions = b.Variables, b.Extensions
	return nil
}

// withCodes gives every error a code.
func withCodes(errs gqlerror.List) gqlerror.List {
	for _, e := range errs {
		if e.Extensions == nil {
			e.Extensions = map[string]any{}
		}
		if _, ok := e.Extensions["code"]; !ok {
			e.Extensions["code"] = string(fault.BadUserInput)
		}
	}
	return errs
}

// writeErrors writes an answer without data.
func writeErrors(w http.ResponseWriter, status int, errs gqlerror.List) {
	b, err := json.Marshal(struct {
		Errors gqlerror.List `json:"errors"`
	}{errs})
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"errors":[{"message":"internal error"}]}`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone is no concern of ours
}

// writeResponse writes an answer; its data is copied as it is.
func writeResponse(w http.ResponseWriter, resp *graphql.Response) {
	var tail bytes.Buffer
	for _, part := range []struct {
		name string
		v    any
		on   bool
	}{{"errors", resp.Errors, len(resp.Errors) > 0}, {"extensions", resp.Extensions, len(resp.Extensions) > 0}} {
		if !part.on {
			continue
		}
		b, err := json.Marshal(part.v)
		if err != nil {
			writeErrors(w, http.StatusInternalServerError, gqlerror.List{coded(fault.Internal, "internal error")})
			return
		}
		tail.WriteString(`,"` + part.name + `":`)
		tail.Write(b)
	}
	data := []byte(resp.Data)
	if data == nil {
		data = []byte("null")
	}
	tail.WriteByte('}')
	w.Header().Set("Content-Length", strconv.Itoa(len(`{"data":`)+len(data)+tail.Len()))
	w.WriteHeader(http.StatusOK)
	for _, b := range [][]byte{[]byte(`{"data":`), data, tail.Bytes()} {
		_, _ = w.Write(b)
	}
}
