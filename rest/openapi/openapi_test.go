package openapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"heliograph/rest"
	"heliograph/rest/openapi"
	v1 "heliograph/rest/v1"
)

// TestJSONAndYAML checks that JSON and YAML have the same content, with the settings and the version in place of the
// placeholders.
func TestJSONAndYAML(t *testing.T) {
	t.Parallel()
	const version = `1.10 "x": {y}`
	text, asYAML := v1.OpenAPI(&rest.Config{LimitDefault: 7, MaxRepeats: 5000}, version)
	fromYAML, err := yaml.YAMLToJSON(asYAML)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(text, &a), json.Unmarshal(fromYAML, &b)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("JSON and YAML differ")
	}
	if at := bytes.Index(asYAML, []byte("/accounts:")); at < 0 || at > bytes.Index(asYAML, []byte("components:")) {
		t.Error("the YAML is in another order")
	}
	for _, placeholder := range []string{
		rest.VersionPlaceholder, rest.LimitDefaultPlaceholder,
		rest.MaxRepeatsPlaceholder,
	} {
		if bytes.Contains(text, []byte(placeholder)) {
			t.Errorf("%s is not replaced", placeholder)
		}
	}
	var d struct {
		Info  struct{ Version string }
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name   string
					Schema struct{ Default, MaxItems any }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{} // the default and the maximum number of values
	for _, path := range []string{"/accounts", "/network/nodes", "/accounts/{ownerId}/hooks"} {
		for _, p := range d.Paths[path].Get.Parameters {
			if v := cmp.Or(p.Schema.Default, p.Schema.MaxItems); v != nil && p.Name != "order" {
				got[path+" "+p.Name] = v
			}
		}
	}
	want := map[string]any{
		"/accounts limit": 7.0, "/accounts account.id": 5000.0, "/accounts account.balance": 5000.0,
		"/accounts account.publickey":     5000.0,
		"/network/nodes limit":            10.0,
		"/accounts/{ownerId}/hooks limit": 25.0, "/accounts/{ownerId}/hooks hook.id": 100.0,
	}
	if d.Info.Version != version || !reflect.DeepEqual(got, want) {
		t.Errorf("version %q, parameters %v", d.Info.Version, got)
	}
}

