package resolvers

import (
	"context"
	"errors"
	"slices"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// FeeEstimateExchangeRate resolves FeeEstimate.exchangeRate. It returns a function that reads the current exchange rate
// once, which is the same for all estimates; nil if it is unknown.
func (f fields) FeeEstimateExchangeRate(
	ctx context.Context, _ rowplan.Request, of []*fees.Estimate,
) (rowplan.Results[*ledger.ExchangeRate], error) {
	return func() ([]*ledger.ExchangeRate, error) {
		rate, err := f.activeRate(ctx)
		return slices.Repeat([]*ledger.ExchangeRate{rate}, len(of)), err
	}, nil
}

// FeeEstimateTinybars resolves FeeEstimate.tinybars. It returns a function that reads the current exchange rate once,
// and converts the totals of the estimates; nil if the rate is unknown or the total does not fit.
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

// EstimateFee resolves Query.estimateFee. It estimates the fee of a serialized transaction, in tinycents, by the
// current fee schedule. It reads the fee schedule if that is not cached; other data only in mode STATE, in one round
// trip. Invalid and too large transactions, and throttles outside of 0 to 10,000 basis points, are BAD_USER_INPUT.
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
	schedule, err := r.feeSchedules.Get(ctx)
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
	e.ScheduleTimestamp = schedule.Since
	return e, nil
}

// inputError converts the errors that the transaction of a client caused to BAD_USER_INPUT, and returns others as they
// are, for [queries.EstimateFee].
func inputError(err error) error {
	var input *fees.InputError
	var extra *fees.UndefinedExtraError
	var limit *fees.LimitError
	if errors.As(err, &input) || errors.As(err, &extra) || errors.As(err, &limit) {
		return fault.Of(fault.BadUserInput, err)
	}
	return err
}

// activeRate reads the exchange rate of hbars that is valid now by the resolver's clock, or returns nil if it is
// unknown.
func (r *Resolver) activeRate(ctx context.Context) (*ledger.ExchangeRate, error) {
	rates, err := relay.WithoutNote(r.exchangeRates(ctx, storage.Window{Upper: ledger.MaxTimestamp}))
	if err != nil || rates == nil {
		return nil, err
	}
	rate := rates.At(r.timestamp())
	if rate.CentEquivalent == 0 {
		return nil, nil //nolint:nilnil // the file has no rate for now
	}
	return &rate, nil
}

// RefreshFees reads the fee schedule again and caches it, for the estimates that follow. On an error the cached one
// remains. The gateway calls it at regular intervals.
func (r *Resolver) RefreshFees(ctx context.Context) error {
	_, err := r.feeSchedules.Refresh(ctx)
	return err
}
