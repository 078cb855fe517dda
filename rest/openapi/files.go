package openapi

import "heliograph/rest"

// Files returns the files that are generated from the API v1, by their paths in the repository.
func Files(api *rest.API) (map[string][]byte, error) {
	d, err := New(api)
	if err != nil {
		return nil, err
	}
	json, err := d.JSON()
	if err != nil {
		return nil, err
	}
	yaml, err := d.YAML()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"docs/rest-to-graphql.md": []byte(guide(api, "../rest/v1/documents")),
		"rest/v1/openapi.json":    json,
		"rest/v1/openapi.yml":     yaml,
	}, nil
}
