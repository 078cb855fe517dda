package relay

import (
	"context"
	"encoding/base64"
	"math"
	"reflect"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

// TestCursors tests that cursors are decoded to the same sort key, and that cursors of other lists and invalid ones
// are rejected.
func TestCursors(t *testing.T) {
	t.Parallel()
	for _, k := range []Key{
		{int64(0)},
		{int64(-1)},
		{int64(math.MaxInt64)},
		{int64(math.MinInt64)},
		{int64(1), int64(2)},
		{[]byte{}},
		{[]byte{0, 255}},
		{[]byte("x:y"), int64(3), []byte{1}},
	} {
		text := k.cursor("kind")
		got, err := parseCursor(text, "kind")
		if err != nil || !reflect.DeepEqual(got, k) {
			t.Errorf("%v is decoded as %v, error %v", k, got, err)
		}
		if _, err := parseCursor(text, "other"); err == nil {
			t.Errorf("%v is accepted by another list", k)
		}
		if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%s must be escaped in a URL", text)
		}
	}
	for _, text := range []string{
		"", "kind", "kind:", "kind:x0", "kind:xzz", "kind:1.5", "kind:9223372036854775808",
		"kind:1:", "kind:+1x", ":1",
	} {
		if k, err := parseCursor(base64.RawURLEncoding.EncodeToString([]byte(text)), "kind"); err == nil {
			t.Errorf("%q is accepted as %v", text, k)
		}
	}
	if _, err := parseCursor("%%%", "kind"); err == nil {
		t.Error("invalid base64 is accepted")
	}
}

