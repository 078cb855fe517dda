package v1

import (
	_ "embed" // for the documents

	"heliograph/rest"
)

// The OpenAPI document, which rest/generate writes.
var (
	//go:embed openapi.json
	openAPIJSON string
	//go:embed openapi.yml
	openAPIYAML string
)

// OpenAPI returns the OpenAPI document as JSON and as YAML. version is the version of the gateway.
func OpenAPI(cfg *rest.Config, version string) (json, yaml []byte) {
	return cfg.FillOpenAPI(openAPIJSON, version), cfg.FillOpenAPI(openAPIYAML, version)
}
