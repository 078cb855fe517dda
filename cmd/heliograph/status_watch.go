package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"heliograph/app/probe"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// watchEvery is the interval at which due actions are looked up. Users are promised a delay of at most 15 seconds.
const watchEvery = 10 * time.Second

type statusWatchCmd struct{}

// Run executes due actions and probes until the context ends.
func (statusWatchCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		if s.DryRun {
			return status.Errorf(status.BadInput, "watch writes when the time has come: there is nothing to show now")
		}
		checker, done, err := n.checker(ctx)
		if err != nil {
			return err
		}
		defer done()
		var asking sync.WaitGroup
		asking.Go(func() { probe.NewWatcher(n.Editor, checker, s.logger(), nil).Run(ctx) })
		watchStatus(ctx, n.Editor, s.logger(), watchEvery)
		asking.Wait()
		return nil
	})
}

// checker returns a checker that runs probes. done closes its connections to the ledger.
func (n *newsroom) checker(ctx context.Context) (c *probe.Checker, done func(), err error) {
	url := n.DatabaseURL
	if url == "" && n.StatusURL == "" {
		url = n.url // the embedded server has both databases
	}
	if url == "" {
		return probe.NewChecker(n.now, nil), func() {}, nil
	}
	db, err := storage.Open(ctx, storage.Options{
		PoolOptions: storage.PoolOptions{URL: url, StatementTimeout: statusTimeout, ConnectTimeout: connectTimeout, MaxConnections: 1},
		ReadOnly:    true,
	})
	if err != nil {
		return nil, nil, unreachable(url, err)
	}
	return probe.NewChecker(n.now, db.LedgerHealth), db.Close, nil
}

// watchStatus executes the due actions of all status pages until the context ends. It retries while the database is unavailable.
func watchStatus(ctx context.Context, editor *statuspages.Editor, log *slog.Logger, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	failing := ""
	for {
		done, err := editor.RunDue(ctx)
		for _, h := range done {
			level := slog.LevelInfo
			if h.Due == status.IncidentReminder { // a reminder needs attention
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "the time has come for a status notice", "due", string(h.Due), "notice", h.Notice, "name", h.Name, "page", h.Page)
		}
		switch text := fmt.Sprint(err); {
		case ctx.Err() != nil:
			return
		case err == nil && failing != "":
			log.InfoContext(ctx, "status notices follow the clock again")
			failing = ""
		case err != nil && text != failing: // logs each error once, not on every tick
			log.WarnContext(ctx, "status notices cannot follow the clock", "error", err)
			failing = text
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