// TestEndpointsAreDescribed checks that exactly the endpoints and their parameters are described.
func TestEndpointsAreDescribed(t *testing.T) {
	t.Parallel()
	api := offlineAPI(t)
	d := describe(t, api)
	for _, tag := range d.Tags {
		if get[string](tag, "description") == "" {
			t.Errorf("texts.json has no description of the tag %q", get[string](tag, "name"))
		}
	}
	ids, described := map[string]bool{}, 0
	for i := range api.Endpoints {
		e := &api.Endpoints[i]
		item, ok := d.Paths.Get(e.Path)
		if ok == e.Undocumented {
			t.Errorf("%s: it is described: %t", e.Path, ok)
		}
		if !ok {
			continue
		}
		described++
		op := get[object](item, strings.ToLower(e.Method()))
		if body := get[object](op, "requestBody"); e.Body != nil && (get[string](body, "description") == "" ||
			len(get[object](body, "content")) != len(e.Body.Types)) {
			t.Errorf("%s: the body is not described", e.Path)
		}
		id, description := get[string](op, "operationId"), get[string](op, "description")
		if ids[id] || !regexp.MustCompile(`^[a-z][A-Za-z0-9]+$`).MatchString(id) {
			t.Errorf("%s has the operation id %q, which is not a name or not unique", e.Path, id)
		}
		ids[id] = true
		if get[string](op, "summary") == "" {
			t.Errorf("%s has no summary", e.Path)
		}
		family := ""
		if e.Family == rest.Modern {
			family = "Modern"
		}
		if r := get[object](get[object](op, "responses"), "501"); get[string](r, "$ref") !=
			"#/components/responses/"+family+"SchemaMismatch" {
			t.Errorf("%s: the response to a missing column is not described", e.Path)
		}
		var want, got []string
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(e.Path, -1) {
			want = append(want, "path "+m[1])
		}
		for _, p := range e.Params {
			want = append(want, "query "+p.Name)
		}
		for _, p := range get[[]object](op, "parameters") {
			got = append(got, get[string](p, "in")+" "+get[string](p, "name"))
			if get[string](p, "description") == "" {
				t.Errorf("%s: %s has no description", e.Path, get[string](p, "name"))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: parameters %v, want %v", e.Path, got, want)
		}
		if e.Body != nil {
			if !strings.Contains(description, "[Open in GraphiQL](/graphiql?query=") {
				t.Errorf("%s: its document is not linked: %s", e.Path, description)
			}
			continue
		}
		_, link, _ := strings.Cut(description, "[Open in GraphiQL](/graphiql?rest=")
		path, err := url.QueryUnescape(strings.TrimSuffix(link, ")"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.Explain(t.Context(), path, nil); link == "" || err != nil {
			t.Errorf("%s: the example %q is not explained: %v", e.Path, path, err)
		}
	}
	operations := 0
	for _, p := range d.Paths {
		operations += len(p.Value)
	}
	if operations != described {
		t.Errorf("%d operations are described, %d of them are endpoints", operations, described)
	}
}

// TestEveryValueHasASchema fails for values that have a description only: their GraphQL scalar is missing in
// scalars.json.
func TestEveryValueHasASchema(t *testing.T) {
	t.Parallel()
	d := describe(t, offlineAPI(t))
	var look func(at string, s *openapi.Schema)
	look = func(at string, s *openapi.Schema) {
		if s.Type == nil && s.Ref == "" && s.AnyOf == nil {
			t.Errorf("%s may be anything", at)
		}
		for _, p := range s.Properties {
			look(at+"."+p.Name, p.Value)
		}
		if s.Items != nil {
			look(at+"[]", s.Items)
		}
		for _, of := range s.AnyOf {
			look(at, of)
		}
	}
	for _, m := range d.Components.Schemas {
		look(m.Name, m.Value)
	}
}

// TestParameterSchemas compares the schemas of parameters with the values that the parameters accept.
func TestParameterSchemas(t *testing.T) {
	t.Parallel()
	cfg := &rest.Config{LimitDefault: 25, LimitMax: 100, MaxRepeats: 100}
	api := offlineAPI(t)
	d := describe(t, api)
	values := []string{
		"1", "0", "-1", "0.0.98", "0.98", "1.2.3.4", "0x" + strings.Repeat("0a", 20), strings.Repeat("ab", 32),
		"0x1F", "1.5",
		"1.5000000000", "true", "false", "asc", "desc", "credit", "success", "base64", "CRYPTOTRANSFER",
		"no-such-type", "", "a b",
	}
	checked := 0
	for i := range api.Endpoints {
		e := &api.Endpoints[i]
		if e.Undocumented {
			continue
		}
		item, _ := d.Paths.Get(e.Path)
		for j := range e.Params {
			p := &e.Params[j]
			ops, form := p.Kind.Ops, p.Kind
			all := get[[]object](get[object](item, strings.ToLower(e.Method())), "parameters")
			described := get[*openapi.Schema](all[len(all)-len(e.Params)+j], "schema")
			for _, op := range append([]rest.Op{""}, rest.Operators()...) {
				for _, text := range values {
					if op != "" && (described.Items == nil || len(ops) < 2) {
						continue // ignored operators are not described
					}
					written, takes := text, text != "" && parameterAccepts(cfg, e, p, op, text)
					if op != "" {
						written = string(op) + ":" + text
					}
					accepted := schemaAccepts(t, described, written)
					if takes && !accepted {
						t.Errorf("%s: %s accepts %q, but its schema is %+v", e.Path, p.Name, written, described)
					} else if accepted && !takes && form.Pattern == "" && form.Enum == nil && text != "" {
						t.Errorf("%s: %s rejects %q, but its schema is %+v", e.Path, p.Name, written, described)
					}
					checked++
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d values were checked", checked)
	}
}

// parameterAccepts reports whether a parameter accepts a value with an operator, or without one.
func parameterAccepts(c *rest.Config, e *rest.Endpoint, p *rest.Param, op rest.Op, text string) bool {
	if op != "" {
		text = string(op) + ":" + text
	}
	v, ok := e.Value(c, p, text)
	return ok && (p.Check == nil || p.Check(v) == "")
}

// schemaAccepts reports whether a parameter's schema allows a text.
func schemaAccepts(t *testing.T, s *openapi.Schema, text string) bool {
	t.Helper()
	if s.Items != nil {
		return schemaAccepts(t, s.Items, text)
	}
	switch s.Type[0] {
	case "boolean":
		return slices.Contains([]string{"true", "false", "1", "0"}, text) // the modern family accepts digits too
	case "integer":
		var n int64
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return false
		}
		return (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
	default:
		if s.Enum != nil {
			return slices.Contains(s.Enum, any(text))
		}
		return regexp.MustCompile(s.Pattern).MatchString(text)
	}
}

// TestFilesAreCurrent fails if the generated files were not regenerated after an endpoint changed.
func TestFilesAreCurrent(t *testing.T) {
	t.Parallel()
	files, err := openapi.Files(offlineAPI(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if have, err := os.ReadFile("../../" + name); err != nil {
			t.Error(err)
		} else if !bytes.Equal(have, want) {
			t.Errorf("%s is not up to date: run go run ./rest/generate", name)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(
		files["docs/rest-to-graphql.md"]), -1) {
		if _, err := os.Stat("../../docs/" + m[1]); err != nil {
			t.Errorf("broken link in the guide: %v", err)
		}
	}
}
