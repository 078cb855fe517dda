// Package relay implements what all lists of the graph share: connections, cursors, page arguments and global ids, as the Relay
// specifications define them (GraphQL Cursor Connections, Global Object Identification).
package relay

import (
	"context"
	"slices"

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

// WithCount sets the function that counts the rows of the whole list. It runs only if totalCount is selected. WithCount returns c.
func (c *Connection[T]) WithCount(count func(context.Context) (*Count, error)) *Connection[T] {
	c.count = count
	return c
}

// TotalCount returns the number of rows of the whole list, or nil if the list has no count function.
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

// NewConnection returns a page of the rows that were read for p: at most one more than p.Limit. The rows are in reading order;
// NewConnection reverses backward pages. key returns the sort key of a row.
func NewConnection[T any](kind string, p Page, rows []*T, key func(*T) Key) *Connection[T] {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	return NewCutConnection(kind, p, rows, more, key)
}

// NewCutConnection is [NewConnection] for at most p.Limit rows: more reports whether others follow in reading order.
func NewCutConnection[T any](kind string, p Page, rows []*T, more bool, key func(*T) Key) *Connection[T] {
	c := &Connection[T]{Nodes: rows, kind: kind, key: key}
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

// PageInfo reports whether the list has rows before and after the page.
func (c *Connection[T]) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.next, HasPreviousPage: c.previous}
	if n := len(c.Nodes); n > 0 {
		start, end := c.key(c.Nodes[0]).cursor(c.kind), c.key(c.Nodes[n-1]).cursor(c.kind)
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// Last returns the number of rows of the page and the sort key of the last one. A nil connection, of an object that does not exist, has no rows.
func (c *Connection[T]) Last() (rows int, last Key) {
	if c == nil || len(c.Nodes) == 0 {
		return 0, nil
	}
	n := len(c.Nodes)
	return n, c.key(c.Nodes[n-1])
}
