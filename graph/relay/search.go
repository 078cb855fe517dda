package relay

// SearchResultConnection is a page of search results.
type SearchResultConnection struct {
	Nodes    []Node
	Edges    []*SearchResultEdge
	PageInfo *PageInfo
}

// SearchResultEdge is a search result and its cursor.
type SearchResultEdge struct {
	Node   Node
	Cursor string
}

// NewSearch returns the page p of all search results. The cursor of a result is its position, from 1, in a list of the given kind.
func NewSearch(kind string, p Page, all []Node) *SearchResultConnection {
	start := p.Skipped()
	end := min(start+p.Limit, len(all))
	c := &SearchResultConnection{
		Nodes: all[min(start, end):end], Edges: []*SearchResultEdge{}, PageInfo: &PageInfo{HasNextPage: len(all) > end, HasPreviousPage: start > 0},
	}
	for i, n := range c.Nodes {
		c.Edges = append(c.Edges, &SearchResultEdge{n, Key{int64(start + i + 1)}.cursor(kind)})
	}
	if n := len(c.Edges); n > 0 {
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &c.Edges[0].Cursor, &c.Edges[n-1].Cursor
	}
	return c
}

// Skipped returns the number of results before the page, at most 1000.
func (p Page) Skipped() int {
	if p.After == nil {
		return 0
	}
	position, _ := p.After[0].(int64)
	return int(min(max(position, 0), 1000))
}
