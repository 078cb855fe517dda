package gateway_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"heliograph/app/testing/testenv"
)

// TestDeployMetrics checks that the gateway has all metrics that the alert rules and the dashboard use.
func TestDeployMetrics(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	g.WaitForPage(t)
	g.Query(t, `{ __typename }`, nil)
	metrics := metricsOf(t, g)
	source, err := os.ReadFile("metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\b(heliograph|go|process)_[a-z_]+`)
	// with --trace-endpoint, mirrored pages or webhooks only
	optional := regexp.MustCompile(`^heliograph_(trace|status)_`)
	for _, file := range []string{"prometheus-rules.yaml", "grafana-dashboard.json"} {
		text := deployFile(t, file)
		names := name.FindAllString(text, -1)
		if len(names) < 5 {
			t.Errorf("%s uses %d metrics", file, len(names))
		}
		for _, n := range names {
			if prefix := optional.FindString(n); !strings.Contains(metrics, "\n"+n) &&
				(prefix == "" || !bytes.Contains(source, []byte(`"`+n[len(prefix):]+`"`))) {
				t.Errorf("%s: the gateway has no metric %s", file, n)
			}
		}
	}
}

// TestDeployPaths checks that the gateway serves the paths which the manifests probe.
func TestDeployPaths(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	probe := regexp.MustCompile(`httpGet: \{path: ([^,]+), port: admin\}`)
	paths := probe.FindAllStringSubmatch(deployFile(t, "kubernetes.yaml"), -1)
	if len(paths) != 3 {
		t.Errorf("%d probes", len(paths))
	}
	for _, p := range paths {
		if got := g.Get(t, p[1]); got.Status != http.StatusOK && got.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d", p[1], got.Status)
		}
	}
}

// deployFile returns a file of the folder deploy, which must be valid YAML.
func deployFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var v any
		if err := yaml.Unmarshal([]byte(document), &v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return string(text)
}
