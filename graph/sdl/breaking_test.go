package sdl_test

import (
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// breaking returns the changes between two schemas that break clients of the older one: valid documents become
// invalid, or responses have unexpected values. The result is sorted. It includes the removal of deprecated elements;
// to accept a change, make it in the older schema too.
func breaking(older, newer *ast.Schema) []string {
	c := &comparison{newer: newer}
	for name, def := range older.Types {
		if !def.BuiltIn {
			c.types(name, def)
		}
	}
	for name, def := range older.Directives {
		now := newer.Directives[name]
		if now == nil {
			c.report("the directive @%s was removed", name)
			continue
		}
		for _, l := range def.Locations {
			if !slices.Contains(now.Locations, l) {
				c.report("the directive @%s is no longer allowed at %s", name, l)
			}
		}
		c.arguments("the directive @"+name, def.Arguments, now.Arguments)
	}
	for _, root := range []struct {
		name     string
		was, now *ast.Definition
	}{
		{"query", older.Query, newer.Query},
		{"mutation", older.Mutation, newer.Mutation},
		{"subscription", older.Subscription, newer.Subscription},
	} {
		if root.was != nil && (root.now == nil || root.now.Name != root.was.Name) {
			c.report("the root type of %s is no longer %s", root.name, root.was.Name)
		}
	}
	slices.Sort(c.found)
	return c.found
}

type comparison struct {
	newer *ast.Schema
	found []string
}

func (c *comparison) report(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// types compares two versions of a type.
func (c *comparison) types(name string, was *ast.Definition) {
	now := c.newer.Types[name]
	switch {
	case now == nil:
		c.report("the type %s was removed", name)
		return
	case now.Kind != was.Kind:
		c.report("the type %s changed from %[3]s to %[2]s", name, now.Kind, was.Kind)
		return
	}
	for _, i := range was.Interfaces {
		if !slices.Contains(now.Interfaces, i) {
			c.report("the type %s no longer implements %s", name, i)
		}
	}
	switch was.Kind {
	case ast.Enum:
		c.values(name, was, now)
	case ast.Union:
		for _, member := range was.Types {
			if !slices.Contains(now.Types, member) {
				c.report("the union %s no longer has %s", name, member)
			}
		}
	case ast.InputObject:
		c.inputs(name, was, now)
	default:
		c.fields(name, was, now)
	}
}

// values compares the values of an enum. A new value is not a breaking change, because responses have it only for new
// kinds of data.
func (c *comparison) values(name string, was, now *ast.Definition) {
	for _, v := range was.EnumValues {
		if now.EnumValues.ForName(v.Name) == nil {
			c.report("the enum %s no longer has %s", name, v.Name)
		}
	}
}

// inputs compares the fields of an input object.
func (c *comparison) inputs(name string, was, now *ast.Definition) {
	for _, f := range was.Fields {
		g := now.Fields.ForName(f.Name)
		switch {
		case g == nil:
			c.report("the input %s no longer has %s", name, f.Name)
		case !compatible(f.Type, g.Type):
			c.report("the type of %s.%s changed from %[4]s to %[3]s", name, f.Name, g.Type, f.Type)
		}
	}
	for _, g := range now.Fields {
		if was.Fields.ForName(g.Name) == nil && g.Type.NonNull && g.DefaultValue == nil {
			c.report("%s.%s is new and required", name, g.Name)
		}
	}
}

// fields compares the fields of an object or interface.
func (c *comparison) fields(name string, was, now *ast.Definition) {
	for _, f := range was.Fields {
		g := now.Fields.ForName(f.Name)
		if g == nil {
			c.report("%s.%s was removed", name, f.Name)
			continue
		}
		if !compatible(g.Type, f.Type) {
			c.report("the type of %s.%s changed from %[4]s to %[3]s", name, f.Name, g.Type, f.Type)
		}
		c.arguments(name+"."+f.Name, f.Arguments, g.Arguments)
	}
}

// arguments compares the arguments of a field or directive.
func (c *comparison) arguments(of string, was, now ast.ArgumentDefinitionList) {
	for _, a := range was {
		b := now.ForName(a.Name)
		switch {
		case b == nil:
			c.report("%s no longer has the argument %s", of, a.Name)
			continue
		case !compatible(a.Type, b.Type):
			c.report("the type of %s(%s:) changed from %[4]s to %[3]s", of, a.Name, b.Type, a.Type)
		}
		if text(a.DefaultValue) != text(b.DefaultValue) {
			c.report("the default of %s(%s:) changed from %[4]s to %[3]s", of, a.Name, text(b.DefaultValue),
				text(a.DefaultValue))
		}
	}
	for _, b := range now {
		if was.ForName(b.Name) == nil && b.Type.NonNull && b.DefaultValue == nil {
			c.report("%s(%s:) is new and required", of, b.Name)
		}
	}
}

func text(v *ast.Value) string {
	if v == nil {
		return "none"
	}
	return v.String()
}

// compatible reports whether every value of type t is a valid value of type target. Outputs of the newer schema must
// be valid in the older one, and inputs of the older schema in the newer one.
func compatible(t, target *ast.Type) bool {
	if target.NonNull && !t.NonNull {
		return false
	}
	if t.Elem == nil || target.Elem == nil {
		return t.Elem == nil && target.Elem == nil && t.NamedType == target.NamedType
	}
	return compatible(t.Elem, target.Elem)
}
