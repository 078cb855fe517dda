package relay

import (
	"encoding/base64"
	"errors"
	"strings"
)

// Node is anything with a global id.
type Node interface{ IsNode() }

// Service is the result of a federation router's _service query.
type Service struct{ SDL string }

// Entity is an account, contract, file, schedule, token or topic.
type Entity interface{ IsEntity() }

// errID is the error of a global id that this graph did not create.
var errID = errors.New("the id is not one of this graph")

// ID returns the global id of an object: base64url of its type and its name within the type.
func ID(typ, name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typ + ":" + name))
}

// ParseID parses a global id.
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
