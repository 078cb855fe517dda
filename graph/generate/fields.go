package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// kind is how the value of a field is obtained.
type kind int

const (
	column         kind = iota // from the row
	method                     // by a method of the row that takes a context
	methodWithArgs             // by a method of the row that takes the arguments of the field
	derived                    // by a function of the row that executes no statement
	single                     // by a function that reads it for one row
	batched                    // by a function that reads it for many rows
	root                       // by a function for a field of an object without rows
)

// field is a field of the schema.
type field struct {
	*codegen.Field

	object *codegen.Object
	kind   kind
}

// fields are the fields of the schema, except those of introspection.
type fields struct {
	data    *codegen.Data
	objects map[string]*codegen.Object // those with rows, by name
	names   []string                   // of objects with rows, sorted
	list    []field                    // of all objects, sorted by object
}

// fieldsOf returns the fields of the schema with their kinds. It fails if the generator cannot write code for all of them.
func fieldsOf(data *codegen.Data) (*fields, error) {
	f := &fields{data: data, objects: map[string]*codegen.Object{}}
	for _, o := range data.Objects {
		if o.IsReserved() {
			continue
		}
		if !namespaces[o.Name] {
			f.objects[o.Name] = o
			f.names = append(f.names, o.Name)
		}
		for _, one := range o.Fields {
			if !one.IsReserved() {
				f.list = append(f.list, field{one, o, kindOf(o, one)})
			}
		}
	}
	slices.Sort(f.names)
	slices.SortStableFunc(f.list, func(a, b field) int { return cmp.Compare(a.object.Name, b.object.Name) })
	err := f.check()
	return f, err
}

func kindOf(o *codegen.Object, f *codegen.Field) kind {
	name := o.Name + "." + f.Name
	switch {
	case namespaces[o.Name]:
		return root
	case unbatched[name] != "":
		return single
	case f.IsResolver && (f.Name == "id" || withoutStatement[name]):
		return derived
	case f.IsResolver:
		return batched
	case f.MethodHasContext:
		return method
	case len(f.Args) > 0:
		return methodWithArgs
	default:
		return column
	}
}

// check fails if a field of the schema does not have exactly one entry, if the code of an entry cannot be written, or if the list of fields without a plan
// is wrong.
func (f *fields) check() error {
	entries := map[string]int{}
	functions := map[string]string{}
	for _, one := range f.list {
		name := one.name()
		entries[name]++
		switch one.kind {
		case derived, single, batched:
			if other := functions[one.function()]; other != "" {
				return fmt.Errorf("%s and %s need functions of the same name %s", other, name, one.function())
			}
			functions[one.function()] = name
		case column, method, methodWithArgs:
		case root:
			if one.object.Name == "Network" && unbatched[name] == "" {
				return fmt.Errorf("%s has neither a plan nor a reason", name)
			}
			continue
		}
		if one.reference() == nil && one.FieldDefinition.Directives.ForName("reference") != nil {
			return fmt.Errorf("%s: @reference names a field that does not exist", name)
		}
		if f.shape(one.TypeReference) == "" {
			return fmt.Errorf("%s: no function of package scalar writes %s", name, one.result())
		}
	}
	for name, def := range f.data.Schema.Types {
		if def.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		for _, d := range def.Fields {
			if n := entries[name+"."+d.Name]; n != 1 && !strings.HasPrefix(d.Name, "__") {
				return fmt.Errorf("%s.%s has %d entries", name, d.Name, n)
			}
		}
	}
	if len(unbatched) > maxUnbatched {
		return fmt.Errorf("%d fields have no plan, more than %d", len(unbatched), maxUnbatched)
	}
	for name := range unbatched {
		if entries[name] == 0 {
			return fmt.Errorf("%s is in the list of fields without a plan, but not in the schema", name)
		}
	}
	return nil
}

// of returns the fields of an object that have one of the given kinds.
func (f *fields) of(object string, kinds ...kind) []field {
	var out []field
	for _, one := range f.list {
		if one.object.Name == object && slices.Contains(kinds, one.kind) {
			out = append(out, one)
		}
	}
	return out
}

// name returns the name of the field with that of its object.
func (f field) name() string { return f.object.Name + "." + f.Name }

// function returns the name of the function that reads the field.
func (f field) function() string { return f.object.Name + templates.ToGo(f.Name) }

// relation returns the name of the field's relation in the generated struct.
func (f field) relation() string { return templates.LcFirst(f.function()) }

// row returns the Go type of the parent.
func (f field) row() string { return "*" + goType(f.object.Type) }

// result returns the Go type of the field.
func (f field) result() string { return goType(f.TypeReference.GO) }

// args returns the Go type of the arguments, or an empty string if the field has none.
func (f field) args() string {
	if len(f.Args) == 0 {
		return ""
	}
	return f.function() + "Args"
}
