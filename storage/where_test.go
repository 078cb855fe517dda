package storage

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"heliograph/internal/domain/ledger"
)

func ptr[T any](v T) *T { return &v }

// check compares the conditions and arguments of w.
func check(t *testing.T, name string, w *Where, sql string, args ...any) {
	t.Helper()
	if got := w.String(); got != sql {
		t.Errorf("%s: conditions\n%s\nwant\n%s", name, got, sql)
	}
	if len(args) != len(w.Args) || len(args) > 0 && !reflect.DeepEqual(w.Args, args) {
		t.Errorf("%s: arguments %v, want %v", name, w.Args, args)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    *ledger.LongFilter
		sql  string
		args []any
	}{
		"nil":   {nil, "", nil},
		"empty": {&ledger.LongFilter{}, "", nil},
		"comparisons": {
			&ledger.LongFilter{Eq: ptr[int64](1), Ne: ptr[int64](2)}, " and c = $1 and c <> $2",
			[]any{int64(1), int64(2)},
		},
		"bounds": {
			&ledger.LongFilter{Gt: ptr[int64](1), Gte: ptr[int64](2), Lt: ptr[int64](3), Lte: ptr[int64](4)},
			" and c > $1 and c >= $2 and c < $3 and c <= $4",
			[]any{int64(1), int64(2), int64(3), int64(4)},
		},
		"in, none": {&ledger.LongFilter{In: []int64{}}, " and false", nil},
		"in, one":  {&ledger.LongFilter{In: []int64{7}}, " and c = $1", []any{int64(7)}},
		"in, several": {
			&ledger.LongFilter{In: []int64{7, 8}, NotIn: []int64{9}}, " and c = any($1) and c <> all($2)",
			[]any{[]int64{7, 8}, []int64{9}},
		},
	} {
		var w Where
		Filter(&w, "c", c.f)
		check(t, name, &w, c.sql, c.args...)
	}
}

func TestFilterText(t *testing.T) {
	t.Parallel()
	var w Where
	FilterText(&w, "c", nil)
	check(t, "nil", &w, "")
	FilterText(&w, "c", &ledger.StringFilter{
		Gte: ptr("a"), Lt: ptr("b"), In: []string{"x", "z"},
		NotIn: []string{"y"},
	})
	check(t, "filter", &w, " and c >= $1 and c < $2 and c = any($3) and c <> all($4)", "a", "b", []string{"x", "z"},
		[]string{"y"})
}

func TestFilterBytes(t *testing.T) {
	t.Parallel()
	var w Where
	FilterBytes(&w, "c", nil, nil)
	check(t, "nil", &w, "")
	double := func(b []byte) []byte { return append(b, b...) }
	FilterBytes(&w, "c", &ledger.BytesFilter{Gt: []byte{1}, Lte: []byte{2}, In: [][]byte{{3}}}, double)
	check(t, "filter", &w, " and c > $1 and c <= $2 and c = any($3)", []byte{1, 1}, []byte{2, 2}, [][]byte{{3, 3}})
	w = Where{}
	FilterBytes(&w, "c", &ledger.BytesFilter{In: [][]byte{}}, double)
	check(t, "none", &w, " and false")
}

func TestKeysetConditions(t *testing.T) {
	t.Parallel()
	w := Where{Args: []any{"given"}}
	w.Keyset(Page{}, "a")
	check(t, "no keys", &w, "", "given")
	w.Keyset(Page{Greater: []any{1}, Less: []any{9}}, "a")
	check(t, "one column", &w, " and (a) > ($2) and (a) < ($3)", "given", 1, 9)
	w = Where{Args: []any{"given"}}
	w.Keyset(Page{Less: []any{1, 2}}, "first", "a", "b")
	check(t, "a column before", &w, " and (first, a, b) < ($1, $2, $3)", "given", 1, 2)
	w = Where{}
	w.Keyset(Page{Greater: []any{1, 2}}, "a", "b")
	check(t, "two columns", &w, " and (a, b) > ($1, $2)", 1, 2)
	if got := w.OrderBy(Page{Limit: 5, Desc: true}, "a", "b"); got != " order by a desc, b desc limit $3" {
		t.Error(got)
	}
	if got := w.OrderBy(Page{Limit: 6}, "a"); got != " order by a asc limit $4" || w.Args[3] != 6 {
		t.Error(got, w.Args)
	}
	w.Raw(" and true")
	check(t, "raw", &w, " and (a, b) > ($1, $2) and true", 1, 2, 5, 6)
}

func TestUnion(t *testing.T) {
	t.Parallel()
	w := Where{Args: []any{0}}
	statement := func(conditions string) string { return "select" + conditions }
	part := func(w *Where, i int) { w.And("c = ?", 10*(i+1)) }
	if got := w.Union(0, statement, part); got != "select and false" {
		t.Error(got)
	}
	if got := w.Union(2, statement, part); got != "(select and c = $2)\n  union (select and c = $3)" ||
		!reflect.DeepEqual(w.Args, []any{0, 10, 20}) {
		t.Error(got, w.Args)
	}
}

