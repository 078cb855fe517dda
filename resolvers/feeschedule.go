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

// feeSchedules gives the fee schedule in force: the newest valid one of the database, or the one that networks begin with. A schedule is replaced
// as a whole, so that no estimate mixes two.
type feeSchedules struct {
	db      *storage.DB
	log     *slog.Logger
	cache   bool
	builtIn func() (*fees.Schedule, error)

	current atomic.Pointer[feeSchedule]

	mu       sync.Mutex // while the database is read, so that no older schedule replaces a newer one
	rejected string     // why the newest schedule is not valid, as it was logged last
}

// feeSchedule is a schedule and when it became so.
type feeSchedule struct {
	*fees.Schedule

	since ledger.Null[ledger.Timestamp] // unknown for the one that networks begin with
}

func newFeeSchedules(o Options) *feeSchedules {
	return &feeSchedules{db: o.DB, log: o.Logger, cache: o.Cache, builtIn: sync.OnceValues(fees.Default)}
}

// get returns the schedule in force, which is read when nothing is kept between requests, or nothing has been kept yet.
func (s *feeSchedules) get(ctx context.Context) (*feeSchedule, error) {
	if s.cache {
		if kept := s.current.Load(); kept != nil {
			return kept, nil
		}
	}
	return s.refresh(ctx)
}

// refresh reads the schedule again. When that fails the one that is kept stays.
func (s *feeSchedules) refresh(ctx context.Context) (*feeSchedule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var read *fees.Schedule
	var invalid error // the newest content, where that is not valid
	since, err := entities.SystemFile(ctx, s.db, s.db.SystemEntity(ledger.SimpleFeeFile), entities.Bounds{Upper: ledger.MaxTimestamp}, func(content []byte) (err error) {
		if read, err = fees.ParseSchedule(content); err != nil && invalid == nil {
			invalid = err
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.tell(ctx, invalid, since)
	if !since.Valid {
		if read, err = s.builtIn(); err != nil {
			return nil, fmt.Errorf("reading the fee schedule that networks begin with: %w", err)
		}
	}
	next := &feeSchedule{Schedule: read, since: since}
	s.current.Store(next)
	return next, nil
}

// tell logs once that the newest schedule is ignored.
func (s *feeSchedules) tell(ctx context.Context, invalid error, since ledger.Null[ledger.Timestamp]) {
	if invalid == nil {
		s.rejected = ""
		return
	}
	if text := invalid.Error(); text != s.rejected {
		s.rejected = text
		used := "the one that networks begin with"
		if since.Valid {
			used = "that of " + since.V.String()
		}
		s.log.WarnContext(ctx, "the newest fee schedule in the database is ignored", "error", invalid, "used", used)
	}
}

// RefreshFees reads the fee schedule again, for the estimates that follow.
func (r *Resolver) RefreshFees(ctx context.Context) error {
	_, err := r.feeSchedules.refresh(ctx)
	return err
}
