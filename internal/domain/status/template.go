package status

import (
	"regexp"
	"slices"
	"strings"
)

// Template is a prepared text of a notice. Its title and body may have places for values: {name}.
type Template struct {
	PageCode string
	Name     string
	Kind     Kind
	State    State
	Title    string
	Body     string
}

var placeholder = regexp.MustCompile(`\{[a-z][a-z0-9_]*\}`)

// Check refuses a template that cannot be used.
func (t *Template) Check() error {
	if err := CheckName("the template", t.Name); err != nil {
		return err
	}
	if t.Kind != Realtime && t.Kind != Scheduled {
		return Refuse(BadInput, "a template is of an incident or of a maintenance")
	}
	if !slices.Contains(States(t.Kind), t.State) {
		return Refuse(BadInput, "%q is no state of this kind of notice", t.State)
	}
	if err := CheckName("the notice", t.Title); err != nil {
		return err
	}
	return checkBody(t.Body)
}

// Fill gives the title and the body with their values. Every place needs its value, and every value its place.
func (t *Template) Fill(values map[string]string) (title, body string, err error) {
	var missing []string
	used := map[string]bool{}
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(place string) string {
			name := strings.Trim(place, "{}")
			value, given := values[name]
			if used[name] = true; !given && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
			return value
		})
	}
	title, body = fill(t.Title), fill(t.Body)
	if len(missing) > 0 {
		return "", "", Refuse(BadInput, "the template %s needs values for %s", t.Name, strings.Join(missing, ", "))
	}
	for name := range values {
		if !used[name] {
			return "", "", Refuse(BadInput, "the template %s has no place for %s", t.Name, name)
		}
	}
	return title, body, nil
}
