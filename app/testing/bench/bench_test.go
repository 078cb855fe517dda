package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestSameBytes checks that the compared variants return the same body.
func TestSameBytes(t *testing.T) {
	r := newRig(t)
	for _, q := range r.requests {
		t.Run(q.name, func(t *testing.T) {
			var bodies [][]byte
			for _, w := range r.ways(t, q.path) {
				c := w.clients[0]
				c.to.keep = true
				c.ask()
				if c.to.status != http.StatusOK {
					t.Fatalf("%s answers %d: %s", w.name, c.to.status, c.to.body)
				}
				bodies = append(bodies, c.to.body)
			}
			hand, rest, graph := bodies[0], bodies[1], bodies[2]
			if !bytes.Equal(hand, rest) {
				t.Errorf("%s\nby hand: %s\nby REST: %s", q.path, hand, rest)
			}
			if q.list && !bytes.Contains(rest, []byte(`"links":{"next":"/api/v1/`)) {
				t.Errorf("the page is not full: %s", rest)
			}
			if bytes.HasPrefix(graph, []byte(`{"errors"`)) || len(graph) < len(rest)*9/10 {
				t.Errorf("the graph answers %s", graph)
			}
		})
	}
}

// cost is what requests used: time, and the CPU time and allocations of this process and the CPU time of PostgreSQL's
// backends.
type cost struct {
	requests       int
	wall, cpu, pg  time.Duration
	collector      time.Duration // the part of cpu in which the garbage collector ran
	objects, bytes uint64        // allocated
}

func (c cost) per(v float64) float64 { return v / float64(c.requests) }

// cpuTime returns the CPU time of this process.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// collectorTime returns the CPU time of the garbage collector of this process.
func collectorTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration(sample[0].Value.Float64() * float64(time.Second))
}

// shareCollections replaces the collector's part of the CPU time of each cost by a share of all of it, in proportion
// to the allocated bytes. A collection is started by the bytes of all, but it runs beside one: a dozen collections in
// a benchmark can fall on the same variant each time, because their rhythm fits that of the rounds.
func shareCollections(costs []cost) {
	var collector time.Duration
	var bytes uint64
	for _, c := range costs {
		collector += c.collector
		bytes += c.bytes
	}
	for i, c := range costs {
		share := time.Duration(float64(collector) * float64(c.bytes) / float64(bytes))
		costs[i].cpu += share - c.collector
		costs[i].collector = share
	}
}

// backends returns the files with the CPU times of PostgreSQL's processes for this database, or none if they run on
// another machine.
func (r *rig) backends(tb testing.TB) []string {
	tb.Helper()
	rows, err := r.pool.Query(tb.Context(),
		`select '/proc/' || pid || '/schedstat' from pg_stat_activity where datname = current_database()`)
	if err != nil {
		tb.Fatal(err)
	}
	files, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		tb.Fatal(err)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	})
}

// backendTime returns the CPU time in such files. It fails the test if one of the processes has ended.
func backendTime(tb testing.TB, files []string) time.Duration {
	tb.Helper()
	sum, err := cpuOf(files)
	if err != nil {
		tb.Fatal(err)
	}
	return sum
}

// cpuOf returns the CPU time in such files. It fails if one of the processes has ended, and its time with it.
func cpuOf(files []string) (sum time.Duration, err error) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		var ns int64
		if _, err := fmt.Sscan(string(text), &ns); err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// measure adds the cost of n more requests of each client.
func (c *cost) measure(tb testing.TB, backends []string, w way, n int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pg := backendTime(tb, backends)
	wall, cpu, collector := time.Now(), cpuTime(tb), collectorTime()
	w.askAll(n)
	c.cpu += cpuTime(tb) - cpu
	c.collector += collectorTime() - collector
	c.wall += time.Since(wall)
	c.pg += backendTime(tb, backends) - pg
	runtime.ReadMemStats(&after)
	c.requests += n * len(w.clients)
	c.objects += after.Mallocs - before.Mallocs
	c.bytes += after.TotalAlloc - before.TotalAlloc
	for _, one := range w.clients {
		if one.to.status != http.StatusOK {
			tb.Fatalf("%s answers %d", w.name, one.to.status)
		}
	}
}

// perRound is the number of requests that each client sends to a variant before the next variant is measured.
const perRound = 10

// BenchmarkWays compares the three variants. They alternate, so that other work on the machine affects all of them
// alike: the ratios are more reliable than the times. ns/op, B/op and allocs/op are those of REST.
func BenchmarkWays(b *testing.B) {
	r := newRig(b)
	for _, q := range r.requests {
		b.Run(q.name, func(b *testing.B) {
			ways := r.ways(b, q.path)
			costs := make([]cost, len(ways))
			for _, w := range ways {
				new(cost).measure(b, r.backends(b), w, perRound) // statements are prepared, plans compiled
			}
			backends := r.backends(b)
			round := 0
			for b.Loop() {
				for i := range ways {
					turn := (i + round) % len(ways)
					costs[turn].measure(b, backends, ways[turn], perRound)
				}
				round++
			}
			shareCollections(costs)
			report(b, ways, costs)
		})
	}
}

func report(b *testing.B, ways []way, costs []cost) {
	hand, rest := costs[0], costs[1]
	b.ReportMetric(rest.per(float64(rest.wall.Nanoseconds())), "ns/op")
	b.ReportMetric(rest.per(float64(rest.objects)), "allocs/op")
	b.ReportMetric(rest.per(float64(rest.bytes)), "B/op")
	for i, w := range ways {
		c := costs[i]
		b.ReportMetric(c.per(float64(c.cpu.Microseconds())), w.name+"-cpu-µs")
		b.ReportMetric(c.per(float64(c.pg.Microseconds())), w.name+"-pg-µs")
		b.ReportMetric(c.per(float64(c.wall.Microseconds())), w.name+"-µs")
		b.ReportMetric(c.per(float64(c.objects)), w.name+"-allocs")
		b.ReportMetric(c.per(float64(c.bytes))/1024, w.name+"-KiB")
		if i > 0 {
			b.ReportMetric(c.cpu.Seconds()/hand.cpu.Seconds(), w.name+"/hand-cpu")
			if hand.pg > 0 {
				b.ReportMetric(c.pg.Seconds()/hand.pg.Seconds(), w.name+"/hand-pg")
			}
			b.ReportMetric(float64(c.objects)/float64(hand.objects), w.name+"/hand-allocs")
			b.ReportMetric(float64(c.bytes)/float64(hand.bytes), w.name+"/hand-bytes")
		}
	}
}
