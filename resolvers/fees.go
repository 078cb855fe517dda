package resolvers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// FeeEstimateExchangeRate returns the current exchange rate.
func (f fields) FeeEstimateExchangeRate(
	ctx context.Context, _ rowplan.Request, of []*fees.Estimate,
) (rowplan.Results[*ledger.ExchangeRate], error) {
	return func() ([]*ledger.ExchangeRate, error) {
		rate, err := f.activeRate(ctx)
		return slices.Repeat([]*ledger.ExchangeRate{rate}, len(of)), err
	}, nil
}

// FeeEstimateTinybars returns the totals of estimates at the current exchange rate.
func (f fields) FeeEstimateTinybars(
	ctx context.Context, _ rowplan.Request, of []*fees.Estimate,
) (rowplan.Results[*int64], error) {
	return func() ([]*int64, error) {
		out := make([]*int64, len(of))
		rate, err := f.activeRate(ctx)
		if err != nil || rate == nil {
			return out, err
		}
		for i, e := range of {
			if total := rate.Tinybars(e.Total); total.Valid { // else the total exceeds 64 bits
				out[i] = &total.V
			}
		}
		return out, nil
	}, nil
}

// maxThrottle is 100 percent in basis points.
const maxThrottle = 10_000

// EstimateFee estimates the fee of a transaction. Only mode STATE reads the ledger, in one round trip.
func (r queries) EstimateFee(ctx context.Context, args graph.QueryEstimateFeeArgs) (*fees.Estimate, error) {
	throttle := args.HighVolumeThrottle
	switch {
	case len(args.Transaction) > fees.MaxBytes:
		return nil, fault.Input("a transaction has %d bytes at most", fees.MaxBytes)
	case throttle < 0:
		return nil, fault.Input("highVolumeThrottle is negative: %d", throttle)
	case throttle > maxThrottle:
		return nil, fault.Input("highVolumeThrottle is more than %d: %d", maxThrottle, throttle)
	}
	tx, err := fees.ParseAny(args.Transaction)
	if err == nil {
		err = tx.CheckLimits()
	}
	if err != nil {
		return nil, inputError(err)
	}
	schedule, err := r.feeSchedules.get(ctx)
	if err != nil {
		return nil, err
	}
	o := fees.Options{Mode: args.Mode, HighVolumeThrottle: int64(throttle)}
	if args.Mode == fees.State {
		if o.Facts, err = entities.FeeFacts(ctx, r.db, tx.Questions()); err != nil {
			return nil, err
		}
	}
	e, err := schedule.Estimate(tx, o)
	if err != nil {
		return nil, inputError(err)
	}
	e.ScheduleTimestamp = schedule.since
	return e, nil
}

// inputError converts errors that the transaction caused to input errors.
func inputError(err error) error {
	var input *fees.InputError
	var extra *fees.UndefinedExtraError
	var limit *fees.LimitError
	if errors.As(err, &input) || errors.As(err, &extra) || errors.As(err, &limit) {
		return fault.Of(fault.BadUserInput, err)
	}
	return err
}

// activeRate returns the current exchange rate of hbars, or nil if it is unknown.
func (r *Resolver) activeRate(ctx context.Context) (*ledger.ExchangeRate, error) {
	rates, err := r.exchangeRates(ctx, storage.Window{Upper: ledger.MaxTimestamp})
	if err != nil || rates == nil {
		return nil, err
	}
	rate := rates.At(r.timestamp())
	if rate.CentEquivalent == 0 {
		return nil, nil //nolint:nilnil // the file has no rate for now
	}
	return &rate, nil
}

// feeSchedules returns the current fee schedule: the newest valid one of the database, or the default. A schedule is
// replaced as a whole, so that no estimate mixes two.
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
	since, err := entities.SystemFile(ctx, s.db, s.db.SystemEntity(ledger.SimpleFeeFile),
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
		s.log.WarnContext(ctx, "ignoring the invalid newest fee schedule in the database", "error", invalid,
			"used", used)
	}
}

// RefreshFees reads the fee schedule again.
func (r *Resolver) RefreshFees(ctx context.Context) error {
	_, err := r.feeSchedules.refresh(ctx)
	return err
}
