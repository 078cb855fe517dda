package gateway_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// TestWatermark commits blocks before their rows, as a distributed database does. Until the watermark reaches a
// block, lists, look-ups, freshness, the cache of responses and subscriptions give the responses of a database
// without it.
func TestWatermark(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	var newest, number int64
	if err := conn.QueryRow(t.Context(),
		`select consensus_end, index from record_file order by consensus_end desc limit 1`).Scan(&newest,
		&number); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, conn,
		`create table record_file_watermark (consensus_end bigint); insert into record_file_watermark values (null)`)
	g := testenv.Over(t, url, testenv.Cached, func(o *testenv.Options) {
		o.Graph.CacheBytes, o.Graph.PollInterval = 1<<20, 10*time.Millisecond
	})
	start := fmt.Sprintf("%d.%09d", newest/1e9, newest%1e9)
	blocks := subscribe(t, g, `subscription { of: blocks(from: "`+start+`") { number } }`, nil)
	transactions := subscribe(t, g, `subscription { of: transactions(from: "`+start+`") { at: consensusTimestamp } }`,
		nil)

	// Three blocks of a second each with one transaction, of which only the first is visible.
	const second = 1_000_000_000
	end := func(n int64) int64 { return newest + n*second }
	pgtest.Exec(t, conn, fmt.Sprintf(`update record_file_watermark set consensus_end = %d`, newest))
	for n := int64(1); n <= 3; n++ {
		pgtest.Exec(t, conn, fmt.Sprintf(`create temp table b as select * from record_file where index = %d;
update b set name = name || '%d', hash = lpad('%d', 96, '7'), consensus_start = %d, consensus_end = %d, index = %d, count = 1;
insert into record_file select * from b; drop table b`, number, n, n, end(n)-second/2, end(n), number+n))
	}
	shows := func(when string, last int64) {
		t.Helper()
		want := fmt.Sprintf(`{"data":{"blocks":{"nodes":[{"number":"%[1]d"}]},`+
			`"network":{"freshness":{"newestBlock":{"number":"%[1]d"}}}}}`, last)
		for range 2 { // the second response can be that of the cache
			if got := g.Query(t,
				`{ blocks(first: 1) { nodes { number } } network { freshness { newestBlock { number } } } }`,
				nil); got.Body != want {
				t.Errorf("%s: got %s, want %s", when, got.Body, want)
			}
		}
		for n := number; n <= number+3; n++ {
			want := http.StatusOK
			if n > last {
				want = http.StatusNotFound
			}
			if got := g.Get(t, fmt.Sprintf("/api/v1/blocks/%d", n)); got.Status != want {
				t.Errorf("%s: block %d has status %d, want %d", when, n, got.Status, want)
			}
		}
		if head, err := g.DB.Newest(t.Context()); err != nil || head != end(last-number) {
			t.Errorf("%s: the newest block ends at %d, want %d (%v)", when, head, end(last-number), err)
		}
		got := g.Get(t, fmt.Sprintf("/api/v1/blocks?timestamp=gte:%d.%09d", end(2)/1e9, end(2)%1e9))
		if empty := got.Body == `{"blocks":[],"links":{"next":null}}`; empty != (last < number+2) {
			t.Errorf("%s: blocks from the second on: %s", when, got.Body)
		}
	}
	shows("no block is visible", number)
	for n := int64(1); n <= 3; n++ {
		pgtest.Exec(t, conn, fmt.Sprintf(`create temp table x as select * from transaction order by consensus_timestamp desc limit 1;
update x set consensus_timestamp = %d; insert into transaction select * from x; drop table x`, end(n)))
	}
	shows("no block is visible, their rows are there", number)
	for n := int64(1); n <= 2; n++ {
		pgtest.Exec(t, conn, fmt.Sprintf(`update record_file_watermark set consensus_end = %d`, end(n)))
		if got, want := await(t, blocks).data, fmt.Sprintf(`{"data":{"of":{"number":"%d"}}}`, number+n); got != want {
			t.Errorf("block %d: event %s, want %s", n, got, want)
		}
		if got, want := await(t, transactions).data,
			fmt.Sprintf(`{"data":{"of":{"at":"%d.%09d"}}}`, end(n)/1e9, end(n)%1e9); got != want {
			t.Errorf("block %d: event %s, want %s", n, got, want)
		}
		shows(fmt.Sprintf("block %d is visible", n), number+n)
	}
	pgtest.Exec(t, conn, `update record_file_watermark set consensus_end = null`)
	await(t, blocks)
	shows("without a bound", number+3)
}
