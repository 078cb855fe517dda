package sdl

import (
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Breaking lists what clients of the older schema may meet with the newer one: documents that are refused, and values that they do not expect. It is sorted, and empty
// when there is nothing. What was deprecated may go as well: that is for people to decide, who take it over into the older schema.
func Breaking(older, newer *ast.Schema) []string {
	c := &comparison{newer: newer}
	for name, def := range older.Types {
		if !def.BuiltIn {
			c.types(name, def)
		}
	}
	for name, def := range older.Directives {
		now := newer.Directives[name]
		if now == nil {
			c.tell("the directive @%s is gone", name)
			continue
		}
		for _, l := range def.Locations {
			if !slices.Contains(now.Locations, l) {
				c.tell("the directive @%s may not stand at %s any more", name, l)
			}
		}
		c.arguments("the directive @"+name, def.Arguments, now.Arguments)
	}
	for _, root := range []struct {
		name       string
		was, comes *ast.Definition
	}{{"query", older.Query, newer.Query}, {"mutation", older.Mutation, newer.Mutation}, {"subscription", older.Subscription, newer.Subscription}} {
		if root.was != nil && (root.comes == nil || root.comes.Name != root.was.Name) {
			c.tell("the root of every %s is not %s any more", root.name, root.was.Name)
		}
	}
	slices.Sort(c.found)
	return c.found
}

type comparison struct {
	newer *ast.Schema
	found []string
}

func (c *comparison) tell(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// types compares a type with what has become of it.
func (c *comparison) types(name string, was *ast.Definition) {
	now := c.newer.Types[name]
	switch {
	case now == nil:
		c.tell("the type %s is gone", name)
		return
	case now.Kind != was.Kind:
		c.tell("the type %s is %s and was %s", name, now.Kind, was.Kind)
		return
	}
	for _, i := range was.Interfaces {
		if !slices.Contains(now.Interfaces, i) {
			c.tell("the type %s does not implement %s any more", name, i)
		}
	}
	switch was.Kind {
	case ast.Enum:
		c.values(name, was, now)
	case ast.Union:
		for _, member := range was.Types {
			if !slices.Contains(now.Types, member) {
				c.tell("the union %s has no %s any more", name, member)
			}
		}
	case ast.InputObject:
		c.inputs(name, was, now)
	default:
		c.fields(name, was, now)
	}
}

// values compares the values of an enum. One that is new comes out only where it is asked for by new clients, or where the ledger has something new.
func (c *comparison) values(name string, was, now *ast.Definition) {
	for _, v := range was.EnumValues {
		if now.EnumValues.ForName(v.Name) == nil {
			c.tell("the enum %s has no %s any more", name, v.Name)
		}
	}
}

// inputs compares the fields of an input object.
func (c *comparison) inputs(name string, was, now *ast.Definition) {
	for _, f := range was.Fields {
		g := now.Fields.ForName(f.Name)
		switch {
		case g == nil:
			c.tell("the input %s has no %s any more", name, f.Name)
		case !takes(g.Type, f.Type):
			c.tell("%s.%s takes %s and took %s", name, f.Name, g.Type, f.Type)
		}
	}
	for _, g := range now.Fields {
		if was.Fields.ForName(g.Name) == nil && g.Type.NonNull && g.DefaultValue == nil {
			c.tell("%s.%s is new and must be given", name, g.Name)
		}
	}
}

// fields compares the fields of an object or interface.
func (c *comparison) fields(name string, was, now *ast.Definition) {
	for _, f := range was.Fields {
		g := now.Fields.ForName(f.Name)
		if g == nil {
			c.tell("%s.%s is gone", name, f.Name)
			continue
		}
		if !gives(g.Type, f.Type) {
			c.tell("%s.%s is %s and was %s", name, f.Name, g.Type, f.Type)
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
			c.tell("%s has no argument %s any more", of, a.Name)
			continue
		case !takes(b.Type, a.Type):
			c.tell("%s(%s:) takes %s and took %s", of, a.Name, b.Type, a.Type)
		}
		if text(a.DefaultValue) != text(b.DefaultValue) {
			c.tell("%s(%s:) is %s by default and was %s", of, a.Name, text(b.DefaultValue), text(a.DefaultValue))
		}
	}
	for _, b := range now {
		if was.ForName(b.Name) == nil && b.Type.NonNull && b.DefaultValue == nil {
			c.tell("%s(%s:) is new and must be given", of, b.Name)
		}
	}
}

func text(v *ast.Value) string {
	if v == nil {
		return "nothing"
	}
	return v.String()
}

// gives tells whether values of a type may come where older clients expect those of another: nothing else, and never null where it never was.
func gives(now, was *ast.Type) bool {
	if was.NonNull && !now.NonNull {
		return false
	}
	if was.Elem == nil || now.Elem == nil {
		return was.Elem == nil && now.Elem == nil && was.NamedType == now.NamedType
	}
	return gives(now.Elem, was.Elem)
}

// takes tells whether what older clients send for a type may be sent for another: null too, where they could.
func takes(now, was *ast.Type) bool {
	if now.NonNull && !was.NonNull {
		return false
	}
	if was.Elem == nil || now.Elem == nil {
		return was.Elem == nil && now.Elem == nil && was.NamedType == now.NamedType
	}
	return takes(now.Elem, was.Elem)
}
