package pagesync

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// Times of rounds.
const (
	// slowest is how long a page that cannot be read is left alone at most.
	slowest = 10 * time.Minute
	// lease is how long a round may take; afterwards another gateway may begin one.
	lease = 2 * time.Minute
)

// Options say what is copied and how.
type Options struct {
	URL string
	// Every is how often the page is read; see [storage.MinSourceEvery].
	Every  time.Duration
	Import statuspages.ImportOptions
	DB     *statuspages.DB
	Logger *slog.Logger
	Now    func() time.Time
	// Random gives numbers from 0 to 1, for the jitter. Nil is a usual source.
	Random func() float64
	// Step is told how many documents have been read. Nil tells nobody.
	Step func(done, total int)
}

// Follower keeps a page a copy of one elsewhere.
type Follower struct {
	o      Options
	client *Client
	okAt   atomic.Int64 // in nanoseconds since 1970; 0 for never
	failed string       // what the last round failed of, so that it is logged once
	missed int          // rounds that failed one after the other; a page that was never read has no row to count them
}

// New makes a follower.
func New(o Options) (*Follower, error) {
	client, err := NewClient(o.URL, nil)
	if err != nil {
		return nil, err
	}
	if o.Every != 0 && o.Every < statuspages.MinSourceEvery {
		return nil, status.Refuse(status.BadInput, "pages elsewhere are read every %s at most, not every %s", statuspages.MinSourceEvery, o.Every)
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return &Follower{o: o, client: client}, nil
}

// URL is the page that is followed.
func (f *Follower) URL() string { return f.client.Base() }

// Age is how long ago the page was last read by this gateway or another one, as far as this one knows; negative when it never was.
func (f *Follower) Age() time.Duration {
	at := f.okAt.Load()
	if at == 0 {
		return -1
	}
	return max(0, f.o.Now().Sub(time.Unix(0, at)))
}

// Outcome is what a round did.
type Outcome struct {
	// Result is what was written; nil where the documents have not changed since they were last read.
	Result *statuspages.ImportResult
	// Name is that of the page, Warnings are what was not understood of it. They are empty with Result.
	Name     string
	Warnings []string
}

// Once reads the page and writes what it says. tags are those of the last time, none to read all; they are returned for the next one.
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
		return nil, nil, fmt.Errorf("the page %s cannot be copied: %w", f.client.Base(), err)
	}
	if c.Page.URL == "" {
		c.Page.URL = f.client.Base()
	}
	result, err := f.o.DB.ImportPage(ctx, c, f.o.Import, f.o.Now())
	if err != nil {
		return nil, nil, err
	}
	return &Outcome{Result: result, Name: c.Page.Name, Warnings: c.Warnings}, reading.Tags, nil
}

// Round makes a round, unless another gateway has made one lately, and notes how it went. mine tells whether it was this gateway's turn, next when there is to be
// another round. An outcome is nil when it was not.
func (f *Follower) Round(ctx context.Context) (out *Outcome, mine bool, next time.Time, err error) {
	now := f.o.Now()
	source, mine, err := f.o.DB.TakeTurn(ctx, f.client.Base(), now, lease)
	if err != nil {
		return nil, false, now.Add(f.pause(1)), err
	}
	if !source.OKAt.IsZero() {
		f.okAt.Store(source.OKAt.UnixNano())
	}
	if !mine {
		return nil, false, source.NextAt, nil
	}
	out, tags, err := f.Once(ctx, source.Tags)
	if err != nil && ctx.Err() != nil { // the gateway stops: another one may go on at once
		source.NextAt = now
		_ = f.o.DB.EndTurn(context.WithoutCancel(ctx), source) // else the lease ends by itself
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
	if noteErr := f.o.DB.EndTurn(ctx, source); err == nil {
		err = noteErr
	}
	return out, true, source.NextAt, err
}

// Copy reads all of the page, whosever turn it is, and notes so where it is a mirror that is to be read again.
func (f *Follower) Copy(ctx context.Context) (*Outcome, error) {
	out, tags, err := f.Once(ctx, nil)
	if err != nil || f.o.Import.Mode != status.Mirror || f.o.Import.Preview != nil {
		return out, err
	}
	now := f.o.Now()
	return out, f.o.DB.EndTurn(ctx, &statuspages.PageSource{
		Page: out.Result.Page, URL: f.client.Base(), Every: cmp.Or(f.o.Every, time.Minute), Tags: tags, OKAt: now, NextAt: now.Add(f.pause(0)),
	})
}

// pause is how long it is to the next round: up to a tenth longer or shorter than the settings say, so that gateways do not all ask at once, and twice as long
// after each failure, up to ten minutes.
func (f *Follower) pause(failures int) time.Duration {
	every := max(f.o.Every, statuspages.MinSourceEvery)
	for range min(failures, 10) {
		if every < slowest {
			every = min(2*every, slowest)
		}
	}
	return time.Duration(float64(every) * (0.9 + 0.2*f.o.Random()))
}

// Run makes rounds until the context ends. What goes wrong is logged once, and tried again.
func (f *Follower) Run(ctx context.Context) {
	for ctx.Err() == nil {
		out, _, next, err := f.Round(ctx)
		f.tell(ctx, out, err)
		select {
		case <-ctx.Done():
		case <-time.After(min(max(next.Sub(f.o.Now()), time.Second), slowest)):
		}
	}
}

// tell logs how a round went, where that is news.
func (f *Follower) tell(ctx context.Context, out *Outcome, err error) {
	log := f.o.Logger.With("url", f.client.Base())
	switch {
	case ctx.Err() != nil:
	case err != nil && err.Error() != f.failed:
		log.WarnContext(ctx, "a status page elsewhere cannot be copied; its copy stays as it is", "error", err)
		f.failed = err.Error()
	case err != nil || out == nil: // nothing new
	default:
		if f.failed != "" {
			f.failed = ""
			log.InfoContext(ctx, "the status page elsewhere can be copied again")
		}
		if out.Result == nil || out.Result.Changed == 0 && !out.Result.Created {
			return
		}
		log.InfoContext(ctx, "a status page was copied", "page", out.Result.Page, "changed", out.Result.Changed)
		for _, w := range out.Warnings {
			log.WarnContext(ctx, "a status page elsewhere says something that is not understood", "what", w)
		}
		if len(out.Result.Stale) > 0 {
			log.WarnContext(ctx, "open notices are missing in the status page elsewhere, although nobody closed them; they stay", "notices", out.Result.Stale)
		}
	}
}
