package main

import (
	"cmp"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	gql "github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/list"
)

// The packages whose types [rows] writes.
const (
	callRows   = "internal/domain/evm/calls"
	feeRows    = "internal/domain/fees"
	ledgerRows = "internal/domain/ledger"
	statusRows = "internal/domain/status"
)

// rowType is the Go type of an object or an input of the schema.
type rowType struct {
	Name, Description string
	Columns           []rowField
}

// rowField is a field of a [rowType].
type rowField struct{ Name, Type, Description string }

// rowWriter derives the types of a package from the schema.
type rowWriter struct {
	schema *gql.Schema
	models config.TypeMap
	name   string            // of the package
	types  map[string]string // Go types of scalars and enums, by the names of their functions in package scalar
	// written are the types and methods that are written by hand: "File", "Token.MetadataText".
	written map[string]bool
}

// rows returns the sources of the types that the schema describes, by path: the enums of the ledger with their
// constants, and for each object and input a struct with the fields that need no function. It omits types and methods
// that are written by hand. gqlgen.yml has what the schema does not: fields that functions read (resolver), fields
// that are not in the graph (extraFields), and Go types that differ from those of the scalars (type). An error ends
// the program; see [check].
func rows(models config.TypeMap, schema *gql.Schema) map[string][]byte {
	all, _ := scalarTypes()
	types := map[string]string{}
	for _, t := range all {
		types[t.Name] = t.Type
	}
	out := map[string][]byte{}
	for _, folder := range []string{callRows, feeRows, ledgerRows, statusRows} {
		file := folder + "/rows_gen.go"
		w := &rowWriter{
			schema: schema, models: models, name: path.Base(folder), types: types,
			written: writtenTypes(folder),
		}
		data := map[string]any{"Rows": w.rowsOf(folder), "Schema": schema}
		if folder == ledgerRows {
			data["Enums"] = slices.DeleteFunc(readTable("graph/generate/scalars.csv"), func(enum []string) bool {
				return enum[3] == ""
			})
		}
		out[file] = render(w.name, "rows", data)
	}
	return out
}

// writtenTypes returns the names of the types and methods of a package that are written by hand. It parses the Go
// files of the folder. An error ends the program; see [check].
func writtenTypes(folder string) map[string]bool {
	written := map[string]bool{}
	for _, d := range declarationsIn(folder) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver, name := receiverOf(d); receiver != "" {
				written[receiver+"."+name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					written[t.Name.Name] = true
				}
			}
		}
	}
	return written
}

// rowsOf returns the types that [rows] writes into the package in a folder, sorted by name: those of objects and
// inputs, without connections, edges and types that are written by hand. If several inputs have the same type, it has
// the fields of all of them.
func (w *rowWriter) rowsOf(folder string) (list []rowType) {
	defs := map[string][]*gql.Definition{} // by Go type
	for _, name := range slices.Sorted(maps.Keys(w.schema.Types)) {
		def := w.schema.Types[name]
		isRow := (def.Kind == gql.Object || def.Kind == gql.InputObject) && !def.BuiltIn && !namespaces[name]
		if !isRow || strings.HasSuffix(name, "Connection") || strings.HasSuffix(name, "Edge") {
			continue
		}
		goName, isHere := strings.CutPrefix(w.modelOf(def), "heliograph/"+folder+".")
		if isHere && !w.written[goName] {
			defs[goName] = append(defs[goName], def)
		}
	}
	for _, goName := range slices.Sorted(maps.Keys(defs)) {
		same := defs[goName]
		slices.SortStableFunc(same, func(a, b *gql.Definition) int { return len(b.Fields) - len(a.Fields) })
		row := rowType{Name: goName, Description: same[0].Description}
		for _, def := range same {
			for _, c := range w.columns(goName, def) {
				if !slices.ContainsFunc(row.Columns, func(other rowField) bool { return other.Name == c.Name }) {
					row.Columns = append(row.Columns, c)
				}
			}
		}
		list = append(list, row)
	}
	return list
}

// modelOf returns the Go type of an object or an input with its package: the one in gqlgen.yml, or else one with the
// same name in the package of the file of the schema. It is empty for other types of the status pages, such as the
// payloads of mutations, which gqlgen writes.
func (w *rowWriter) modelOf(def *gql.Definition) string {
	if models := w.models[def.Name].Model; len(models) > 0 {
		return models[0]
	}
	switch file := path.Base(def.Position.Src.Name); {
	case strings.HasPrefix(file, "status"):
		return ""
	case strings.HasPrefix(file, "evm"):
		return "heliograph/" + callRows + "." + def.Name
	default:
		return "heliograph/" + ledgerRows + "." + def.Name
	}
}

