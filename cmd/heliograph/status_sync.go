package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"heliograph/app/pagesync"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// syncSettings configure the mirroring of status pages of other sites.
type syncSettings struct {
	StatusSync      []string      `name:"status-sync" env:"HELIOGRAPH_STATUS_SYNC" placeholder:"URL" help:"Status pages elsewhere of which this gateway keeps copies; repeatable."`
	StatusSyncEvery time.Duration `name:"status-sync-every" env:"HELIOGRAPH_STATUS_SYNC_EVERY" default:"60s" help:"How often they are read."`
}

// followers returns a follower for each mirrored page.
func (s *syncSettings) followers(db *statuspages.DB, now func() time.Time, log *slog.Logger) ([]*pagesync.Follower, error) {
	var out []*pagesync.Follower
	for _, url := range s.StatusSync {
		f, err := pagesync.New(pagesync.Options{
			URL: url, Every: s.StatusSyncEvery, DB: db, Logger: log, Now: now, Import: status.ImportOptions{Mode: status.Mirror, Vocabulary: status.Statuspage},
		})
		if err != nil {
			return nil, fmt.Errorf("HELIOGRAPH_STATUS_SYNC: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

type statusSyncCmd struct {
	Source     string        `arg:"" name:"url" help:"The page, such as https://status.example.com."`
	Mirror     bool          `xor:"mode" help:"Make it a copy that nobody edits here (the default)."`
	Import     bool          `xor:"mode" help:"Make it a page of ours, which is edited here from then on. A mirror can become one."`
	Every      time.Duration `xor:"often" help:"Go on in the foreground, and read the page this often, such as 60s."`
	Once       bool          `xor:"often" help:"Read it once (the default)."`
	ShortName  string        `help:"Short name of the new page (default: made of its name)."`
	URL        string        `name:"url" help:"Where people see the page that is imported (default: where it was)."`
	Vocabulary string        `enum:"documented,statuspage" default:"statuspage" help:"Which words the documents of the new page use: statuspage, with maintenance as a state, or documented."`
}

// Run copies a page from another site.
func (c *statusSyncCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		o := pagesync.Options{
			URL: c.Source, Every: c.Every, DB: n.db, Logger: s.logger(), Now: n.now,
			Import: status.ImportOptions{Mode: status.Mirror, Slug: c.ShortName, Vocabulary: status.Vocabulary(c.Vocabulary)},
			Author: statuspages.Author{Name: n.by.Name},
		}
		if o.Import.Slug == "" {
			o.Import.Slug = s.Slug
		}
		if c.Import {
			o.Import.Mode, o.Import.URL = status.Imported, c.URL
		}
		if c.URL != "" && !c.Import {
			return status.Errorf(status.BadInput, "a mirror keeps its URL: --url is for --import")
		}
		if c.Every != 0 && (c.Import || s.DryRun) {
			return status.Errorf(status.BadInput, "only mirrors are read again and again: leave out --every")
		}
		if s.DryRun {
			o.Author.Preview = func(preview context.Context) error { return n.previewAll(ctx, preview) }
		}
		if c.Every != 0 {
			return follow(ctx, o)
		}
		return n.copyPage(ctx, o)
	})
}

// follow mirrors a page until the context ends. It fails immediately if the page cannot be mirrored.
func follow(ctx context.Context, o pagesync.Options) error {
	f, err := pagesync.New(o)
	if err != nil {
		return err
	}
	var refusal *status.Error
	if _, _, _, err := f.Poll(ctx); errors.As(err, &refusal) {
		return err
	}
	f.Run(ctx)
	return nil
}

// patience is how long a command runs before it prints progress.
const patience = 2 * time.Second

// copyPage copies a page once.
func (n *newsroom) copyPage(ctx context.Context, o pagesync.Options) error {
	bar := newProgress(os.Stderr)
	defer bar.end()
	var mu sync.Mutex
	var shown bool
	done, total := 0, 0
	show := func() {
		if shown {
			bar.show("reading documents", done, total)
		}
	}
	o.Step = func(d, t int) {
		mu.Lock()
		defer mu.Unlock()
		done, total = d, t
		show()
	}
	timer := time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		shown = true
		show()
	})
	defer timer.Stop()
	f, err := pagesync.New(o)
	if err != nil {
		return err
	}
	out, err := f.Copy(ctx)
	if err != nil {
		return err
	}
	r := out.Result
	for _, w := range out.Warnings {
		fmt.Fprintln(os.Stderr, "not understood:", w)
	}
	for _, code := range r.Stale {
		fmt.Fprintln(os.Stderr, "missing elsewhere, although it is open:", code)
	}
	p, err := n.db.PageByCode(ctx, r.Page)
	if err != nil || p == nil {
		return err
	}
	object := pageObject(p)
	object["changed"], object["warnings"], object["stale"] = r.Changed, out.Warnings, r.Stale
	return n.print(object, "%s %s, mode %s, revision %d: %d components and notices were written", p.Code, p.Slug, p.Mode, p.Revision, r.Changed)
}

// previewAll prints the documents that a copy changes. The context now reads the state before the copy, preview the state after it.
func (n *newsroom) previewAll(now, preview context.Context) error {
	pages, err := n.db.Pages(now)
	if err != nil {
		return err
	}
	next, err := n.db.Pages(preview)
	if err != nil {
		return err
	}
	for _, p := range next {
		old := pages.ByCode(p.Code)
		if old != nil && old.Revision == p.Revision {
			continue
		}
		before := map[string][]byte{}
		if old != nil {
			if before, err = n.render(now, old); err != nil {
				return err
			}
		}
		after, err := n.render(preview, p)
		if err != nil {
			return err
		}
		n.printChanged(before, after)
	}
	return nil
}

// lateAfter is the number of missed rounds after which a mirror is reported as late.
const lateAfter = 5

// lateCopy returns warnings if the page is a mirror that has not been read for a long time.
func (n *newsroom) lateCopy(ctx context.Context) ([]string, error) {
	source, err := n.db.SourceOf(ctx, n.page.Code)
	if err != nil || source == nil || n.page.Mode != status.Mirror {
		return nil, err
	}
	age := n.now().Sub(source.OKAt).Round(time.Second)
	switch {
	case source.Failures > 0:
		return []string{fmt.Sprintf("%s was last read %s ago, and failed %d times since: %s", source.URL, age, source.Failures, source.Error)}, nil
	case age > lateAfter*source.Every:
		return []string{fmt.Sprintf("%s was last read %s ago, although it should be read every %s: is a gateway with --status-sync running?", source.URL, age,
			source.Every)}, nil
	}
	return nil, nil
}
