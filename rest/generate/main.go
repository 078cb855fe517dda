// Command generate writes docs/rest-to-graphql.md, which lists the GraphQL document of each REST path. It is run in the
// repository's root.
package main

import (
	"log"
	"os"

	"heliograph/rest"
	"heliograph/rest/openapi"
	v1 "heliograph/rest/v1"
)

func main() {
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		log.Fatalf("reading the API's tables: %v", err)
	}
	if err := os.WriteFile("docs/rest-to-graphql.md", []byte(openapi.Guide(api, "../rest/v1/documents")), 0o644); err != nil {
		log.Fatalf("writing the guide: %v", err)
	}
}
