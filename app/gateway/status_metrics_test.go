package gateway_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"heliograph/app/testing/testenv"
)

// TestStatusMetrics checks the metrics of the status page, and that alert rules use metrics that exist.
func TestStatusMetrics(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached())
	g.WaitForPage(t)
	text := metricsOf(t, g)
	for _, want := range []string{
		`heliograph_status_component_state\{component="[0-9a-z]{12}",name="[^"]+ - [^"]+",page="[a-z-]+"\} [234]\n`,
		`heliograph_status_open_incidents\{impact="critical",page="[a-z-]+"\} [0-9]+\n`, `heliograph_status_drafts\{page="[a-z-]+"\} [0-9]+\n`,
		`heliograph_status_page_age_seconds 0\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the metrics do not match %s", want)
		}
	}
	rules, err := os.ReadFile("../../deploy/prometheus-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	if err := yaml.Unmarshal(rules, &parsed); err != nil || len(parsed.Groups) != 1 || len(parsed.Groups[0].Rules) < 10 {
		t.Errorf("alert rules: %+v, %v", parsed, err)
	}
	names := regexp.MustCompile(`heliograph_status_[a-z_]+`).FindAllString(string(rules), -1)
	for _, name := range names {
		if known := strings.Contains(text, name) || regexp.MustCompile(`_(deliveries|webhooks|sync)_`).MatchString(name); !known {
			t.Errorf("an alert rule uses the unknown metric %s", name)
		}
	}
	if len(names) < 6 {
		t.Errorf("%d metrics in alert rules", len(names))
	}
}
