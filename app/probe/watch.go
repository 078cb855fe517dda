package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"heliograph/internal/base/repeat"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// Intervals and limits.
const (
	pollInterval  = time.Second // at which due probes are looked up
	pruneInterval = time.Hour
	maxConcurrent = 8 // checks
)

// Watcher runs due probes and updates their pages. Several watchers can run at once: each due probe is run by one of
// them.
type Watcher struct {
	editor  *statuspages.Editor
	checker *Checker
	log     *statuspages.TaskLog
}

// NewWatcher returns a new watcher that runs due probes with checker and writes to status pages with editor. It
// does nothing before [Watcher.Run] or [Watcher.RunDue].
func NewWatcher(editor *statuspages.Editor, checker *Checker, log *slog.Logger) *Watcher {
	return &Watcher{editor, checker, &statuspages.TaskLog{Logger: log, Task: "running probes"}}
}

// Run runs due probes, updates their pages, and resolves incidents of probes that are good again, at intervals of
// pollInterval until the context ends. Then it waits for running probes. It deletes old results at intervals of
// pruneInterval. It logs errors and retries while the database is unavailable. A hanging target does not delay other
// probes.
func (w *Watcher) Run(ctx context.Context) {
	slots := make(chan struct{}, maxConcurrent)
	var group sync.WaitGroup
	defer group.Wait()
	var pruned time.Time
	for range repeat.Every(ctx, pollInterval) {
		_, err := w.begin(ctx, &group, slots, func(err error) { w.log.Record(ctx, err) })
		if err == nil {
			err = w.resolve(ctx)
		}
		if now := w.checker.Now(); err == nil && (pruned.IsZero() || now.Sub(pruned).Abs() >= pruneInterval) {
			pruned, err = now, w.editor.PruneResults(ctx)
		}
		w.log.Record(ctx, err)
	}
}

// RunDue runs due probes once, at most maxConcurrent in all, updates their pages, waits for the results, and resolves
// incidents of probes that are good again. It returns the number of probes that it started, and all errors joined.
func (w *Watcher) RunDue(ctx context.Context) (started int, err error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	slots := make(chan struct{}, maxConcurrent)
	started, err = w.begin(ctx, &group, slots, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, err)
	})
	group.Wait()
	return started, errors.Join(append(failed, err, w.resolve(ctx))...)
}

// begin claims due probes in the database, at most as many as slots are free, and starts them in group. It returns
// their number without waiting. failed is called, concurrently, with each error of recording or applying a result. It
// fails if the probes cannot be claimed. Calls with the same slots must not be concurrent.
func (w *Watcher) begin(
	ctx context.Context, group *sync.WaitGroup, slots chan struct{}, failed func(error),
) (int, error) {
	free := cap(slots) - len(slots)
	if free == 0 {
		return 0, nil
	}
	probes, err := w.editor.ClaimProbes(ctx, free)
	if err != nil {
		return 0, err
	}
	// The health of the ledger is read once for all probes, with a timeout that is not that of the first probe.
	checker := *w.checker
	if read := checker.Ledger; read != nil {
		health := sync.OnceValues(func() (*storage.LedgerHealth, error) {
			ctx, cancel := context.WithTimeout(ctx, status.ProbeTimeout)
			defer cancel()
			return read(ctx)
		})
		checker.Ledger = func(context.Context) (*storage.LedgerHealth, error) { return health() }
	}
	for _, p := range probes {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := w.check(ctx, &checker, p); err != nil {
				failed(err)
			}
		})
	}
	return len(probes), nil
}

// resolve resolves the incidents of probes that have been good for long enough, in the database, and logs them. After
// an error it logs those that were resolved before.
func (w *Watcher) resolve(ctx context.Context) error {
	resolved, err := w.editor.ResolveProbed(ctx)
	for _, code := range resolved {
		w.log.Logger.InfoContext(ctx, "resolved an incident of probes", "incident", code)
	}
	return err
}

// check runs a probe, records the result and the time of the next run, which is up to a tenth of the interval early,
// and updates the page and logs if the level of the probe has changed. If ctx ends before the result is recorded, it
// records nothing and returns an error.
func (w *Watcher) check(ctx context.Context, checker *Checker, p *status.Probe) error {
	r := checker.Check(ctx, p)
	if ctx.Err() != nil { // the gateway is shutting down; the result is invalid
		return fmt.Errorf("running a probe: %w", ctx.Err())
	}
	next := r.At.Add(time.Duration(float64(p.Every) * (0.9 + 0.1*rand.Float64())))
	changed, err := w.editor.RecordResult(ctx, p.ID, r, next)
	if err != nil || !changed {
		return err
	}
	p, out, err := w.editor.ApplyProbe(ctx, p.ID)
	if err != nil || out == nil {
		return err
	}
	level := slog.LevelWarn // most changes wait for an editor
	if p.Level == status.Good {
		level = slog.LevelInfo
	}
	w.log.Logger.Log(ctx, level, "the level of a probe changed", "probe", p.ID, "component", p.Name, "from",
		string(p.Applied), "to", string(p.Level), "detail", r.Detail, "action", out.Action, "object", out.Object,
		"draft", out.Draft())
	return nil
}
