package rest

import "testing"

// TestOmitNull checks that only groups whose members are all null, in the same object, are removed.
func TestOmitNull(t *testing.T) {
	t.Parallel()
	one, two := []string{"a"}, []string{"a", "b"}
	for _, c := range []struct {
		group      []string
		body, want string
	}{
		{one, `{"a":null}`, `{}`},
		{one, `{"a":null,"c":1}`, `{"c":1}`},
		{one, `{"c":1,"a":null}`, `{"c":1}`},
		{one, `{"c":1,"a":null,"d":{"a":null,"e":[]}}`, `{"c":1,"d":{"e":[]}}`},
		{one, `{"c":[{"a":1},{"a":null,"c":2},{"c":null,"a":null}]}`, `{"c":[{"a":1},{"c":2},{"c":null}]}`},
		{one, `{"c":"\"a\":null","d":"x\\","a":null}`, `{"c":"\"a\":null","d":"x\\"}`},
		{one, `{"aa":null,"c":"a"}`, `{"aa":null,"c":"a"}`},
		{two, `{"a":null,"b":null}`, `{}`},
		{two, `{"a":null,"c":{"b":null},"b":null,"d":1}`, `{"c":{"b":null},"d":1}`},
		{two, `[{"a":null,"c":1,"b":"x"},{"a":false,"b":null},{"b":null,"c":2,"a":null}]`, `[{"a":null,"c":1,"b":"x"},{"a":false,"b":null},{"c":2}]`},
		{two, `{"a":null,"c":[{"b":null}]}`, `{"a":null,"c":[{"b":null}]}`},
	} {
		if got := string(omitNull([]byte(c.body), c.group)); got != c.want {
			t.Errorf("%v of %s: %s, want %s", c.group, c.body, got, c.want)
		}
	}
}
