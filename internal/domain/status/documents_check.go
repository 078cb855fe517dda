package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"heliograph/internal/base/list"
)

// checkedNotice has the fields of a notice that are checked.
type checkedNotice struct {
	ID, Status string
	Updates    []struct{ Status string } `json:"incident_updates"`
	raw        string
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *checkedNotice) UnmarshalJSON(text []byte) error {
	type plain checkedNotice
	n.raw = string(text)
	return json.Unmarshal(text, (*plain)(n)) //nolint:wrapcheck // the caller names the document
}

// checkedDocument has the parts of a document that are checked.
type checkedDocument struct {
	Page         json.RawMessage
	Components   json.RawMessage
	Incidents    []checkedNotice
	Maintenances []checkedNotice `json:"scheduled_maintenances"`
	Status       json.RawMessage
}

// CheckDocuments returns the contradictions between the eight documents of a revision.
func CheckDocuments(documents map[string][]byte) []string {
	var found []string
	complain := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	d := map[string]*checkedDocument{}
	for _, name := range Documents() {
		var one checkedDocument
		if err := json.Unmarshal(documents[name], &one); err != nil {
			complain("%s is not a document: %v", name, err)
			return found
		}
		d[name] = &one
	}
	summary := d[SummaryDocument]
	for _, name := range Documents() {
		if !bytes.Equal(d[name].Page, summary.Page) {
			complain("%s belongs to another revision", name)
		}
	}
	if !bytes.Equal(summary.Components, d[ComponentsDocument].Components) {
		complain("the components of the summary differ from %s", ComponentsDocument)
	}
	if !bytes.Equal(summary.Status, d[StatusDocument].Status) {
		complain("the status of the summary differs from %s", StatusDocument)
	}
	open := summary.Incidents
	sameList(open, d[UnresolvedDocument].Incidents, "the incidents of the summary and "+UnresolvedDocument, complain)
	parts := slices.Concat(d[UpcomingDocument].Maintenances, d[ActiveDocument].Maintenances)
	sameList(summary.Maintenances, parts, "the maintenances of the summary and its parts", complain)

	incidents, maintenances := d[IncidentsDocument].Incidents, d[ScheduledDocument].Maintenances
	if len(incidents) > mostListed || len(maintenances) > mostListed {
		complain("%d incidents and %d maintenances are listed, more than %d", len(incidents), len(maintenances), mostListed)
	}
	for _, n := range open {
		newer := !slices.ContainsFunc(incidents, func(o checkedNotice) bool { return o.ID == n.ID })
		if newer && len(incidents) < mostListed {
			complain("the unresolved incident %s is not in %s", n.ID, IncidentsDocument)
		}
		if !slices.Contains(OpenStates(Realtime), State(n.Status)) {
			complain("the incident %s is unresolved and %s", n.ID, n.Status)
		}
	}
	for _, n := range slices.Concat(open, parts, incidents, maintenances) {
		checkUpdates(n, complain)
	}
	checkGroups(summary.Components, complain)
	slices.Sort(found)
	return slices.Compact(found)
}

// sameList complains if two lists do not contain the same notices, in any order.
func sameList(a, b []checkedNotice, what string, complain func(string, ...any)) {
	text := func(n checkedNotice) string { return n.raw }
	if !slices.Equal(sorted(list.Map(a, text)), sorted(list.Map(b, text))) {
		complain("%s differ", what)
	}
}

func checkUpdates(n checkedNotice, complain func(string, ...any)) {
	if len(n.Updates) == 0 {
		complain("%s has no update", n.ID)
		return
	}
	newest := n.Updates[0].Status
	for _, u := range n.Updates {
		if newest = u.Status; newest != string(Postmortem) {
			break
		}
	}
	if n.Status != string(Postmortem) && newest != n.Status {
		complain("%s is %s, but its newest update is %s", n.ID, n.Status, newest)
	}
}

func checkGroups(raw json.RawMessage, complain func(string, ...any)) {
	var components []struct {
		ID         string
		GroupID    *string `json:"group_id"`
		Group      bool
		Components []string
		Position   int
	}
	if err := json.Unmarshal(raw, &components); err != nil {
		complain("the components cannot be read: %v", err)
		return
	}
	children := map[string][]string{}
	groups := map[string][]string{}
	last := 0
	for _, c := range components {
		if c.Position < last {
			complain("the component %s is out of order", c.ID)
		}
		last = c.Position
		if c.GroupID != nil {
			children[*c.GroupID] = append(children[*c.GroupID], c.ID)
		}
		if c.Group {
			if groups[c.ID] = c.Components; len(c.Components) == 0 {
				complain("the group %s has no component", c.ID)
			}
		}
	}
	for id, has := range groups {
		if !slices.Equal(has, children[id]) {
			complain("the group %s lists %v, but the components in it are %v", id, has, children[id])
		}
		delete(children, id)
	}
	for id := range children {
		complain("the group %s is not listed", id)
	}
}
