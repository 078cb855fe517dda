package resolvers

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// Amounts. The functions of most are generated: they call amountOf with fields of the row.

// amountOf returns an amount of hbars or of a token, or nil if it is null.
func amountOf(
	n ledger.Null[int64], token ledger.EntityID, decimals ledger.Null[int32], at ledger.Timestamp,
) *ledger.Amount {
	if !n.Valid {
		return nil
	}
	return &ledger.Amount{Raw: n.V, TokenID: token, Decimals: decimals, At: at}
}

// AccountBalanceValue returns the balance of an account.
func (f fields) AccountBalanceValue(of *ledger.Account) *ledger.Amount {
	return f.BalanceBalanceValue(&of.Balance)
}

// BalanceBalanceValue returns an amount at the time of its snapshot.
func (fields) BalanceBalanceValue(of *ledger.Balance) *ledger.Amount {
	return amountOf(of.Balance, 0, ledger.Null[int32]{}, of.Snapshot.V.At)
}

// TransferFeeValue returns the fee of the transaction of a transfer, which is in hbars for tokens too.
func (fields) TransferFeeValue(of *ledger.Transfer) *ledger.Amount {
	return &ledger.Amount{Raw: of.Fee(), At: of.ConsensusTimestamp}
}

// TokenInitialSupplyValue returns the initial supply of a token.
func (fields) TokenInitialSupplyValue(of *ledger.Token) *ledger.Amount {
	return ofToken(of, of.InitialSupply)
}

// TokenMaxSupplyValue returns the maximum supply of a token.
func (fields) TokenMaxSupplyValue(of *ledger.Token) *ledger.Amount { return ofToken(of, of.MaxSupply) }

// TokenTotalSupplyValue returns the supply of a token.
func (fields) TokenTotalSupplyValue(of *ledger.Token) *ledger.Amount {
	return ofToken(of, of.TotalSupply)
}

// ofToken returns an amount of a token that has been read.
func ofToken(t *ledger.Token, raw int64) *ledger.Amount {
	return &ledger.Amount{Raw: raw, TokenID: t.EntityID, Decimals: ledger.Of(int32(min(t.Decimals, math.MaxInt32)))}
}

// amounts returns the amounts of rows. It reads the decimals of their tokens if the selection has display.
func amounts[T any](
	q rowplan.Request, of []T, amount func(T) *ledger.Amount,
) (rowplan.Results[*ledger.Amount], error) {
	out := list.Map(of, amount)
	ofTokens := slices.DeleteFunc(slices.Clone(out), func(a *ledger.Amount) bool {
		return a == nil || a.TokenID.IsNone()
	})
	if len(ofTokens) == 0 || !q.Selection.Has("display") {
		return storage.Known(out), nil
	}
	tokens := list.Map(ofTokens, func(a *ledger.Amount) ledger.EntityID { return a.TokenID })
	read := entities.QueueDecimals(loading.BatchOf(q), tokens)
	return storage.Map(read, func(got []*ledger.TokenHolder) []*ledger.Amount {
		for i, t := range got {
			if t != nil {
				ofTokens[i].Decimals = t.Decimals
			}
		}
		return out
	}), nil
}

// AmountUsd converts amounts of hbars to US dollars. All rates are read with one statement.
func (f fields) AmountUsd(
	ctx context.Context, _ rowplan.Request, of []*ledger.Amount,
) (rowplan.Results[*string], error) {
	now := f.moment(ctx)
	minute := now - now%ledger.Timestamp(time.Minute) // the rates of a minute are read once
	var times []ledger.Timestamp
	var places []int
	for i, a := range of {
		if a.TokenID.IsNone() {
			times, places = append(times, min(cmp.Or(a.At, minute), now)), append(places, i)
		}
	}
	return func() ([]*string, error) {
		out := make([]*string, len(of))
		rates, err := f.rates.Read(ctx, f.db, times)
		for i, rate := range rates {
			out[places[i]] = rate.USD(of[places[i]].Raw).Pointer()
		}
		return out, err
	}, nil
}
