package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// Intervals and limits.
const (
	lookEvery  = time.Second // interval at which due probes are looked up
	pruneEvery = time.Hour
	together   = 8 // maximum number of concurrent checks
)

// Watcher runs due probes and updates their pages. Several watchers can run at once: each due probe is run by one of them.
type Watcher struct {
	editor  *statuspages.Editor
	checker *Checker
	log     *slog.Logger
	random  func() float64

	mu      sync.Mutex
	failing string // last error of a round, logged once
}

// NewWatcher returns a new watcher. random returns numbers from 0 to 1 for the jitter. Nil means the default source.
func NewWatcher(editor *statuspages.Editor, checker *Checker, log *slog.Logger, random func() float64) *Watcher {
	if random == nil {
		random = rand.Float64
	}
	return &Watcher{editor: editor, checker: checker, log: log, random: random}
}

// Run watches until the context ends. It retries while the database is unavailable. A hanging target does not delay other probes.
func (w *Watcher) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	slots := make(chan struct{}, together)
	var group sync.WaitGroup
	defer group.Wait()
	var pruned time.Time
	for {
		_, err := w.begin(ctx, &group, slots, func(err error) { w.tell(ctx, err) })
		if err == nil {
			err = w.resolve(ctx)
		}
		if now := w.checker.Now(); err == nil && (pruned.IsZero() || now.Sub(pruned).Abs() >= pruneEvery) {
			pruned, err = now, w.editor.PruneResults(ctx)
		}
		w.tell(ctx, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tell logs each error once, not every second.
func (w *Watcher) tell(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch text := fmt.Sprint(err); {
	case ctx.Err() != nil:
	case err == nil && w.failing != "":
		w.log.InfoContext(ctx, "probes can be asked again")
		w.failing = ""
	case err != nil && text != w.failing:
		w.log.WarnContext(ctx, "probes cannot be asked", "error", err)
		w.failing = text
	}
}

// RunDue runs all due probes, updates their pages and waits for the results. It returns the number of probes.
func (w *Watcher) RunDue(ctx context.Context) (started int, err error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	slots := make(chan struct{}, together)
	started, err = w.begin(ctx, &group, slots, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, err)
	})
	group.Wait()
	return started, errors.Join(append(failed, err, w.resolve(ctx))...)
}

// begin starts due probes, at most as many as slots are free. failed is called with the error of each probe that fails.
func (w *Watcher) begin(ctx context.Context, group *sync.WaitGroup, slots chan struct{}, failed func(error)) (int, error) {
	free := cap(slots) - len(slots)
	if free == 0 {
		return 0, nil
	}
	probes, err := w.editor.ClaimProbes(ctx, free)
	if err != nil {
		return 0, err
	}
	// The health of the ledger is read once for all probes.
	checker := *w.checker
	if read := checker.Ledger; read != nil {
		var once sync.Once
		var health *storage.LedgerHealth
		var err error
		checker.Ledger = func(ctx context.Context) (*storage.LedgerHealth, error) {
			once.Do(func() { health, err = read(ctx) })
			return health, err
		}
	}
	for _, p := range probes {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := w.ask(ctx, &checker, p); err != nil {
				failed(err)
			}
		})
	}
	return len(probes), nil
}

// resolve resolves the incidents of probes that have been good for long enough.
func (w *Watcher) resolve(ctx context.Context) error {
	resolved, err := w.editor.ResolveProbed(ctx)
	for _, code := range resolved {
		w.log.InfoContext(ctx, "an incident of probes was resolved: all has been well for a while", "incident", code)
	}
	return err
}

// ask runs a probe, records the result and updates the page.
func (w *Watcher) ask(ctx context.Context, checker *Checker, p *status.Probe) error {
	r := checker.Check(ctx, p)
	if ctx.Err() != nil { // the gateway is shutting down, which says nothing about the component
		return fmt.Errorf("asking a probe: %w", ctx.Err())
	}
	next := r.At.Add(time.Duration(float64(p.Every) * (0.9 + 0.2*w.random())))
	tell, err := w.editor.RecordResult(ctx, p.ID, r, next)
	if err != nil || !tell {
		return err
	}
	act, err := w.editor.ApplyProbe(ctx, p.ID)
	if err != nil || act == nil {
		return err
	}
	level := slog.LevelWarn // most changes wait for an editor
	if act.Probe.Level == status.Good {
		level = slog.LevelInfo
	}
	w.log.Log(ctx, level, "a probe has changed its mind", "probe", p.ID, "component", act.Probe.Name, "from", string(act.Probe.Applied), "to",
		string(act.Probe.Level), "found", r.Detail,
		"done", act.Action, "object", act.Object, "draft", act.Draft)
	return nil
}
