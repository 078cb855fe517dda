package gateway_test

import (
	"regexp"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestStatusMetrics checks the metrics of the status page.
func TestStatusMetrics(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	g.WaitForPage(t)
	text := metricsOf(t, g)
	for _, want := range []string{
		`heliograph_status_component_state\{component="[0-9a-z]{12}",name="[^"]+ - [^"]+",page="[a-z-]+"\} [234]\n`,
		`heliograph_status_open_incidents\{impact="critical",page="[a-z-]+"\} [0-9]+\n`,
		`heliograph_status_drafts\{page="[a-z-]+"\} [0-9]+\n`,
		`heliograph_status_page_age_seconds 0\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the metrics do not match %s", want)
		}
	}
}
