package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
	"heliograph/internal/base/profile"
)

const wantPlan = gateway.PlanHeader + ": on"

// planned sends a query that requests its plan, and returns the plan, or nil.
func planned(t *testing.T, g *testenv.Gateway, query string, headers ...string) *profile.Profile {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	headers = append(headers, "Content-Type: application/json", wantPlan)
	resp := g.Do(t, http.MethodPost, "/graphql", string(body), headers...)
	return planIn(t, resp.Status, resp.Header, resp.Body)
}

func planIn(t *testing.T, status int, header http.Header, body string) *profile.Profile {
	t.Helper()
	var got struct {
		Errors     []struct{ Message string }
		Extensions struct{ Plan *profile.Profile }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Errors != nil {
		t.Fatalf("status %d: %s", status, body)
	}
	if plan := got.Extensions.Plan; plan != nil {
		if header.Get("Cache-Control") != "no-store" {
			t.Errorf("a response with a plan has Cache-Control %q", header.Get("Cache-Control"))
		}
		_, extensions, _ := strings.Cut(body, `"extensions"`)
		for _, secret := range []string{"select", "where", "$1"} {
			if strings.Contains(strings.ToLower(extensions), secret) {
				t.Errorf("the plan contains SQL: %s", extensions)
			}
		}
	}
	return got.Extensions.Plan
}

// TestPlanClients checks which clients receive plans.
func TestPlanClients(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("secret"))
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(hex.EncodeToString(sum[:])+" dashboard\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const query = "{ blocks(first: 1) { nodes { number } } }"
	for clients, want := range map[string]struct{ all, withKey bool }{
		"none": {}, "with a key": {false, true}, "all": {true, true},
	} {
		g := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{KeyFile: keys} },
			func(o *testenv.Options) {
				o.Graph.Plans, o.Graph.PlansOfKeys, o.Graph.CacheBytes = want.all, want.withKey, 1<<20
			})
		if got := planned(t, g, query) != nil; got != want.all {
			t.Errorf("%q: a client without a key receives plans: %t", clients, got)
		}
		if got := planned(t, g, query, "X-Api-Key: secret") != nil; got != want.withKey {
			t.Errorf("%q: a client with a key receives plans: %t", clients, got)
		}
		admin := httptest.NewServer(g.Admin())
		public := g.URL
		g.URL = admin.URL
		if planned(t, g, query) == nil {
			t.Errorf("%q: a client of the admin port receives no plan", clients)
		}
		g.URL = public
		admin.Close()
		// The cache has the response of others only.
		path := "/graphql?query=" + strings.ReplaceAll(query, " ", "%20")
		for range 2 {
			if body := g.Get(t, path).Body; strings.Contains(body, "extensions") {
				t.Errorf("%q: a client that has not requested a plan receives %s", clients, body)
			}
		}
		if want.all {
			resp := g.Do(t, http.MethodGet, path, "", wantPlan)
			if plan := planIn(t, resp.Status, resp.Header, resp.Body); len(plan.Statements) != 1 {
				t.Errorf("the plan of a cached response is %+v", plan)
			}
		}
	}
}

// TestPlans checks the fields, levels and round trips of statements.
func TestPlans(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.Plans = true })
	for name, c := range map[string]struct {
		query  string
		fields []string // with their levels, sorted
		trips  int
	}{
		"a list with lists": {
			`{ tokens { totalCount { value } nodes { treasuryAccount { tokens(first: 1) { nodes { balance } } } } } }`,
			[]string{
				"1 tokens", "2 tokens.nodes.treasuryAccount", "2 tokens.totalCount",
				"3 tokens.nodes.treasuryAccount.tokens",
			},
			4,
		},
		"two roots in one round trip": {
			`{ a: block(number: 3) { number } account(id: "0.0.1001") { balance } }`, []string{"1 a", "1 account"}, 1,
		},
		"an object with its relations": {
			`{ account(id: "0.0.1001") { balance tokens(first: 1) { nodes { balance } } } }`,
			[]string{"1 account", "1 account.tokens"},
			1,
		},
		"a past moment": {
			`{ ledger(at: {block: {number: 100}}) { account(id: "0.0.1001") { balance } } }`,
			[]string{"1 ledger", "2 ledger.account", "3 ledger.account.balance"},
			3,
		},
		"nothing": {`{ __typename gateway { version } }`, []string{}, 0},
		"a status page": {
			`{ status { name components { nodes { name } } } }`,
			[]string{"1 status", "2 status.components", "2 status.components", "2 status.components"},
			4,
		},
		"a call": {
			`{ callContract(input: {data: "0x18160ddd", to: "0x` + strings.Repeat("0", 37) + `bb9"}) { output } }`,
			[]string{"1 callContract", "1 callContract", "1 callContract"},
			2,
		},
	} {
		plan := planned(t, g, c.query)
		fields, explained := []string{}, 0
		for _, s := range plan.Statements {
			if len(s.Scans) > 0 && s.Server > 0 {
				explained++
			}
			fields = append(fields, string(rune('0'+s.Level))+" "+s.Field)
		}
		slices.Sort(fields)
		if !slices.Equal(fields, c.fields) || plan.RoundTrips != c.trips {
			t.Errorf("%s: %d round trips read %q, want %d and %q", name, plan.RoundTrips, fields, c.trips, c.fields)
		}
		if c.trips > 0 && explained == 0 && name != "a status page" {
			t.Errorf("%s: no statement has scans: %+v", name, plan)
		}
	}
}
