package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// tables writes the tables of the row plan.
func (f *fields) tables() []byte {
	var b bytes.Buffer
	b.WriteString(`// objects are the tables of the row plan.
type objects struct {
`)
	for _, n := range f.names {
		fmt.Fprintf(&b, "%s *rowplan.Object[*%s]\n", n, goType(f.objects[n].Type))
	}
	b.WriteString(`}

// Rows resolves the fields of all objects with rows, for the row plan and for gqlgen's executor.
type Rows struct {
	Tables    *rowplan.Tables
	fields    Fields
	relations *relations
}

// NewRows returns the resolvers and tables of fields.
func NewRows(fields Fields, newBatch func() rowplan.Batch) *Rows {
	t := rowplan.NewTables(newBatch)
	ec := newExecutionContext(&graphql.OperationContext{}, NewExecutableSchema(Config{}).(*executableSchema), nil)
	rel := newRelations(fields, ec)
	var o objects
`)
	for _, n := range f.names {
		object := f.objects[n]
		names := []string{n}
		for _, i := range object.Implements {
			names = append(names, i.Name)
		}
		row := "*" + goType(object.Type)
		fmt.Fprintf(&b, "o.%s = rowplan.NewObject(%#v, map[string]rowplan.Field[%s]{\n", n, names, row)
		for _, one := range f.of(n, column, method, methodWithArgs, derived, single, batched) {
			fmt.Fprintf(&b, "%q: %s,\n", one.Name, f.entry(one))
		}
		b.WriteString("})\n")
	}
	for _, n := range f.names {
		fmt.Fprintf(&b, "rowplan.Register(t, o.%s)\n", n)
	}
	b.WriteString(f.interfaces())
	b.WriteString("return &Rows{Tables: t, fields: fields, relations: rel}\n}\n")
	return file("graph", b.String())
}

// interfaces registers the lists of interfaces and unions that root fields return.
func (f *fields) interfaces() string {
	var b strings.Builder
	done := map[string]bool{}
	for _, one := range f.data.QueryRoot.Fields {
		ref := one.TypeReference
		if !ref.IsSlice() || ref.Definition.Kind != ast.Interface && ref.Definition.Kind != ast.Union || done[goType(ref.Elem().GO)] {
			continue
		}
		done[goType(ref.Elem().GO)] = true
		fmt.Fprintf(&b, "rowplan.RegisterList(t, %s)\n", f.anyOf(ref.Elem()))
	}
	return b.String()
}

// entry is the entry of a field in its object's table.
func (f *fields) entry(one field) string {
	shape := f.shape(one.TypeReference)
	switch one.kind {
	case method, single, batched:
		if child := f.child(one.TypeReference); one.TypeReference.IsSlice() && child != "" {
			return fmt.Sprintf("rowplan.ReadMany(rel.%s, %s)", one.relation(), child)
		}
		return fmt.Sprintf("rowplan.Read(rel.%s, %s)", one.relation(), shape)
	case methodWithArgs:
		var args strings.Builder
		for i, a := range one.Args {
			if i > 0 {
				args.WriteString(", ")
			}
			args.WriteString("a." + templates.ToGo(a.Name))
		}
		return fmt.Sprintf("rowplan.Compute(ec.read%s, func(v %s, a %s) %s { return v.%s(%s) }, %s)", one.args(), one.row(), one.args(), one.result(),
			one.GoFieldName, args.String(), shape)
	case derived:
		return fmt.Sprintf("rowplan.Get(fields.%s, %s)", one.function(), shape)
	default:
		return f.columnEntry(one, shape)
	}
}

// columnEntry is the entry of a field that the row holds.
func (f *fields) columnEntry(one field, shape string) string {
	get := "v." + one.GoFieldName
	if one.IsMethod() {
		get += "()"
	}
	ref := one.TypeReference
	if child := f.child(ref); child != "" {
		element := "*" + goType(f.objects[ref.Definition.Name].Type)
		switch {
		case ref.IsSlice() && ref.GQL.NonNull:
			return fmt.Sprintf("rowplan.Many(func(v %s) []%s { return %s }, %s)", one.row(), element, get, child)
		case ref.IsSlice():
			return fmt.Sprintf("rowplan.NullableMany(func(v %s) []%s { return %s }, %s)", one.row(), element, get, child)
		case !ref.IsPtr():
			get = "&" + get
		}
		return fmt.Sprintf("rowplan.Get(func(v %s) %s { return %s }, rowplan.ObjectOf(%s))", one.row(), element, get, child)
	}
	if ref.IsSlice() || ref.Definition.Kind == ast.Interface || ref.Definition.Kind == ast.Union {
		return fmt.Sprintf("rowplan.Get(func(v %s) %s { return %s }, %s)", one.row(), one.result(), get, shape)
	}
	write := appendFunction(ref)
	if ref.IsPtr() {
		return fmt.Sprintf("rowplan.Scalar(func(dst []byte, v %s, s scalar.Style) []byte { return scalar.AppendPointer(dst, %s, s, %s) })", one.row(), get, write)
	}
	return fmt.Sprintf("rowplan.Scalar(func(dst []byte, v %s, s scalar.Style) []byte { return %s(dst, %s, s) })", one.row(), write, get)
}

// child is the function that returns the table of a field's object, empty for other types.
func (f *fields) child(ref *config.TypeReference) string {
	name := ref.Definition.Name
	if ref.Definition.Kind != ast.Object || f.objects[name] == nil {
		return ""
	}
	return fmt.Sprintf("func() *rowplan.Object[*%s] { return o.%s }", goType(f.objects[name].Type), name)
}

// shape is the shape of a field's values, empty if they cannot be written.
func (f *fields) shape(ref *config.TypeReference) string {
	if ref.IsSlice() {
		element := f.shape(ref.Elem())
		switch {
		case element == "":
			return ""
		case ref.GQL.NonNull:
			return "rowplan.ListOf(" + element + ")"
		default:
			return "rowplan.NullableListOf(" + element + ")"
		}
	}
	if child := f.child(ref); child != "" {
		return "rowplan.ObjectOf(" + child + ")"
	}
	if ref.Definition.Kind == ast.Interface || ref.Definition.Kind == ast.Union {
		return f.anyOf(ref)
	}
	write := appendFunction(ref)
	switch {
	case write == "":
		return ""
	case ref.IsPtr():
		return "rowplan.PointerOf(" + write + ")"
	default:
		return "rowplan.ScalarOf(" + write + ")"
	}
}

// anyOf is the shape of an interface or union.
func (f *fields) anyOf(ref *config.TypeReference) string {
	var b strings.Builder
	b.WriteString("rowplan.AnyOf(")
	for _, n := range f.names {
		for _, possible := range f.data.Schema.PossibleTypes[ref.Definition.Name] {
			if possible.Name == n {
				fmt.Fprintf(&b, "rowplan.CaseOf[%s](func() *rowplan.Object[*%s] { return o.%s }), ", goType(ref.GO), goType(f.objects[n].Type), n)
			}
		}
	}
	b.WriteString(")")
	return b.String()
}
