// Command generate writes the files that are generated from the endpoints of the REST API: the OpenAPI document, and
// docs/rest-to-graphql.md, which lists the GraphQL fields of each path. Run it in the root of the repository.
package main

import (
	"log"
	"os"

	"heliograph/rest"
	"heliograph/rest/openapi"
	v1 "heliograph/rest/v1"
)

// main writes the OpenAPI documents and docs/rest-to-graphql.md below the current folder. An error ends the process
// with the status 1; files before it may have been written.
func main() {
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		log.Fatalf("reading the endpoints: %v", err)
	}
	files, err := openapi.Files(api)
	if err != nil {
		log.Fatalf("describing the endpoints: %v", err)
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			log.Fatalf("writing a generated file: %v", err)
		}
	}
}
