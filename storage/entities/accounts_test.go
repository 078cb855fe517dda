package entities

import (
	"math"
	"testing"

	"heliograph/internal/domain/ledger"
)

// TestExpiry checks when entities expire. An expiry beyond the largest timestamp is capped at it.
func TestExpiry(t *testing.T) {
	t.Parallel()
	const last = int64(math.MaxInt64)
	at := func(v int64) ledger.Null[ledger.Timestamp] { return ledger.Of(ledger.Timestamp(v)) }
	noLong, noTime := ledger.Null[int64]{}, ledger.Null[ledger.Timestamp]{}
	for name, c := range map[string]struct {
		set     ledger.Null[int64]
		created ledger.Null[ledger.Timestamp]
		period  ledger.Null[int64]
		want    ledger.Null[ledger.Timestamp]
	}{
		"nothing is known":     {noLong, noTime, noLong, noTime},
		"no period":            {noLong, at(5), noLong, noTime},
		"no creation":          {noLong, noTime, ledger.Of(int64(7)), noTime},
		"set":                  {ledger.Of(int64(0)), at(5), ledger.Of(int64(7)), at(0)},
		"renewed":              {noLong, at(5), ledger.Of(int64(7)), at(7_000_000_005)},
		"never renewed":        {noLong, at(5), ledger.Of(int64(0)), at(5)},
		"the last that fits":   {noLong, at(854_775_807), ledger.Of(int64(9_223_372_036)), at(last)},
		"one too late":         {noLong, at(854_775_808), ledger.Of(int64(9_223_372_036)), at(last)},
		"the longest period":   {noLong, at(5), ledger.Of(last), at(last)},
		"created last of all":  {noLong, at(last), ledger.Of(int64(1)), at(last)},
		"set beyond all times": {ledger.Of(last), at(5), noLong, at(last)},
	} {
		if got := Expiry(c.set, c.created, c.period); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
