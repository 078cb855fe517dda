package bench

import (
	"bytes"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nameOf is a path without its parameters.
func nameOf(path string) string {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/api/v1/"), "?")
	if strings.HasPrefix(path, "topics/") {
		return "messages"
	}
	return path
}

// TestSameBytes makes sure that the ways that are compared do the same work.
func TestSameBytes(t *testing.T) {
	r := newRig(t)
	for _, path := range r.paths {
		t.Run(nameOf(path), func(t *testing.T) {
			var bodies [][]byte
			for _, w := range r.ways(t, path) {
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
				t.Errorf("%s\nby hand:  %s\nby REST: %s", path, hand, rest)
			}
			if !bytes.Contains(rest, []byte(`"links":{"next":"/api/v1/`)) {
				t.Errorf("the page is not full: %s", rest)
			}
			if bytes.HasPrefix(graph, []byte(`{"errors"`)) || len(graph) < len(rest)*9/10 {
				t.Errorf("the graph answers %s", graph)
			}
		})
	}
}

// TestAllocations guards what the comparison showed: a request through the graph allocates no more than one by hand. The bounds leave room, so
// that only what happens once a row, or a large part of what happens once a request, can break them.
func TestAllocations(t *testing.T) {
	r := newRig(t)
	for _, path := range r.paths {
		t.Run(nameOf(path), func(t *testing.T) {
			ways := r.ways(t, path)
			allocations := make([]float64, len(ways))
			for i, w := range ways {
				allocations[i] = testing.AllocsPerRun(20, w.clients[0].ask)
			}
			hand := allocations[0]
			for i, most := range []float64{1, 1, 1.1} {
				if got := allocations[i]; got > most*hand {
					t.Errorf("%s: %s allocates %.0f times, more than %.1f times the %.0f by hand", path, ways[i].name, got, most, hand)
				}
			}
		})
	}
}

// cost is what requests took of the gateway's process; the database is another one.
type cost struct {
	requests       int
	wall, cpu      time.Duration
	objects, bytes uint64 // allocated
}

func (c cost) per(v float64) float64 { return v / float64(c.requests) }

// cpuTime is what this process has computed so far.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure adds what n more requests of each client cost.
func (c *cost) measure(tb testing.TB, w way, n int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wall, cpu := time.Now(), cpuTime(tb)
	w.askAll(n)
	c.cpu += cpuTime(tb) - cpu
	c.wall += time.Since(wall)
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

// perRound is how many requests of each client one way answers before it is the next one's turn.
const perRound = 10

// BenchmarkWays compares the three ways. They take turns, so that what else the machine does falls on all of them alike: the ratios tell
// more than the times. ns/op, B/op and allocs/op are those of REST.
func BenchmarkWays(b *testing.B) {
	r := newRig(b)
	for _, path := range r.paths {
		b.Run(nameOf(path), func(b *testing.B) {
			ways := r.ways(b, path)
			costs := make([]cost, len(ways))
			for _, w := range ways {
				new(cost).measure(b, w, perRound) // statements are prepared, plans compiled
			}
			round := 0
			for b.Loop() {
				for i := range ways {
					turn := (i + round) % len(ways)
					costs[turn].measure(b, ways[turn], perRound)
				}
				round++
			}
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
		b.ReportMetric(c.per(float64(c.wall.Microseconds())), w.name+"-µs")
		b.ReportMetric(c.per(float64(c.objects)), w.name+"-allocs")
		b.ReportMetric(c.per(float64(c.bytes))/1024, w.name+"-KiB")
		if i > 0 {
			b.ReportMetric(c.cpu.Seconds()/hand.cpu.Seconds(), w.name+"/hand-cpu")
			b.ReportMetric(float64(c.objects)/float64(hand.objects), w.name+"/hand-allocs")
			b.ReportMetric(float64(c.bytes)/float64(hand.bytes), w.name+"/hand-bytes")
		}
	}
}
