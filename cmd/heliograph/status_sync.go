package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"heliograph/app/pagesync"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// syncSettings configure the mirroring of status pages of other sites.
type syncSettings struct {
	StatusSync      []string      `name:"status-sync" env:"HELIOGRAPH_STATUS_SYNC" placeholder:"URL" help:"URLs of status pages to mirror; can be repeated."`
	StatusSyncEvery time.Duration `name:"status-sync-every" env:"HELIOGRAPH_STATUS_SYNC_EVERY" default:"60s" help:"Interval at which mirrored status pages are read, at least 15s."`
}

// followers returns a follower for each URL of a page that the gateway mirrors. They read nothing yet. An invalid URL
// or interval is a usage error.
func (s *syncSettings) followers(
	db *statuspages.DB, now func() time.Time, log *slog.Logger,
) ([]*pagesync.Follower, error) {
	var out []*pagesync.Follower
	for _, url := range s.StatusSync {
		f, err := pagesync.New(pagesync.Options{
			URL: url, Every: s.StatusSyncEvery, DB: db, Logger: log, Now: now,
			Import: status.ImportOptions{Mode: status.Mirror, Vocabulary: status.Statuspage},
		})
		if err != nil {
			return nil, invalid("HELIOGRAPH_STATUS_SYNC: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

type statusSyncCmd struct {
	Source     string        `arg:"" name:"url" help:"URL of the page, such as https://status.example.com."`
	Mirror     bool          `xor:"mode" help:"Create or update a mirror, which cannot be edited (the default)."`
	Import     bool          `xor:"mode" help:"Create an editable copy, or convert a mirror into one."`
	Every      time.Duration `xor:"often" help:"Continue in the foreground, with this interval, such as 60s."`
	Once       bool          `xor:"often" help:"Read the page once (the default)."`
	ShortName  string        `help:"Short name of the new page (default: derived from the name)."`
	URL        string        `name:"url" help:"Public URL of the imported page (default: the URL of the source)."`
	Vocabulary string        `enum:"documented,statuspage" default:"statuspage" help:"Status values in documents of the new page: statuspage, which has statuses for maintenance, or documented."`
}

// run reads the page of another server and writes it to the database once, or with --every mirrors it until the
// process ends. With --import the copy is independent of its source afterwards. It rejects --url without --import, and
// --every with --import or in a dry run.
func (c *statusSyncCmd) run(ctx context.Context, s *session) error {
	o := pagesync.Options{
		URL: c.Source, Every: c.Every, DB: s.db, Logger: s.logger(), Now: s.now,
		Import: status.ImportOptions{
			Mode: status.Mirror, Slug: cmp.Or(c.ShortName, s.Slug),
			Vocabulary: status.Vocabulary(c.Vocabulary),
		},
		Author: s.by,
	}
	if c.Import {
		o.Import.Mode, o.Import.URL = status.Imported, c.URL
	}
	if c.URL != "" && !c.Import {
		return status.Errorf(status.BadInput, "--url requires --import: a mirror keeps the URL of its source")
	}
	if c.Every != 0 && (c.Import || s.DryRun) {
		return status.Errorf(status.BadInput, "--every cannot be combined with --import or --dry-run")
	}
	if c.Every != 0 {
		return follow(ctx, o)
	}
	return s.copyPage(ctx, o)
}

// follow mirrors a page until the context ends, and then returns nil. It fails immediately if the options are invalid
// or the first read shows that the page cannot be mirrored. Other errors, also of the first read, are retried.
func follow(ctx context.Context, o pagesync.Options) error {
	f, err := pagesync.New(o)
	if err != nil {
		return err
	}
	var rejected *status.Error
	if _, _, _, err := f.Poll(ctx); errors.As(err, &rejected) {
		return err
	}
	f.Run(ctx)
	return nil
}

// progressDelay is how long a command runs before it prints progress.
const progressDelay = 2 * time.Second

// copyPage reads a page of another server, writes it to the database, prints the result, and warns on standard error
// of what it could not copy. It sets Step in its copy of o to show progress. A dry run prints only the warnings: its
// write is rolled back. If recording the source of a mirror or reading the page back fails, the page is already
// written, and the error is returned after the warnings, without the result.
func (s *session) copyPage(ctx context.Context, o pagesync.Options) error {
	bar := newProgress(progressDelay)
	o.Step = func(done, total int) { bar.show("reading documents", done, total) }
	follower, err := pagesync.New(o)
	if err != nil {
		return err
	}
	out, err := follower.Copy(ctx)
	bar.end()
	if out == nil {
		return err
	}
	r := out.Result
	for _, w := range out.Warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	for _, code := range r.Stale {
		fmt.Fprintln(os.Stderr, "warning: the source no longer lists the open notice", code)
	}
	if err != nil {
		return err
	}
	p, err := s.db.PageByCode(ctx, r.Page)
	if err != nil {
		return err
	}
	if p == nil {
		return nil
	}
	object := pageObject(p)
	object["changed"], object["warnings"], object["stale"] = r.Changed, out.Warnings, r.Stale
	return s.print(object, "%s %s, mode %s, revision %d: %d components and notices were written", p.Code, p.Slug,
		p.Mode, p.Revision, r.Changed)
}

// maxMissedReads is the number of missed reads after which a mirror is reported as outdated.
const maxMissedReads = 5

// outdatedMirror reads the source of the page from the status database, and returns a problem for `heliograph status
// check` if the page is a mirror whose last read failed or is more than maxMissedReads intervals ago, otherwise nil.
func (s *session) outdatedMirror(ctx context.Context) ([]string, error) {
	source, err := s.db.SourceOf(ctx, s.page.Code)
	if err != nil || source == nil || s.page.Mode != status.Mirror {
		return nil, err
	}
	age := s.now().Sub(source.OKAt).Round(time.Second)
	switch {
	case source.Failures > 0:
		return []string{fmt.Sprintf("%s was last read %s ago, and failed %d times since: %s", source.URL, age,
			source.Failures, source.Error)}, nil
	case age > maxMissedReads*source.Every:
		return []string{fmt.Sprintf("%s was last read %s ago, but the interval is %s: run a gateway with --status-sync",
			source.URL, age, source.Every)}, nil
	}
	return nil, nil
}
