package ledger_test

import (
	"math"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

// TestExpiryAfter checks the forms of expiries around the largest timestamp, which some accounts exceed: their
// period has up to 63 bits of seconds.
func TestExpiryAfter(t *testing.T) {
	t.Parallel()
	const last = int64(math.MaxInt64)
	for _, c := range []struct {
		created       ledger.Timestamp
		period        int64
		text, nanos   string
		instant       string
		lessThanLimit bool
	}{
		{5, 7, "7.000000005", "7000000005", "1970-01-01T00:00:07.000000005Z", true},
		{5, 0, "0.000000005", "5", "1970-01-01T00:00:00.000000005Z", true},
		{
			854_775_807, 9_223_372_036, "9223372036.854775807", "9223372036854775807", "2262-04-11T23:47:16.854775807Z",
			true,
		},
		{
			854_775_808, 9_223_372_036, "9223372036.854775808", "9223372036854775808", "2262-04-11T23:47:16.854775808Z",
			false,
		},
		{
			1_700_000_000_000_000_001, 9_223_372_036, "10923372036.000000001", "10923372036000000001",
			"2316-02-24T22:00:36.000000001Z", false,
		},
		{
			1, 253_402_300_799, "253402300799.000000001", "253402300799000000001", "9999-12-31T23:59:59.000000001Z",
			false,
		},
		{0, 253_402_300_800, "253402300800.000000000", "253402300800000000000", "", false},
		{ledger.Timestamp(last), last, "9223372046078147843.854775807", "9223372046078147843854775807", "", false},
	} {
		e := ledger.ExpiryAfter(c.created, c.period)
		at, ok := e.Time()
		instant := ""
		if ok {
			instant = at.Format(time.RFC3339Nano)
		}
		if text := string(e.Append(nil)); text != c.text || string(e.Nanoseconds()) != c.nanos ||
			instant != c.instant ||
			!e.Valid || !c.lessThanLimit && e.V != ledger.MaxTimestamp {
			t.Errorf("%d + %d s: %s, %s, %s", c.created, c.period, text, e.Nanoseconds(), instant)
		}
	}
	if at, ok := (ledger.Expiry{}).Time(); ok || (ledger.Expiry{}).Nanoseconds() != "" {
		t.Errorf("no expiry: %v", at)
	}
}