// columns returns the fields of a type that need no function, followed by those that are not in the graph. It omits
// fields that a hand-written method of the type replaces. Inputs of mutations embed [status.Target] instead of having
// its fields, and the objects of package status with a global id embed its type node.
func (w *rowWriter) columns(goName string, def *gql.Definition) (out []rowField) {
	model := w.models[def.Name]
	isMutation := def.Kind == gql.InputObject && def.Fields.ForName("idempotencyKey") != nil
	switch {
	case isMutation:
		out = append(out, rowField{Type: "Target"})
	case w.name == "status" && slices.Contains(def.Interfaces, "Node"):
		out = append(out, rowField{Type: "node"})
	}
	for _, f := range def.Fields {
		given := model.Fields[f.Name]
		name := fieldInitialisms.Replace(cmp.Or(given.FieldName, templates.ToGo(f.Name)))
		if isMutation && slices.Contains([]string{"ID", "Page", "IdempotencyKey"}, name) { // fields of [status.Target]
			continue
		}
		// another form of the same value
		twice := slices.ContainsFunc(out, func(c rowField) bool { return c.Name == name })
		if len(f.Arguments) > 0 || given.Resolver || f.Directives.ForName("reference") != nil ||
			w.written[goName+"."+name] || twice {
			continue
		}
		out = append(out,
			rowField{
				name, cmp.Or(given.Type, w.typeOf(f.Type, def.Kind == gql.InputObject && !isMutation)),
				f.Description,
			})
	}
	for _, name := range slices.Sorted(maps.Keys(model.ExtraFields)) {
		out = append(out, rowField{name, model.ExtraFields[name].Type, model.ExtraFields[name].Description})
	}
	return out
}

// typeOf returns the Go type of a field of a row or an input. Objects are pointers, except for a TimestampRange that
// is not null. A scalar whose Go type is a slice stays as it is. Another scalar or enum that can be null is a pointer
// if filter is set, as for inputs other than those of mutations. Elsewhere it is [ledger.Null] if gqlgen.yml has a
// nullable variant. Without one, an enum is a pointer, and a scalar has its zero value for null. A list is a slice,
// which is nil for null, and its elements are never null. A scalar or enum without a Go type in w.models panics.
func (w *rowWriter) typeOf(t *gql.Type, filter bool) string {
	if t.Elem != nil {
		element := *t.Elem
		element.NonNull = true
		return "[]" + w.typeOf(&element, filter)
	}
	models := w.models[t.NamedType].Model
	switch w.schema.Types[t.NamedType].Kind {
	case gql.Object, gql.InputObject:
		name := w.local(path.Base(w.modelOf(w.schema.Types[t.NamedType])))
		if name == "TimestampRange" && t.NonNull {
			return name
		}
		return "*" + name
	default:
	}
	forms := list.Map(models, func(m string) string { return strings.TrimPrefix(path.Base(m), "scalar.") })
	isNullable := func(form string) bool { return strings.HasPrefix(form, "Null") }
	typ := w.local(w.types[forms[0]])
	i := slices.IndexFunc(forms, isNullable)
	switch {
	case t.NonNull || strings.HasPrefix(typ, "[]"):
		return typ
	case filter:
		return "*" + typ
	case i >= 0:
		return w.local(w.types[forms[i]])
	case w.schema.Types[t.NamedType].Kind == gql.Enum:
		return "*" + typ
	default:
		return typ
	}
}

// local returns the source of a type as it is written in the package of the rows: without the name of that package.
func (w *rowWriter) local(typ string) string { return strings.ReplaceAll(typ, w.name+".", "") }

// connectionsFile is the file that [connections] writes. gqlgen binds its types, so it must exist before gqlgen runs.
const connectionsFile = "graph/relay/types_gen.go"

// connections returns the source of the connections and edges of the schema, except for connections with fields of
// their own. An error ends the program; see [check].
func connections(schema *gql.Schema) []byte {
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

// members returns the source of the methods that make the ledger's types members of the interfaces Node and Entity and
// of the union DecodedKey. An error ends the program; see [check].
func members(schema *gql.Schema) []byte {
	type member struct{ Type, Of string }
	var list []member
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		for _, of := range schema.GetImplements(schema.Types[name]) {
			if slices.Contains([]string{"Node", "Entity", "DecodedKey"}, of.Name) &&
				!strings.HasPrefix(name, "Status") {
				list = append(list, member{name, of.Name})
			}
		}
	}
	return render("ledger", "nodes", list)
}
