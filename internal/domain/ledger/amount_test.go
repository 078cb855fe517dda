package ledger_test

import (
	"math"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestAmount(t *testing.T) {
	t.Parallel()
	token := func(n int64, decimals int32) ledger.Amount {
		return ledger.Amount{Raw: n, TokenID: 2001, Decimals: ledger.Of(decimals)}
	}
	for _, c := range []struct {
		amount ledger.Amount
		want   string // empty for null
	}{
		{ledger.Amount{}, "0 ℏ"},
		{ledger.Amount{Raw: -1_250_000_000}, "-12.5 ℏ"},
		{ledger.Amount{Raw: math.MinInt64}, "-92233720368.54775808 ℏ"},
		{token(0, 0), "0"},
		{token(120, 0), "120"},
		{token(0, 6), "0"},
		{token(-1, 18), "-0.000000000000000001"},
		{token(math.MaxInt64, 18), "9.223372036854775807"},
		{token(1_000_000, 6), "1"},
		{token(1, -1), ""},
		{token(1, math.MaxInt32), ""},
		{ledger.Amount{Raw: 1, TokenID: 2001}, ""},
	} {
		if got := c.amount.Display(); got.V != c.want || got.Valid != (c.want != "") {
			t.Errorf("%+v is displayed %+v, want %s", c.amount, got, c.want)
		}
	}
}

func TestUSD(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tinybars     int64
		cents, hbars int32
		want         string // empty for null
	}{
		{100_000_000, 12, 1, "0.12"},
		{-100_000_000, 355_500, 30_000, "-0.1185"},
		{1, 12, 1, "0.00"},
		{-1, 12, 1, "0.00"},
		{417, 12, 1, "0.000001"}, // 0.00000050040
		{416, 12, 1, "0.00"},     // 0.00000049920
		{math.MaxInt64, math.MaxInt32, 1, "1980704061934271235.938373"},
		{math.MinInt64, 100, 1, "-92233720368.547758"},
		{5_000_000_000_000, 100, 1, "50000.00"},
		{1, 0, 1, ""},
		{1, 1, 0, ""},
		{1, -5, 1, ""},
	} {
		got := ledger.ExchangeRate{CentEquivalent: c.cents, HbarEquivalent: c.hbars}.USD(c.tinybars)
		if got.V != c.want || got.Valid != (c.want != "") {
			t.Errorf("%d tinybars at %d/%d are %+v, want %s", c.tinybars, c.cents, c.hbars, got, c.want)
		}
	}
}