// TestIDs tests that global ids are decoded to the same type and name, and that invalid ones are rejected.
func TestIDs(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"Account", "0.0.1"}, {"A", ""}, {"A", "b:c"}} {
		typ, name, err := ParseID(ID(c[0], c[1]))
		if err != nil || typ != c[0] || name != c[1] {
			t.Errorf("%v is decoded as %q, %q, error %v", c, typ, name, err)
		}
	}
	for _, id := range []string{"", "%", "QWNjb3VudA", "0.0.1"} {
		if typ, name, err := ParseID(id); err == nil {
			t.Errorf("%q is accepted as %q, %q", id, typ, name)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestPage tests the pages of valid arguments, and the errors of invalid ones.
func TestPage(t *testing.T) {
	t.Parallel()
	limits := Limits{Default: 25, Max: 100}
	cursor := func(columns ...any) *string { return ptr(Key(columns).cursor("k")) }
	for name, c := range map[string]struct {
		args Args
		desc bool
		want Page
		err  string
	}{
		"nothing":             {Args{}, false, Page{Limit: 25}, ""},
		"nothing, descending": {Args{}, true, Page{Limit: 25, Desc: true}, ""},
		"first":               {Args{First: ptr(int32(3))}, false, Page{Limit: 3}, ""},
		"none":                {Args{First: ptr(int32(0))}, false, Page{}, ""},
		"last":                {Args{Last: ptr(int32(100))}, true, Page{Limit: 100, Desc: true, Backward: true}, ""},
		"after and before": {
			Args{After: cursor(int64(1)), Before: cursor(int64(2))},
			false,
			Page{Limit: 25, After: Key{int64(1)}, Before: Key{int64(2)}},
			"",
		},
		"both ends": {
			Args{First: ptr(int32(1)), Last: ptr(int32(1))},
			false,
			Page{},
			"give either first or last, not both",
		},
		"negative":   {Args{First: ptr(int32(-1))}, false, Page{}, "first must be between 0 and 100"},
		"too many":   {Args{Last: ptr(int32(101))}, false, Page{}, "last must be between 0 and 100"},
		"bad cursor": {Args{After: ptr("x")}, false, Page{}, "after: the cursor is not one of this list"},
		"cursor of other size": {
			Args{Before: cursor(int64(1), int64(2))},
			false,
			Page{},
			"before: the cursor is not one of this list",
		},
	} {
		got, err := c.args.Page("k", 1, c.desc, limits)
		if err == nil {
			c.want.kind = "k"
		}
		if text := errorText(err); text != c.err || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, error %q", name, got, text)
		}
		if err == nil && got.Descending() != (c.desc != (c.args.Last != nil)) {
			t.Errorf("%s: read in the wrong direction", name)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestConnection(t *testing.T) {
	t.Parallel()
	key := func(b *ledger.Block) Key { return Key{b.Number} }
	blocks := func(numbers ...int64) []*ledger.Block {
		var out []*ledger.Block
		for _, n := range numbers {
			out = append(out, &ledger.Block{Number: n})
		}
		return out
	}
	for name, c := range map[string]struct {
		page           Page
		rows           []*ledger.Block
		want           []int64
		previous, next bool
	}{
		"all":                {Page{Limit: 3}, blocks(1, 2, 3), []int64{1, 2, 3}, false, false},
		"one more":           {Page{Limit: 2}, blocks(1, 2, 3), []int64{1, 2}, false, true},
		"after":              {Page{Limit: 2, After: Key{int64(0)}}, blocks(1), []int64{1}, true, false},
		"backward":           {Page{Limit: 3, Backward: true}, blocks(3, 2, 1), []int64{1, 2, 3}, false, false},
		"backward, one more": {Page{Limit: 2, Backward: true}, blocks(3, 2, 1), []int64{2, 3}, true, false},
		"backward and before": {
			Page{Limit: 2, Backward: true, Before: Key{int64(4)}},
			blocks(3, 2),
			[]int64{2, 3},
			false, true,
		},
		"nothing": {Page{Limit: 2}, nil, nil, false, false},
	} {
		conn := NewConnection("k", c.page, c.rows, key)
		var got []int64
		for _, e := range conn.Edges() {
			if e.Cursor != key(e.Node).cursor("k") {
				t.Errorf("%s: a cursor of another row", name)
			}
			got = append(got, e.Node.Number)
		}
		info := conn.PageInfo()
		if !reflect.DeepEqual(got, c.want) || info.HasPreviousPage != c.previous || info.HasNextPage != c.next ||
			conn.Nodes == nil {
			t.Errorf("%s: rows %v, %+v", name, got, info)
		}
		rows, last := conn.Last()
		if rows != len(c.want) || rows > 0 && last[0] != c.want[rows-1] || rows == 0 &&
			(last != nil || info.StartCursor != nil || info.EndCursor != nil) {
			t.Errorf("%s: %d rows, the last at %v, %+v", name, rows, last, info)
		}
	}
}

// FuzzCursor checks that encoding a parsed cursor returns the same cursor.
func FuzzCursor(f *testing.F) {
	for _, k := range []Key{{int64(1)}, {int64(-5), []byte{1, 2}}, {[]byte{}}} {
		f.Add(k.cursor("accounts"))
	}
	f.Add("YWNjb3VudHM6eA")
	f.Add("%")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseCursor(text, "accounts")
		if err != nil {
			return
		}
		again, err := parseCursor(k.cursor("accounts"), "accounts")
		if err != nil || !reflect.DeepEqual(again, k) {
			t.Errorf("%q is %v, which is read back as %v, error %v", text, k, again, err)
		}
	})
}

// FuzzID checks that encoding a parsed global id returns the same id.
func FuzzID(f *testing.F) {
	f.Add(ID("Account", "0.0.1"))
	f.Add("x")
	f.Fuzz(func(t *testing.T, text string) {
		typ, name, err := ParseID(text)
		if err != nil {
			return
		}
		if typ2, name2, err := ParseID(ID(typ, name)); err != nil || typ2 != typ || name2 != name {
			t.Errorf("%q is %q, %q, which is read back as %q, %q, error %v", text, typ, name, typ2, name2, err)
		}
	})
}

// TestCountsAfterPanic checks that the lists whose counts were to be read by a function that panicked have an error,
// and not null.
func TestCountsAfterPanic(t *testing.T) {
	t.Parallel()
	lists := []*Connection[ledger.Account]{{}, {}}
	SetCounts(lists, func(context.Context) ([]int64, error) { panic("a mistake in the program") }, 10)
	for i, c := range lists {
		func() {
			defer func() {
				if cause := recover(); (cause != nil) != (i == 0) {
					t.Errorf("list %d panics with %v", i, cause)
				}
			}()
			if n, err := c.TotalCount(t.Context()); n != nil || err == nil {
				t.Errorf("list %d has %v, %v", i, n, err)
			}
		}()
	}
}
