package rawjson_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"heliograph/rest/rawjson"
)

// TestOmitNull checks that only groups whose members are all null, in the same object, are removed.
func TestOmitNull(t *testing.T) {
	t.Parallel()
	one, two := []string{"a"}, []string{"a", "b"}
	for _, c := range []struct {
		group       []string
		value, want string
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
		{
			two, `[{"a":null,"c":1,"b":"x"},{"a":false,"b":null},{"b":null,"c":2,"a":null}]`,
			`[{"a":null,"c":1,"b":"x"},{"a":false,"b":null},{"c":2}]`,
		},
		{two, `{"a":null,"c":[{"b":null}]}`, `{"a":null,"c":[{"b":null}]}`},
	} {
		if got := string(rawjson.OmitNull([]byte(c.value), c.group...)); got != c.want {
			t.Errorf("%v of %s: %s, want %s", c.group, c.value, got, c.want)
		}
	}
}

// TestSole checks objects with and without the only member.
func TestSole(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"a":null}`: "null", `{"a":[{"b":1}]}`: `[{"b":1}]`, `{"aa":1}`: "",
		`{"b":1}`: "", `{}`: "", `null`: "",
	} {
		if got, ok := rawjson.Sole([]byte(object), "a"); string(got) != want || ok != (want != "") {
			t.Errorf("%s: %q, %t; want %q", object, got, ok, want)
		}
	}
}

// FuzzRawJSON compares the results with those of encoding/json.
func FuzzRawJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":null,"b":null}`, `[{"a":null,"c":{"b":null},"b":null,"d":1}]`,
		`{"c":"\"a\":null","d":"x\\","a":null,"b":[]}`, `{"a":[],"b":{},"c":[1,-2.5e3,true]}`,
		`{"":"","x":{"y":[[],[{}]]}}`, `"a"`, `[]`, `{"a":null}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, escaped := decode(text)
		if value == nil || escaped {
			return
		}
		compact := encode(t, value)
		if object, ok := value.(map[string]any); ok {
			var names []string
			last := ""
			// the results are the same if the last member is given
			if all := slices.Sorted(maps.Keys(object)); len(all)%2 == 1 {
				last = all[len(all)-1]
			}
			for name, member := range rawjson.Members(compact, last) {
				names = append(names, string(name))
				if want := encode(t, object[string(name)]); !bytes.Equal(member, want) {
					t.Errorf("%s: member %q is %s, want %s", compact, name, member, want)
				}
				sole, ok := rawjson.Sole(compact, string(name))
				if len(object) == 1 && (!ok || !bytes.Equal(sole, member)) {
					t.Errorf("%s: the only member is %s, want %s", compact, sole, member)
				}
			}
			if !slices.IsSorted(names) || len(names) != len(object) {
				t.Errorf("%s has the members %q", compact, names)
			}
		}
		for _, group := range [][]string{{"a"}, {"a", "b"}} {
			got := string(rawjson.OmitNull(bytes.Clone(compact), group...))
			again, _ := decode(string(compact))
			if want := string(encode(t, omit(again, group))); got != want {
				t.Errorf("%s without %q: %s, want %s", compact, group, got, want)
			}
		}
	})
}

// decode decodes JSON. It returns nil if text is not JSON, and reports whether a member has a name that is written
// with escapes.
func decode(text string) (value any, escaped bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				b, err := json.Marshal(name)
				escaped = escaped || err != nil || bytes.ContainsRune(b, '\\')
				look(member)
			}
		case []any:
			for _, element := range v {
				look(element)
			}
		}
	}
	look(value)
	return value, escaped
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// omit removes the members of a group from the objects in which all of them are null.
func omit(value any, group []string) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = omit(v[name], group)
		}
		if !slices.ContainsFunc(group, func(name string) bool { member, ok := v[name]; return !ok || member != nil }) {
			for _, name := range group {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = omit(v[i], group)
		}
	}
	return value
}
