package v2

import (
	_ "embed" // for the documents

	"heliograph/rest"
)

// Description is the OpenAPI document. rest/generate writes the same in YAML.
//
//go:embed openapi.json
var Description string

//go:embed openapi.yml
var descriptionYAML string

// OpenAPI returns the OpenAPI document as JSON and as YAML. version is the version of the gateway.
func OpenAPI(cfg *rest.Config, version string) (json, yaml []byte) {
	return cfg.FillOpenAPI(Description, version), cfg.FillOpenAPI(descriptionYAML, version)
}
