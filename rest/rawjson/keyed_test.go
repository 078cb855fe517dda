package rawjson_test

import (
	"testing"

	"heliograph/rest/rawjson"
)

func TestKeyed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":[]}`: `{"a":{}}`, `{"a":null,"b":[{"key":"k","value":1}]}`: `{"a":null,"b":[{"key":"k","value":1}]}`,
		`[{"a":[{"key":"k","value":"v"},{"key":"l\"","value":[1,{"x":"]"}]}],"c":"\"a\":["},{"a":[{"key":"m",` +
			`"value":null}]}]`: `[{"a":{"k":"v","l\"":[1,{"x":"]"}]},"c":"\"a\":["},{"a":{"m":null}}]`,
		``: ``,
	} {
		if got := string(rawjson.Keyed([]byte(in), "a")); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
