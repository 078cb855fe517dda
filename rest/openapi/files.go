package openapi

import (
	"fmt"

	"github.com/goccy/go-yaml"

	"heliograph/rest"
	v2 "heliograph/rest/v2"
)

// Files returns the files that are generated from the REST APIs, by their paths in the repository.
func Files(api *rest.API) (map[string][]byte, error) {
	d, err := New(api)
	if err != nil {
		return nil, err
	}
	json, err := d.JSON()
	if err != nil {
		return nil, err
	}
	text, err := d.YAML()
	if err != nil {
		return nil, err
	}
	status, err := yaml.JSONToYAML([]byte(v2.Description))
	if err != nil {
		return nil, fmt.Errorf("writing the description of the status API as YAML: %w", err)
	}
	return map[string][]byte{
		"docs/rest-to-graphql.md": []byte(guide(api, "../rest/v1/documents")),
		"rest/v1/openapi.json":    json,
		"rest/v1/openapi.yml":     text,
		"rest/v2/openapi.yml":     status,
	}, nil
}
