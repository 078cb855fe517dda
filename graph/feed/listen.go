package feed

import (
	"context"
	"time"
)

// Listener configures a subscription.
type Listener[T any] struct {
	// From is the position after which the subscription starts. Nil means the present.
	From *Position
	// Match reports whether the listener receives a row. It is optional; the default is all rows.
	Match func(T) bool
	// Complete returns new rows with the data that Match needs, the same number in the same order. It is optional.
	Complete func(ctx context.Context, rows []T) ([]T, error)
	// History returns at most limit matching rows after the position after, up to and including until, in order.
	History func(ctx context.Context, after, until Position, limit int) ([]T, error)
	// End is called with the reason when the subscription ends, unless the listener's context ended it.
	End func(error)
}

// page is the maximum number of historical rows per statement.
const page = 200

// waiting is the number of rows that wait for a listener outside of the log. Rows that are read together can then be
// sent together.
const waiting = 16

// Row returns the value of a row that listeners receive. live reports whether all listeners receive the row at the
// same time. They get the same pointer, and related data that is read for it is shared. Otherwise other listeners
// received the row earlier, and data that was read for it then may be outdated, so the listener gets a copy.
func Row[T any](row *T, live bool) *T {
	if live {
		return row
	}
	copied := *row
	return &copied
}

// Listen returns a channel on which a goroutine delivers rows of the feed until ctx ends, and closes the channel then.
// The first listener starts the reader of f, and the end of the last one stops it. value converts a row; see [Row]. If
// the subscription fails or the feed is closed, it calls l.End with the reason and then closes the channel.
func Listen[T, V any](ctx context.Context, f *Feed[T], l Listener[T], value func(row T, live bool) V) <-chan V {
	out := make(chan V, waiting)
	go func() {
		defer close(out)
		r := f.join()
		defer f.leave()
		s := &subscription[T, V]{reader: r, l: &l, value: value, out: out}
		if err := s.run(ctx, f.ctx); err != nil && ctx.Err() == nil {
			l.End(err)
		}
	}()
	return out
}

type subscription[T, V any] struct {
	reader *reader[T]
	l      *Listener[T]
	value  func(T, bool) V
	live   bool // the listener has reached the end of the log
	out    chan<- V
}

// run waits for the start of the reader, delivers historical rows and then new ones until the subscription ends, and
// returns the reason: [ErrSlow], [ErrShutdown], or the end of ctx, which can also be nil. feed is the context of the
// feed.
func (s *subscription[T, V]) run(ctx, feed context.Context) error {
	select {
	case <-s.reader.ready:
	case <-ctx.Done():
		return nil
	case <-feed.Done():
		return ErrShutdown
	}
	from := s.reader.newest()
	if s.l.From != nil {
		from = *s.l.From
	}
	number, err := s.catchUp(ctx, feed, from)
	if err != nil {
		return err
	}
	for {
		rows, wake, ok := s.reader.from(number)
		if !ok {
			return ErrSlow
		}
		if rows, err = s.complete(ctx, feed, rows); err != nil {
			return err
		}
		for _, row := range rows {
			number++
			// The listener may start in the future: skip rows before its start.
			if !s.reader.source.Position(row).After(from) || s.l.Match != nil && !s.l.Match(row) {
				continue
			}
			if err := s.deliver(ctx, feed, row); err != nil {
				return err
			}
		}
		if len(rows) > 0 {
			continue
		}
		s.live = true
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // not reported
		case <-feed.Done():
			return ErrShutdown
		}
	}
}

// complete returns what Listener.Complete makes of rows, or rows without such a function. Other subscriptions share
// rows, so that it must not change them. Each attempt reads in a context of Options.Begin. After any error it retries,
// with pauses of at most maxDelay. It fails only if the subscription or the feed ends.
func (s *subscription[T, V]) complete(ctx, feed context.Context, rows []T) ([]T, error) {
	if s.l.Complete == nil || len(rows) == 0 {
		return rows, nil
	}
	for wait := s.reader.o.Interval; ; wait = min(2*wait, maxDelay) {
		reading, _ := s.reader.o.begin(ctx)
		completed, err := s.l.Complete(reading, rows)
		if err == nil {
			return completed, nil
		}
		if err := pause(ctx, feed, wait); err != nil {
			return nil, err
		}
	}
}

// pause waits before a read is repeated and returns nil, or returns at once the reason for which the subscription
// ends: the end of ctx, or [ErrShutdown] if feed has ended.
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

// catchUp delivers historical rows up to the start of the log. It retries failed reads until the subscription or the
// feed ends. It returns the number of the row in the log at which to continue.
func (s *subscription[T, V]) catchUp(ctx, feed context.Context, after Position) (uint64, error) {
	wait := s.reader.o.Interval
	for {
		// Rows that the log has dropped are read from the database, up to the newest row that the reader has read.
		number, ok := s.reader.after(after)
		if ok {
			return number, nil
		}
		until := s.reader.newest()
		reading, _ := s.reader.o.begin(ctx)
		rows, err := s.l.History(reading, after, until, page)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err() //nolint:wrapcheck // not reported
		case err != nil: // retry: the database may recover
			if err := pause(ctx, feed, wait); err != nil {
				return 0, err
			}
			wait = min(2*wait, maxDelay)
			continue
		}
		wait = s.reader.o.Interval
		for _, row := range rows {
			if err := s.deliver(ctx, feed, row); err != nil {
				return 0, err
			}
		}
		if len(rows) < page {
			after = until
		} else {
			after = s.reader.source.Position(rows[len(rows)-1])
		}
	}
}

// deliver sends a row to the listener, for which it waits. It fails if the subscription or the feed ends.
func (s *subscription[T, V]) deliver(ctx, feed context.Context, row T) error {
	select {
	case s.out <- s.value(row, s.live):
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // not reported
	case <-feed.Done():
		return ErrShutdown
	}
}
