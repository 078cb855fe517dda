package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/list"
)

// introspected is a member of the schema with arguments.
type introspected struct {
	Name string
	Args []struct{ Name string }
}

func (m introspected) String() string {
	names := list.Map(m.Args, func(a struct{ Name string }) string { return a.Name })
	slices.Sort(names)
	return m.Name + "(" + strings.Join(names, " ") + ")"
}

func argumentsOf(name string, args ast.ArgumentDefinitionList) string {
	names := list.Map(args, func(a *ast.ArgumentDefinition) string { return a.Name })
	slices.Sort(names)
	return name + "(" + strings.Join(names, " ") + ")"
}

// TestSchemaFile compares the schema file with the introspection: all directives, types, fields, arguments and enum
// values. It parses the file without the definitions that the parser adds to each schema. Only what the
// specification defines for each schema is missing in the file.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	doc, err := parser.ParseSchema(&ast.Source{Input: g.Get(t, "/graphql/schema.graphql").Body})
	if err != nil {
		t.Fatal(err)
	}
	var file, served []string
	for _, d := range doc.Directives {
		file = append(file, fmt.Sprint("@", argumentsOf(d.Name, d.Arguments), " ", d.Locations))
	}
	for _, def := range doc.Definitions {
		file = append(file, string(def.Kind)+" "+def.Name)
		for _, f := range def.Fields {
			file = append(file, def.Name+"."+argumentsOf(f.Name, f.Arguments))
		}
		for _, v := range def.EnumValues {
			file = append(file, def.Name+"."+v.Name)
		}
	}
	var data struct {
		Schema struct {
			Directives []struct {
				introspected
				Locations []string
			}
			Types []struct {
				Kind, Name  string
				Fields      []introspected
				InputFields []introspected
				EnumValues  []introspected
			}
		} `json:"__schema"`
	}
	g.Data(t, `{ __schema { directives { name locations args(includeDeprecated: true) { name } } types { kind name
		fields(includeDeprecated: true) { name args(includeDeprecated: true) { name } } inputFields(includeDeprecated: true) { name } enumValues(includeDeprecated: true) { name } } } }`,
		nil, &data)
	for _, d := range data.Schema.Directives {
		if !slices.Contains([]string{"skip", "include", "deprecated", "specifiedBy", "oneOf"}, d.Name) {
			served = append(served, fmt.Sprint("@", d.introspected, " ", d.Locations))
		}
	}
	for _, def := range data.Schema.Types {
		if strings.HasPrefix(def.Name, "__") || slices.Contains([]string{"Int", "Float", "String", "Boolean", "ID"},
			def.Name) {
			continue
		}
		served = append(served, def.Kind+" "+def.Name)
		for _, f := range slices.Concat(def.Fields, def.InputFields) {
			served = append(served, def.Name+"."+f.String())
		}
		for _, v := range def.EnumValues {
			served = append(served, def.Name+"."+v.Name)
		}
	}
	for _, missing := range []struct {
		where    string
		of, from []string
	}{{"the file", served, file}, {"the introspection", file, served}} {
		known := map[string]bool{}
		for _, m := range missing.from {
			known[m] = true
		}
		for _, m := range missing.of {
			if !known[m] {
				t.Errorf("%s lacks %s", missing.where, m)
			}
		}
	}
}
