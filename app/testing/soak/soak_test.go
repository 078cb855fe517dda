//go:build soak

package soak

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	subscribers = flag.Int("soak.subscribers", 2000, "how many subscribe")
	topics      = flag.Int("soak.topics", 20, "how many topics they listen to")
	rate        = flag.Int("soak.rate", 100, "messages a second, to all topics")
	length      = flag.Duration("soak.time", time.Minute, "how long messages are written")
	ramp        = flag.Bool("soak.ramp", true, "look for the rate at which delays pass a second")
)

// What has to hold.
const (
	mostMemory = 400         // MiB, of the gateway
	mostDelay  = time.Second // of 99 in 100 deliveries
)

// audience is everybody who listens.
type audience struct {
	t    *testing.T
	all  []*subscriber
	done sync.WaitGroup
}

// listen starts all subscriptions and returns when the gateway has accepted them. They end with the test.
func listen(t *testing.T, n *network) *audience {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a := &audience{t: t}
	var ready sync.WaitGroup
	for i := range *subscribers {
		s := &subscriber{address: n.address, topic: firstTopic + i%*topics}
		a.all = append(a.all, s)
		ready.Add(1)
		a.done.Go(func() { s.listen(ctx, ready.Done) })
	}
	t.Cleanup(func() {
		cancel()
		a.done.Wait()
	})
	ready.Wait()
	return a
}

// complete waits until everybody has heard everything that the writer has written.
func (a *audience) complete(w *writer, patience time.Duration) bool {
	a.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		behind := slices.ContainsFunc(a.all, func(s *subscriber) bool { return s.heard.Load() < w.inTopic(s.topic) })
		if !behind {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// inTopic is how many messages a topic has.
func (w *writer) inTopic(topic int) int64 {
	n := w.count()
	return (n - int64(topic-firstTopic) + int64(w.topics) - 1) / int64(w.topics)
}

// judge fails for every subscriber who lost a message or heard one twice, and returns the delays and how many streams broke.
func (a *audience) judge() (delays []time.Duration, breaks int64) {
	a.t.Helper()
	for _, s := range a.all {
		if s.fault != nil {
			a.t.Error(s.fault)
		}
		delays = append(delays, s.delays...)
		s.delays = s.delays[:0]
		breaks += s.breaks.Load()
	}
	slices.Sort(delays)
	return delays, breaks
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))].Round(time.Millisecond)
}

// load is the machine's load average of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// run writes for a while, waits for everybody, and reports.
func run(t *testing.T, n *network, a *audience, w *writer, rate int, length time.Duration) (delays []time.Duration, breaks int64) {
	t.Helper()
	before, cpu, start := w.count(), n.used(t), time.Now()
	if err := w.write(t.Context(), rate, length); err != nil {
		t.Fatal(err)
	}
	if !a.complete(w, 30*time.Second) {
		t.Error("not everybody has heard everything after 30 s")
	}
	took := time.Since(start)
	delays, breaks = a.judge()
	now, peak := n.resident(t)
	t.Logf("%d messages/s: %d messages in %v, %d deliveries (%.0f/s), %d streams broke; delay p50 %v, p99 %v, most %v; gateway: %d MiB now, %d MiB at most, %.0f %% of a CPU; load average %s",
		rate, w.count()-before, took.Round(time.Second), len(delays), float64(len(delays))/took.Seconds(), breaks,
		quantile(delays, 0.5), quantile(delays, 0.99), quantile(delays, 1), now, peak, 100*(n.used(t)-cpu).Seconds()/took.Seconds(), load())
	if peak > mostMemory {
		t.Errorf("the gateway took %d MiB, more than %d", peak, mostMemory)
	}
	return delays, breaks
}

// TestSoak lets everybody listen while messages are written, and then more and more of them.
func TestSoak(t *testing.T) {
	n := startNetwork(t)
	w := &writer{url: n.url, topics: *topics}
	a := listen(t, n)
	delays, breaks := run(t, n, a, w, *rate, *length)
	if want := w.count() * int64(*subscribers / *topics); int64(len(delays)) != want {
		t.Errorf("%d deliveries, not %d", len(delays), want)
	}
	if breaks > 0 {
		t.Errorf("%d streams broke", breaks)
	}
	if p99 := quantile(delays, 0.99); p99 > mostDelay {
		t.Errorf("the delay of 99 %% of deliveries is up to %v, more than %v, at a load average of %s", p99, mostDelay, load())
	}
	for more := 2 * *rate; *ramp && !t.Failed(); more += *rate {
		delays, breaks := run(t, n, a, w, more, 10*time.Second)
		if p99 := quantile(delays, 0.99); p99 > mostDelay || breaks > 0 {
			t.Logf("at %d messages/s, which are %d deliveries/s, the delay passes %v", more, more**subscribers / *topics, mostDelay)
			return
		}
	}
}

// TestSoakThroughARestart does the same while PostgreSQL is stopped and started again.
func TestSoakThroughARestart(t *testing.T) {
	n := startNetwork(t)
	w := &writer{url: n.url, topics: *topics}
	a := listen(t, n)
	restarted := make(chan struct{})
	go func() {
		defer close(restarted)
		time.Sleep(*length / 2)
		n.stopServer(t)
		time.Sleep(2 * time.Second)
		n.startServer(t)
	}()
	delays, breaks := run(t, n, a, w, *rate, *length)
	<-restarted
	if want := w.count() * int64(*subscribers / *topics); int64(len(delays)) != want {
		t.Errorf("%d deliveries, not %d", len(delays), want)
	}
	if breaks > 0 {
		t.Errorf("%d streams broke", breaks)
	}
}
