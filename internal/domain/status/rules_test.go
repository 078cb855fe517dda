package status

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// letters are the states by the letters of the tables.
func letters(s string) []ComponentStatus {
	var out []ComponentStatus
	for _, c := range s {
		out = append(out, map[rune]ComponentStatus{
			'o': Operational, 'u': UnderMaintenance, 'd': DegradedPerformance, 'p': PartialOutage, 'm': MajorOutage,
		}[c])
	}
	return out
}

func TestRollup(t *testing.T) {
	t.Parallel()
	for states, want := range map[string]Rollup{
		"o": {ImpactNone, allOperational}, "oo": {ImpactNone, allOperational},
		"m": {ImpactCritical, majorSystem}, "mm": {ImpactCritical, majorSystem},
		"om": {ImpactMajor, partialSystem}, "pm": {ImpactMajor, partialSystem}, "um": {ImpactMajor, partialSystem},
		"p": {ImpactMajor, partialSystem}, "pp": {ImpactMajor, partialSystem},
		"op": {ImpactMinor, minorService}, "pd": {ImpactMinor, minorService}, "up": {ImpactMinor, minorService},
		"d": {ImpactMinor, partiallyDegraded}, "od": {ImpactMinor, partiallyDegraded},
		"du": {ImpactMinor, partiallyDegraded},
		"dd": {ImpactMinor, degradedService},
		"u":  {ImpactMaintenance, underMaintenance}, "uu": {ImpactMaintenance, underMaintenance},
		"ou": {ImpactMaintenance, underMaintenance},
	} {
		leaves := letters(states)
		for range 2 { // in both orders
			if got := RollupOf(leaves, ImpactCritical); got != want {
				t.Errorf("%s: %v, want %v", states, got, want)
			}
			slices.Reverse(leaves)
		}
	}
	for worst, want := range map[Impact]Rollup{
		"": {ImpactNone, allOperational}, ImpactNone: {ImpactNone, allOperational},
		ImpactMaintenance: {ImpactNone, allOperational},
		ImpactMinor:       {ImpactMinor, minorService}, ImpactMajor: {ImpactMajor, partialSystem},
		ImpactCritical: {ImpactCritical, majorSystem},
	} {
		if got := RollupOf(nil, worst); got != want {
			t.Errorf("no components and %q: %v, want %v", worst, got, want)
		}
	}
}

// TestRollupOfDocumentedVocabulary checks that only the four documented indicators occur.
func TestRollupOfDocumentedVocabulary(t *testing.T) {
	t.Parallel()
	for states, want := range map[string]Rollup{
		"u": {ImpactNone, allOperational}, "ou": {ImpactNone, allOperational}, "um": {ImpactMajor, partialSystem},
		"du": {ImpactMinor, partiallyDegraded},
		"up": {ImpactMinor, minorService},
	} {
		leaves := letters(states)
		for i, s := range leaves {
			leaves[i] = s.Shown(Documented)
		}
		if got := RollupOf(leaves, ImpactNone); got != want {
			t.Errorf("%s: %v, want %v", states, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for _, s := range ComponentStatuses() {
		documented := s
		if s == UnderMaintenance {
			documented = Operational
		}
		if s.Shown(Documented) != documented || s.Shown(Statuspage) != s || !s.Valid() {
			t.Errorf("%s: shown as %s and %s", s, s.Shown(Documented), s.Shown(Statuspage))
		}
	}
	if ComponentStatus("").Valid() || ComponentStatus("down").Valid() || Impact("").Valid() ||
		Vocabulary("").Valid() || State("").Valid() || State("open").Valid() {
		t.Error("an invalid value is accepted")
	}
}

func TestEffectiveIndicator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rollup, worst, want Impact }{
		{ImpactNone, "", ImpactNone},
		{ImpactNone, ImpactMinor, ImpactMinor},
		{ImpactCritical, ImpactMinor, ImpactCritical},
		{ImpactMaintenance, ImpactNone, ImpactMaintenance},
		{ImpactMaintenance, ImpactMinor, ImpactMinor},
		{ImpactMajor, ImpactMajor, ImpactMajor},
	} {
		if got := EffectiveIndicator(Rollup{Indicator: c.rollup}, c.worst); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.rollup, c.worst, got, c.want)
		}
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, held, want string }{
		{"o", "", "o"},
		{"o", "u", "u"},
		{"p", "u", "p"},
		{"o", "ud", "d"},
		{"o", "du", "d"},
		{"m", "oud", "m"},
		{"u", "o", "u"},
		{"d", "pm", "m"},
	} {
		if got := Worst(append(letters(c.held), letters(c.base)[0])...); got != letters(c.want)[0] {
			t.Errorf("base %s, held %s: %s", c.base, c.held, got)
		}
	}
}

