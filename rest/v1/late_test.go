package v1_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/rest"
	v1 "heliograph/rest/v1"
)

// TestLateTimestamps checks the timestamp parameters of all endpoints of the classic family with seconds that do not
// fit into 64-bit nanoseconds. They are later than anything: an upper bound restricts nothing, and nothing matches a
// lower bound or eq. Where eq selects a version, it means "at or before".
func TestLateTimestamps(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const late, latest = "9999999999", "9223372036.854775807"
	checked := 0
	for _, e := range v1.Endpoints(v1.DefaultFeeBody) {
		if e.Undocumented || e.Family == rest.Modern || !slices.ContainsFunc(e.Params, func(p rest.Param) bool {
			return p.Name == "timestamp"
		}) {
			continue
		}
		for _, path := range samplePaths(t, g, e.Path) {
			path = v1.Prefix + path + "?timestamp="
			asUpper := []string{"lt:", "lte:"}
			if versioned(e.Path) {
				asUpper = append(asUpper, "", "eq:")
			}
			for _, op := range []string{"", "eq:", "lt:", "lte:", "gt:", "gte:"} {
				got := g.Get(t, path+op+late)
				switch {
				case slices.Contains(asUpper, op):
					want := g.Get(t, path+"lte:"+latest)
					if body := strings.ReplaceAll(want.Body, "lte:"+latest, op+late); got.Status != want.Status ||
						got.Body != body {
						t.Errorf("%s%s%s: status %d, %s\nwant %d, %s", path, op, late, got.Status, got.Body,
							want.Status, body)
					}
					checked++
				case got.Status == http.StatusOK:
					if e.Next == nil || len(listIn(t, []byte(got.Body))) > 0 {
						t.Errorf("%s%s%s: %s", path, op, late, got.Body)
					}
				case got.Status != http.StatusNotFound && !strings.Contains(got.Body, "Invalid parameter: timestamp"):
					t.Errorf("%s%s%s: status %d, %s", path, op, late, got.Status, got.Body)
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d bounds were compared", checked)
	}
	for path, status := range map[string]int{
		"/topics/messages/9999999999": http.StatusNotFound, "/topics/4001/messages/9999999999.5": http.StatusNotFound,
		"/contracts/3001/results/9999999999": http.StatusNotFound,
		"/contracts/results/9999999999.5":    http.StatusNotFound,
		"/topics/messages/99999999999":       http.StatusBadRequest,
	} {
		if got := g.Get(t, v1.Prefix+path); got.Status != status {
			t.Errorf("%s: status %d, %s", path, got.Status, got.Body)
		}
	}
}

// versioned reports whether the timestamp of an endpoint selects only a version or a snapshot.
func versioned(path string) bool {
	return strings.HasSuffix(path, "/balances") || strings.HasSuffix(path, "/state") ||
		path == "/contracts/{id}" || path == "/tokens/{tokenId}"
}
