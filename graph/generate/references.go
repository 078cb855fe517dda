package main

import (
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/templates"
)

const referencesFile = "resolvers/references_gen.go"

// references returns the source of the functions of fields with @reference: each reads the objects with the keys in another field of the rows.
func (f *fields) references() []byte {
	var b strings.Builder
	for _, one := range f.list {
		key := one.reference()
		if key == nil {
			continue
		}
		fmt.Fprintf(&b, `func (fields) %s(_ context.Context, q rowplan.Request, of []%s) (rowplan.Results[%s], error) {
	return %ssBy(q, of, func(row %s) %s { return row.%s })
}

`, one.function(), one.row(), one.result(), templates.LcFirst(one.TypeReference.Definition.Name), one.row(), goType(key.TypeReference.GO), key.GoFieldName)
	}
	return file("resolvers", b.String())
}

// reference returns the field with the key of the object that the field refers to, or nil if the field has no @reference.
func (f field) reference() *codegen.Field {
	d := f.FieldDefinition.Directives.ForName("reference")
	if d == nil {
		return nil
	}
	by := d.Arguments.ForName("by").Value.Raw
	for _, other := range f.object.Fields {
		if other.Name == by {
			return other
		}
	}
	return nil
}
