package status_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"heliograph/internal/domain/status"
)

// FuzzReadDocuments reads anything as the documents of a page. What it accepts can be stored: codes are codes and come
// once, groups are groups, and texts are texts.
func FuzzReadDocuments(f *testing.F) {
	text, err := os.ReadFile("../../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		f.Fatal(err)
	}
	var example map[string]json.RawMessage
	if err := json.Unmarshal(text, &example); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(example["/api/v2/summary.json"]), []byte(example["/api/v2/incidents.json"]),
		[]byte(example["/api/v2/scheduled-maintenances.json"]))
	f.Add([]byte(`{"page":{"id":"p","name":"P"},"components":[{"id":"a","name":"A","group_id":"a","group":true},`+
		`{"id":"a","name":"\u0000"}]}`), []byte(`{"page":{"id":"p","name":"P"},"incidents":[{}]}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, summary, incidents, maintenances []byte) {
		c, err := status.ReadDocuments(map[string][]byte{
			status.SummaryDocument: summary, status.IncidentsDocument: incidents,
			status.ScheduledDocument: maintenances,
		})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		seen := map[string]bool{}
		take := func(kind, code string, texts ...string) {
			if !status.ValidCode(code) || seen[kind+code] {
				t.Errorf("%s %q cannot be stored, or comes twice", kind, code)
			}
			seen[kind+code] = true
			for _, s := range texts {
				if strings.ContainsRune(s, 0) {
					t.Errorf("%s %s has the character 0", kind, code)
				}
			}
		}
		take("page", c.Page.Code, c.Page.Name)
		groups := map[string]bool{}
		for _, x := range c.Components {
			take("component", x.Code, x.Name, x.Description.V)
			groups[x.Code] = x.IsGroup
			if x.IsGroup != (x.BaseStatus == "") || x.IsGroup && x.GroupCode.Valid {
				t.Errorf("component %+v", x)
			}
		}
		for _, x := range c.Components {
			if x.GroupCode.Valid && !groups[x.GroupCode.V] {
				t.Errorf("%s is in %s, which is no group", x.Code, x.GroupCode.V)
			}
		}
		for _, n := range c.Notices {
			take("notice", n.Code, n.Name, n.ReminderIntervals.V)
			if n.State.Kind() != n.Kind || !n.Impact.Valid() || !strings.HasPrefix(n.Shortlink, "http") &&
				c.Page.URL != "" {
				t.Errorf("notice %+v", n.Notice)
			}
			for _, u := range n.Updates {
				take("update", u.Code, u.Body, u.CustomTweet.V, u.TweetID.V)
			}
		}
	})
}
