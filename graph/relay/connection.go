// Package relay implements what all lists of the graph share: connections, cursors, page arguments and global ids, as
// the Relay specifications define them (GraphQL Cursor Connections, Global Object Identification).
package relay

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// Connection is one page of a list.
type Connection[T any] struct {
	Nodes []*T
	// Timestamp is the time of the snapshot that the list shows. Null if the list is not a snapshot.
	Timestamp ledger.Null[ledger.Timestamp]
	// Partial reports that the database lacks the beginning of a history.
	Partial bool

	count    func(context.Context) (*Count, error)
	kind     string
	key      func(*T) Key
	previous bool
	next     bool
}

// Count is the number of rows of a list, all pages together.
type Count struct {
	Value int64
	// Exact reports that the rows were counted. Otherwise the value is estimated from statistics.
	Exact bool
}

// WithCount sets the function in c that counts the rows of the whole list, and returns c. It runs only if
// totalCount is selected.
func (c *Connection[T]) WithCount(count func(context.Context) (*Count, error)) *Connection[T] {
	c.count = count
	return c
}

// SetCounts sets the count functions of the lists of some parents. The first that runs counts the lists of all parents
// with its context, while others wait. They all have its result, also if it fails; if read panics, the others fail.
// read returns one number for each list, in their order, or none if nothing can be counted. For a number above most,
// the count is most and not exact.
func SetCounts[T any](lists []*Connection[T], read func(context.Context) ([]int64, error), most int64) {
	var once sync.Once
	var counts []int64
	var failed error
	for i, c := range lists {
		c.WithCount(func(ctx context.Context) (*Count, error) {
			once.Do(func() {
				failed = errNotCounted // stays if read panics
				counts, failed = read(ctx)
			})
			if failed != nil || counts == nil {
				return nil, failed
			}
			return &Count{Value: min(counts[i], most), Exact: counts[i] <= most}, nil
		})
	}
}

var errNotCounted = errors.New("the rows of the lists were not counted")

// TotalCount returns the number of rows of the whole list, which can query the database, or nil if the list has no
// count function or cannot be counted.
func (c *Connection[T]) TotalCount(ctx context.Context) (*Count, error) {
	if c.count == nil {
		return nil, nil
	}
	return c.count(ctx)
}

// Edge is a row of a list and its cursor.
type Edge[T any] struct {
	Node   *T
	Cursor string
}

// PageInfo reports whether a list has rows before and after a page.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// NewConnection returns a page of the rows that were read for p: at most one more than p.Limit, which is cut. The
// rows are in reading order; NewConnection reverses those of backward pages in place. key returns the sort key of a
// row, and kind is that of the cursors unless p has one.
func NewConnection[T any](kind string, p Page, rows []*T, key func(*T) Key) *Connection[T] {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	return NewCutConnection(kind, p, rows, more, key)
}

// NewCutConnection returns a page of the rows that were read for p, at most p.Limit, in reading order. more reports
// whether others follow in that order. key returns the sort key of a row, and kind is that of the cursors unless p has
// one. It also reverses the rows of backward pages in place.
func NewCutConnection[T any](kind string, p Page, rows []*T, more bool, key func(*T) Key) *Connection[T] {
	c := &Connection[T]{Nodes: rows, kind: cmp.Or(p.kind, kind), key: key}
	if p.Backward {
		slices.Reverse(rows)
		c.previous, c.next = more, p.Before != nil
	} else {
		c.previous, c.next = p.After != nil, more
	}
	if c.Nodes == nil {
		c.Nodes = []*T{}
	}
	return c
}

// Edges returns the rows of the page with their cursors.
func (c *Connection[T]) Edges() []*Edge[T] {
	return list.Map(c.Nodes, func(n *T) *Edge[T] { return &Edge[T]{Node: n, Cursor: c.key(n).cursor(c.kind)} })
}

// PageInfo reports whether the list has rows before and after the page, and returns the cursors of its first and last
// row, which are nil for an empty page. In the direction of reading, the rows that were read show whether others
// follow. In the other direction, it is true if the client gave a cursor there.
func (c *Connection[T]) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.next, HasPreviousPage: c.previous}
	if n := len(c.Nodes); n > 0 {
		start, end := c.key(c.Nodes[0]).cursor(c.kind), c.key(c.Nodes[n-1]).cursor(c.kind)
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// Last returns the number of rows of the page and the sort key of the last one. A nil connection, of an object that
// does not exist, has no rows.
func (c *Connection[T]) Last() (rows int, last Key) {
	if c == nil || len(c.Nodes) == 0 {
		return 0, nil
	}
	n := len(c.Nodes)
	return n, c.key(c.Nodes[n-1])
}

// HookSlotConnection is a page of a hook's storage, with the hook's owner.
type HookSlotConnection struct {
	Connection[ledger.HookSlot]
	OwnerID ledger.EntityID
	HookID  int64
}

// StatusNotice is an incident or a maintenance.
type StatusNotice interface{ IsStatusNotice() }

// SearchResultConnection is a page of search results.
type SearchResultConnection struct {
	Nodes      []Node
	Edges      []*SearchResultEdge
	PageInfo   *PageInfo
	TotalCount *Count // nil if it is unknown
}

// SearchResultEdge is a search result and its cursor.
type SearchResultEdge struct {
	Node   Node
	Cursor string
}

// NewSearch returns the page p of all search results, after the first p.Skipped() of them. The cursor of a result is
// its position, from 1, in a list of the given kind. The page is forward: p.Before and p.Backward have no effect.
func NewSearch(kind string, p Page, all []Node) *SearchResultConnection {
	start := p.Skipped()
	end := min(start+p.Limit, len(all))
	c := &SearchResultConnection{
		Nodes: all[min(start, end):end], Edges: []*SearchResultEdge{},
		PageInfo: &PageInfo{HasNextPage: len(all) > end, HasPreviousPage: start > 0},
	}
	for i, n := range c.Nodes {
		c.Edges = append(c.Edges, &SearchResultEdge{n, Key{int64(start + i + 1)}.cursor(kind)})
	}
	if n := len(c.Edges); n > 0 {
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &c.Edges[0].Cursor, &c.Edges[n-1].Cursor
	}
	return c
}

// Skipped returns the number of results before the page, at most 1000: the position in the cursor, or 0 without a
// cursor.
func (p Page) Skipped() int {
	if p.After == nil {
		return 0
	}
	position, _ := p.After[0].(int64)
	return int(min(max(position, 0), 1000))
}

// Node is anything with a global id.
type Node interface{ IsNode() }

// Service is the result of a federation router's _service query.
type Service struct{ SDL string }

// Entity is an account, contract, file, schedule, token or topic.
type Entity interface{ IsEntity() }

// errID is the error of a global id that this graph did not create.
var errID = errors.New("not a global ID (the field id of an object); for an ID such as 0.0.1001 use account, token " +
	"or another field")

// ID returns the global id of an object: base64url of its type and its name within the type.
func ID(typ, name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typ + ":" + name))
}

// ParseID returns the type and the name that a global id of [ID] contains. It fails for other texts, and does not
// check that the object exists.
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
