package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"heliograph/internal/base/list"
)

// Family is one of the two styles of the legacy API. They differ in errors, parameters and links.
type Family uint8

const (
	// Classic is the style of most endpoints.
	Classic Family = iota
	// Modern is the style of the newer endpoints: topics, network, hooks, airdrops and NFT allowances.
	Modern
)

// Item is one error of a request.
type Item struct {
	Message string  `json:"message"`
	Detail  *string `json:"detail,omitempty"`
	Data    *string `json:"data,omitempty"`
}

// Problem is an error response. It implements error.
type Problem struct {
	Status int
	Items  []Item
	// Retry is the header Retry-After in seconds, or 0 for none.
	Retry int
}

// ItemOf returns a message of a problem with all its members, as contract calls have them. The response has detail and
// data even if they are empty.
func ItemOf(message, detail, data string) Item {
	return Item{Message: message, Detail: &detail, Data: &data}
}

// withData returns a copy of the problem with the members detail and data in each message, as contract calls have
// them. They are empty where p has none.
func (p *Problem) withData() *Problem {
	full := &Problem{Status: p.Status, Retry: p.Retry}
	for _, i := range p.Items {
		for _, member := range []**string{&i.Detail, &i.Data} {
			if *member == nil {
				*member = new(string)
			}
		}
		full.Items = append(full.Items, i)
	}
	return full
}

// Error implements error, for logs and tests. Clients get body.
func (p *Problem) Error() string {
	if len(p.Items) == 0 {
		return http.StatusText(p.Status)
	}
	return strings.Join(list.Map(p.Items, func(i Item) string { return i.Message }), "; ")
}

// body returns the JSON of the error response, which both families share. It does not have the status, and never
// fails.
func (p *Problem) body() []byte {
	var envelope struct {
		Status struct {
			Messages []Item `json:"messages"`
		} `json:"_status"`
	}
	envelope.Status.Messages = p.Items
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(envelope); err != nil { // strings always encode
		return []byte(`{"_status":{"messages":[]}}`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// problem returns a problem of the classic family with one message for each text.
func problem(status int, texts ...string) *Problem {
	return &Problem{Status: status, Items: list.Map(texts, func(t string) Item { return Item{Message: t} })}
}

// Bad returns a 400 of the classic family with one message for each text.
func Bad(texts ...string) *Problem { return problem(http.StatusBadRequest, texts...) }

// InvalidParameter returns the classic family's 400 for an invalid value of a parameter.
func InvalidParameter(name string) *Problem { return Bad("Invalid parameter: " + name) }

// NotFound returns a 404 of the classic family with the given text.
func NotFound(text string) *Problem { return problem(http.StatusNotFound, text) }

// ModernProblem returns a problem of the modern family: the message is the reason phrase, and detail has the text.
func ModernProblem(status int, detail string) *Problem {
	return &Problem{Status: status, Items: []Item{{Message: http.StatusText(status), Detail: &detail}}}
}

// fail returns the problem of an operation that failed without the fault of the client, with a general text in the
// words of the family. The status is 503 if the database did not respond, 501 if a field is disabled, or 500.
func (f Family) fail(status int) *Problem {
	if f == Modern {
		return ModernProblem(status, "")
	}
	if status == http.StatusServiceUnavailable {
		return problem(status, "Service unavailable")
	}
	return problem(status, "Internal error")
}

// CannotConvert returns the modern family's 400 for a value of a parameter that cannot be parsed.
func CannotConvert(name string) *Problem {
	return ModernProblem(http.StatusBadRequest, "Failed to convert '"+name+"'")
}

// ModernBad returns a 400 of the modern family, see [Family], with the given detail.
func ModernBad(detail string) *Problem { return ModernProblem(http.StatusBadRequest, detail) }

// ModernBadAll returns a 400 of the modern family, see [Family], with one message for each detail.
func ModernBadAll(details ...string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Items: list.Map(details, func(d string) Item {
		return ModernBad(d).Items[0]
	})}
}

// ModernNotFound returns a 404 of the modern family with the given detail.
func ModernNotFound(detail string) *Problem { return ModernProblem(http.StatusNotFound, detail) }
