package contractcalls

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/evm/calls"
)

// clock is a clock that advances by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newTestLimits(o Options) (*limits, *clock) {
	c := &clock{time.Unix(1_700_000_000, 0)}
	o.Clock = c.now
	o.MaxGas, o.GasPerSecond = cmp.Or(o.MaxGas, 15_000_000), cmp.Or(o.GasPerSecond, 7_500_000_000)
	o.RequestsPerSecond, o.TracesPerSecond = cmp.Or(o.RequestsPerSecond, 500), cmp.Or(o.TracesPerSecond, 1)
	o.RefundPercent = cmp.Or(o.RefundPercent, 100)
	return newLimits(Config{Options: o, Logger: slog.New(slog.DiscardHandler)}, o), c
}

func callOf(gas int64) *calls.ContractCallInput {
	return &calls.ContractCallInput{Gas: gas, To: make([]byte, 20)}
}

func TestRequestsPerSecond(t *testing.T) {
	l, c := newTestLimits(Options{RequestsPerSecond: 2})
	for i, want := range []bool{true, true, false} {
		if _, err := l.admit(t.Context(), callOf(30_000), false); (err == nil) != want {
			t.Errorf("request %d: %v", i, err)
		}
	}
	c.at = c.at.Add(500 * time.Millisecond)
	for i, want := range []bool{true, false} {
		if _, err := l.admit(t.Context(), callOf(30_000), false); (err == nil) != want {
			t.Errorf("request %d after half a second: %v", i, err)
		}
	}
}

func TestTracesPerSecond(t *testing.T) {
	l, c := newTestLimits(Options{})
	admitted := relay.WithAdmission(t.Context())
	for i, test := range []struct {
		ctx  context.Context
		want bool
	}{{t.Context(), true}, {t.Context(), false}, {admitted, true}} {
		if err := l.admitOne(test.ctx, l.traces); (err == nil) != test.want {
			t.Errorf("trace %d in a second: %v", i, err)
		}
	}
	c.at = c.at.Add(time.Second)
	if err := l.admitOne(t.Context(), l.traces); err != nil {
		t.Error(err)
	}
}

func TestGasIsRefunded(t *testing.T) {
	for _, test := range []struct {
		name    string
		percent int64
		used    int64
		next    int64
	}{
		{"all of it", 100, 400_000, 600_000},
		{"half at most", 50, 100_000, 500_000},
		{"call that used everything", 100, 1_000_000, 1_000_000},
		{"call that did not run", 100, 0, 1_000_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _ := newTestLimits(Options{GasPerSecond: 1_000_000, RefundPercent: test.percent})
			done, err := l.admit(t.Context(), callOf(1_000_000), false)
			if err != nil {
				t.Fatal(err)
			}
			if l.allow(l.gas, 1) {
				t.Error("gas is left while the call runs")
			}
			done(test.used)
			if !l.allow(l.gas, test.next/gasUnit) {
				t.Errorf("less than %d is left", test.next)
			}
			if l.allow(l.gas, 1) {
				t.Errorf("more than %d is left", test.next)
			}
		})
	}
}

func TestGasPerSecond(t *testing.T) {
	l, c := newTestLimits(Options{GasPerSecond: 100 * gasUnit})
	take := func(n int64) bool { return l.allow(l.gas, n) }
	if !take(100) || take(1) {
		t.Fatal("the capacity is not 100")
	}
	c.at = c.at.Add(250 * time.Millisecond)
	if !take(25) || take(1) {
		t.Error("a quarter of a second does not add 25")
	}
	c.at = c.at.Add(time.Hour)
	if !take(100) || take(1) {
		t.Error("an hour fills more or less than the capacity")
	}
	take(-30)
	if !take(30) || take(1) {
		t.Error("a refund of 30 does not add 30")
	}
	take(-1000)
	if !take(100) || take(1) {
		t.Error("a refund exceeds the capacity")
	}
}

func TestMaxGas(t *testing.T) {
	l, _ := newTestLimits(Options{MaxGas: 50_000, GasPerSecond: 100_000})
	for _, gas := range []int64{50_001, 110_000, math.MaxInt64} {
		_, err := l.admit(t.Context(), callOf(gas), false)
		var fails *fault.Error
		if !errors.As(err, &fails) || fails.Code != fault.BadUserInput {
			t.Errorf("gas %d: %v, want BAD_USER_INPUT", gas, err)
		}
	}
	if !l.allow(l.gas, 10) {
		t.Error("a rejected call keeps its gas")
	}
}

// TestHugeGas checks the sum and the refund of gas near the end of the range of numbers.
func TestHugeGas(t *testing.T) {
	const (
		most = math.MaxInt64
		some = most / gasUnit / 1000 // the limiter admits less in no time
	)
	l, _ := newTestLimits(Options{MaxGas: most, GasPerSecond: most, RefundPercent: 50, Simulations: true})
	huge := &calls.SimulatedCallInput{Gas: most, To: make([]byte, 20)}
	in := &calls.SimulationInput{Blocks: []*calls.SimulatedBlockInput{{
		Calls: []*calls.SimulatedCallInput{huge, huge},
	}}}
	done, err := l.admitAll(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if l.allow(l.gas, some) {
		t.Error("two calls with all gas leave some")
	}
	done(1)
	if !l.allow(l.gas, most/2/gasUnit) {
		t.Error("less than half is returned")
	}
	if l.allow(l.gas, some) {
		t.Error("more than half is returned")
	}
}

func TestFilters(t *testing.T) {
	list := []Filter{
		{Field: "GAS", Pattern: "^30000$", Action: Throttle, Limit: 1},
		{Field: "ESTIMATE", Pattern: "true", Action: Reject},
		{Field: "VALUE", Pattern: ".", Action: Log},
	}
	for i := range list {
		if err := list[i].Compile(); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := newTestLimits(Options{Filters: list})
	for i, test := range []struct {
		gas      int64
		estimate bool
		want     error
	}{
		{30_000, false, nil},
		{30_000, false, calls.ErrRequestRate},
		{30_001, false, nil},
		{30_001, true, calls.ErrRejected},
	} {
		if err := l.filter(t.Context(), callOf(test.gas), test.estimate); !errors.Is(err, test.want) {
			t.Errorf("request %d: %v, want %v", i, err, test.want)
		}
	}
	for _, f := range []Filter{
		{Field: "GAS", Pattern: "x", Action: "DROP"},
		{Field: "NONCE", Pattern: "x", Action: Log},
		{Field: "GAS", Pattern: "(", Action: Log},
		{Field: "GAS", Pattern: "x", Action: Throttle},
	} {
		if f.Compile() == nil {
			t.Errorf("%+v compiles", f)
		}
	}
}
