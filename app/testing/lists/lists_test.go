//go:build lists

package lists

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/pgtest"
)

var (
	only    = flag.String("lists.only", "", "regular expression of the requests to measure")
	printed = flag.Duration("lists.print", 50*time.Millisecond, "print requests that take longer")
	worst   = flag.Int("lists.worst", 30, "number of requests to print at least")
	indexed = flag.Bool("lists.indexed", false, "measure only requests that an index serves")
)

// Targets.
const (
	maxRequest = 100 * time.Millisecond // of a request that an index serves
	maxMedian  = 20 * time.Millisecond  // of all requests with the same list and filters
	timeout    = 5 * time.Second
	samples    = 3
)

// TestLists requests each list with each combination of its filters, with rare and frequent values, in both orders,
// and for several ranges of time.
func TestLists(t *testing.T) {
	url := os.Getenv("HELIOGRAPH_DATABASE_URL")
	if url == "" {
		t.Fatal("HELIOGRAPH_DATABASE_URL is not set. Set it to the database to measure.")
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var rec pgtest.Recorder
	var now, middle ledger.Timestamp
	if err := conn.QueryRow(t.Context(),
		`select max(consensus_end), (min(consensus_end) + max(consensus_end)) / 2 from record_file`).
		Scan((*int64)(&now), (*int64)(&middle)); err != nil {
		t.Fatal(err)
	}
	g := testenv.Over(t, url, func(o *testenv.Options) {
		o.RequestTimeout, o.REST.Now = timeout, now.Time
		o.Storage.Tracer, o.Storage.StatementTimeout = &rec, timeout
	})
	v := &values{conn: conn, seen: map[string][]string{}}
	wanted := regexp.MustCompile(*only)
	var all []*measured
	for _, l := range allLists() {
		for _, m := range l.requests(t, v, middle) {
			if !wanted.MatchString(m.path) {
				continue
			}
			m.served = served(t, g, m.path)
			if *indexed && !m.served {
				continue
			}
			measure(t, g, &rec, m)
			if m.status != http.StatusBadRequest { // some combinations are not supported
				all = append(all, m)
			}
		}
	}
	var documents []*measured
	for _, l := range graphLists() {
		documents = append(documents, l.requests(t, v)...)
	}
	for _, l := range nestedLists() {
		documents = append(documents, l.requests(t, v)...)
	}
	for _, m := range documents {
		if wanted.MatchString(m.path) && (m.served || !*indexed) {
			measure(t, g, &rec, m)
			all = append(all, m)
		}
	}
	report(t, g, &rec, all)
}

// rootList matches the list at the root of a document.
var rootList = regexp.MustCompile(`page: (\w+)`)

// served reports whether an index serves the filters of a request.
func served(t *testing.T, g *testenv.Gateway, path string) bool {
	t.Helper()
	x, err := g.Explain(t.Context(), "/api/v1"+path, nil)
	if err != nil {
		return true // rejected
	}
	list := rootList.FindStringSubmatch(x.Query)
	if list == nil {
		return true
	}
	filter, _ := x.Variables["filter"].(map[string]any)
	return storage.FindUnindexed(list[1], func(name string) bool { return filter[name] != nil }) == nil
}

// measure requests a path several times and stores the shortest time, since other work on the machine only adds to it.
func measure(t *testing.T, g *testenv.Gateway, rec *pgtest.Recorder, m *measured) {
	t.Helper()
	var took []time.Duration
	for i := range samples + 1 {
		rec.Reset()
		start := time.Now()
		got := m.ask(t, g)
		d := time.Since(start)
		if i > 0 || d > time.Second { // the first request reads what is not in memory
			took = append(took, d)
		}
		m.status = got.Status
		var body map[string]json.RawMessage
		_ = json.Unmarshal([]byte(got.Body), &body) // no rows are shown if it is not JSON
		m.shown = 0
		for _, raw := range body {
			var rows []json.RawMessage
			if json.Unmarshal(raw, &rows) == nil {
				m.shown = max(m.shown, len(rows))
			}
		}
		// because of what was read, which takes its time
		refused := strings.Contains(got.Body, "the page is not full after")
		if strings.Contains(got.Body, `"errors":[`) && strings.HasPrefix(m.path, "{") && !refused {
			t.Errorf("%s: %s", m.path, got.Body)
		}
		if d > time.Second || got.Status == http.StatusBadRequest {
			break
		}
	}
	if m.status == http.StatusBadRequest {
		return
	}
	m.took = slices.Min(took)
}

// report prints the slowest requests and the medians that miss their targets.
func report(t *testing.T, g *testenv.Gateway, rec *pgtest.Recorder, all []*measured) {
	t.Helper()
	groups := map[string][]*measured{}
	for _, m := range all {
		groups[m.group] = append(groups[m.group], m)
	}
	slices.SortFunc(all, func(a, b *measured) int { return int(b.took - a.took) })
	fmt.Printf("%d requests, %d lists and filters; median %.1f ms\n\n", len(all), len(groups),
		milliseconds(all[len(all)/2].took))
	fmt.Printf("| request | index | status | ms | rows shown | rows read |\n|---|---|--:|--:|--:|--:|\n")
	for i, m := range all {
		if i >= *worst && m.took < *printed {
			break
		}
		read := "" // is not measured again for all of them
		if i < *worst {
			read = rowsRead(t, g, rec, m)
		}
		fmt.Printf("| `%s` | %t | %d | %.1f | %d | %s |\n", m.path, m.served, m.status, milliseconds(m.took),
			m.shown, read)
		if m.served && (m.took > maxRequest || m.status >= http.StatusInternalServerError) {
			t.Errorf("%s took %s", m.path, m.took)
		}
	}
	fmt.Printf("\n| list and filters | requests | median ms | maximum ms | rows read by the median " +
		"|\n|---|--:|--:|--:|--:|\n")
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		list := groups[group]
		slices.SortFunc(list, func(a, b *measured) int { return int(a.took - b.took) })
		median := list[len(list)/2]
		read := ""
		if median.served {
			read = rowsRead(t, g, rec, median)
		}
		fmt.Printf("| `%s` | %d | %.1f | %.1f | %s |\n", group, len(list), milliseconds(median.took),
			milliseconds(list[len(list)-1].took), read)
		if median.served && median.took > maxMedian {
			t.Errorf("%s: the median of %d requests is %s", group, len(list), median.took)
		}
	}
}

// rowsRead repeats a request and returns how many rows its statements read, or "" if it is slow.
func rowsRead(t *testing.T, g *testenv.Gateway, rec *pgtest.Recorder, m *measured) string {
	t.Helper()
	if m.took > timeout/2 {
		return ""
	}
	m.ask(t, g) // the cache of statements
	rec.Reset()
	m.ask(t, g)
	rows, err := rec.RowsRead(t.Context(), g.DB.Pool())
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%.0f", rows)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
