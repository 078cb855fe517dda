//go:build attack

package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
	Request     string        // the complete HTTP request; number is another one in each
	Padding     int           // bytes in place of § in the request
	Pause       time.Duration // after a request that is not served, in a closed loop
}

// number is the place of a number in a request, so that no response is that of an earlier request.
const number = "0000000000000000"

// result is what the requests of a load measured.
type result struct {
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

// sendLoad is the other process. It has one thread, which takes the least time from the gateway.
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

// send sends all loads at the same time, with one thread for all connections: a goroutine for each takes several times
// as much of the processors, which the gateway on the same machine would lack.
func (d drive) send() []*result {
	to := netip.MustParseAddrPort(d.Server)
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		panic(err)
	}
	l := &loop{
		poll: poll, to: unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()},
		wires: map[int32]*wire{}, buffer: make([]byte, 1<<20), begin: time.Now(), drive: d,
	}
	l.end = l.begin.Add(d.Warm + d.During)
	all := make([]*result, len(d.Loads))
	for i, one := range d.Loads {
		text := strings.Replace(one.Request, "§", strings.Repeat("x", one.Padding), 1)
		all[i] = &result{Statuses: map[int]*histogram{}, During: d.During}
		l.senders = append(l.senders, &sender{
			load: one, loop: l, request: []byte(text),
			number: strings.Index(text, number), requests: l.begin.UnixMicro(), result: all[i],
		})
	}
	l.run()
	return all
}

// loop sends requests and reads responses on many connections.
type loop struct {
	drive

	poll       int // descriptor of epoll
	to         unix.SockaddrInet4
	senders    []*sender
	wires      map[int32]*wire // by descriptor
	buffer     []byte
	begin, end time.Time
	pending    int // requests without a response
}

// run runs until the end, and until all requests have a response.
func (l *loop) run() {
	events := make([]unix.EpollEvent, 1024)
	for now := l.begin; l.pending > 0 || now.Before(l.end); now = time.Now() {
		if now.Before(l.end) {
			for _, s := range l.senders {
				s.due(now)
			}
		}
		n, err := unix.EpollWait(l.poll, events, 2)
		if err != nil && !errors.Is(err, unix.EINTR) {
			panic(err)
		}
		for _, e := range events[:max(n, 0)] {
			w := l.wires[e.Fd]
			if w != nil && e.Events&unix.EPOLLOUT != 0 {
				w.write()
			}
			if w != nil && w.fd >= 0 && e.Events&^unix.EPOLLOUT != 0 {
				w.read()
			}
		}
	}
}

// sender sends the requests of a load.
type sender struct {
	load

	loop     *loop
	request  []byte // of which the socket takes all at once if it has a number
	number   int    // place of the number, or -1
	result   *result
	opened   int
	sent     int     // requests of an open loop, with those that no connection was free for
	requests int64   // that were sent, from the microseconds at which the first one was
	idle     []*wire // of open loops
	paused   []*wire // of closed loops, in the order in which they continue
}

// due sends the requests that should be sent by now. In an open loop, that is a fixed number per second, whether
// responses arrive or not. Each is sent on the connection that has been idle for the shortest time, as HTTP clients do.
func (s *sender) due(now time.Time) {
	for ; s.Rate == 0 && s.opened < s.Connections; s.opened++ {
		s.open(now)
	}
	for len(s.paused) > 0 && now.Sub(s.paused[0].at) >= s.Pause {
		w := s.paused[0]
		s.paused = s.paused[1:]
		w.send(now)
	}
	for ; float64(s.sent) < s.Rate*now.Sub(s.loop.begin).Seconds(); s.sent++ {
		at := s.loop.begin.Add(time.Duration(float64(s.sent) / s.Rate * float64(time.Second)))
		switch last := len(s.idle) - 1; {
		case last >= 0:
			w := s.idle[last]
			s.idle = s.idle[:last]
			w.send(at)
		case s.opened < s.Connections:
			s.opened++
			s.open(at)
		default:
			s.result.Unsent++
		}
	}
}

// open sends a request on a new connection.
func (s *sender) open(at time.Time) { (&wire{sender: s, fd: -1}).send(at) }

// done counts a request that should have been sent at a time. In a closed loop, those count that end during the
// measurement, and all that are not served.
func (s *sender) done(at time.Time, status int, bare bool) {
	now := time.Now()
	counted := at
	if s.Rate == 0 {
		counted = now
	}
	l := s.loop
	warm := counted.Sub(l.begin) < l.Warm
	if warm || s.Rate == 0 && now.After(l.end) && status == http.StatusOK {
		return
	}
	s.result.add(status, now.Sub(at), bare)
}

// wire is a connection that sends one request again and again.
type wire struct {
	*sender

	fd      int       // -1 without a connection
	at      time.Time // when the request should have been sent, or when a pause began
	waiting bool      // for a response
	written int       // bytes of the request
	events  uint32    // for which epoll waits
	got     []byte    // of a response whose header or chunks are incomplete
	left    int       // bytes of the body that have not arrived; -1 before the header, -2 for chunks
	status  int       // of the response
	retry   bool      // the response has a usable Retry-After
}

