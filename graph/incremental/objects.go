package incremental

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
)

// Object is an object in a response.
type Object struct {
	Path ast.Path
	// JSON is nil for null, which stands for all objects at or below its path.
	JSON []byte
}

// lenient are the options for JSON that the server wrote.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Find returns the objects at the end of a path of response names, in the JSON value data at the path at of a
// response. Lists on the path are searched element by element. A null on the path is an object too, with nil JSON.
// Find returns no objects if the response lacks a member of the path or has a scalar there, and fails if an object or
// list on the path is malformed.
func Find(at ast.Path, data []byte, path []string) (found []Object, err error) {
	var elements []jsontext.Value
	var members map[string]jsontext.Value
	below := func(element ast.PathElement, data []byte, path []string) error {
		objects, err := Find(append(at[:len(at):len(at)], element), data, path)
		found = append(found, objects...)
		return err
	}
	switch kind := jsontext.Value(data).Kind(); {
	case kind == 'n':
		return []Object{{Path: at}}, nil
	case kind == '[':
		err = json.Unmarshal(data, &elements, lenient)
	case kind == '{' && len(path) == 0:
		return []Object{{at, data}}, nil
	case kind == '{':
		err = json.Unmarshal(data, &members, lenient)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a response: %w", err)
	}
	for i, element := range elements {
		if err := below(ast.PathIndex(i), element, path); err != nil {
			return nil, err
		}
	}
	if members != nil && members[path[0]] != nil {
		err = below(ast.PathName(path[0]), members[path[0]], path[1:])
	}
	return found, err
}

// Descend returns the objects at the end of a path of response names that starts at some objects of a response. Lists
// on the path are searched element by element, and a null on it is an object with nil JSON. Given objects that are
// null are skipped. It fails if an object or list on the path is malformed.
func Descend(objects []Object, path []string) (found []Object, err error) {
	for _, o := range objects {
		below, err := Find(o.Path, o.JSON, path)
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}

// Match returns the objects that a response has where an earlier one has objects too. An object is null if the
// response has null on the path to it, and then has the path of that null. Objects that the response lacks, or that
// are null in the earlier one, are skipped.
func Match(earlier, response []Object) []Object {
	byPath := make(map[string][]byte, len(response))
	for _, o := range response {
		byPath[o.Path.String()] = o.JSON
	}
	var found []Object
	for _, o := range earlier {
		for n := len(o.Path); n >= 0 && o.JSON != nil; n-- {
			data, has := byPath[o.Path[:n].String()]
			if has {
				found = append(found, Object{o.Path, data})
				break
			}
		}
	}
	return found
}
