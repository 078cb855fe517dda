package incremental

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
)

// Objects are the objects in a response along a path of response names. A nil *Objects has no objects, for example
// because the response lacks a member of the path.
type Objects struct {
	null   bool       // the response has a null on the path
	name   string     // of the next member on the path
	member *Objects   // of that member
	list   []*Objects // of the elements of a list
	object []byte     // JSON of the object at the end of the path
}

// Root returns the object of an initial response. data is its JSON, or null.
func Root(data []byte) *Objects { return &Objects{object: data} }

// lenient are the options for JSON that the server wrote.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Find returns the objects at the end of a path in the JSON value of data.
func Find(data []byte, path []string) (*Objects, error) {
	switch kind := jsontext.Value(data).Kind(); {
	case kind == 'n':
		return &Objects{null: true}, nil
	case kind == '[':
		return findInList(data, path)
	case kind != '{':
		return nil, nil
	case len(path) == 0:
		return &Objects{object: data}, nil
	}
	var members map[string]jsontext.Value
	err := json.Unmarshal(data, &members, lenient)
	if err != nil {
		return nil, fmt.Errorf("reading a response: %w", err)
	}
	member, found := members[path[0]]
	if !found {
		return nil, nil
	}
	below, err := Find(member, path[1:])
	return &Objects{name: path[0], member: below}, err
}

func findInList(data []byte, path []string) (*Objects, error) {
	var elements []jsontext.Value
	err := json.Unmarshal(data, &elements, lenient)
	if err != nil {
		return nil, fmt.Errorf("reading a response: %w", err)
	}
	o := &Objects{list: make([]*Objects, len(elements))}
	for i, element := range elements {
		o.list[i], err = Find(element, path)
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Descend returns the objects at the end of a path that starts at the objects of o.
func (o *Objects) Descend(path []string) (*Objects, error) {
	switch {
	case o == nil || o.null:
		return o, nil
	case o.object != nil:
		return Find(o.object, path)
	case o.list == nil:
		member, err := o.member.Descend(path)
		return &Objects{name: o.name, member: member}, err
	}
	out := &Objects{list: make([]*Objects, len(o.list))}
	for i, element := range o.list {
		var err error
		if out.list[i], err = element.Descend(path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Any reports whether o has at least one object.
func (o *Objects) Any() bool {
	switch {
	case o == nil || o.null:
		return false
	case o.object != nil:
		return true
	case o.list != nil:
		return slices.ContainsFunc(o.list, (*Objects).Any)
	default:
		return o.member.Any()
	}
}

// emptyObject is the result of a fragment that has nothing to deliver: its type condition does not match the object,
// or all of its fields are deferred further or skipped.
const emptyObject = "{}"

// Match calls found for each object of o that the response to a deferred fragment has too, with its path and its JSON.
// later are the objects of that response, along the same path. The JSON is nil if later has null at the object or on
// the path to it. Objects that later lacks are skipped. Match returns the objects of later that are not null.
func (o *Objects) Match(later *Objects, path ast.Path, found func(ast.Path, []byte)) *Objects {
	switch {
	case o == nil || o.null || later == nil:
		return nil
	case o.object != nil && (later.null || later.object == nil):
		found(slices.Clone(path), nil)
		return nil
	case o.object != nil:
		if string(later.object) != emptyObject {
			found(slices.Clone(path), later.object)
		}
		return later
	case o.list == nil:
		below := later
		if !later.null {
			below = later.member
		}
		return &Objects{name: o.name, member: o.member.Match(below, append(path, ast.PathName(o.name)), found)}
	}
	if !later.null && len(later.list) != len(o.list) {
		return nil
	}
	out := &Objects{list: make([]*Objects, len(o.list))}
	for i, element := range o.list {
		below := later
		if !later.null {
			below = later.list[i]
		}
		out.list[i] = element.Match(below, append(path, ast.PathIndex(i)), found)
	}
	return out
}
