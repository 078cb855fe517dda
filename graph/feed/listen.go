package feed

import (
	"context"
	"time"
)

// Listener configures a subscription.
type Listener[T any] struct {
	// From is the place after which the subscription starts. Nil means the present.
	From *Place
	// Match reports whether the listener receives a row. It is optional; the default is all rows.
	Match func(T) bool
	// Complete adds the data to new rows that Match needs. It returns the same number of rows. It is optional.
	Complete func(ctx context.Context, rows []T) ([]T, error)
	// History returns at most limit matching rows after the place after, up to and including until, in order.
	History func(ctx context.Context, after, until Place, limit int) ([]T, error)
	// End is called with the reason when the subscription ends, unless the listener's context ended it.
	End func(error)
}

// page is the maximum number of historical rows per statement.
const page = 200

// Row returns the value of a row that listeners receive. New rows are the same for all listeners, so that they can share what is read for them. live is
// false for rows that other listeners received earlier: what was read for them then may be outdated, so the listener receives a copy.
func Row[T any](row *T, live bool) *T {
	if live {
		return row
	}
	own := *row
	return &own
}

// Listen delivers rows until ctx ends, and closes the channel then. value converts a row; see [Row].
func Listen[T, V any](ctx context.Context, f *Feed[T], l Listener[T], value func(row T, live bool) V) <-chan V {
	out := make(chan V)
	go func() {
		defer close(out)
		r := f.join()
		defer f.leave()
		h := &hearing[T, V]{reader: r, l: &l, value: value, out: out}
		if err := h.run(ctx, f.ctx); err != nil && ctx.Err() == nil {
			l.End(err)
		}
	}()
	return out
}

// hearing is the state of one subscription.
type hearing[T, V any] struct {
	reader *reader[T]
	l      *Listener[T]
	value  func(T, bool) V
	live   bool // reports whether the listener has reached the end of the log
	out    chan<- V
}

// run delivers rows until the subscription ends, and returns the reason. feed is the context of the feed.
func (h *hearing[T, V]) run(ctx, feed context.Context) error {
	select {
	case <-h.reader.ready:
	case <-ctx.Done():
		return nil
	case <-feed.Done():
		return ErrShutdown
	}
	from := h.reader.newest()
	if h.l.From != nil {
		from = *h.l.From
	}
	number, err := h.past(ctx, feed, from)
	if err != nil {
		return err
	}
	for {
		rows, wake, ok := h.reader.from(number)
		if !ok {
			return ErrSlow
		}
		if rows, err = h.complete(ctx, feed, rows); err != nil {
			return err
		}
		for _, row := range rows {
			number++
			// The listener may start in the future: skip rows before its start.
			if !h.reader.source.Place(row).Beyond(from) || h.l.Match != nil && !h.l.Match(row) {
				continue
			}
			if err := h.tell(ctx, feed, row); err != nil {
				return err
			}
		}
		if len(rows) > 0 {
			continue
		}
		h.live = true
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // not reported
		case <-feed.Done():
			return ErrShutdown
		}
	}
}

// complete calls Listener.Complete. It retries while the database is unavailable.
func (h *hearing[T, V]) complete(ctx, feed context.Context, rows []T) ([]T, error) {
	if h.l.Complete == nil || len(rows) == 0 {
		return rows, nil
	}
	for wait := h.reader.o.Interval; ; wait = min(2*wait, slowest) {
		completed, err := h.l.Complete(ctx, rows)
		if err == nil {
			return completed, nil
		}
		if err := pause(ctx, feed, wait); err != nil {
			return nil, err
		}
	}
}

// pause waits, or returns the reason for which the subscription ends.
func pause(ctx, feed context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // not reported
	case <-feed.Done():
		return ErrShutdown
	case <-time.After(wait):
		return nil
	}
}

// past delivers historical rows up to the start of the log. It returns the number of the log's row at which to continue.
func (h *hearing[T, V]) past(ctx, feed context.Context, after Place) (uint64, error) {
	wait := h.reader.o.Interval
	for {
		// Rows that the log has dropped are read from the database, up to the newest row that the reader has read.
		number, ok := h.reader.after(after)
		if ok {
			return number, nil
		}
		until := h.reader.newest()
		rows, err := h.l.History(ctx, after, until, page)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err() //nolint:wrapcheck // not reported
		case err != nil: // retry: the database may recover
			if err := pause(ctx, feed, wait); err != nil {
				return 0, err
			}
			wait = min(2*wait, slowest)
			continue
		}
		wait = h.reader.o.Interval
		for _, row := range rows {
			if err := h.tell(ctx, feed, row); err != nil {
				return 0, err
			}
		}
		if len(rows) < page {
			after = until
		} else {
			after = h.reader.source.Place(rows[len(rows)-1])
		}
	}
}

func (h *hearing[T, V]) tell(ctx, feed context.Context, row T) error {
	select {
	case h.out <- h.value(row, h.live):
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // not reported
	case <-feed.Done():
		return ErrShutdown
	}
}
