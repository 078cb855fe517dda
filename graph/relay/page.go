package relay

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"heliograph/internal/base/values"
)

// Key is the sort key of a row: the values of the columns that the list is ordered by, each an int64 or []byte.
type Key []any

// cursor returns the cursor of a row: base64url of the list's kind and the values of the sort key, separated by
// colons. An int64 is decimal, a []byte is hexadecimal after an x, and there are no others. [parseCursor] reads it.
func (k Key) cursor(kind string) string {
	b := append(make([]byte, 0, 48), kind...)
	for _, v := range k {
		b = append(b, ':')
		switch v := v.(type) {
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case []byte:
			b = hex.AppendEncode(append(b, 'x'), v)
		}
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// errCursor is the error of a cursor that this list did not create.
var errCursor = errors.New("the cursor is not one of this list")

// parseCursor returns the values of the sort columns that a cursor of the list kind contains. Cursors of other lists
// are errors. Values that are not numbers are hexadecimal, after an x.
func parseCursor(s, kind string) (Key, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, errCursor
	}
	got, columns, _ := strings.Cut(string(b), ":")
	if got != kind || columns == "" {
		return nil, errCursor
	}
	var k Key
	for part := range strings.SplitSeq(columns, ":") {
		if digits, ok := strings.CutPrefix(part, "x"); ok {
			v, err := hex.DecodeString(digits)
			if err != nil {
				return nil, errCursor
			}
			k = append(k, v)
			continue
		}
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, errCursor
		}
		k = append(k, v)
	}
	return k, nil
}

// Args are the arguments of a connection as the client gave them.
type Args struct {
	First  *int32
	After  *string
	Last   *int32
	Before *string
}

// Page selects rows of an ordered list.
type Page struct {
	Limit    int
	Desc     bool // the list's order, as the client sees it
	Backward bool // the last rows are requested: they are read in reverse order
	After    Key
	Before   Key
	kind     string // of the list
}

// Page checks the paging arguments of a list and returns the page to read. kind names the list in its cursors,
// columns is the number of values of a sort key; a cursor of another kind or number is invalid. desc reports whether
// the list is in descending order. It fails if first and last are both given, or if one of them is negative or
// exceeds l.Max. Without either, the page has the first l.Default rows.
func (a Args) Page(kind string, columns int, desc bool, l Limits) (Page, error) {
	p := Page{Limit: l.Default, Desc: desc, kind: kind}
	if a.First != nil && a.Last != nil {
		return Page{}, errors.New("give either first or last, not both")
	}
	size, name := a.First, "first"
	if a.Last != nil {
		size, name, p.Backward = a.Last, "last", true
	}
	if size != nil {
		if *size < 0 || int(*size) > l.Max {
			return Page{}, fmt.Errorf("%s must be between 0 and %d", name, l.Max)
		}
		p.Limit = int(*size)
	}
	var err error
	if p.After, err = place(a.After, kind, columns); err != nil {
		return Page{}, fmt.Errorf("after: %w", err)
	}
	if p.Before, err = place(a.Before, kind, columns); err != nil {
		return Page{}, fmt.Errorf("before: %w", err)
	}
	return p, nil
}

// place returns the sort key of a cursor, or nil without a cursor. A cursor of another kind or with another number of
// columns is an error.
func place(cursor *string, kind string, columns int) (Key, error) {
	if cursor == nil {
		return nil, nil
	}
	k, err := parseCursor(*cursor, kind)
	if err == nil && len(k) != columns {
		err = errCursor
	}
	return k, err
}

// Descending reports whether the rows are read in descending order. Those of a backward page are read in the opposite
// order of the list.
func (p Page) Descending() bool { return p.Desc != p.Backward }

// Range returns the rows to read: at most limit rows whose keys are greater than greater and less than less. Each of
// these can be nil, which is no bound. desc reports whether they are read in descending order. The limit is one row
// more than the page has, which shows whether the list continues.
func (p Page) Range() (limit int, desc bool, greater, less []any) {
	greater, less = p.After, p.Before
	if p.Desc {
		greater, less = less, greater
	}
	return p.Limit + 1, p.Descending(), greater, less
}

// Order is the direction of a list.
type Order string

// The directions.
const (
	Asc  Order = "ASC"
	Desc Order = "DESC"
)

// Limits are the page sizes of lists.
type Limits struct {
	Default int
	Max     int
}

var limitsKey = values.NewKey[*Limits]()

// Value returns a context value that sets the page sizes of an operation to l.
func (l *Limits) Value() values.Value { return limitsKey.Is(l) }

// LimitsOf returns the page sizes of the context's operation: 25 and at most 100 by default.
func LimitsOf(ctx context.Context) Limits {
	if own, ok := limitsKey.Of(ctx); ok {
		return *own
	}
	return Limits{Default: 25, Max: 100}
}
