package bench

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
)

const (
	exported = `query($of: EntityID!, $first: Int, $after: String) {
		transactions(filter: {accountId: {eq: $of}}, first: $first, after: $after) {
			nodes { consensusTimestamp transactionId type result chargedFee entityId } pageInfo { hasNextPage endCursor }
		}
	}`
	year = `query($of: AccountRef!, $from: Timestamp!, $to: Timestamp!) {
		account(id: $of) { stats(range: {from: $from, to: $to}, by: DAY) { from transactions received sent rewards } }
	}`
	month = `query($from: Timestamp!, $to: Timestamp!) { network { stats(range: {from: $from, to: $to}, by: DAY) { ` +
		`from blocks transactions gasUsed } } }`
)

// BenchmarkExports measures, on the database at HELIOGRAPH_DATABASE_URL, a CSV export of the transactions of an
// account with many, which has the rows that paging returns, and requests of another client beside it. It also
// measures statistics of a year of an account and of a month of the network.
func BenchmarkExports(b *testing.B) {
	url := os.Getenv("HELIOGRAPH_DATABASE_URL")
	if url == "" {
		b.Skip("HELIOGRAPH_DATABASE_URL is not set")
	}
	now := newestBlock(b, url)()
	g := testenv.Over(b, url, func(o *testenv.Options) {
		o.Storage.ReadOnly = true
	}, func(o *testenv.Options) { o.Graph.CacheBytes = 0 })
	busiest := func(offset int) (id string) {
		sql := `select payer_account_id::text from transaction group by 1 order by count(*) desc, 1 offset $1 limit 1`
		if err := g.DB.Pool().QueryRow(b.Context(), sql, offset).Scan(&id); err != nil {
			b.Fatal(err)
		}
		return id
	}
	of := busiest(0)
	b.Run("CSV", func(b *testing.B) {
		var want []string
		variables := map[string]any{"of": of, "first": 100}
		for more := true; more && len(want) < 100_000; {
			var data struct {
				Transactions struct {
					Nodes    []struct{ ConsensusTimestamp string }
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
			g.Data(b, exported, variables, &data)
			for _, n := range data.Transactions.Nodes {
				want = append(want, n.ConsensusTimestamp)
			}
			more, variables["after"] = data.Transactions.PageInfo.HasNextPage, data.Transactions.PageInfo.EndCursor
		}
		beside := &other{g: g, id: of}
		quiet := percentile(beside.times(b, func() { time.Sleep(5 * time.Second) }))
		runtime.GC()
		var before, during runtime.MemStats
		runtime.ReadMemStats(&before)
		var most uint64
		var busy []float64
		for b.Loop() {
			var got []string
			busy = append(busy, beside.times(b, func() {
				got = csvColumn(b, g, exported, of, func() {
					runtime.ReadMemStats(&during)
					most = max(most, during.HeapInuse)
				})
			})...)
			if !slices.Equal(got, want) {
				b.Fatalf("the export has %d rows, paging %d", len(got), len(want))
			}
		}
		b.ReportMetric(percentile(busy), "p99-beside-ms")
		b.ReportMetric(quiet, "p99-alone-ms")
		b.ReportMetric(float64(len(want)), "rows")
		b.ReportMetric(float64(int64(most)-int64(before.HeapInuse))/1e6, "heap-MB")
	})
	for _, s := range []struct {
		name, query string
		days        int
	}{{"Year-of-account", year, 365}, {"Month-of-network", month, 30}} {
		b.Run(s.name, func(b *testing.B) {
			variables := map[string]any{
				"from": strconv.FormatInt(now.AddDate(0, 0, -s.days).Unix(), 10),
				"to":   strconv.FormatInt(now.Unix(), 10),
			}
			if s.days == 365 {
				variables["of"] = busiest(10)
			}
			var times []float64
			for b.Loop() {
				start := time.Now()
				g.Data(b, s.query, variables, new(any))
				times = append(times, time.Since(start).Seconds()*1000)
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "median-ms")
		})
	}
}

// csvColumn exports the rows of an account and returns their first column. It calls each at regular intervals.
func csvColumn(b *testing.B, g *testenv.Gateway, query, of string, each func()) (column []string) {
	b.Helper()
	body := fmt.Sprintf(`{"query":%q,"variables":{"of":%q}}`, strings.Join(strings.Fields(query), " "), of)
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, g.URL+"/graphql", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/csv")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		first, _, _ := strings.Cut(lines.Text(), ",")
		if column = append(column, strings.Clone(first)); len(column)%1000 == 0 {
			each()
		}
	}
	if last := len(column) - 1; strings.HasPrefix(column[last], "#") { // the reason of the cut
		column = column[:last]
	}
	return column[1:]
}

// other is a client that requests an account again and again.
type other struct {
	g  *testenv.Gateway
	id string
}

// times returns the times of the requests while a function runs, in ms.
func (o *other) times(b *testing.B, f func()) []float64 {
	b.Helper()
	var end atomic.Bool
	times := make(chan []float64)
	go func() {
		var all []float64
		for !end.Load() {
			start := time.Now()
			o.g.Data(b,
				`query($id: AccountRef!) { account(id: $id) { memo transactions(first: 10) { nodes { type } } } }`,
				map[string]any{"id": o.id}, new(any))
			all = append(all, time.Since(start).Seconds()*1000)
			time.Sleep(5 * time.Millisecond)
		}
		times <- all
	}()
	f()
	end.Store(true)
	return <-times
}

// percentile returns the 99th percentile.
func percentile(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)*99/100]
}
