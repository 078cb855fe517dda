package storage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

type keyed struct {
	key  int64
	name string
}

func rowsOf(name string, keys ...int64) []*keyed {
	out := make([]*keyed, len(keys))
	for i, k := range keys {
		out[i] = &keyed{k, name}
	}
	return out
}

func TestMerge(t *testing.T) {
	t.Parallel()
	text := func(rows []*keyed) string {
		var s strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&s, "%s%d ", r.name, r.key)
		}
		return s.String()
	}
	for name, c := range map[string]struct {
		a, b []int64 // ascending
		desc bool
		want string
	}{
		"both empty":    {nil, nil, false, ""},
		"second empty":  {[]int64{1, 2}, nil, false, "a1 a2 "},
		"first empty":   {nil, []int64{1, 2}, false, "b1 b2 "},
		"alternating":   {[]int64{1, 4}, []int64{2, 3}, false, "a1 b2 b3 a4 "},
		"descending":    {[]int64{1, 4}, []int64{2, 3}, true, "a4 b3 b2 a1 "},
		"one after all": {[]int64{5, 6}, []int64{1, 2}, false, "b1 b2 a5 a6 "},
		"equal keys":    {[]int64{1, 3}, []int64{1, 2, 3}, false, "a1 b2 a3 "},
		"limit":         {[]int64{1, 3, 5}, []int64{2, 4, 6}, false, "a1 b2 a3 b4 "},
		"last page":     {[]int64{1, 3, 5}, []int64{2, 4, 6}, true, "b6 a5 b4 a3 "},
	} {
		a, b := rowsOf("a", c.a...), rowsOf("b", c.b...)
		if c.desc {
			slices.Reverse(a)
			slices.Reverse(b)
		}
		if got := text(Merge(a, b, Page{Limit: 4, Desc: c.desc}, func(r *keyed) int64 {
			return r.key
		})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestGroupByParent(t *testing.T) {
	t.Parallel()
	rows := append(rowsOf("x", 2, 2, 0), rowsOf("y", -1, 2, 1)...)
	got := GroupByParent(rows, 4, func(r *keyed) int { return int(r.key) }, func(r *keyed) *string { return &r.name })
	for parent, want := range [][]*string{
		{&rows[2].name},
		{&rows[5].name},
		{&rows[0].name, &rows[1].name, &rows[4].name},
		nil,
	} {
		if !slices.Equal(got[parent], want) {
			t.Errorf("parent %d has %d rows, want %d", parent, len(got[parent]), len(want))
		}
	}
	_ = append(got[0], new(string)) // must not overwrite the rows of the next parent
	if got[1][0] != &rows[5].name {
		t.Error("the lists of two parents overlap")
	}
}
