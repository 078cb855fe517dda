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

// object is a part of a description.
type object = openapi.Map[any]

// get returns the value of a member, or the zero value if there is none.
func get[T any](of object, name string) (v T) {
	found, _ := of.Get(name)
	v, _ = found.(T)
	return v
}

// describe returns the OpenAPI document of an API.
func describe(t *testing.T, api *rest.API) *openapi.Document {
	t.Helper()
	d, err := openapi.New(api)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
