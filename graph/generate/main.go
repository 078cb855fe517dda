// Command generate makes the graph's code of the schema and gqlgen.yml.
package main

import (
	"log"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
)

func main() {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		log.Fatal(err)
	}
	if err := api.Generate(cfg); err != nil {
		log.Fatal(err)
	}
}
