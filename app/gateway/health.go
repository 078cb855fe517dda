package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"heliograph/storage"
)

const (
	// healthWait is how long a health check waits for the database before it responds with the result of the last
	// check.
	healthWait = 150 * time.Millisecond
	// healthMaxAge is the maximum age of that result.
	healthMaxAge = 2 * time.Second
	// healthTimeout is the timeout of a check of the database.
	healthTimeout = 5 * time.Second
)

var (
	errNotChecked = errors.New("not checked")
	errClosing    = errors.New("shutting down")
	errLag        = errors.New("the newest block is too old")
	errNoStatus   = errors.New("there is no status page")
)

// part is a part of the gateway whose database is checked.
type part struct {
	name  string
	log   *slog.Logger
	check func(context.Context) error

	mu      sync.Mutex
	err     error // of the last check
	at      time.Time
	running chan struct{} // closed when the running check ends; nil if none runs
}

// ready returns the age and the error of a check that starts now or is running, or those of the last one if it takes
// longer than healthWait; the check then goes on in its goroutine. Without an earlier result it waits for up to
// healthMaxAge. It returns errNotChecked if there is no result then, or the last one is older than that.
func (p *part) ready() (age time.Duration, err error) {
	p.mu.Lock()
	if p.running == nil {
		p.running = make(chan struct{})
		go p.run(p.running)
	}
	running, wait := p.running, healthWait
	if p.at.IsZero() { // there is no last result
		wait = healthMaxAge
	}
	p.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-running:
	case <-timer.C:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if age = time.Since(p.at); age > healthMaxAge { //nolint:forbidigo // it measures a duration
		return 0, errNotChecked
	}
	return age, p.err
}

// run runs the check within healthTimeout, records its result and the time, logs a new failure and the end of one, and
// closes done. [part.ready] starts it in a goroutine.
func (p *part) run(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	err := p.check(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch { // the first result is logged if it is a failure
	case err != nil && (p.err == nil || p.err.Error() != err.Error()):
		p.log.Warn("the part is not ready", "part", p.name, "error", err)
	case err == nil && p.err != nil:
		p.log.Info("the part is ready again", "part", p.name)
	}
	p.err, p.at, p.running = err, time.Now(), nil //nolint:forbidigo // as above
	close(done)
}

// parts returns the checks that readiness consists of, by name: "ledger", the database with its lag, and "status",
// the status pages. A part that is not configured has none. It runs no check.
func (g *Gateway) parts() map[string]*part {
	parts := map[string]*part{}
	if g.o.DB != nil {
		parts["ledger"] = &part{name: "ledger", log: g.o.Logger, check: func(ctx context.Context) error {
			if err := g.o.DB.Ready(ctx); err != nil || g.o.MaxLag == 0 {
				return err
			}
			lag, err := g.o.DB.Lag(ctx, g.o.REST.Now())
			if err == nil && lag > g.o.MaxLag {
				err = errLag
			}
			return err
		}}
	}
	if g.o.Status != nil {
		parts["status"] = &part{name: "status", log: g.o.Logger, check: func(ctx context.Context) error {
			pages, err := g.o.Status.Pages(ctx)
			if err == nil && len(pages) == 0 {
				err = errNoStatus
			}
			return err
		}}
	}
	return parts
}

// health adds the routes of the health checks to r: liveness, which always succeeds, readiness, which succeeds if
// at least one part is ready, and readiness of each part. A check that fails has the status 503.
func (g *Gateway) health(r chi.Router) {
	r.Get("/health/liveness", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "UP"})
	})
	r.Get("/health/readiness", func(w http.ResponseWriter, _ *http.Request) {
		var (
			all   sync.WaitGroup
			mu    sync.Mutex
			up    bool
			parts = map[string]partHealth{}
		)
		for name, p := range g.checks {
			all.Go(func() {
				h := g.healthOf(p)
				mu.Lock()
				defer mu.Unlock()
				parts[name] = h
				up = up || h.up()
			})
		}
		all.Wait()
		writeJSON(w, healthCode[up], struct {
			Status string                `json:"status"`
			Parts  map[string]partHealth `json:"parts"`
		}{healthText[up], parts})
	})
	for name, p := range g.checks {
		r.Get("/health/readiness/"+name, func(w http.ResponseWriter, _ *http.Request) {
			h := g.healthOf(p)
			writeJSON(w, healthCode[h.up()], h)
		})
	}
}

// The status of the response to a health check, and that in its body, by whether what was asked for is up.
var (
	healthCode = map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}
	healthText = map[bool]string{true: "UP", false: "DOWN"}
)

// partHealth is the health of a part in responses. The age is that of the check, in milliseconds.
type partHealth struct {
	Status string `json:"status"`
	Age    int64  `json:"ageMs"`
	Reason string `json:"reason,omitempty"` // of DOWN; errors of the database are in the log only
}

// up reports whether the part is ready.
func (h partHealth) up() bool { return h.Status == healthText[true] }

// healthOf runs the check of a part and returns its state for the response, with the age of the result in
// milliseconds. Only reasons without internal details are included. While the gateway shuts down, no part is ready. It
// waits for the check for healthWait, or for healthMaxAge if there is no result yet.
func (g *Gateway) healthOf(p *part) partHealth {
	age, err := time.Duration(0), errClosing
	if !g.closing.Load() {
		age, err = p.ready()
	}
	h := partHealth{Status: healthText[err == nil], Age: age.Milliseconds()}
	for _, known := range []error{
		errNotChecked, errClosing, errLag, errNoStatus, storage.ErrEmpty,
		storage.ErrNoBlocks,
	} {
		if errors.Is(err, known) {
			h.Reason = known.Error()
		}
	}
	return h
}