// send sends a request that should have been sent at a time.
func (w *wire) send(at time.Time) {
	w.at, w.waiting, w.written, w.got, w.left, w.status, w.retry = at, true, 0, w.got[:0], -1, 0, false
	w.loop.pending++
	if w.number >= 0 {
		w.requests++
		copy(w.request[w.number:], fmt.Sprintf("%0*d", len(number), w.requests))
	}
	if w.fd < 0 {
		err := w.connect()
		if err != nil {
			w.close()
			return
		}
	}
	w.write()
}

// connect begins to connect.
func (w *wire) connect() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	w.fd, w.events = fd, unix.EPOLLIN
	w.loop.wires[int32(fd)] = w
	event := unix.EpollEvent{Events: w.events, Fd: int32(fd)}
	from := unix.SockaddrInet4{Addr: netip.MustParseAddr(w.Address).As4()}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), unix.Bind(fd, &from),
		unix.EpollCtl(w.loop.poll, unix.EPOLL_CTL_ADD, fd, &event))
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, &w.loop.to); !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	return nil
}

// watch changes the events for which epoll waits.
func (w *wire) watch(events uint32) {
	if w.events == events {
		return
	}
	w.events = events
	event := unix.EpollEvent{Events: events, Fd: int32(w.fd)}
	if err := unix.EpollCtl(w.loop.poll, unix.EPOLL_CTL_MOD, w.fd, &event); err != nil {
		panic(err)
	}
}

// write sends the rest of the request, as much as the connection takes.
func (w *wire) write() {
	for w.written < len(w.request) {
		n, err := unix.Write(w.fd, w.request[w.written:])
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOTCONN):
			w.watch(unix.EPOLLIN | unix.EPOLLOUT)
			return
		case err != nil:
			w.close()
			return
		}
		w.written += n
	}
	w.watch(unix.EPOLLIN)
	if w.left == 0 { // the response has arrived before
		w.finish()
	}
}

// read reads a part of the response.
func (w *wire) read() {
	n, err := unix.Read(w.fd, w.loop.buffer)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return
	case err != nil || n <= 0 || !w.waiting:
		w.close()
		return
	}
	if err := w.receive(w.loop.buffer[:n]); err != nil {
		w.close()
		return
	}
	if w.left == 0 && w.written == len(w.request) {
		w.finish()
	}
}

// receive parses a part of the response. It takes a fraction of the processor time of [http.ReadResponse].
func (w *wire) receive(part []byte) error {
	if w.left >= 0 {
		w.left -= len(part)
		return nil
	}
	if len(w.got) > 0 {
		w.got = append(w.got, part...)
		part = w.got
	}
	if w.left == -1 {
		head, body, ok := bytes.Cut(part, []byte("\r\n\r\n"))
		if !ok {
			w.got = append(w.got[:0], part...)
			return nil
		}
		w.left = 0
		for line := range bytes.SplitSeq(head, []byte("\r\n")) {
			if err := w.header(line); err != nil {
				return err
			}
		}
		if w.left >= 0 {
			w.left -= len(body)
			return nil
		}
		part = body
	}
	ended, err := chunks(part)
	if ended {
		w.left = 0
	} else {
		w.got = append(w.got[:0], part...)
	}
	return err
}

// header reads a line of the header.
func (w *wire) header(line []byte) (err error) {
	name, value, _ := bytes.Cut(line, []byte(" "))
	switch string(name) {
	case "HTTP/1.1":
		w.status, err = strconv.Atoi(string(value[:3]))
	case "Content-Length:":
		w.left, err = strconv.Atoi(string(value))
	case "Retry-After:":
		seconds, _ := strconv.Atoi(string(value))
		w.retry = seconds > 0 && seconds <= 60
	case "Transfer-Encoding:":
		w.left = -2
	case "Connection:":
		err = errors.ErrUnsupported
	}
	return err
}

// chunks reports whether a body in chunks is complete.
func chunks(body []byte) (ended bool, err error) {
	for {
		line, rest, ok := bytes.Cut(body, []byte("\r\n"))
		if !ok {
			return false, nil
		}
		n, err := strconv.ParseInt(string(line), 16, 32)
		if err != nil || len(rest) < int(n)+len("\r\n") {
			return false, err
		}
		if n == 0 {
			return true, nil
		}
		body = rest[int(n)+len("\r\n"):]
	}
}

// finish counts the response of a request, and sends the next one of a closed loop.
func (w *wire) finish() {
	w.waiting = false
	w.loop.pending--
	w.done(w.at, w.status, w.status == http.StatusServiceUnavailable && !w.retry)
	now := time.Now()
	switch {
	case w.Rate > 0:
		w.idle = append(w.idle, w)
	case !now.Before(w.loop.end):
	case w.status == 0 || w.status != http.StatusOK && w.Pause > 0:
		w.at = now
		w.paused = append(w.paused, w)
	default:
		w.send(now)
	}
}

// close closes the connection. A request without a response has failed.
func (w *wire) close() {
	if w.fd >= 0 {
		delete(w.loop.wires, int32(w.fd))
		_ = unix.Close(w.fd)
		w.fd = -1
	}
	if w.waiting {
		w.status = 0
		w.finish()
	}
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
