package ledger_test

import (
	"math"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestHbarAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tinybars int64
		unit     ledger.HbarUnit
		want     string
	}{
		{0, ledger.UnitTinybar, "0"},
		{0, ledger.UnitWeibar, "0"},
		{0, ledger.UnitHbar, "0"},
		{1, ledger.UnitTinybar, "1"},
		{1, ledger.UnitWeibar, "10000000000"},
		{1, ledger.UnitHbar, "0.00000001"},
		{-1, ledger.UnitHbar, "-0.00000001"},
		{-1, ledger.UnitWeibar, "-10000000000"},
		{100_000_000, ledger.UnitHbar, "1"},
		{-100_000_000, ledger.UnitHbar, "-1"},
		{1_000_000_000, ledger.UnitHbar, "10"},
		{123_450_000, ledger.UnitHbar, "1.2345"},
		{99_999_999, ledger.UnitHbar, "0.99999999"},
		{10_000_000, ledger.UnitHbar, "0.1"},
		{math.MaxInt64, ledger.UnitTinybar, "9223372036854775807"},
		{math.MaxInt64, ledger.UnitWeibar, "92233720368547758070000000000"},
		{math.MaxInt64, ledger.UnitHbar, "92233720368.54775807"},
		{math.MinInt64, ledger.UnitHbar, "-92233720368.54775808"},
		{math.MinInt64, ledger.UnitWeibar, "-92233720368547758080000000000"},
	} {
		got, err := ledger.HbarAmount{Tinybars: ledger.Of(c.tinybars), Unit: c.unit}.AppendText(nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%d tinybars in %s = %s (error %v), want %s", c.tinybars, c.unit, got, err, c.want)
		}
	}
}
