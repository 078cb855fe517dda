package resolvers

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// networkType is the type of the only network, in global ids.
const networkType = "Network"

// nodeID returns the global id of an object with a key.
func nodeID(typ string, key ...any) string {
	parts := make([]string, len(key))
	for i, v := range key {
		switch v := v.(type) {
		case []byte:
			parts[i] = hex.EncodeToString(v)
		case ledger.Null[int64]:
			parts[i] = strconv.FormatInt(v.V, 10)
		default:
			parts[i] = fmt.Sprint(v)
		}
	}
	return relay.ID(typ, strings.Join(parts, "/"))
}

// nodeName is the local part of a global id that is read part by part.
type nodeName struct {
	rest string
	err  error
}

// part parses the next part.
func part[T any](n *nodeName, parse func(string) (T, error)) T {
	text, rest, _ := strings.Cut(n.rest, "/")
	v, err := parse(text)
	if n.rest = rest; err != nil {
		n.err = err
	}
	return v
}

func (n *nodeName) id() ledger.EntityID  { return part(n, parseEntityID) }
func (n *nodeName) at() ledger.Timestamp { return part(n, ledger.ParseTimestamp) }
func (n *nodeName) number() int64        { return part(n, parseNumber) }

// word parses the bytes of a slot.
func (n *nodeName) word() []byte {
	return part(n, func(text string) ([]byte, error) {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != maxWord {
			return nil, fmt.Errorf("%q does not have %d bytes", text, maxWord)
		}
		return b, nil
	})
}

// inList returns the reader of objects that are rows of the list of a parent. key reads the parent and a filter that selects one row from a name.
func inList[K, F, C any, P nodePointer[C]](key func(*nodeName) (K, *F), queue queueList[K, F, C]) queueNodes {
	return func(b *storage.Batch, names []string, done func(int, relay.Node, error)) {
		for i, name := range names {
			n := &nodeName{rest: name}
			parent, f := key(n)
			if n.err != nil || n.rest != "" {
				done(i, nil, fault.Input("%q is not the name of an object of this type", name))
				continue
			}
			queue(b, []K{parent}, f, storage.Page{Limit: 1}, func(rows [][]*C) {
				if len(rows[0]) > 0 {
					done(i, P(rows[0][0]), nil)
				}
			})
		}
	}
}

func equals[T ~int64](v T) *ledger.Filter[T] { return &ledger.Filter[T]{Eq: &v} }
