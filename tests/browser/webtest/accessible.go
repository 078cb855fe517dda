package webtest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"slices"
)

// checker is the source of axe, the accessibility checker.
//
//go:embed axe-core-4.14.1.min.js.gz
var checker []byte

// Accessible runs the accessibility checker on the page, and fails the test for each finding of the given impacts
// ("minor", "moderate", "serious", "critical"), or of any impact if none is given. It logs the other findings. what
// describes the state of the page.
func (p *Page) Accessible(what string, impacts ...string) {
	p.tb.Helper()
	z, err := gzip.NewReader(bytes.NewReader(checker))
	if err != nil {
		p.tb.Fatal(err)
	}
	source, err := io.ReadAll(z)
	if err != nil {
		p.tb.Fatal(err)
	}
	p.Eval(string(source)+";0", nil)
	// A colour in the middle of a transition is nobody's choice: end all transitions first.
	p.Eval(`document.getAnimations().forEach((a) => Number.isFinite(a.effect.getComputedTiming().endTime) ? `+
		`a.finish() : a.cancel())`, nil)
	var found struct {
		Passes     int
		Violations []struct {
			ID, Impact, Help, HTML, Summary string
			Count                           int
		}
	}
	p.Eval(`axe.run(document, { resultTypes: ['violations'], preload: false }).then((r) => ({ passes: r.passes.length,
		violations: r.violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, count: nodes.length, html: nodes[0].html.slice(0, 200), summary: nodes[0].failureSummary })) }))`, &found)
	if found.Passes < 10 {
		p.tb.Errorf("%s: only %d rules apply", what, found.Passes)
	}
	p.tb.Logf("%s: %d rules pass, %d findings", what, found.Passes, len(found.Violations))
	for _, v := range found.Violations {
		report := p.tb.Logf
		if len(impacts) == 0 || slices.Contains(impacts, v.Impact) {
			report = p.tb.Errorf
		}
		report("%s: %s (%s): %s, %d times, as in %s: %s", what, v.ID, v.Impact, v.Help, v.Count, v.HTML, v.Summary)
	}
}
