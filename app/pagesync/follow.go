package pagesync

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"heliograph/internal/base/repeat"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// Times of polling.
const (
	// maxPause is the maximum time between attempts to read a page that fails.
	maxPause = 10 * time.Minute
	// lease is the time after which another gateway may poll instead.
	lease = 2 * time.Minute
)

// Options configure a [Follower].
type Options struct {
	URL string
	// Every is the polling interval; see [statuspages.MinSourceEvery].
	Every  time.Duration
	Import status.ImportOptions
	// Author is the author of imports in the audit log, with an optional preview.
	Author statuspages.Author
	DB     *statuspages.DB
	Logger *slog.Logger
	Now    func() time.Time
	// Step, if not nil, is called with the number of documents that have been read.
	Step func(done, total int)
}

// Follower mirrors another status page.
type Follower struct {
	o      Options
	client *Client
	okAt   atomic.Int64 // Unix time in nanoseconds; 0 for never
	task   statuspages.TaskLog
	missed int      // consecutive failures; a page that was never read has no row that counts them
	warned []string // the warnings of the last poll, which are not logged again
}

// New returns a new Follower of the page at o.URL, which reads nothing yet. It fails if the URL is invalid, or the
// interval is shorter than [statuspages.MinSourceEvery]; 0 stands for that.
func New(o Options) (*Follower, error) {
	client, err := NewClient(o.URL, nil)
	if err != nil {
		return nil, err
	}
	if o.Every != 0 && o.Every < statuspages.MinSourceEvery {
		return nil, status.Errorf(status.BadInput, "the polling interval must be at least %s, not %s",
			statuspages.MinSourceEvery, o.Every)
	}
	return &Follower{o: o, client: client, task: statuspages.TaskLog{
		Logger: o.Logger,
		Task:   "mirroring the status page " + client.Base(),
	}}, nil
}

// URL returns the URL of the page that is mirrored.
func (f *Follower) URL() string { return f.client.Base() }

// Age returns the time since the last known read of the page by any gateway. It is negative if the page was never
// read.
func (f *Follower) Age() time.Duration {
	at := f.okAt.Load()
	if at == 0 {
		return -1
	}
	return max(0, f.o.Now().Sub(time.Unix(0, at)))
}

// Outcome is the result of a poll.
type Outcome struct {
	// Result is the result of the import, or nil if the documents have not changed since the last read.
	Result *statuspages.ImportResult
	// Warnings are those of [status.ReadDocuments].
	Warnings []string
}

// Once reads the page and imports it into the database as o.Author. tags are the ETags of the last read, or nil to
// read everything. It returns the new ETags, or nil if the documents belong to different revisions, so that the
// next read gets all of them again. If nothing has changed, the outcome is empty and nothing is written. It fails if
// the page cannot be read, its documents cannot be imported, or the write fails; then both other results are nil.
func (f *Follower) Once(ctx context.Context, tags map[string]string) (*Outcome, map[string]string, error) {
	reading, err := f.client.Read(ctx, tags, f.o.Step)
	if err != nil {
		return nil, nil, err
	}
	if reading.Documents == nil {
		return &Outcome{}, reading.Tags, nil
	}
	c, err := status.ReadDocuments(reading.Documents)
	if err != nil {
		return nil, nil, fmt.Errorf("the page %s cannot be mirrored: %w", f.client.Base(), err)
	}
	if c.Page.URL == "" {
		c.Page.URL = f.client.Base()
	}
	result, err := f.o.DB.ImportPage(ctx, f.o.Author, c, f.o.Import, f.o.Now())
	if err != nil {
		return nil, nil, err
	}
	tagsOfPage := reading.Tags
	if c.Mixed {
		tagsOfPage = nil
	}
	return &Outcome{Result: result, Warnings: c.Warnings}, tagsOfPage, nil
}

