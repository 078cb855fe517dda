package attack

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is what a generator of load measured: latencies by status, from the intended time of each request. The status of failures and of requests that no
// connection was free for is 0.
type load struct {
	mu        sync.Mutex
	latencies map[int][]time.Duration
	bare      int           // refusals without Retry-After
	lastBad   time.Duration // when the last request began that was not served, since the start
}

func (l *load) add(status int, since, latency time.Duration, bare bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latencies[status] = append(l.latencies[status], latency)
	if bare {
		l.bare++
	}
	if status != http.StatusOK {
		l.lastBad = max(l.lastBad, since)
	}
}

// at returns a quantile of the latencies of responses with a status.
func (l *load) at(status int, q float64) time.Duration {
	all := l.latencies[status]
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(float64(len(all))*q))].Round(100 * time.Microsecond)
}

func (l *load) served() int { return len(l.latencies[http.StatusOK]) }

// wire is a connection that sends one request again and again.
type wire struct {
	address string // of the client
	server  string
	text    string
	conn    net.Conn
	read    *bufio.Reader
}

func newWire(address, url, path string) *wire {
	return &wire{address: address, server: strings.TrimPrefix(url, "http://"), text: "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"}
}

// do sends the request and returns the status of the response, or 0.
func (w *wire) do() (status int, bare bool) {
	if w.conn == nil {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(w.address)}, Timeout: 5 * time.Second}).Dial("tcp", w.server)
		if err != nil {
			return 0, false
		}
		w.conn, w.read = conn, bufio.NewReader(conn)
	}
	_ = w.conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(w.conn, w.text)
	resp, err := http.ReadResponse(w.read, nil)
	if err != nil {
		w.close()
		return 0, false
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Close {
		w.close()
	}
	return resp.StatusCode, resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == ""
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// addresses are those of the clients of a load.
func addressOf(i int) string { return "127.0.1." + string(rune('1'+i%8)) }

// closedLoop sends requests on each connection one after the other.
func closedLoop(ctx context.Context, url, path string, connections int) *load {
	l, begin := &load{latencies: map[int][]time.Duration{}}, time.Now()
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() {
			w := newWire(addressOf(i), url, path)
			defer w.close()
			for ctx.Err() == nil {
				start := time.Now()
				status, bare := w.do()
				l.add(status, start.Sub(begin), time.Since(start), bare)
			}
		})
	}
	all.Wait()
	return l
}

// openLoop sends requests at a fixed rate per second, whether responses arrive or not, on at most the given number of connections.
func openLoop(ctx context.Context, url, path string, rate float64, connections int) *load {
	l, begin := &load{latencies: map[int][]time.Duration{}}, time.Now()
	intended := make(chan time.Time, connections) // bounded: further requests count as failed
	var all sync.WaitGroup
	var open, busy atomic.Int64
	worker := func(i int) {
		w := newWire(addressOf(i), url, path)
		defer w.close()
		for at := range intended {
			busy.Add(1)
			status, bare := w.do()
			l.add(status, at.Sub(begin), time.Since(at), bare)
			busy.Add(-1)
		}
	}
	for sent := 0; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		for ; float64(sent) < rate*time.Since(begin).Seconds(); sent++ {
			at := begin.Add(time.Duration(float64(sent) / rate * float64(time.Second)))
			if n := open.Load(); busy.Load()+int64(len(intended)) >= n && n < int64(connections) {
				open.Add(1)
				all.Go(func() { worker(int(n)) })
			}
			select {
			case intended <- at:
			default:
				l.add(0, at.Sub(begin), 0, false)
			}
		}
	}
	close(intended)
	all.Wait()
	return l
}