func TestImpact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind     Kind
		override Impact
		given    string
		want     Impact
	}{
		{Realtime, "", "", ImpactNone},
		{Realtime, "", "o", ImpactNone},
		{Realtime, "", "u", ImpactNone},
		{Realtime, "", "od", ImpactMinor},
		{Realtime, "", "po", ImpactMajor},
		{Realtime, "", "dmo", ImpactCritical},
		{Realtime, ImpactMinor, "m", ImpactMinor},
		{Realtime, ImpactMaintenance, "m", ImpactMaintenance},
		{Realtime, ImpactNone, "m", ImpactNone},
		{Scheduled, "", "", ImpactMaintenance},
		{Scheduled, "", "m", ImpactMaintenance},
		{Scheduled, ImpactMajor, "", ImpactMajor},
	} {
		if got := ImpactOf(c.kind, c.override, letters(c.given)...); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestTransitions checks all pairs of states.
func TestTransitions(t *testing.T) {
	t.Parallel()
	allowed := map[Kind]map[State]string{
		Realtime: {
			NoState:       "investigating identified monitoring resolved",
			Investigating: "investigating identified monitoring resolved",
			Identified:    "investigating identified monitoring resolved",
			Monitoring:    "investigating identified monitoring resolved",
			Resolved:      "resolved postmortem", Postmortem: "",
		},
		Scheduled: {
			NoState: "scheduled in_progress completed", Planned: "scheduled in_progress completed",
			InProgress: "in_progress verifying completed",
			Verifying:  "in_progress verifying completed", Completed: "",
		},
	}
	for kind, table := range allowed {
		if len(table) != len(States(kind))+1 {
			t.Errorf("%s: %d states", kind, len(table))
		}
		for from, list := range table {
			for _, to := range slices.Concat(States(Realtime), States(Scheduled), []State{NoState, "gone"}) {
				err := CheckTransition(kind, from, to)
				if want := slices.Contains(strings.Fields(list), string(to)); (err == nil) != want {
					t.Errorf("%s from %q to %q: %v", kind, from, to, err)
				}
				var step *TransitionError
				if err == nil {
					continue
				}
				if !errors.As(err, &step) || step.Kind != kind || step.From != from || step.To != to ||
					len(step.Allowed) != len(strings.Fields(list)) || err.Error() == "" {
					t.Errorf("%s from %q to %q: %#v", kind, from, to, err)
				}
			}
		}
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	for _, from := range append(States(Realtime), States(Scheduled)...) {
		for _, to := range append(States(Realtime), States(Scheduled)...) {
			want := (from == Resolved || from == Postmortem) &&
				(to == Investigating || to == Identified || to == Monitoring)
			if err := CheckReopen(from, to); (err == nil) != want {
				t.Errorf("from %s to %s: %v", from, to, err)
			}
		}
	}
}

func TestTransitionErrorText(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"an incident that is resolved cannot become identified, unless it is " +
			"reopened": CheckTransition(Realtime, Resolved, Identified),
		"an incident that is new cannot become postmortem, only investigating, identified, monitoring, " +
			"resolved": CheckTransition(Realtime, NoState, Postmortem),
		"a maintenance that is completed cannot become in_progress: it is " +
			"final": CheckTransition(Scheduled, Completed, InProgress),
		"a maintenance that is scheduled cannot become verifying, only scheduled, in_progress, " +
			"completed": CheckTransition(Scheduled, Planned, Verifying),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for s, open := range map[State]bool{
		Investigating: true, Identified: true, Monitoring: true, Resolved: false, Postmortem: false,
		Planned: true, InProgress: true, Verifying: true, Completed: false, "": false,
	} {
		if s.Open() != open {
			t.Errorf("%q: open %v", s, s.Open())
		}
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		code := NewCode()
		if len(code) != codeLength || strings.Trim(code, codeAlphabet) != "" || seen[code] || !ValidCode(code) {
			t.Fatalf("code %q", code)
		}
		seen[code] = true
	}
	if strings.ContainsAny(codeAlphabet, "aeiou") || len(codeAlphabet) != 31 {
		t.Errorf("alphabet %s", codeAlphabet)
	}
	for s, want := range map[string]bool{
		"h4d7q2m9x1tz": true, "A_z-9": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false,
		"a b": false, "é": false, "a/b": false,
	} {
		if ValidCode(s) != want {
			t.Errorf("%q: valid %v", s, !want)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	p := &Page{Locale: "de", Texts: Texts{
		"de": {MaintenanceStarted: "Die Wartung hat begonnen."},
		"en": {MaintenanceStarted: "It has started.", ProbePassed: "Fine."},
	}}
	for e, want := range map[Event]string{
		MaintenanceStarted: "Die Wartung hat begonnen.", ProbePassed: "Fine.",
		MaintenanceCompleted: "This maintenance is finished.",
	} {
		if got := p.Text(e); got != want {
			t.Errorf("%s: %s", e, got)
		}
	}
	for _, e := range Events() {
		if text := (&Page{}).Text(e); text == string(e) {
			t.Errorf("%s has no text", e)
		}
	}
}
