// Package contractcalls runs contract calls, gas estimates and traces of historical transactions for the graph. It decides which requests run: it
// validates them, applies request filters, rate limits and time-outs, and bounds how many run at the same time.
package contractcalls

import (
	"cmp"
	"log/slog"
	"time"

	"heliograph/internal/domain/evm"
	"heliograph/storage"
)

// Options configure contract calls. A zero value selects the default.
type Options struct {
	// MaxGas is the maximum gas of a call. Default: 15 million.
	MaxGas int64
	// GasPerSecond is the maximum gas of all calls per second. Default: 7.5 billion.
	GasPerSecond int64
	// RequestsPerSecond is the maximum number of calls and estimates per second. Default: 500.
	RequestsPerSecond int64
	// TracesPerSecond is the maximum number of traces per second. Default: 1.
	TracesPerSecond int64
	// RefundPercent is the share of a call's unused gas that is returned to GasPerSecond. Default: 100.
	RefundPercent int64
	// Overrides allows calls with state overrides.
	Overrides bool
	// TracesOff disables traces.
	TracesOff bool
	// ValidatePayer makes a call fail if its sender cannot pay for it.
	ValidatePayer bool
	// MinimumBalance is the balance that senders have at least, in tinybars. Default: 10^17.
	MinimumBalance int64
	// CalldataFloor charges at least the calldata price of Prague (EIP-7623).
	CalldataFloor bool
	// Timeout is the time limit of a call. Default: 10 seconds.
	Timeout time.Duration
	// CacheBytes is the maximum size of cached code. Default: 64 MiB; always 0 if [Config.Cache] is false.
	CacheBytes uint64
	// Filters are applied before a call runs. They must be compiled.
	Filters []Filter
	// Clock is the clock of the rate limits. It must advance even if the time of the ledger is fixed. Default: [Config.Now].
	Clock func() time.Time
	// SystemContracts are the network's contracts by number. Default: those of the package system.
	SystemContracts map[int64]evm.SystemContract
}

// Config has what a [Service] needs.
type Config struct {
	Options

	// DB is the mirror database. If it is nil, no call can run.
	DB     *storage.DB
	Now    func() time.Time
	Logger *slog.Logger
	// Cache keeps code and read-ahead hints between calls.
	Cache bool
}

const (
	defaultMaxGas            = 15_000_000
	defaultGasPerSecond      = 7_500_000_000
	defaultRequestsPerSecond = 500
	defaultTracesPerSecond   = 1
	defaultRefundPercent     = 100
	defaultTimeout           = 10 * time.Second
	defaultCacheBytes        = 64 << 20
)

// withDefaults returns the options with defaults in place of zero values.
func (c Config) withDefaults() Options {
	o := c.Options
	o.MaxGas = cmp.Or(o.MaxGas, defaultMaxGas)
	o.GasPerSecond = cmp.Or(o.GasPerSecond, defaultGasPerSecond)
	o.RequestsPerSecond = cmp.Or(o.RequestsPerSecond, defaultRequestsPerSecond)
	o.TracesPerSecond = cmp.Or(o.TracesPerSecond, defaultTracesPerSecond)
	o.RefundPercent = cmp.Or(o.RefundPercent, defaultRefundPercent)
	o.MinimumBalance = cmp.Or(o.MinimumBalance, evm.DefaultMinimumBalance)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.CacheBytes = cmp.Or(o.CacheBytes, defaultCacheBytes)
	if !c.Cache {
		o.CacheBytes = 0
	}
	switch {
	case o.Clock != nil:
	case c.Now != nil:
		o.Clock = c.Now
	default:
		o.Clock = func() time.Time { return time.Time{} } // without a clock no call runs
	}
	return o
}
