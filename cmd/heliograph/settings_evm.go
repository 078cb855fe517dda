package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"heliograph/resolvers/contractcalls"
)

// evmSettings configure the execution of contracts.
type evmSettings struct {
	MaxGas            int64         `name:"evm-max-gas" env:"HELIOGRAPH_EVM_MAX_GAS" default:"15000000" help:"Maximum gas of a contract call."`
	GasPerSecond      int64         `name:"evm-gas-per-second" env:"HELIOGRAPH_EVM_GAS_PER_SECOND" default:"7500000000" help:"Maximum gas of all contract calls per second."`
	RequestsPerSecond int64         `name:"evm-requests-per-second" env:"HELIOGRAPH_EVM_REQUESTS_PER_SECOND" default:"500" help:"Maximum number of contract calls per second."`
	TracesPerSecond   int64         `name:"evm-traces-per-second" env:"HELIOGRAPH_EVM_TRACES_PER_SECOND" default:"1" help:"Maximum number of traces (transactions that are executed again) per second."`
	RefundPercent     int64         `name:"evm-refund-percent" env:"HELIOGRAPH_EVM_REFUND_PERCENT" default:"100" help:"Percentage of the unused gas of a call that is returned to the budget of gas per second."`
	StateOverrides    toggle        `name:"evm-state-overrides" env:"HELIOGRAPH_EVM_STATE_OVERRIDES" default:"off" help:"Allow state overrides in contract calls."`
	Traces            toggle        `name:"evm-traces" env:"HELIOGRAPH_EVM_TRACES" default:"on" help:"Allow traces, which execute a transaction again and return each step."`
	ValidatePayer     toggle        `name:"evm-validate-payer" env:"HELIOGRAPH_EVM_VALIDATE_PAYER" default:"off" help:"Fail calls whose sender cannot pay for them."`
	MinimumBalance    int64         `name:"evm-minimum-balance" env:"HELIOGRAPH_EVM_MINIMUM_BALANCE" default:"100000000000000000" help:"Minimum balance that senders of hbars are assumed to have, in tinybars."`
	CalldataFloor     toggle        `name:"evm-calldata-floor" env:"HELIOGRAPH_EVM_CALLDATA_FLOOR" default:"off" help:"Charge at least the call data floor price of the Prague fork."`
	EVMTimeout        time.Duration `name:"evm-timeout" env:"HELIOGRAPH_EVM_TIMEOUT" default:"10s" help:"Timeout of a contract call, including its database statements."`
	EVMCacheBytes     uint64        `name:"evm-cache-bytes" env:"HELIOGRAPH_EVM_CACHE_BYTES" default:"67108864" help:"Maximum size of the cache of contract code in bytes, and at most an eighth of the memory limit."`
	RequestFilters    string        `name:"evm-request-filters" env:"HELIOGRAPH_EVM_REQUEST_FILTERS" help:"Rules that reject or throttle contract calls, as JSON: [{\"field\":\"TO\",\"pattern\":…,\"action\":\"REJECT\"}]; see docs/evm.md."`
}

// evm returns the options of the contract call service.
func (s *evmSettings) evm(cache bool) (contractcalls.Options, error) {
	o := contractcalls.Options{
		MaxGas: s.MaxGas, GasPerSecond: s.GasPerSecond, RequestsPerSecond: s.RequestsPerSecond, TracesPerSecond: s.TracesPerSecond, RefundPercent: s.RefundPercent,
		Overrides: s.StateOverrides.on, TracesOff: !s.Traces.on, ValidatePayer: s.ValidatePayer.on, MinimumBalance: s.MinimumBalance,
		CalldataFloor: s.CalldataFloor.on, Timeout: s.EVMTimeout, CacheBytes: s.EVMCacheBytes, Clock: time.Now,
	}
	if !cache {
		o.CacheBytes = 0
	}
	for name, n := range map[string]int64{
		"HELIOGRAPH_EVM_MAX_GAS": s.MaxGas, "HELIOGRAPH_EVM_GAS_PER_SECOND": s.GasPerSecond, "HELIOGRAPH_EVM_REQUESTS_PER_SECOND": s.RequestsPerSecond,
		"HELIOGRAPH_EVM_TRACES_PER_SECOND": s.TracesPerSecond, "HELIOGRAPH_EVM_REFUND_PERCENT": s.RefundPercent, "HELIOGRAPH_EVM_TIMEOUT": int64(s.EVMTimeout),
		"HELIOGRAPH_EVM_MINIMUM_BALANCE": s.MinimumBalance,
	} {
		if n < 1 {
			return o, fmt.Errorf("%s must be positive", name)
		}
	}
	if s.RefundPercent > 100 {
		return o, errors.New("HELIOGRAPH_EVM_REFUND_PERCENT must be 100 at most")
	}
	if s.RequestFilters == "" {
		return o, nil
	}
	if err := json.Unmarshal([]byte(s.RequestFilters), &o.Filters); err != nil {
		return o, errors.New("HELIOGRAPH_EVM_REQUEST_FILTERS is not a JSON list of objects with field, pattern, action and limit")
	}
	for i := range o.Filters {
		if err := o.Filters[i].Compile(); err != nil {
			return o, fmt.Errorf("HELIOGRAPH_EVM_REQUEST_FILTERS: entry %d: %w", i+1, err)
		}
	}
	return o, nil
}
