//go:build attack

package attack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is what a generator of load measured: latencies by status, from the intended time of each request. The status of failures and of requests that no
// connection was free for is 0.
type load struct {
	mu        sync.Mutex
	Latencies map[int][]time.Duration
	Bare      int           // refusals without Retry-After
	LastBad   time.Duration // when the last request began that was not served, since the start
}

// loadEnv is the environment variable with the JSON of a loadSpec for a process that sends requests.
const loadEnv = "HELIOGRAPH_TEST_LOAD"

// loadSpec describes a load.
type loadSpec struct {
	URL, Path   string
	Rate        float64 // per second; 0 for a closed loop
	Connections int
	Duration    time.Duration
}

// run sends requests from another process, so that measurements in this one are not delayed.
func (s loadSpec) run(t *testing.T) *load {
	t.Helper()
	spec, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), loadEnv+"="+string(spec))
	out, err := cmd.Output()
	l := &load{}
	if err == nil {
		err = json.Unmarshal(out, l)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return l
}

// sendLoad is the other process.
func sendLoad() {
	var s loadSpec
	if err := json.Unmarshal([]byte(os.Getenv(loadEnv)), &s); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Duration)
	defer cancel()
	send := closedLoop
	if s.Rate > 0 {
		send = openLoop
	}
	if err := json.NewEncoder(os.Stdout).Encode(send(ctx, s)); err != nil {
		panic(err)
	}
}

func (l *load) add(status int, since, latency time.Duration, bare bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Latencies[status] = append(l.Latencies[status], latency)
	if bare {
		l.Bare++
	}
	if status != http.StatusOK {
		l.LastBad = max(l.LastBad, since)
	}
}

// at returns a quantile of the latencies of responses with a status.
func (l *load) at(status int, q float64) time.Duration {
	all := l.Latencies[status]
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(float64(len(all))*q))].Round(100 * time.Microsecond)
}

func (l *load) served() int { return len(l.Latencies[http.StatusOK]) }

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
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		w.conn, w.read = conn, bufio.NewReader(conn)
	}
	_, _ = io.WriteString(w.conn, w.text)
	status, retry, err := w.response()
	if err != nil {
		w.close()
		return 0, false
	}
	return status, status == http.StatusServiceUnavailable && !retry
}

// response reads a response. It takes a fraction of the processor time of [http.ReadResponse], which the gateway on the same machine would lack.
func (w *wire) response() (status int, retry bool, err error) {
	length := 0
	for {
		line, err := w.read.ReadSlice('\n')
		if err != nil {
			return 0, false, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(name) {
		case "":
			_, err = w.read.Discard(length)
			return status, retry, err
		case "HTTP/1.1":
			status, err = strconv.Atoi(string(value[:3]))
		case "Content-Length:":
			length, err = strconv.Atoi(string(value))
		case "Retry-After:":
			retry = true
		case "Transfer-Encoding:", "Connection:":
			err = errors.ErrUnsupported
		}
		if err != nil {
			return 0, false, err
		}
	}
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// addressOf returns the address of the client with a connection.
func addressOf(i int) string { return "127.0.1." + string(rune('1'+i%8)) }

// closedLoop sends requests on each connection one after the other.
func closedLoop(ctx context.Context, s loadSpec) *load {
	l, begin := &load{Latencies: map[int][]time.Duration{}}, time.Now()
	var all sync.WaitGroup
	for i := range s.Connections {
		all.Go(func() {
			w := newWire(addressOf(i), s.URL, s.Path)
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
func openLoop(ctx context.Context, s loadSpec) *load {
	l, begin := &load{Latencies: map[int][]time.Duration{}}, time.Now()
	intended := make(chan time.Time, s.Connections) // bounded: further requests count as failed
	var all sync.WaitGroup
	var open, busy atomic.Int64
	worker := func(i int) {
		w := newWire(addressOf(i), s.URL, s.Path)
		defer w.close()
		for at := range intended {
			busy.Add(1)
			status, bare := w.do()
			l.add(status, at.Sub(begin), time.Since(at), bare)
			busy.Add(-1)
		}
	}
	for sent := 0; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		for ; float64(sent) < s.Rate*time.Since(begin).Seconds(); sent++ {
			at := begin.Add(time.Duration(float64(sent) / s.Rate * float64(time.Second)))
			if n := open.Load(); busy.Load()+int64(len(intended)) >= n && n < int64(s.Connections) {
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
