//go:build soak

package soak

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

var (
	beside = flag.Int("soak.beside",
		500,
		"transactions per second that are written beside the readers of TestReadersBesideWriter and "+
			"TestReadersOfLargeDatabase")
	large = flag.String("soak.database",
		"", "URL of the database of TestReadersOfLargeDatabase, which writes to it and deletes what it has written")
)

// besidePaths are read in turn: objects and newest pages, which the writer changes. A and T are the numbers of an
// account and of a topic.
var besidePaths = []string{
	"/api/v1/transactions?limit=25", "/api/v1/accounts/0.0.A", "/api/v1/topics/0.0.T/messages?order=desc&limit=25",
	"/api/v1/topics/0.0.T/messages/1",
}

// TestReadersBesideWriter reads for a while, and then once more while transactions with messages are written. It
// reports the delays and how many blocks PostgreSQL found in its cache. No request may fail.
func TestReadersBesideWriter(t *testing.T) {
	n := startNetwork(t)
	paths := pathsOf(1001, firstTopic)
	w := &writer{url: n.url, topics: *topics}
	if err := w.write(t.Context(), 2000, 5*time.Second); err != nil { // the pages are full
		t.Fatal(err)
	}
	execute(t, n, `insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, balance, deleted)
select i, i, 0, 0, case when i = 1001 then 'ACCOUNT' else 'TOPIC' end::entity_type, '[1,)', 1, 5, false from (values (1001), (9001)) v(i)`, `vacuum (analyze)`)
	readBeside(t, n, paths, "no writer", *length/2)
	before, stop := w.count(), make(chan error, 1)
	go func() { stop <- w.write(t.Context(), *beside, *length/2) }()
	readBeside(t, n, paths, fmt.Sprintf("%d transactions/s", *beside), *length/2)
	if err := <-stop; err != nil {
		t.Fatal(err)
	}
	if got, want := w.count()-before, int64(float64(*beside)*(*length/2).Seconds()); got != want {
		t.Errorf("%d transactions were written, want %d", got, want)
	}
}

// pathsOf returns [besidePaths] of an account and a topic.
func pathsOf(account, topic int64) (paths []string) {
	numbers := strings.NewReplacer("0.0.A", fmt.Sprintf("0.0.%d", account), "0.0.T", fmt.Sprintf("0.0.%d", topic))
	for _, path := range besidePaths {
		paths = append(paths, numbers.Replace(path))
	}
	return paths
}

// readBeside lets four clients read paths for a while.
func readBeside(t *testing.T, n *network, paths []string, what string, length time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	hits, reads := cacheUse(t, n)
	var mu sync.Mutex
	var delays []time.Duration
	var clients sync.WaitGroup
	cpu := n.cpuTime(t)
	for c := range 4 {
		clients.Go(func() {
			var own []time.Duration
			for i := c; ctx.Err() == nil; i++ {
				start := time.Now()
				resp, err := get(t.Context(), http.DefaultClient, "http://"+n.address+paths[i%len(paths)])
				if err != nil {
					t.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %s %v", paths[i%len(paths)], resp.Status, err)
					return
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			delays = append(delays, own...)
		})
	}
	clients.Wait()
	slices.Sort(delays)
	moreHits, moreReads := cacheUse(t, n)
	micros := func(q float64) time.Duration {
		return delays[int(q*float64(len(delays)-1))].Round(10 * time.Microsecond)
	}
	t.Logf("%s: %.0f requests/s, p50 %v, p99 %v, max %v; gateway: %v a request; PostgreSQL: %.2f %% of the blocks "+
		"in its cache; load average %s", what,
		float64(len(delays))/length.Seconds(), micros(0.5), micros(0.99), micros(1),
		((n.cpuTime(t) - cpu) / time.Duration(len(delays))).Round(time.Microsecond),
		100*float64(moreHits-hits)/float64(max(1, moreHits-hits+moreReads-reads)), load())
}

// execute runs statements.
func execute(t *testing.T, n *network, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%v in %s", err, sql)
		}
	}
}

// cacheUse returns how many blocks PostgreSQL has found in its cache so far, and how many it has read into it.
func cacheUse(t *testing.T, n *network) (hits, reads int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	const sql = `select blks_hit, blks_read from pg_stat_database where datname = current_database()`
	if err := conn.QueryRow(t.Context(), sql).Scan(&hits, &reads); err != nil {
		t.Fatal(err)
	}
	return hits, reads
}
