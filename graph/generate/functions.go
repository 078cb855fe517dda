package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	gql "github.com/vektah/gqlparser/v2/ast"
)

// writtenFunctions returns the number of parameters of the functions in package resolvers and those below it that
// read fields, by name: the methods of the types called fields or Fields. Functions with one parameter compute the
// field of a row, others read it for many rows. It parses the Go files, and ends the program on an error.
func writtenFunctions() map[string]int {
	parameters := map[string]int{}
	for _, d := range slices.Concat(
		declarationsIn("resolvers"), declarationsIn("resolvers/decoding"), declarationsIn("resolvers/media"),
		declarationsIn("resolvers/past"), declarationsIn("resolvers/statuspages"),
	) {
		if f, isFunc := d.(*ast.FuncDecl); isFunc {
			if receiver, name := receiverOf(f); strings.EqualFold(receiver, "fields") {
				parameters[name] = f.Type.Params.NumFields()
			}
		}
	}
	return parameters
}

// bindByRule adds what follows from names to the configuration, and keeps the Go types that this has already:
//   - A scalar or enum has the functions of package scalar with its name, and those with Null before it.
//   - An object of status pages is the type of package status without Status before its name.
//   - Functions read the amounts, the global ids, the fields with @reference, and those for which a function is
//     written by hand.
//   - A field whose name ends with Iso has the value of the field without that ending.
func bindByRule(models config.TypeMap, schema *gql.Schema) {
	written := writtenFunctions()
	scalars := map[string]bool{}
	all, _ := scalarTypes()
	for _, t := range all {
		scalars[t.Name] = true
	}
	for name, def := range schema.Types {
		entry := models[name]
		if len(entry.Model) == 0 {
			entry.Model = modelByRule(def, scalars)
		}
		bound := map[string]config.TypeMapField{}
		maps.Copy(bound, entry.Fields)
		for _, f := range def.Fields {
			field, time := bound[f.Name], strings.TrimSuffix(f.Name, "Iso")
			switch {
			case isAmount(f), isID(def, f), f.Directives.ForName("reference") != nil,
				written[name+templates.ToGo(f.Name)] > 0:
				field.Resolver = true
			case time != f.Name:
				field.FieldName = templates.ToGo(time)
			default:
				continue
			}
			bound[f.Name] = field
		}
		if entry.Fields = bound; def.Kind != gql.Interface && (len(bound) > 0 || len(entry.Model) > 0) {
			models[name] = entry
		}
	}
}

// modelByRule returns the Go types of a type of the schema, or nil if there is no rule for it. scalars has the names
// of the types of package scalar.
func modelByRule(def *gql.Definition, scalars map[string]bool) config.StringList {
	switch row, isStatus := strings.CutPrefix(def.Name, "Status"); {
	case scalars[def.Name] && scalars["Null"+def.Name]:
		return config.StringList{"heliograph/graph/scalar." + def.Name, "heliograph/graph/scalar.Null" + def.Name}
	case scalars[def.Name]:
		return config.StringList{"heliograph/graph/scalar." + def.Name}
	case def.Kind == gql.Object && isStatus && !strings.HasSuffix(row, "Connection") &&
		!strings.HasSuffix(row, "Edge") && !strings.HasSuffix(row, "Payload"):
		return config.StringList{"heliograph/" + statusRows + "." + row}
	default:
		return nil
	}
}

// isID reports whether a field is the global id of an object.
func isID(of *gql.Definition, f *gql.FieldDefinition) bool {
	return f.Name == "id" && slices.Contains(of.Interfaces, "Node")
}

// IsID reports whether the field is the global id of its object.
func (f field) IsID() bool { return isID(f.Object.Definition, f.FieldDefinition) }

// ID returns the Go expression of the global id of row: the type and the values of the fields in [keys]. It fails if
// the type has no entry there, or if a field does not exist or its type cannot be part of an id.
func (f field) ID() (string, error) {
	var parts []string
	for name := range strings.FieldsSeq(keys[f.Object.Name]) {
		of, typ := "row."+name, f.Object.Type
		for step := range strings.SplitSeq(name, ".") {
			member := memberOf(typ, step)
			if member == nil {
				return "", fmt.Errorf("%s has no field %s", typ, step)
			}
			typ = member.Type()
		}
		switch basic, _ := typ.Underlying().(*types.Basic); {
		case memberOf(typ, "String") != nil:
			of += ".String()"
		case goType(typ) == "ledger.Null[int64]":
			of = "strconv.FormatInt(" + of + ".V, 10)"
		case goType(typ) == "[]byte":
			of = "hex.EncodeToString(" + of + ")"
		case basic != nil && basic.Info()&types.IsInteger != 0:
			of = "strconv.FormatInt(int64(" + of + "), 10)"
		case basic == nil || basic.Kind() != types.String:
			return "", fmt.Errorf("%s cannot be part of an id: %s", name, typ)
		}
		parts = append(parts, of)
	}
	if len(parts) == 0 {
		return "", fmt.Errorf("%s has no key", f.Object.Name)
	}
	return fmt.Sprintf("relay.ID(%q, %s)", f.Object.Name, strings.Join(parts, ` + "/" + `)), nil
}

// Amount returns the Go expression of an amount of row. Its value is in the field of the same name without Value. If
// the row has a token, it is an amount of that. Otherwise it is an amount of hbars at the time of the row, or at 0 if
// the row has no time. It fails if the row has no such field.
func (f field) Amount() (string, error) {
	raw := templates.ToGo(strings.TrimSuffix(f.Name, "Value"))
	member := memberOf(f.Object.Type, raw)
	if member == nil {
		return "", fmt.Errorf("%s: the row has no field %s", f.FullName(), raw)
	}
	value := "row." + raw
	typ := goType(member.Type())
	if m, isMethod := member.Type().(*types.Signature); isMethod {
		value, typ = value+"()", goType(m.Results().At(0).Type())
	}
	if typ == "int64" {
		value = "ledger.Of(" + value + ")"
	}
	token, decimals, at := "0", "ledger.Null[int32]{}", "0"
	if name := f.token(); name != "" {
		token = "row." + name
	}
	if memberOf(f.Object.Type, "Decimals") != nil {
		decimals = "row.Decimals"
	}
	for _, name := range []string{"ConsensusTimestamp", "To", "Timestamp"} {
		if m := memberOf(f.Object.Type, name); m != nil && goType(m.Type()) == "ledger.Timestamp" {
			at = "row." + name
			break
		}
	}
	return fmt.Sprintf("amountOf(%s, %s, %s, %s)", value, token, decimals, at), nil
}

// IsAmount reports whether the field has the type Amount of the schema, an amount with its unit. The templates call it
// too.
func (f field) IsAmount() bool { return isAmount(f.FieldDefinition) }

// NeedsDecimals reports whether an amount is one of a token whose number of decimals is not in the row.
func (f field) NeedsDecimals() bool {
	return f.token() != "" && memberOf(f.Object.Type, "Decimals") == nil
}

// token returns the name of the field of the row with the token of its amounts, or "" if they are hbars.
func (f field) token() string {
	for _, name := range []string{"TokenID", "DenominatingTokenID"} {
		if memberOf(f.Object.Type, name) != nil {
			return name
		}
	}
	return ""
}

// memberOf returns the field or method of a named Go type with a name, or nil. A type that is not named, such as a
// pointer, has none.
func memberOf(typ types.Type, name string) types.Object {
	if named, isNamed := types.Unalias(typ).(*types.Named); isNamed {
		member, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), name)
		return member
	}
	return nil
}
