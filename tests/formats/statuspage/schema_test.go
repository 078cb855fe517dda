package statuspage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
)

// schemas returns the compiled schemas of the documents by name.
func schemas(tb testing.TB) map[string]*jsonschema.Schema {
	tb.Helper()
	text, err := os.ReadFile("../../../rest/v2/openapi.json")
	if err != nil {
		tb.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///openapi.json", whole); err != nil {
		tb.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for _, name := range status.Documents() {
		content := "/get/responses/200/content/application~1json/schema"
		out[name], err = c.Compile("mem:///openapi.json#/paths/~1" + strings.ReplaceAll(name, "/", "~1") + content)
		if err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// orders are the members of each type of object in order, by a member that only this type has.
func orders() map[string][]string {
	notice := "id name status created_at updated_at monitoring_at resolved_at impact shortlink started_at page_id " +
		"incident_updates components "
	out := map[string][]string{}
	for marker, list := range map[string]string{
		"scheduled_for": notice + "scheduled_for scheduled_until", "reminder_intervals": notice + "reminder_intervals",
		"tweet_id": "id status body incident_id created_at updated_at display_at affected_components " +
			"deliver_notifications custom_tweet tweet_id",
		"code": "code name old_status new_status",
		"group": "id name status created_at updated_at position description showcase start_date group_id " +
			"page_id group only_show_if_degraded components",
		"time_zone": "id name url time_zone updated_at",
		"indicator": "indicator description",
		"page":      "page components incidents scheduled_maintenances status",
	} {
		out[marker] = strings.Fields(list)
	}
	return out
}

// checkOrder fails unless the members of all objects of a document are in order.
func checkOrder(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var value func() error
	value = func() error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['):
			for d.More() {
				if err := value(); err != nil {
					return err
				}
			}
			_, err = d.Token()
			return err
		case json.Delim('{'):
			var names []string
			for d.More() {
				name, err := d.Token()
				if err != nil {
					return err
				}
				names = append(names, name.(string))
				if err := value(); err != nil {
					return err
				}
			}
			if _, err = d.Token(); err != nil {
				return err
			}
			return ordered(names)
		}
		return nil
	}
	return value()
}

func ordered(names []string) error {
	for marker, order := range orders() {
		if !slices.Contains(names, marker) {
			continue
		}
		want := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return !slices.Contains(names, n) })
		if !slices.Equal(names, want) {
			return fmt.Errorf("members %q, want %q", names, want)
		}
		return nil
	}
	return fmt.Errorf("unknown type of object: %q", names)
}

// validate validates a document with its schema.
func validate(s *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w in %s", err, text)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%w in %s", err, text)
	}
	return nil
}

// TestSchema checks that the schema accepts the example, and rejects changes of it.
func TestSchema(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	example, err := os.ReadFile("../../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]json.RawMessage
	testenv.Decode(t, string(example), &documents)
	for name := range all {
		text := documents["/api/v2/"+name]
		if err := validate(all[name], text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := checkOrder(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	summary := string(documents["/api/v2/summary.json"])
	for _, change := range [][2]string{
		{`"time_zone":`, `"zone":`},
		{`"position":1`, `"position":"1"`},
		{`.118Z`, `.11Z`},
		{`"group":true`, `"group":false`},
		{`"indicator":"minor"`, `"indicator":"bad"`},
		{`"status":"identified"`, `"status":"resolved"`},
		{`"description":null`, `"description":""`},
		{`"tweet_id":null`, `"tweet_id":null,"more":1`},
		{`"start_date":"2025-11-03"`, `"start_date":"2025-11-03T00:00:00Z"`},
		{`"showcase":false`, `"showcase":true`},
	} {
		changed := strings.Replace(summary, change[0], change[1], 1)
		if changed == summary {
			t.Fatalf("%s is not in the summary", change[0])
		}
		if err := validate(all["summary.json"], []byte(changed)); err == nil {
			t.Errorf("%s instead of %s is accepted", change[1], change[0])
		}
	}
	if checkOrder([]byte(`{"name":"a","id":"b","url":"c","time_zone":"d","updated_at":"e"}`)) == nil ||
		checkOrder([]byte(`{"x":1}`)) == nil {
		t.Error("a wrong order is accepted")
	}
}

// TestExamples checks the examples of the OpenAPI document against the schemas of the same document.
func TestExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../rest/v2/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	type content struct{ Example json.RawMessage }
	var document struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct{ Content map[string]content }
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	all := schemas(t)
	if len(document.Paths) != len(all) {
		t.Errorf("%d documents are described, want %d", len(document.Paths), len(all))
	}
	for name, schema := range all {
		example := document.Paths["/"+name].Get.Responses["200"].Content["application/json"].Example
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(example))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
