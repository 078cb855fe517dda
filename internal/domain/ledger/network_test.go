package ledger_test

import (
	"math"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

func TestNewFraction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, d int64
		want ledger.Share
	}{
		{1, 1, 1},
		{1, 10, 0.1},
		{1, 3, 0.33333334},
		{2, 3, 0.6666667},
		{0, 5, 0},
		{5, 0, 0},
		{1, 2_000_000_000, 1e-9},
		{1, 2_000_000_001, 0},
		{math.MaxInt64, 1, 9.223372e18},
		{-1, 2_000_000_000, -1e-9},
	} {
		if got := ledger.NewShare(c.n, c.d); got != c.want {
			t.Errorf("%d / %d is %v, want %v", c.n, c.d, got, c.want)
		}
	}
}

func TestHbarText(t *testing.T) {
	t.Parallel()
	for tinybars, want := range map[int64]string{
		4200000000000000007: "42000000000.00000007", 1: "0.00000001", 0: "0.00000000", 100000000: "1.00000000",
		99999999: "0.99999999", -5: "-0.00000005",
	} {
		s := &ledger.NetworkSupply{ReleasedSupply: tinybars}
		if got := s.ReleasedHbar(); got != want {
			t.Errorf("%d is %s, want %s", tinybars, got, want)
		}
	}
	if got := (&ledger.NetworkSupply{}).TotalHbar(); got != "50000000000.00000000" {
		t.Errorf("the total is %s", got)
	}
}

func TestUnreleasedAccounts(t *testing.T) {
	t.Parallel()
	base, err := ledger.NewEntityID(1, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := ledger.UnreleasedAccounts(base)
	if len(ids) != 548 || ids[0].String() != "1.2.2" || ids[len(ids)-1].String() != "1.2.750" {
		t.Errorf("%d accounts from %s to %s", len(ids), ids[0], ids[len(ids)-1])
	}
}

func TestStakingPeriodOf(t *testing.T) {
	t.Parallel()
	p := ledger.StakingPeriodOf(86399999999999)
	if p.From.V.String() != "86400.000000000" || p.To.V.String() != "172800.000000000" {
		t.Errorf("the period is %s to %s", p.From.V, p.To.V)
	}
}

// TestScheduleStateAt checks when a schedule expires. Both limits are inclusive.
func TestScheduleStateAt(t *testing.T) {
	t.Parallel()
	const created = ledger.Timestamp(1700000000e9)
	after := func(d time.Duration) ledger.Timestamp { return created + ledger.Timestamp(d) }
	set := func(d time.Duration) ledger.Null[ledger.Timestamp] { return ledger.Of(after(d)) }
	for name, c := range map[string]struct {
		s    ledger.Schedule
		now  ledger.Timestamp
		want ledger.ScheduleState
	}{
		"new":                    {ledger.Schedule{}, after(0), ledger.SchedulePending},
		"just before 31 minutes": {ledger.Schedule{}, after(31*time.Minute) - 1, ledger.SchedulePending},
		"at 31 minutes":          {ledger.Schedule{}, after(31 * time.Minute), ledger.ScheduleExpired},
		"later than its default": {
			ledger.Schedule{ExpirationTimestamp: set(time.Hour)},
			after(45 * time.Minute),
			ledger.SchedulePending,
		},
		"at its expiration": {
			ledger.Schedule{ExpirationTimestamp: set(time.Hour)},
			after(time.Hour),
			ledger.SchedulePending,
		},
		"a minute after it, less": {
			ledger.Schedule{ExpirationTimestamp: set(time.Hour)},
			after(time.Hour+time.Minute) - 1, ledger.SchedulePending,
		},
		"a minute after it": {
			ledger.Schedule{ExpirationTimestamp: set(time.Hour)},
			after(time.Hour + time.Minute), ledger.ScheduleExpired,
		},
		"waiting changes nothing": {
			ledger.Schedule{WaitForExpiry: true},
			after(31 * time.Minute),
			ledger.ScheduleExpired,
		},
		"executed and expired": {
			ledger.Schedule{ExecutedTimestamp: set(1)},
			after(time.Hour),
			ledger.ScheduleExecuted,
		},
		"deleted":     {ledger.Schedule{Deleted: ledger.Of(true)}, after(1), ledger.ScheduleDeleted},
		"not deleted": {ledger.Schedule{Deleted: ledger.Of(false)}, after(1), ledger.SchedulePending},
	} {
		c.s.CreatedTimestamp = created
		if got := c.s.StateAt(c.now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestCodesOfTheNetwork(t *testing.T) {
	t.Parallel()
	for code, want := range map[int16]ledger.SignatureType{
		2: "CONTRACT", 3: "ED25519", 4: "RSA_3072", 5: "ECDSA_384",
		6: "ECDSA_SECP256K1", 1: "UNKNOWN", 0: "UNKNOWN", 7: "UNKNOWN",
	} {
		if got := ledger.SignatureTypeOf(ledger.Of(code)); got != want {
			t.Errorf("signature type %d is %s, want %s", code, got, want)
		}
	}
	if got := ledger.SignatureTypeOf(ledger.Null[int16]{}); got != ledger.SignatureUnknown {
		t.Errorf("no signature type is %s", got)
	}
	for code, want := range []ledger.RegisteredNodeType{
		"UNKNOWN", "BLOCK_NODE", "GENERAL_SERVICE", "MIRROR_NODE",
		"RPC_RELAY", "UNKNOWN",
	} {
		got := ledger.RegisteredNodeTypeOf(int16(code))
		if got != want || code < 5 && got.Code() != int16(code) {
			t.Errorf("node type %d is %s, want %s; its code is %d", code, got, want, got.Code())
		}
	}
	for name, want := range map[string]ledger.BlockNodeAPI{
		"OTHER": "OTHER", "STATUS": "STATUS",
		"STATE_PROOF": "STATE_PROOF", "status": "UNRECOGNIZED", "": "UNRECOGNIZED",
	} {
		if got := ledger.BlockNodeAPIOf(name); got != want {
			t.Errorf("the interface %q is %s, want %s", name, got, want)
		}
	}
}
