package entities

import (
	"bytes"
	"math"
	"testing"

	"heliograph/internal/domain/ledger"
)

// TestExpiry checks when entities expire.
func TestExpiry(t *testing.T) {
	t.Parallel()
	const last = int64(math.MaxInt64)
	at := func(v int64) ledger.Null[ledger.Timestamp] { return ledger.Of(ledger.Timestamp(v)) }
	is := func(v int64) ledger.Expiry { return ledger.Expiry{Null: at(v)} }
	noLong, noTime := ledger.Null[int64]{}, ledger.Null[ledger.Timestamp]{}
	for name, c := range map[string]struct {
		set     ledger.Null[int64]
		created ledger.Null[ledger.Timestamp]
		period  ledger.Null[int64]
		want    ledger.Expiry
	}{
		"nothing is known":   {noLong, noTime, noLong, ledger.Expiry{}},
		"no period":          {noLong, at(5), noLong, ledger.Expiry{}},
		"no creation":        {noLong, noTime, ledger.Of(int64(7)), ledger.Expiry{}},
		"set":                {ledger.Of(int64(0)), at(5), ledger.Of(int64(7)), is(0)},
		"renewed":            {noLong, at(5), ledger.Of(int64(7)), is(7_000_000_005)},
		"never renewed":      {noLong, at(5), ledger.Of(int64(0)), is(5)},
		"the last that fits": {noLong, at(854_775_807), ledger.Of(int64(9_223_372_036)), is(last)},
		"one too late": {
			noLong, at(854_775_808), ledger.Of(int64(9_223_372_036)),
			ledger.ExpiryAfter(854_775_808, 9_223_372_036),
		},
		"the longest period":   {noLong, at(5), ledger.Of(last), ledger.ExpiryAfter(5, last)},
		"created last of all":  {noLong, at(last), ledger.Of(int64(1)), ledger.ExpiryAfter(ledger.Timestamp(last), 1)},
		"set beyond all times": {ledger.Of(last), at(5), noLong, is(last)},
	} {
		if got := Expiry(c.set, c.created, c.period); !bytes.Equal(got.Append(nil), c.want.Append(nil)) ||
			got.Null != c.want.Null {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
