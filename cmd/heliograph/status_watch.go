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

// dueInterval is the interval at which due actions are executed.
const dueInterval = 10 * time.Second

type statusWatchCmd struct{ webhookSettings }

// runWithoutPage executes due actions and probes of all pages, and sends to their webhooks, until the context ends.
func (c *statusWatchCmd) runWithoutPage(ctx context.Context, s *session) error {
	if err := s.rejectDryRun(); err != nil {
		return err
	}
	checker, done, err := s.checker(ctx)
	if err != nil {
		return err
	}
	defer done()
	sender, err := c.sender(s.Editor, s.now, s.logger())
	if err != nil {
		return err
	}
	var tasks sync.WaitGroup
	tasks.Go(func() { sender.Run(ctx) })
	tasks.Go(func() { probe.NewWatcher(s.Editor, checker, s.logger(), nil).Run(ctx) })
	runDue(ctx, s.Editor, s.logger(), dueInterval)
	tasks.Wait()
	return nil
}

// checker returns a checker that runs probes. done closes its connections to the ledger.
func (s *session) checker(ctx context.Context) (c *probe.Checker, done func(), err error) {
	url := s.DatabaseURL
	if url == "" && s.StatusURL == "" {
		url = s.url // the embedded server has both databases
	}
	if url == "" {
		return probe.NewChecker(s.now, nil), func() {}, nil
	}
	db, err := storage.Open(ctx, storage.Options{PoolOptions: s.pool(url, statusTimeout, 1), ReadOnly: true})
	if err != nil {
		return nil, nil, unreachable(url, err)
	}
	return probe.NewChecker(s.now, db.LedgerHealth), db.Close, nil
}

// runDue executes the due actions of all status pages until the context ends. It retries while the database is unavailable.
func runDue(ctx context.Context, editor *statuspages.Editor, log *slog.Logger, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	failing := ""
	for {
		done, err := editor.RunDue(ctx)
		for _, a := range done {
			level := slog.LevelInfo
			if a.Due == status.IncidentReminder { // a reminder needs attention
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "executed a due action of a status page", "action", string(a.Due), "notice", a.Notice, "name", a.Name, "page", a.Page)
		}
		switch text := fmt.Sprint(err); {
		case ctx.Err() != nil:
			return
		case err == nil && failing != "":
			log.InfoContext(ctx, "due actions of status pages are executed again")
			failing = ""
		case err != nil && text != failing: // logs each error once, not on every tick
			log.WarnContext(ctx, "executing due actions of status pages failed", "error", err)
			failing = text
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
