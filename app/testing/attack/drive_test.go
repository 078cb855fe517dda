//go:build attack

package attack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// driveEnv is the environment variable with the JSON of a drive for a process that sends requests.
const driveEnv = "HELIOGRAPH_TEST_LOAD"

// drive describes what a process sends at the same time. Latencies count from the time at which a request should be
// sent, and only those after the warm-up.
type drive struct {
	Server       string // host:port
	Loads        []load
	Warm, During time.Duration
	// Nice lowers the priority of the process.
	Nice int
}

// load are the requests from one address.
type load struct {
	Address     string
	Connections int
	Rate        float64       // per second; 0 for a closed loop
	Request     string        // the complete HTTP request
	Padding     int           // bytes in place of § in the request
	Pause       time.Duration // after a request that is not served, in a closed loop
}

// result is what the requests of a load measured.
type result struct {
	mu       sync.Mutex
	Statuses map[int]*histogram // 0 is a failed request
	Bare     int                // status 503 without a usable Retry-After
	Unsent   int                // requests that no connection was free for
	During   time.Duration
}

// histogram counts latencies in buckets, each 2 % larger than the one before.
type histogram struct {
	Counts []int
	Total  int
}

const growth = 1.02

func (h *histogram) add(d time.Duration) {
	i := int(math.Log(max(1, float64(d.Microseconds()))) / math.Log(growth))
	for len(h.Counts) <= i {
		h.Counts = append(h.Counts, 0)
	}
	h.Counts[i]++
	h.Total++
}

// at returns a quantile of the latencies.
func (h *histogram) at(q float64) time.Duration {
	if h == nil {
		return 0
	}
	seen := 0
	for i, n := range h.Counts {
		if seen += n; float64(seen) >= q*float64(h.Total) && n > 0 {
			microseconds := math.Pow(growth, float64(i+1))
			return time.Duration(microseconds * float64(time.Microsecond)).Round(10 * time.Microsecond)
		}
	}
	return 0
}

func (r *result) add(status int, latency time.Duration, bare bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.Statuses[status]
	if h == nil {
		h = &histogram{}
		r.Statuses[status] = h
	}
	h.add(latency)
	if bare {
		r.Bare++
	}
}

// count returns the number of responses with a status.
func (r *result) count(status int) int {
	if h := r.Statuses[status]; h != nil {
		return h.Total
	}
	return 0
}

// other returns the number of responses with other statuses than 200.
func (r *result) other() (n int) {
	for status := range r.Statuses {
		if status != http.StatusOK {
			n += r.count(status)
		}
	}
	return n
}

// rate returns the number of served requests per second.
func (r *result) rate() float64 { return float64(r.count(http.StatusOK)) / r.During.Seconds() }

// sum adds results.
func sum(all []*result) *result {
	s := &result{Statuses: map[int]*histogram{}}
	for _, r := range all {
		s.Bare += r.Bare
		s.Unsent += r.Unsent
		s.During = r.During
		for status, h := range r.Statuses {
			to := s.Statuses[status]
			if to == nil {
				to = &histogram{}
				s.Statuses[status] = to
			}
			for i, n := range h.Counts {
				for len(to.Counts) <= i {
					to.Counts = append(to.Counts, 0)
				}
				to.Counts[i] += n
			}
			to.Total += h.Total
		}
	}
	return s
}

// run sends requests from another process, so that measurements in this one are not delayed.
func (d drive) run(t *testing.T) []*result {
	t.Helper()
	spec, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), driveEnv+"="+string(spec))
	out, err := cmd.Output()
	var all []*result
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return all
}

// sendLoad is the other process. One processor costs the gateway the least time: several would wait for work actively.
func sendLoad() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(1000)
	var d drive
	if err := json.Unmarshal([]byte(os.Getenv(driveEnv)), &d); err != nil {
		panic(err)
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, d.Nice)
	if err := json.NewEncoder(os.Stdout).Encode(d.send()); err != nil {
		panic(err)
	}
}

// send sends all loads at the same time.
func (d drive) send() []*result {
	ctx, cancel := context.WithTimeout(context.Background(), d.Warm+d.During)
	defer cancel()
	all := make([]*result, len(d.Loads))
	var running sync.WaitGroup
	begin := time.Now()
	for i, l := range d.Loads {
		l.Request = strings.Replace(l.Request, "§", strings.Repeat("x", l.Padding), 1)
		all[i] = &result{Statuses: map[int]*histogram{}, During: d.During}
		end := begin.Add(d.Warm + d.During)
		s := &sender{load: l, server: d.Server, begin: begin, warm: d.Warm, end: end, result: all[i]}
		running.Go(func() {
			if l.Rate > 0 {
				s.open(ctx)
				return
			}
			s.closed(ctx)
		})
	}
	running.Wait()
	return all
}

