package main

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"heliograph/app/probe"
	"heliograph/app/webhooks"
	"heliograph/internal/base/repeat"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// webhookSettings configure the sending to webhooks.
type webhookSettings struct {
	WebhookNetworks []string `name:"webhook-networks" env:"HELIOGRAPH_WEBHOOK_NETWORKS" placeholder:"NETWORK" help:"Addresses or networks to which webhooks may be sent in addition to public addresses, such as 10.0.0.0/8; can be repeated."`
}

// sender returns the sender of messages to webhooks. It sends nothing until it runs. It fails if the networks of
// the settings are invalid.
func (s *webhookSettings) sender(
	editor *statuspages.Editor, now func() time.Time, log *slog.Logger,
) (*webhooks.Sender, error) {
	allowed, err := readNetworks("HELIOGRAPH_WEBHOOK_NETWORKS", s.WebhookNetworks)
	if err != nil {
		return nil, err
	}
	return webhooks.New(editor, now, log, allowed), nil
}

type statusWebhookCmd struct {
	Add    statusWebhookAddCmd  `cmd:"" help:"Add a webhook and print its ID and its secret, which cannot be printed again."`
	Rotate statusWebhookEditCmd `cmd:"" help:"Replace the secret of a webhook and print the new one. For a day, messages are signed with both."`
	Enable statusWebhookEditCmd `cmd:"" help:"Enable a webhook that was disabled after failures."`
	Rm     statusWebhookEditCmd `cmd:"" help:"Delete a webhook and the messages that wait to be sent to it."`
	List   statusWebhookListCmd `cmd:"" help:"List the webhooks of the page."`
}

type statusWebhookAddCmd struct {
	URL       string   `arg:"" help:"URL to which updates are sent as POST requests."`
	Component []string `help:"ID or name of a component or group whose updates are sent; can be repeated (default: the whole page)."`
}

// run adds a webhook to the page in the database of status pages, with an entry in the audit log, and prints its
// secret, which is not shown again. An invalid argument goes to s.err, and then nothing is written. It fails if the
// page has a webhook with the URL.
func (c *statusWebhookAddCmd) run(ctx context.Context, s *session) error {
	in := status.NewWebhook{URL: c.URL, Components: s.codes(ctx, c.Component)}
	if s.err != nil {
		return s.err
	}
	code, secret, err := s.AddWebhook(ctx, s.by, s.page.Code, in)
	return s.doneWebhook(code, secret, "was added", err)
}

// doneWebhook prints to standard output what was done with the webhook with a code, and its new secret unless that is
// empty. In a dry run it prints nothing, and if err is not nil it only returns that.
func (s *session) doneWebhook(code, secret, done string, err error) error {
	if secret == "" {
		return s.done(err, map[string]string{"id": code}, "webhook %s %s", code, done)
	}
	return s.done(err, map[string]string{"id": code, "secret": secret}, "webhook %s %s, its secret is %s", code, done,
		secret)
}

// statusWebhookEditCmd are the commands that need only a webhook.
type statusWebhookEditCmd struct {
	ID string `arg:"" help:"ID of the webhook."`
}

// run rotates the secret of a webhook, enables or deletes it in the database of status pages, depending on the name of
// the command, with an entry in the audit log. It prints what it did and a new secret, which is not shown again. It
// fails if the page has no webhook with the ID.
func (c *statusWebhookEditCmd) run(ctx context.Context, s *session) (err error) {
	var in status.VersionInput
	var secret string
	switch s.name {
	case "rotate":
		_, secret, err = s.RotateWebhook(ctx, s.by, c.ID, in)
	case "enable":
		_, err = s.EnableWebhook(ctx, s.by, c.ID, in)
	default:
		_, err = s.RemoveWebhook(ctx, s.by, c.ID, in)
	}
	done := map[string]string{"rotate": "was changed", "enable": "was enabled", "rm": "was deleted"}[s.name]
	return s.doneWebhook(c.ID, secret, done, err)
}

type statusWebhookListCmd struct{}

// run reads the webhooks of the page from the database of status pages, and prints them without their secrets.
func (statusWebhookListCmd) run(ctx context.Context, s *session) error {
	list, err := s.db.Webhooks(ctx, s.page.Code)
	if err != nil {
		return err
	}
	return table(s, list, func(w *status.Webhook) (map[string]any, []string) {
		row := []string{w.Code, w.URL, strconv.FormatInt(w.Pending, 10) + " pending", w.LastError.V}
		if w.DisabledAt.Valid {
			row = append(row, "disabled "+w.DisabledAt.V.UTC().Format(time.RFC3339))
		}
		return map[string]any{
			"id": w.Code, "url": w.URL, "components": w.Components, "pending": w.Pending, "failures": w.Failures,
			"last_error":  w.LastError.Pointer(),
			"disabled_at": w.DisabledAt.Pointer(),
		}, row
	})
}

const dueInterval = 10 * time.Second

type statusWatchCmd struct{ webhookSettings }

// run executes due actions and probes of all pages, writes their effects to the database of status pages, and sends
// updates to their webhooks, until the context ends. Errors of due actions are warnings in the log (true), because
// there is no cache of status pages that reports an unreachable database.
func (c *statusWatchCmd) run(ctx context.Context, s *session) error {
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
	tasks.Go(func() { probe.NewWatcher(s.Editor, checker, s.logger()).Run(ctx) })
	runDue(ctx, s.Editor, s.logger(), true, dueInterval)
	tasks.Wait()
	return nil
}

// checker returns a checker that runs probes. It opens a read-only pool of the ledger database, which can be the
// embedded one. If only a status database is configured, there is no pool, and probes of the ledger are unknown. done
// closes the pool. It does not connect yet. After an error, done is nil.
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

// runDue executes the due actions of all status pages at once and then at the given interval until the context ends,
// and logs them. After an error, which it logs unless the run before had the same one, it tries again at the next
// interval. If alone is true, it logs errors as warnings, also of an unreachable database: the process has no cache of
// status pages, which reports that for all tasks.
func runDue(ctx context.Context, editor *statuspages.Editor, log *slog.Logger, alone bool, every time.Duration) {
	task := statuspages.TaskLog{Logger: log, Task: "executing due actions of status pages", Alone: alone}
	for range repeat.Every(ctx, every) {
		done, err := editor.RunDue(ctx)
		for _, a := range done {
			level := slog.LevelInfo
			if a.Due == status.IncidentReminder { // a reminder needs attention
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "executed a due action of a status page", "action", string(a.Due), "notice",
				a.Notice.Code, "name", a.Notice.Name, "page", a.Notice.PageCode)
		}
		task.Record(ctx, err)
	}
}
