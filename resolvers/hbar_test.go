package resolvers

import (
	"math"
	"testing"

	"heliograph/graph/model"
	"heliograph/internal/domain/ledger"
)

func TestFormatHbar(t *testing.T) {
	t.Parallel()
	const (
		tiny = model.HbarUnitTinybar
		wei  = model.HbarUnitWeibar
		hbar = model.HbarUnitHbar
	)
	for _, c := range []struct {
		tinybars int64
		unit     model.HbarUnit
		want     string
	}{
		{0, tiny, "0"},
		{0, wei, "0"},
		{0, hbar, "0"},
		{1, tiny, "1"},
		{1, wei, "10000000000"},
		{1, hbar, "0.00000001"},
		{-1, hbar, "-0.00000001"},
		{-1, wei, "-10000000000"},
		{100_000_000, hbar, "1"},
		{-100_000_000, hbar, "-1"},
		{1_000_000_000, hbar, "10"},
		{123_450_000, hbar, "1.2345"},
		{99_999_999, hbar, "0.99999999"},
		{10_000_000, hbar, "0.1"},
		{math.MaxInt64, tiny, "9223372036854775807"},
		{math.MaxInt64, wei, "92233720368547758070000000000"},
		{math.MaxInt64, hbar, "92233720368.54775807"},
		{math.MinInt64, hbar, "-92233720368.54775808"},
		{math.MinInt64, wei, "-92233720368547758080000000000"},
	} {
		if got := formatHbar(ledger.Of(c.tinybars), c.unit); got == nil || *got != c.want {
			t.Errorf("%d tinybars in %s are %v, want %s", c.tinybars, c.unit, got, c.want)
		}
	}
	if got := formatHbar(ledger.Null[int64]{}, hbar); got != nil {
		t.Errorf("an unknown amount is %q", *got)
	}
}
