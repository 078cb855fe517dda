// Package relay holds what all lists of the graph share: connections, cursors, page arguments and global ids, as the Relay
// specifications define them (GraphQL Cursor Connections, Global Object Identification).
package relay

import (
	"context"

	"heliograph/internal/domain/ledger"
)

// Connection is one page of a list.
type Connection[T any] struct {
	Nodes []*T
	// Timestamp is when the page's content was taken, for lists that are of one moment.
	Timestamp ledger.Null[ledger.Timestamp]
	// Partial tells that the database lacks the beginning of what the list shows, for lists that are a history.
	Partial bool

	count    func(context.Context) (*Count, error)
	kind     string
	key      func(*T) Key
	previous bool
	next     bool
}

// Count is how many rows a list has, all pages together.
type Count struct {
	Value int64
	// Exact tells that the rows have been counted, and not estimated by statistics.
	Exact bool
}

// WithCount says how the rows of the whole list are counted, which is done when somebody asks. It returns c.
func (c *Connection[T]) WithCount(count func(context.Context) (*Count, error)) *Connection[T] {
	c.count = count
	return c
}

// TotalCount is how many rows the whole list has, nil where that is not known without reading them all.
func (c *Connection[T]) TotalCount(ctx context.Context) (*Count, error) {
	if c.count == nil {
		return nil, nil
	}
	return c.count(ctx)
}

// Edge is a row of a list with the cursor that stands for its place.
type Edge[T any] struct {
	Node   *T
	Cursor string
}

// PageInfo tells whether a list goes on around a page.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// NewConnection makes a page of rows that were read for p, one more than asked for if there were that many. The rows are in reading
// order; pages read backwards are turned round here. key gives the place of a row, in the order's columns.
func NewConnection[T any](kind string, p Page, rows []*T, key func(*T) Key) *Connection[T] {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	return NewCutConnection(kind, p, rows, more, key)
}

// NewCutConnection is [NewConnection] for rows that are cut already: more tells whether others follow in reading order.
func NewCutConnection[T any](kind string, p Page, rows []*T, more bool, key func(*T) Key) *Connection[T] {
	c := &Connection[T]{Nodes: rows, kind: kind, key: key}
	if p.Backward {
		for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
			rows[i], rows[j] = rows[j], rows[i]
		}
		c.previous, c.next = more, p.Before != nil
	} else {
		c.previous, c.next = p.After != nil, more
	}
	if c.Nodes == nil {
		c.Nodes = []*T{}
	}
	return c
}

// Edges are the page's rows with their cursors.
func (c *Connection[T]) Edges() []*Edge[T] {
	edges := make([]*Edge[T], len(c.Nodes))
	for i, n := range c.Nodes {
		edges[i] = &Edge[T]{Node: n, Cursor: c.key(n).cursor(c.kind)}
	}
	return edges
}

// PageInfo tells whether the list goes on around the page.
func (c *Connection[T]) PageInfo() *PageInfo {
	info := &PageInfo{HasNextPage: c.next, HasPreviousPage: c.previous}
	if n := len(c.Nodes); n > 0 {
		start, end := c.key(c.Nodes[0]).cursor(c.kind), c.key(c.Nodes[n-1]).cursor(c.kind)
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// Last is how many rows the page has, and the place of the last one. There are none when what the list belongs to does not exist: c is nil.
func (c *Connection[T]) Last() (rows int, last Key) {
	if c == nil || len(c.Nodes) == 0 {
		return 0, nil
	}
	n := len(c.Nodes)
	return n, c.key(c.Nodes[n-1])
}
