package storage_test

import (
	"context"
	"sync"
	"testing"

	contexts "heliograph/internal/base/values"
	"heliograph/storage"
)

// TestTogether checks that the first batches of parts are sent together, that a part without a batch does not block
// the others, and that a statement that fails does so for its own part only.
func TestTogether(t *testing.T) {
	t.Parallel()
	db := open(t, func(o *storage.Options) { o.MaxConnections = 5 })
	number := func(ctx context.Context, sql string) (int64, error) {
		b := db.NewBatch()
		got, err := storage.Run(ctx, b, storage.Values[int64]().Queue(b, sql, nil))
		if err != nil {
			return 0, err
		}
		return *got[0], nil
	}
	const session, divided = `select pg_current_xact_id()::text::bigint`, `select 1 / (select 0)::bigint`
	for name, c := range map[string]struct {
		parts []string // "" has no batch
		same  bool
		fails int
	}{
		"two":               {[]string{session, session}, true, 0},
		"three":             {[]string{session, session, session}, true, 0},
		"one has no batch":  {[]string{session, "", session}, true, 0},
		"only one":          {[]string{"", session}, true, 0},
		"one fails":         {[]string{session, divided, session}, false, 1},
		"each fails itself": {[]string{divided, divided}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := storage.Together(len(c.parts))
			var all sync.WaitGroup
			got, errs := make([]int64, len(c.parts)), make([]error, len(c.parts))
			for i, sql := range c.parts {
				all.Go(func() {
					value, end := begin()
					defer end()
					if sql != "" {
						ctx := contexts.Context(t.Context(), value)
						if got[i], errs[i] = number(ctx, sql); errs[i] == nil {
							// only the first batches wait for each other
							if _, err := number(ctx, session); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			all.Wait()
			failed, seen := 0, map[int64]bool{}
			for i, sql := range c.parts {
				switch {
				case errs[i] != nil:
					failed++
				case sql == session:
					seen[got[i]] = true
				}
			}
			if failed != c.fails || c.same && len(seen) != 1 {
				t.Errorf("%d parts failed, and %d transactions ran: %v", failed, len(seen), errs)
			}
		})
	}
}

// TestEmptyBatch checks that a batch without statements needs no database, as in a process that has only status pages,
// and that the first batch of its part is a later one.
func TestEmptyBatch(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	begin := storage.Together(2)
	var got [2]int64
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			value, end := begin()
			defer end()
			ctx, ran := contexts.Context(t.Context(), value), false
			empty := (*storage.DB)(nil).NewBatch()
			empty.Then(func() { ran = true })
			if err := empty.Run(ctx); err != nil || !ran {
				t.Errorf("an empty batch: %v; Then ran: %t", err, ran)
			}
			b := db.NewBatch()
			rows, err := storage.Run(ctx, b,
				storage.Values[int64]().Queue(b, `select pg_current_xact_id()::text::bigint`, nil))
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = *rows[0]
		})
	}
	all.Wait()
	if got[0] != got[1] {
		t.Errorf("the batches ran in the transactions %d", got)
	}
}
