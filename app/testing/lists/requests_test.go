package lists

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
)

// measured is a request and its measurements.
type measured struct {
	path   string // with the query
	group  string // the list and its filters, without values
	served bool   // by an index
	took   time.Duration
	shown  int
	status int
}

// values reads the values of filters.
type values struct {
	conn *pgx.Conn
	seen map[string][]string
}

// of returns the rarest, the median and the most frequent of the values that a statement counts.
func (v *values) of(t *testing.T, sql string) []string {
	t.Helper()
	if sql == "" {
		return nil
	}
	if known, ok := v.seen[sql]; ok {
		return known
	}
	var found []string
	if err := v.conn.QueryRow(t.Context(), `with c as materialized (select v, n, row_number() over (order by n, v) as place, count(*) over () as rows from (`+sql+`) s)
select coalesce(array_agg(v::text order by place), '{}') from c where place in (1, (rows + 1) / 2, rows)`).Scan(&found); err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	if sql == transactionTypes {
		for i, number := range found {
			var n int16
			if _, err := fmt.Sscan(number, &n); err != nil {
				t.Fatal(err)
			}
			found[i] = ledger.TransactionType(n).String()
		}
	}
	v.seen[sql] = found
	return found
}

// queries returns the conditions of a filter.
func (f *filter) queries(t *testing.T, v *values) []string {
	t.Helper()
	all := append(slices.Clone(v.of(t, f.values)), strings.Fields(f.fixed+" "+f.absent)...)
	if f.ops == "" {
		f.ops = "="
	}
	var out []string
	for op := range strings.FieldsSeq(f.ops) {
		for _, text := range all {
			if op == "=" || text != f.absent {
				out = append(out, f.name+"="+strings.TrimPrefix(op, "=")+text)
			}
		}
	}
	return out
}

// requests returns all requests of a list.
func (l *list) requests(t *testing.T, v *values, middle ledger.Timestamp) []*measured {
	t.Helper()
	paths := []string{l.path}
	if l.parents != "" {
		paths = nil
		for _, parent := range v.of(t, l.parents) {
			path := l.path
			for word := range strings.FieldsSeq(parent) {
				path = strings.Replace(path, "{}", word, 1)
			}
			paths = append(paths, path)
		}
		if l.path == "/accounts/{}" {
			paths = append(paths, "/accounts/98", "/accounts/800")
		}
	}
	const hour = ledger.Timestamp(time.Hour)
	spans := map[times][]string{
		untimed: {""},
		ranges: {
			"", fmt.Sprintf("timestamp=gte:%s&timestamp=lt:%s", middle, middle+hour),
			fmt.Sprintf("timestamp=gte:%s&timestamp=lt:%s", middle, middle+7*24*hour), "timestamp=gte:1",
		},
		asOf: {"", "timestamp=lt:" + middle.String()},
	}[l.times]
	var out []*measured
	add := func(names []string, query string) {
		for _, path := range paths {
			for _, span := range spans {
				for _, order := range []string{"order=asc", "order=desc"} {
					full := strings.Join(slices.DeleteFunc([]string{query, span, order}, func(s string) bool {
						return s == ""
					}), "&")
					out = append(out, &measured{
						path:  path + "?" + full,
						group: strings.Join(append([]string{l.path}, names...), " "),
					})
				}
			}
		}
	}
	var combine func(from int, names []string, query string)
	combine = func(from int, names []string, query string) {
		add(names, query)
		if len(names) == max(l.depth, 1) {
			return
		}
		for i := from; i < len(l.filters); i++ {
			for _, q := range l.filters[i].queries(t, v) {
				combine(i+1, append(slices.Clone(names), l.filters[i].name), strings.Trim(query+"&"+q, "&"))
			}
		}
	}
	combine(0, nil, "")
	return out
}
