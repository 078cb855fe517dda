package resolvers

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

// feeSchedules returns the current fee schedule: the newest valid one of the database, or the default. A schedule is replaced as a whole, so that no
// estimate mixes two.
type feeSchedules struct {
	db      *storage.DB
	log     *slog.Logger
	cache   bool
	builtIn func() (*fees.Schedule, error)

	current atomic.Pointer[feeSchedule]

	mu       sync.Mutex // held during a read, so that an older schedule cannot replace a newer one
	rejected string     // last logged reason why the newest schedule is invalid
}

// feeSchedule is a schedule with its timestamp.
type feeSchedule struct {
	*fees.Schedule

	since ledger.Null[ledger.Timestamp] // null for the default schedule
}

func newFeeSchedules(o Options) *feeSchedules {
	return &feeSchedules{db: o.DB, log: o.Logger, cache: o.Cache, builtIn: sync.OnceValues(fees.Default)}
}

// get returns the current schedule. It reads the database if caching is off or the cache is empty.
func (s *feeSchedules) get(ctx context.Context) (*feeSchedule, error) {
	if s.cache {
		if kept := s.current.Load(); kept != nil {
			return kept, nil
		}
	}
	return s.refresh(ctx)
}

// refresh reads the schedule from the database. On an error the cached schedule remains.
func (s *feeSchedules) refresh(ctx context.Context) (*feeSchedule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var read *fees.Schedule
	var invalid error // the error of the newest content
	since, err := entities.SystemFile(ctx, s.db, s.db.SystemEntity(ledger.SimpleFeeFile), entities.Bounds{Upper: ledger.MaxTimestamp},
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
		if read, err = s.builtIn(); err != nil {
			return nil, fmt.Errorf("reading the default fee schedule: %w", err)
		}
	}
	next := &feeSchedule{Schedule: read, since: since}
	s.current.Store(next)
	return next, nil
}

// logInvalid logs once that the newest schedule is invalid.
func (s *feeSchedules) logInvalid(ctx context.Context, invalid error, since ledger.Null[ledger.Timestamp]) {
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
		s.log.WarnContext(ctx, "ignoring the invalid newest fee schedule in the database", "error", invalid, "used", used)
	}
}

// RefreshFees reads the fee schedule again.
func (r *Resolver) RefreshFees(ctx context.Context) error {
	_, err := r.feeSchedules.refresh(ctx)
	return err
}
