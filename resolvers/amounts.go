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

// amountOf returns the value of an amount field of a row, such as balanceValue: n tinybars, or n of the smallest unit
// of a token; nil if n is null. Token 0 stands for hbars, and at for the time whose exchange rate applies; 0 is now.
// It reads nothing.
func amountOf(
	n ledger.Null[int64], token ledger.EntityID, decimals ledger.Null[int32], at ledger.Timestamp,
) *ledger.Amount {
	if !n.Valid {
		return nil
	}
	return &ledger.Amount{Raw: n.V, TokenID: token, Decimals: decimals, At: at}
}

// AccountBalanceValue resolves Account.balanceValue: the hbars of an account as an amount, nil if its balance is
// unknown. It reads nothing.
func (f fields) AccountBalanceValue(of *ledger.Account) *ledger.Amount {
	return f.BalanceBalanceValue(&of.Balance)
}

// BalanceBalanceValue resolves Balance.balanceValue: hbars as an amount at the time of the balance's snapshot, or now;
// nil if the balance is unknown. It reads nothing.
func (fields) BalanceBalanceValue(of *ledger.Balance) *ledger.Amount {
	return amountOf(of.Balance, 0, ledger.Null[int32]{}, of.Snapshot.V.At)
}

// TransferFeeValue resolves Transfer.feeValue: the fee of the transaction of a transfer, which is in hbars for tokens
// too. It reads nothing.
func (fields) TransferFeeValue(of *ledger.Transfer) *ledger.Amount {
	return &ledger.Amount{Raw: of.Fee(), At: of.ConsensusTimestamp}
}

// TokenInitialSupplyValue resolves Token.initialSupplyValue: the initial supply as an amount of the token. It reads
// nothing.
func (fields) TokenInitialSupplyValue(of *ledger.Token) *ledger.Amount {
	return ofToken(of, of.InitialSupply)
}

// TokenMaxSupplyValue resolves Token.maxSupplyValue: the maximum supply as an amount of the token, also if the supply
// is infinite and the maximum does not apply. It reads nothing.
func (fields) TokenMaxSupplyValue(of *ledger.Token) *ledger.Amount { return ofToken(of, of.MaxSupply) }

// TokenTotalSupplyValue resolves Token.totalSupplyValue: the total supply as an amount of the token. It reads nothing.
func (fields) TokenTotalSupplyValue(of *ledger.Token) *ledger.Amount {
	return ofToken(of, of.TotalSupply)
}

// ofToken returns a supply raw, in the smallest unit of the token t, as an amount with the token's decimals, for the
// fields of Token above. It reads nothing.
func ofToken(t *ledger.Token, raw int64) *ledger.Amount {
	return &ledger.Amount{Raw: raw, TokenID: t.EntityID, Decimals: ledger.Of(int32(min(t.Decimals, math.MaxInt32)))}
}

// amounts returns the results of an amount field of the rows of, for generated functions: what amount returns for each
// row, which can be nil. If the selection has display, it queues a read of the decimals of their tokens in the batch
// of q, and sets them in the amounts when the results are read.
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

// AmountUsd resolves Amount.usd. It returns a function that converts amounts of hbars to US dollars at the exchange
// rates of their times. It reads the rates that are not in the cache, usually with one statement, and caches them.
// Times after the moment of ctx, or after now, count as that. Amounts of tokens, and those whose rate is unknown, have
// none.
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
