package feed_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"heliograph/graph/feed"
)

// A listener that starts in the past receives the stored rows, and then new ones.
func Example() {
	rows := &table{}
	rows.add(feed.Position{At: 1}, feed.Position{At: 2}, feed.Position{At: 3})

	f := feed.New(feed.Source[feed.Position]{
		Name:   "rows",
		Newest: func(context.Context) (feed.Position, error) { return feed.Position{At: 3}, nil },
		After: func(_ context.Context, after feed.Position, limit int) ([]feed.Position, error) {
			return rows.between(after, last, all, limit)
		},
		Position: func(row feed.Position) feed.Position { return row },
	}, feed.Options{Interval: time.Millisecond, Keep: 100, Logger: slog.New(slog.DiscardHandler)})
	defer f.Close()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // before the feed is closed, which would be the reason of the end
	events := feed.Listen(ctx, f, feed.Listener[feed.Position]{
		From: &feed.Position{At: 1},
		History: func(_ context.Context, after, until feed.Position, limit int) ([]feed.Position, error) {
			return rows.between(after, until, all, limit)
		},
		End: func(err error) { fmt.Println("ended:", err) },
	}, func(row feed.Position, _ bool) string { return fmt.Sprint("row ", int64(row.At)) })

	fmt.Println(<-events)
	fmt.Println(<-events)
	rows.add(feed.Position{At: 4})
	fmt.Println(<-events)
	// Output:
	// row 2
	// row 3
	// row 4
}
