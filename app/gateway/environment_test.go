package gateway_test

import (
	"net/http"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestGateway sends a REST and a GraphQL request.
func TestGateway(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	if got := g.Get(t, "/api/v1/accounts/0.0.98?transactions=false"); got.Status != http.StatusOK {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	var data struct {
		Account struct{ EntityID string }
	}
	g.Data(t, `query($id: AccountRef!) { account(id: $id) { entityId } }`, map[string]any{"id": "98"}, &data)
	if data.Account.EntityID != "0.0.98" {
		t.Errorf("got account %q", data.Account.EntityID)
	}
}

// TestExec checks that a test can write to a database of its own.
func TestExec(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	testenv.Exec(t, url, "insert into topic (id, timestamp_range) values (7, '[1,)')")
	g := testenv.Over(t, url)
	if got := g.Get(t, "/api/v1/topics/7"); got.Status != http.StatusNotFound ||
		got.Header.Get("Cache-Control") != "public, max-age=5" {
		t.Errorf("status %d, Cache-Control %q: %s", got.Status, got.Header.Get("Cache-Control"), got.Body)
	}
}
