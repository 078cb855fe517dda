package relay

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Key is the place of a row in a list's order: the values of the columns that the list is ordered by, each an int64 or []byte.
type Key []any

// cursor is the opaque text of a place: base64url of the list's kind and the columns.
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

// errCursor is what a cursor is answered with that this list did not make.
var errCursor = errors.New("the cursor is not one of this list")

// parseCursor reads a cursor of a list of the given kind.
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

// Page says which rows of an ordered list to read.
type Page struct {
	Limit    int
	Desc     bool // the list's order, as the client sees it
	Backward bool // the last rows are wanted: read in the opposite order, and turn round after
	After    Key
	Before   Key
}

// Page checks the arguments. columns is how many values a place in this list has; a cursor with another number of them is refused.
func (a Args) Page(kind string, columns int, desc bool, l Limits) (Page, error) {
	p := Page{Limit: l.Default, Desc: desc}
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

// place is where a cursor stands in a list; nowhere when there is no cursor.
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

// Descending tells in which direction the rows are to be read.
func (p Page) Descending() bool { return p.Desc != p.Backward }

// Order is the direction of a list.
type Order string

// The directions.
const (
	Asc  Order = "ASC"
	Desc Order = "DESC"
)
