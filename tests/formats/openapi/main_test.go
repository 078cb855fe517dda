package openapi_test

import (
	"testing"

	"heliograph/rest"
	"heliograph/rest/openapi"
	v1 "heliograph/rest/v1"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// offlineAPI returns the API over a graph without a database.
func offlineAPI(t *testing.T) *rest.API {
	t.Helper()
	api, err := v1.NewOffline(&rest.Config{LimitDefault: 25, LimitMax: 100, MaxRepeats: 100})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// describe describes an API, and returns the JSON as well.
func describe(t *testing.T, api *rest.API) (d *openapi.Document, text []byte) {
	t.Helper()
	d, err := openapi.New(api)
	if err != nil {
		t.Fatal(err)
	}
	text, _ = v1.OpenAPI(api.Config, "v1.2.3")
	return d, text
}

// withDelegation shows what is hidden by default.
func withDelegation(c *rest.Config) { c.DelegationAddress = true }
