package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// connectionsFile is the file that [connections] writes. gqlgen binds its types, so it must exist before gqlgen runs.
const connectionsFile = "graph/relay/types_gen.go"

// connections returns the source of the connections and edges of the schema, except for connections with fields of their own.
func connections(schema *ast.Schema) []byte {
	type connection struct{ Row, Kind, Type string }
	var list []connection
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		for _, kind := range []string{"Connection", "Edge"} {
			row, found := strings.CutSuffix(name, kind)
			if !found || name == "HookSlotConnection" || row == "SearchResult" {
				continue
			}
			goType := "ledger." + row
			if of, isStatus := strings.CutPrefix(row, "Status"); isStatus {
				goType = "status." + of
			}
			list = append(list, connection{row, kind, goType})
		}
	}
	return render("relay", "connections", list)
}

// members returns the source of the methods that make the ledger's types members of interfaces and unions.
func members(schema *ast.Schema) []byte {
	type member struct{ Type, Of string }
	var list []member
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		for _, of := range schema.GetImplements(schema.Types[name]) {
			if slices.Contains([]string{"Node", "Entity", "DecodedKey"}, of.Name) && !strings.HasPrefix(name, "Status") {
				list = append(list, member{name, of.Name})
			}
		}
	}
	return render("ledger", "nodes", list)
}
