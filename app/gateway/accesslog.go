package gateway

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

const (
	// logDelay is the time after which a line of the access log is written, together with those that followed it.
	logDelay = 10 * time.Millisecond
	// maxLog is the size of the lines that wait to be written, in bytes. Further lines are dropped.
	maxLog = 1 << 20
)

// AccessLog writes the log lines of requests. It writes the lines of some milliseconds together, so that requests
// neither wait for the log nor need a system call of their own. It drops lines that arrive faster than they can be
// written, and logs their number.
type AccessLog struct {
	handler slog.Handler
	json    zerolog.Logger // writes the lines to the log if handler writes them there as JSON
	reports *slog.Logger   // of dropped lines; it writes to out at once
	out     io.Writer
	total   atomic.Int64 // dropped lines
	timer   *time.Timer
	writing sync.Mutex

	mu      sync.Mutex
	lines   []byte // not written yet
	free    []byte // for the next lines
	dropped int    // since the last report
}

// NewAccessLog returns a new access log that collects lines and writes them to out after logDelay. handler returns
// a handler that formats lines and writes them to the given writer: the log itself, or out. If that is a
// [slog.JSONHandler], which may have no options but a level, zerolog writes the lines of requests in the same form:
// with slog, they take 5 % of the time of a small request. Call [AccessLog.Flush] before the process ends.
func NewAccessLog(out io.Writer, handler func(io.Writer) slog.Handler) *AccessLog {
	l := &AccessLog{out: out, reports: slog.New(handler(out))}
	l.handler, l.json, l.timer = handler(l), zerolog.New(l), time.AfterFunc(logDelay, l.Flush)
	return l
}

// Write adds a line to those that are written together after logDelay. If too many lines wait, it drops the line and
// counts it. It never fails.
func (l *AccessLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines)+len(line) > maxLog {
		l.dropped++
		l.total.Add(1)
		return len(line), nil
	}
	if len(l.lines) == 0 {
		l.timer.Reset(logDelay)
	}
	l.lines = append(l.lines, line...)
	return len(line), nil
}

// Flush writes the lines that wait, and then a line with the number of those that were dropped, if any. Concurrent
// calls wait for each other. Errors of writing are ignored. The timer of l calls it, in a goroutine of its own.
func (l *AccessLog) Flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	lines, dropped := l.lines, l.dropped
	l.lines, l.dropped = l.free[:0], 0
	l.mu.Unlock()
	_, _ = l.out.Write(lines) // an error has nowhere to go
	l.free = lines
	if dropped > 0 {
		l.reports.Warn("lines of the access log were dropped", "lines", dropped)
	}
}

// request writes the line of a request to the log if its level is enabled: method, path, query string, status, bytes
// of the response, duration, address of the client, and the name of its API key, if any. Unlike a logger, it does not
// look up its caller. Errors of the handler are ignored.
func (l *AccessLog) request(
	r *http.Request, level slog.Level, status, bytes int, start time.Time, took time.Duration, key string,
) {
	if !l.handler.Enabled(r.Context(), level) {
		return
	}
	if _, ok := l.handler.(*slog.JSONHandler); ok && l.out != nil {
		at, _ := start.Add(took).MarshalJSON() // fails from the year 10000 on
		line := l.json.Log().RawJSON(slog.TimeKey, at).Str(slog.LevelKey, level.String()).
			Str(slog.MessageKey, "request").Str("method", r.Method).Str("path", logged(r.URL.Path)).
			Str("query", logged(r.URL.RawQuery)).Int("status", status).Int("bytes", bytes).
			Int64("took", took.Nanoseconds()).Str("client", r.RemoteAddr)
		if key != "" {
			line.Str("key", key)
		}
		line.Send()
		return
	}
	line := slog.NewRecord(start.Add(took), level, "request", 0)
	line.AddAttrs(
		slog.String("method", r.Method), slog.String("path", logged(r.URL.Path)),
		slog.String("query", logged(r.URL.RawQuery)), slog.Int("status", status),
		slog.Int("bytes", bytes), slog.Duration("took", took), slog.String("client", r.RemoteAddr),
	)
	if key != "" {
		line.AddAttrs(slog.String("key", key))
	}
	_ = l.handler.Handle(r.Context(), line) // as of loggers
}

// maxLogged is the maximum length of the path and of the query of a request in the log, in bytes.
const maxLogged = 1024

// logged returns a text of a request, such as its path, for the access log. A text of more than maxLogged bytes is cut
// to them, without invalid UTF-8, and ends with "…".
func logged(text string) string {
	if len(text) > maxLogged {
		return strings.ToValidUTF8(text[:maxLogged], "") + "…"
	}
	return text
}