// TestParents checks the FROM items of parents, and their keys in statements.
func TestParents(t *testing.T) {
	t.Parallel()
	const one = "(select $1::bigint as token, $2::bigint as serial, 1::bigint as ord) p"
	const several = "unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(token, serial, ord)"
	for name, c := range map[string]struct {
		apart, orOne  bool
		tokens        []int64
		from, key     string
		args          []any
		first, second []any // the arguments of the statements
	}{
		"several": {
			false, false, []int64{7, 8}, several, "p.serial", []any{[]int64{7, 8}, []int64{7, 8}}, nil, nil,
		},
		"several or one": {
			false, true, []int64{7, 8}, several, "p.serial", []any{[]int64{7, 8}, []int64{7, 8}}, nil, nil,
		},
		"one":            {false, true, []int64{7}, one, "p.serial", []any{int64(7), int64(7)}, nil, nil},
		"one of several": {false, false, []int64{7}, several, "p.serial", []any{[]int64{7}, []int64{7}}, nil, nil},
		"apart": {
			true, true,
			[]int64{7, 8},
			one, "$2::bigint",
			[]any{int64(7), int64(7)},
			[]any{int64(7), int64(7), "x", int64(0)},
			[]any{int64(8), int64(8), "x", int64(1)},
		},
		"none": {true, true, nil, one, "$2::bigint", []any{int64(0), int64(0)}, nil, nil},
	} {
		b := (&DB{apart: &atomic.Bool{}}).NewBatch()
		b.db.apart.Store(c.apart)
		parents := b.Parents
		if c.orOne {
			parents = b.ParentsOrOne
		}
		p, w := parents("token, serial", c.tokens, c.tokens)
		if p.From != c.from || p.Key("serial") != c.key || !reflect.DeepEqual(p.Args, c.args) {
			t.Errorf("%s: %s %s %v", name, p.From, p.Key("serial"), p.Args)
		}
		if !reflect.DeepEqual(w.Args, c.args) || w.String() != "" {
			t.Errorf("%s: the conditions %q begin with %v", name, w.String(), w.Args)
		}
		var got [][]any
		p.forEach(append(p.Args, "x"), func(args []any, shift int64) { got = append(got, append(args, shift)) })
		if c.apart && len(got) != len(c.tokens) || !c.apart && len(got) != 1 ||
			c.first != nil && (!reflect.DeepEqual(got[0], c.first) || !reflect.DeepEqual(got[1], c.second)) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	at := func(v int64) *ledger.Timestamp { return ptr(ledger.Timestamp(v)) }
	for name, c := range map[string]struct {
		f    ledger.TimestampFilter
		want Window
	}{
		"empty":        {ledger.TimestampFilter{}, Window{0, ledger.MaxTimestamp, nil}},
		"at or before": {ledger.TimestampFilter{Eq: at(5), In: []ledger.Timestamp{9, 7}}, Window{0, 5, nil}},
		"exclusive":    {ledger.TimestampFilter{Gt: at(3), Lt: at(9)}, Window{4, 8, nil}},
		"inclusive":    {ledger.TimestampFilter{Gte: at(3), Lte: at(9)}, Window{3, 9, nil}},
		"after all":    {ledger.TimestampFilter{Gt: at(int64(ledger.MaxTimestamp))}, Window{0, -1, nil}},
		"none of":      {ledger.TimestampFilter{In: []ledger.Timestamp{}}, Window{0, -1, nil}},
		"except": {
			ledger.TimestampFilter{Ne: at(3), NotIn: []ledger.Timestamp{4}},
			Window{0, ledger.MaxTimestamp, []int64{3, 4}},
		},
	} {
		if got := WindowOf(&c.f); got.Lower != c.want.Lower || got.Upper != c.want.Upper ||
			fmt.Sprint(got.Except) != fmt.Sprint(c.want.Except) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestInOrderConditions(t *testing.T) {
	t.Parallel()
	long := func(f ledger.LongFilter) *ledger.LongFilter { return &f }
	for name, c := range map[string]struct {
		bounds []ColumnBounds
		sql    string
		args   []any
	}{
		"no bounds": {[]ColumnBounds{BoundsOn[int64]("a", nil), BoundsOn[int64]("b", nil)}, "", nil},
		"one column": {
			[]ColumnBounds{BoundsOn("a",
				long(ledger.LongFilter{Gt: ptr[int64](1), Gte: ptr[int64](3), Lte: ptr[int64](9)}))},
			" and a >= $1 and a <= $2",
			[]any{int64(3), int64(9)},
		},
		"equality": {
			[]ColumnBounds{
				BoundsOn("a", long(ledger.LongFilter{Eq: ptr[int64](1)})),
				BoundsOn("b", long(ledger.LongFilter{Lt: ptr[int64](5)})),
			},
			" and (a = $1 and b < $2)",
			[]any{int64(1), int64(5)},
		},
	} {
		var w Where
		w.InOrder(c.bounds...)
		check(t, name, &w, c.sql, c.args...)
	}
	var w Where
	f := long(ledger.LongFilter{Ne: ptr[int64](1), Gt: ptr[int64](2), In: []int64{3}})
	if !FilterKey(&w, "a", f, true).Given() || FilterKey(&w, "b", f, false).Given() {
		t.Error("bounds in order are returned")
	}
	check(t, "keys", &w, " and a <> $1 and a = $2 and b <> $3 and b > $4 and b = $5", int64(1), int64(3), int64(1),
		int64(2), int64(3))
	if FilterKey[int64](&w, "a", nil, true).Given() || BoundsOn[int64]("a", nil).Given() {
		t.Error("nil filters have no bounds")
	}
}