// sender sends the requests of a load.
type sender struct {
	load

	server     string
	begin, end time.Time
	warm       time.Duration
	result     *result
}

// done counts a request that should have been sent at a time. In a closed loop, those count that end during the
// measurement, and all that are not served.
func (s *sender) done(at time.Time, status int, bare bool) {
	now := time.Now()
	counted := at
	if s.Rate == 0 {
		counted = now
	}
	if warm := counted.Sub(s.begin) < s.warm; warm || s.Rate == 0 && now.After(s.end) && status == http.StatusOK {
		return
	}
	s.result.add(status, now.Sub(at), bare)
}

// wire is a connection that sends one request again and again.
type wire struct {
	*sender

	conn net.Conn
	read *bufio.Reader
}

// do sends the request and returns the status of the response, or 0.
func (w *wire) do() (status int, bare bool) {
	if w.conn == nil {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(w.Address)}, Timeout: 5 * time.Second}
		conn, err := from.Dial("tcp", w.server)
		if err != nil {
			return 0, false
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Minute))
		w.conn, w.read = conn, bufio.NewReader(conn)
	}
	_, _ = io.WriteString(w.conn, w.Request)
	status, retry, err := w.response()
	if err != nil {
		w.close()
		return 0, false
	}
	return status, status == http.StatusServiceUnavailable && !retry
}

// response reads a response. It takes a fraction of the processor time of [http.ReadResponse], which the gateway on
// the same machine would lack.
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
			if length < 0 {
				return status, retry, w.chunks()
			}
			_, err = w.read.Discard(length)
			return status, retry, err
		case "HTTP/1.1":
			status, err = strconv.Atoi(string(value[:3]))
		case "Content-Length:":
			length, err = strconv.Atoi(string(value))
		case "Retry-After:":
			seconds, _ := strconv.Atoi(string(value))
			retry = seconds > 0 && seconds <= 60
		case "Transfer-Encoding:":
			length = -1
		case "Connection:":
			err = errors.ErrUnsupported
		}
		if err != nil {
			return 0, false, err
		}
	}
}

// chunks discards a body in chunks.
func (w *wire) chunks() error {
	for {
		line, err := w.read.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := w.read.Discard(int(n) + len("\r\n")); err != nil || n == 0 {
			return err
		}
	}
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// closed sends requests on each connection one after the other.
func (s *sender) closed(ctx context.Context) {
	var all sync.WaitGroup
	for range s.Connections {
		all.Go(func() {
			w := &wire{sender: s}
			defer w.close()
			for ctx.Err() == nil {
				at := time.Now()
				status, bare := w.do()
				s.done(at, status, bare)
				if status != http.StatusOK {
					time.Sleep(s.Pause)
				}
			}
		})
	}
	all.Wait()
}

// open sends requests at a fixed rate per second, whether responses arrive or not, on at most the given number of
// connections. Each is sent on the connection that has been idle for the shortest time, as HTTP clients do.
func (s *sender) open(ctx context.Context) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var idle, opened []chan time.Time // each has the intended times of the requests of a connection
	serve := func(intended chan time.Time) {
		w := &wire{sender: s}
		defer w.close()
		for at := range intended {
			status, bare := w.do()
			s.done(at, status, bare)
			mu.Lock()
			idle = append(idle, intended)
			mu.Unlock()
		}
	}
	for sent := 0; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		for ; float64(sent) < s.Rate*time.Since(s.begin).Seconds(); sent++ {
			at := s.begin.Add(time.Duration(float64(sent) / s.Rate * float64(time.Second)))
			mu.Lock()
			var next chan time.Time
			if last := len(idle) - 1; last >= 0 {
				next, idle = idle[last], idle[:last]
			}
			mu.Unlock()
			switch {
			case next == nil && len(opened) < s.Connections:
				next = make(chan time.Time, 1)
				opened = append(opened, next)
				all.Go(func() { serve(next) })
				next <- at
			case next == nil:
				s.result.Unsent++
			default:
				next <- at
			}
		}
	}
	for _, intended := range opened {
		close(intended)
	}
	all.Wait()
}

// addresses returns n loopback addresses.
func addresses(n int) (all []string) {
	for i := range n {
		all = append(all, "127.0.1."+strconv.Itoa(i+1))
	}
	return all
}

// get returns the text of a GET request.
func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }

// post returns the text of a POST request with JSON.
func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, len(body), body)
}

// host returns the host and port of a URL.
func host(url string) string { return strings.TrimPrefix(url, "http://") }
