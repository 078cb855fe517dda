package server

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
)

// places are what an answer has along a route of response names: lists on the way, and at its end objects. A nil *places stands for what is not there.
type places struct {
	null   bool      // there is a null before the route's end
	name   string    // of the member that leads on
	member *places   // under that name
	list   []*places // of the elements of a list
	object []byte    // the JSON of the object at the route's end
}

// placesOf finds the places in the JSON of data.
func placesOf(data []byte, route []string) (*places, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // it is ours
	p, err := readPlaces(d, data, route)
	if err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	return p, nil
}

func readPlaces(d *jsontext.Decoder, data []byte, route []string) (*places, error) {
	switch d.PeekKind() {
	case 'n':
		return &places{null: true}, d.SkipValue() //nolint:wrapcheck // placesOf does
	case '[':
		return readList(d, data, route)
	case '{':
		if len(route) > 0 {
			return readMember(d, data, route)
		}
		v, err := d.ReadValue()
		end := int(d.InputOffset())
		return &places{object: data[end-len(v) : end]}, err //nolint:wrapcheck // as above
	default:
		return nil, d.SkipValue() //nolint:wrapcheck // as above
	}
}

func readList(d *jsontext.Decoder, data []byte, route []string) (*places, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err //nolint:wrapcheck // placesOf does
	}
	p := &places{list: []*places{}}
	for d.PeekKind() != ']' {
		one, err := readPlaces(d, data, route)
		if err != nil {
			return nil, err
		}
		p.list = append(p.list, one)
	}
	_, err := d.ReadToken()
	return p, err //nolint:wrapcheck // as above
}

// readMember reads an object of which the first name of the route leads on.
func readMember(d *jsontext.Decoder, data []byte, route []string) (*places, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err //nolint:wrapcheck // placesOf does
	}
	var p *places
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		switch {
		case err != nil:
		case name.String() == route[0] && p == nil:
			p = &places{name: route[0]}
			p.member, err = readPlaces(d, data, route[1:])
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // as above
		}
	}
	_, err := d.ReadToken()
	return p, err //nolint:wrapcheck // as above
}

// on follows a route further, from the objects that p ends with.
func (p *places) on(route []string) (*places, error) {
	switch {
	case p == nil || p.null:
		return p, nil
	case p.object != nil:
		return placesOf(p.object, route)
	case p.list == nil:
		member, err := p.member.on(route)
		return &places{name: p.name, member: member}, err
	}
	out := &places{list: make([]*places, len(p.list))}
	for i, one := range p.list {
		var err error
		if out.list[i], err = one.on(route); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// any tells whether there is an object.
func (p *places) any() bool {
	switch {
	case p == nil || p.null:
		return false
	case p.object != nil:
		return true
	case p.list != nil:
		return slices.ContainsFunc(p.list, (*places).any)
	default:
		return p.member.any()
	}
}

// emptyObject is what a fragment selects of an object of another type.
const emptyObject = "{}"

// match looks up in got, which has the same route, what belongs to the objects of p, and calls found with the path and the JSON of each: nil where got has
// a null, on the way or at the end. It returns the places of the objects that were found. What got does not have at all is passed over.
func (p *places) match(got *places, at ast.Path, found func(ast.Path, []byte)) *places {
	switch {
	case p == nil || p.null || got == nil:
		return nil
	case p.object != nil && (got.null || got.object == nil):
		found(slices.Clone(at), nil)
		return nil
	case p.object != nil:
		if string(got.object) == emptyObject {
			return nil
		}
		found(slices.Clone(at), got.object)
		return got
	case p.list == nil:
		below := got
		if !got.null {
			below = got.member
		}
		return &places{name: p.name, member: p.member.match(below, append(at, ast.PathName(p.name)), found)}
	}
	if !got.null && len(got.list) != len(p.list) {
		return nil
	}
	out := &places{list: make([]*places, len(p.list))}
	for i, one := range p.list {
		below := got
		if !got.null {
			below = got.list[i]
		}
		out.list[i] = one.match(below, append(at, ast.PathIndex(i)), found)
	}
	return out
}
