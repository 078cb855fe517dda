// Package feeschedules reads the fee schedule of the network.
package feeschedules

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// Schedules keeps the current fee schedule: the newest valid one of the database, or the default. A schedule is
// replaced as a whole, so that no estimate mixes two.
type Schedules struct {
	DB      *storage.DB
	Log     *slog.Logger
	Cache   bool                           // keep the schedule until Refresh
	BuiltIn func() (*fees.Schedule, error) // the default

	current atomic.Pointer[Schedule]

	mu       sync.Mutex // held during a read, so that an older schedule cannot replace a newer one
	rejected string     // last logged reason why the newest schedule is invalid
}

// Schedule is a schedule with its timestamp.
type Schedule struct {
	*fees.Schedule

	Since ledger.Null[ledger.Timestamp] // null for the default schedule
}

// Get returns the current schedule, which is shared and must not be changed. It reads the database if caching is off
// or the cache is empty, and fails only if that read does, or needs the built-in schedule and that fails. It may be
// called concurrently.
func (s *Schedules) Get(ctx context.Context) (*Schedule, error) {
	if s.Cache {
		if kept := s.current.Load(); kept != nil {
			return kept, nil
		}
	}
	return s.Refresh(ctx)
}

// Refresh reads the newest valid schedule from the database, or uses the built-in one, and caches it. An invalid
// newest one is logged. On an error of the database or of the built-in one, the cached schedule remains. Concurrent
// calls read one after the other.
func (s *Schedules) Refresh(ctx context.Context) (*Schedule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var read *fees.Schedule
	var invalid error // the error of the newest content
	since, err := entities.SystemFile(ctx, s.DB, s.DB.SystemEntity(ledger.SimpleFeeFile),
		storage.Window{Upper: ledger.MaxTimestamp},
		func(content []byte) (err error) {
			if read, err = fees.ParseSchedule(content); err != nil && invalid == nil {
				invalid = err
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	s.logInvalid(ctx, invalid, since)
	if !since.Valid {
		if read, err = s.BuiltIn(); err != nil {
			return nil, fmt.Errorf("reading the default fee schedule: %w", err)
		}
	}
	next := &Schedule{Schedule: read, Since: since}
	s.current.Store(next)
	return next, nil
}

// logInvalid logs once per invalid content that the newest schedule is invalid, and since when the one in use is
// valid; null stands for the default one. A nil error logs nothing. It remembers the last error in s, which the caller
// has locked.
func (s *Schedules) logInvalid(ctx context.Context, invalid error, since ledger.Null[ledger.Timestamp]) {
	if invalid == nil {
		s.rejected = ""
		return
	}
	if text := invalid.Error(); text != s.rejected {
		s.rejected = text
		used := "default"
		if since.Valid {
			used = since.V.String()
		}
		s.Log.WarnContext(ctx, "ignoring the invalid newest fee schedule in the database", "error", invalid,
			"used", used)
	}
}
