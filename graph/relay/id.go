package relay

import (
	"encoding/base64"
	"errors"
	"strings"
)

// errID is what a global id is answered with that this graph did not make.
var errID = errors.New("the id is not one of this graph")

// ID is the global id of a thing: base64url of its type and what names it within the type.
func ID(typ, name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typ + ":" + name))
}

// ParseID reads a global id.
func ParseID(id string) (typ, name string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return "", "", errID
	}
	typ, name, ok := strings.Cut(string(b), ":")
	if !ok {
		return "", "", errID
	}
	return typ, name, nil
}
