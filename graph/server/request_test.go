package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// FuzzBody gives the readers of requests any body and any query string: what is refused is the client's mistake, and says why.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"query":"{ __typename }"}`, `{"query":null,"variables":{"a":1e999},"operationName":""}`, `[]`, `null`, `{}{}`, ``, "\xff", `{"variables":[]}`, "query=%7Ba%7D&variables=%7B%7D", "a=%zz",
	} {
		f.Add(s, "application/json")
	}
	f.Add("{}", "application/json; charset=utf-8; x")
	f.Fuzz(func(t *testing.T, text, media string) {
		_, unread := readQuery(text, 100, &graphql.RawParams{})
		raw, bodyless := receiveBody(strings.NewReader(text), -1, media)
		if bodyless == nil {
			_, bodyless = readBody(raw, 100, &graphql.RawParams{})
		}
		for _, bad := range []*refusal{bodyless, unread} {
			if bad == nil {
				continue
			}
			if bad.status < http.StatusBadRequest || bad.status >= http.StatusInternalServerError || bad.err.Message == "" || bad.err.Extensions["code"] != "BAD_USER_INPUT" && bad.err.Extensions["code"] != "QUERY_TOO_COMPLEX" {
				t.Errorf("%q of %q is refused with %d: %v", text, media, bad.status, bad.err)
			}
		}
		if got := accepted([]string{media, text}); got != mediaJSON && got != mediaGraphQL {
			t.Errorf("%q and %q ask for %q", media, text, got)
		}
	})
}
