//go:build soak

package soak

import (
	"context"
	"flag"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	subscribers = flag.Int("soak.subscribers", 2000, "number of subscribers")
	topics      = flag.Int("soak.topics", 20, "number of topics")
	rate        = flag.Int("soak.rate", 100, "messages per second, in all topics")
	length      = flag.Duration("soak.time", time.Minute, "duration of the writes")
	maxMemory   = flag.Int("soak.memory", 400, "limit for the memory of the gateway, in MiB")
	ramp        = flag.Bool("soak.ramp",
		true, "increase the rate until the delay of 99 % of the deliveries exceeds a second")
)

// maxDelay is the limit for 99 % of the deliveries.
const maxDelay = time.Second

// audience is the set of subscribers.
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
		s := &subscriber{address: n.address, topic: firstTopic + i%*topics, from: net.IPv4(127, 0, 2, byte(i%200))}
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

// complete waits until all subscribers have received all messages, and reports whether they have within the timeout.
func (a *audience) complete(w *writer, timeout time.Duration) bool {
	a.t.Helper()
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		behind := slices.ContainsFunc(a.all, func(s *subscriber) bool {
			return s.received.Load() < w.inTopic(s.topic)
		})
		if !behind {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// inTopic returns the number of messages in a topic.
func (w *writer) inTopic(topic int) int64 {
	n := w.count()
	return (n - int64(topic-firstTopic) + int64(w.topics) - 1) / int64(w.topics)
}

// check fails for each subscriber that missed a message or received one twice. It returns the delays and the number of
// interrupted streams.
func (a *audience) check() (delays []time.Duration, breaks int64) {
	a.t.Helper()
	for _, s := range a.all {
		if s.fault != nil {
			a.t.Error(s.fault)
		}
		delays = append(delays, s.delays...)
		s.delays = s.delays[:0]
		breaks += s.breaks.Load()
		if reason := s.reason.Swap(nil); reason != nil {
			a.t.Logf("topic 0.0.%d: message %d: %v", s.topic, s.received.Load(), *reason)
		}
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

// load returns the load average of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// run writes messages, waits until all are delivered, and logs a summary.
func run(
	t *testing.T, n *network, a *audience, w *writer, rate int, length time.Duration,
) (delays []time.Duration, breaks int64) {
	t.Helper()
	before, cpu, clients, start := w.count(), n.cpuTime(t), ownTime(t), time.Now()
	if err := w.write(t.Context(), rate, length); err != nil {
		t.Fatal(err)
	}
	if !a.complete(w, 30*time.Second) {
		t.Error("messages are missing after 30 s")
	}
	took := time.Since(start)
	delays, breaks = a.check()
	now, peak := n.resident(t)
	t.Logf("%d messages/s: %d messages in %v, %d deliveries (%.0f/s), %d interrupted streams; delay p50 %v, p99 %v, "+
		"max %v; load average %s",
		rate, w.count()-before, took.Round(time.Second), len(delays), float64(len(delays))/took.Seconds(), breaks,
		quantile(delays, 0.5), quantile(delays, 0.99), quantile(delays, 1), load())
	percent := func(d time.Duration) float64 { return 100 * d.Seconds() / took.Seconds() }
	t.Logf("gateway: %d MiB, peak %d MiB, %.0f %% of a CPU; clients and writer: %.0f %% of a CPU", now, peak,
		percent(n.cpuTime(t)-cpu), percent(ownTime(t)-clients))
	if peak > *maxMemory {
		t.Errorf("the gateway used %d MiB, more than %d", peak, *maxMemory)
	}
	return delays, breaks
}

// TestSoak writes messages at a constant rate, and then at increasing rates.
func TestSoak(t *testing.T) {
	n := startNetwork(t)
	w := &writer{url: n.url, topics: *topics}
	idle, _ := n.resident(t)
	a := listen(t, n)
	listening, _ := n.resident(t)
	t.Logf("%d subscribers use %d KiB each", *subscribers, (listening-idle)<<10 / *subscribers)
	delays, breaks := run(t, n, a, w, *rate, *length)
	if want := w.count() * int64(*subscribers / *topics); int64(len(delays)) != want {
		t.Errorf("%d deliveries, want %d", len(delays), want)
	}
	if breaks > 0 {
		t.Errorf("%d interrupted streams", breaks)
	}
	if p99 := quantile(delays, 0.99); p99 > maxDelay {
		t.Errorf("delay p99 %v, more than %v; load average %s", p99, maxDelay, load())
	}
	for more := 2 * *rate; *ramp && !t.Failed(); more += *rate {
		delays, breaks := run(t, n, a, w, more, 10*time.Second)
		if p99 := quantile(delays, 0.99); p99 > maxDelay || breaks > 0 {
			t.Logf("delay p99 exceeds %[3]v at %[1]d messages/s, %[2]d deliveries/s",
				more, more**subscribers / *topics, maxDelay)
			return
		}
	}
}

// TestSoakRestart restarts PostgreSQL while messages are written.
func TestSoakRestart(t *testing.T) {
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
		t.Errorf("%d deliveries, want %d", len(delays), want)
	}
	if breaks > 0 {
		t.Errorf("%d interrupted streams", breaks)
	}
}