// Poll claims the source in the database and reads and imports the page, unless another gateway has done so recently.
// It records the outcome and the time of the next poll in the database. polled reports whether this gateway polled; if
// not, the outcome is nil. next is the time of the next poll. If ctx ends during the read, Poll records no failure,
// and another gateway can poll at once. If the outcome cannot be recorded, Poll returns it beside the error. Calls
// must not be concurrent. It keeps the time of the last read, for [Follower.Age], and the number of failures in f.
func (f *Follower) Poll(ctx context.Context) (out *Outcome, polled bool, next time.Time, err error) {
	now := f.o.Now()
	source, claimed, err := f.o.DB.ClaimSource(ctx, f.client.Base(), now, lease)
	if err != nil {
		return nil, false, now.Add(f.pause(1)), err
	}
	if !source.OKAt.IsZero() {
		f.okAt.Store(source.OKAt.UnixNano())
	}
	if !claimed {
		return nil, false, source.NextAt, nil
	}
	out, tags, err := f.Once(ctx, source.Tags)
	if err != nil && ctx.Err() != nil { // the gateway stops: another one may poll immediately
		source.NextAt = now
		_ = f.o.DB.ReleaseSource(context.WithoutCancel(ctx), source) // otherwise the lease expires
		return nil, true, now, err
	}
	source.Every = f.o.Every
	if err != nil {
		f.missed++
		source.Failures = max(source.Failures+1, f.missed)
		source.Error, source.Tags = err.Error(), nil
	} else {
		f.missed = 0
		source.Failures, source.Error, source.Tags, source.OKAt = 0, "", tags, f.o.Now()
		if out.Result != nil {
			source.Page = out.Result.Page
		}
		f.okAt.Store(source.OKAt.UnixNano())
	}
	source.NextAt = f.o.Now().Add(f.pause(source.Failures))
	if releaseErr := f.o.DB.ReleaseSource(ctx, source); err == nil {
		err = releaseErr
	}
	return out, true, source.NextAt, err
}

// Copy reads and imports the whole page once, even if another gateway polls it. For a mirror that is not a preview, it
// also records the source in the database, with an interval of a minute by default. If that fails, it returns the
// outcome beside the error.
func (f *Follower) Copy(ctx context.Context) (*Outcome, error) {
	out, tags, err := f.Once(ctx, nil)
	if err != nil || f.o.Import.Mode != status.Mirror || f.o.Author.Preview != nil {
		return out, err
	}
	now := f.o.Now()
	return out, f.o.DB.ReleaseSource(ctx, &statuspages.PageSource{
		Page: out.Result.Page, URL: f.client.Base(), Every: cmp.Or(f.o.Every, time.Minute), Tags: tags, OKAt: now,
		NextAt: now.Add(f.pause(0)),
	})
}

// pause returns the time to the next poll after a number of failures in sequence: the interval, doubled after each
// failure up to [maxPause]. A longer interval stays as it is.
func (f *Follower) pause(failures int) time.Duration {
	every := max(f.o.Every, statuspages.MinSourceEvery)
	for range min(failures, 10) {
		if every < maxPause {
			every = min(2*every, maxPause)
		}
	}
	return every
}

// Run mirrors the page until the context ends: it calls [Follower.Poll], which reads the page from the other server
// and writes it to the database, after pauses of one second to maxPause. They are up to 10 % longer than planned, so
// that gateways and pages do not poll at the same moment. It logs each error once and retries.
func (f *Follower) Run(ctx context.Context) {
	for ctx.Err() == nil {
		out, _, next, err := f.Poll(ctx)
		f.log(ctx, out, err)
		pause := min(max(next.Sub(f.o.Now()), time.Second), maxPause)
		repeat.Sleep(ctx, time.Duration(float64(pause)*(1+0.1*rand.Float64())))
	}
}

// log logs the outcome of a poll: a failure or recovery when it changes, and an import with changes, with those of its
// warnings that the import before did not have, and the open notices that the source no longer lists. It keeps the
// warnings of such an import in f. If only the recording of a poll failed, it logs both.
func (f *Follower) log(ctx context.Context, out *Outcome, err error) {
	log := f.o.Logger.With("url", f.client.Base())
	if err != nil || out != nil {
		f.task.Record(ctx, err)
	}
	if out == nil || out.Result == nil || out.Result.Changed == 0 && !out.Result.Created {
		return
	}
	log.InfoContext(ctx, "a status page was mirrored", "page", out.Result.Page, "changed", out.Result.Changed)
	known := f.warned
	f.warned = out.Warnings
	for _, w := range out.Warnings {
		if slices.Contains(known, w) {
			continue
		}
		log.WarnContext(ctx, "a mirrored status page has an invalid value", "warning", w)
	}
	if len(out.Result.Stale) > 0 {
		log.WarnContext(ctx,
			"open notices are no longer listed by the mirrored status page, although they were not closed; "+
				"they are kept",
			"notices", out.Result.Stale)
	}
}
