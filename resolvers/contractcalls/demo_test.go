package contractcalls_test

import (
	"bytes"
	"cmp"
	"log/slog"
	"slices"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/resolvers/contractcalls"
	"heliograph/storage"
	"heliograph/storage/pgtest"
	"heliograph/storage/transactions"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// service returns a service on the demo network that admits everything.
func service(t *testing.T, change func(*contractcalls.Options)) (*contractcalls.Service, *storage.DB) {
	t.Helper()
	g := testenv.Demo(t)
	o := contractcalls.Options{
		MaxGas: 15_000_000, RequestsPerSecond: 1 << 30, GasPerSecond: 1 << 60, TracesPerSecond: 1 << 30,
		RefundPercent: 100, MinimumBalance: evm.DefaultMinimumBalance, Timeout: time.Minute, CacheBytes: 64 << 20,
		Clock: time.Now,
	}
	if change != nil {
		change(&o)
	}
	o.TraceTimeout, o.SimulationTimeout = cmp.Or(o.TraceTimeout, o.Timeout), cmp.Or(o.SimulationTimeout, o.Timeout)
	return contractcalls.New(
		contractcalls.Config{Options: o, DB: g.DB, Cache: true, Logger: slog.New(slog.DiscardHandler)},
	), g.DB
}

// contractResults returns the results of transactions that ran a contract, and of creations within them, oldest first.
// Results of other operations within another transaction are not included.
func contractResults(t *testing.T, db *storage.DB) []*ledger.ContractResult {
	t.Helper()
	var own []*ledger.ContractResult
	all := true
	f := ledger.ContractResultFilter{Internal: &all}
	for {
		page, err := transactions.ContractResults(
			t.Context(),
			db,
			f,
			transactions.ResultDetails,
			storage.Page{Limit: 500},
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			within := r.TransactionNonce > 0 && len(r.CreatedContractIDs) == 0
			if !r.ContractID.IsNone() && !within && r.GasConsumed.Valid && r.GasLimit > 0 {
				own = append(own, r)
			}
		}
		if len(page) < 500 {
			return own
		}
		f.Timestamp = &ledger.TimestampFilter{Gt: &page[len(page)-1].ConsensusTimestamp}
	}
}

// TestReplays runs the transactions of the demo network again. Each has the same outcome, and uses the gas of the
// record.
func TestReplays(t *testing.T) {
	t.Parallel()
	s, db := service(t, nil)
	list := contractResults(t, db)
	for _, r := range list {
		trace, err := s.Trace(
			t.Context(),
			contractcalls.TraceOptions{},
			func() (*ledger.ContractResult, error) { return r, nil },
		)
		if err != nil {
			t.Errorf("%s at %s: %v", r.ContractID, r.ConsensusTimestamp, err)
			continue
		}
		if difference := trace.Gas - r.GasConsumed.V; max(difference, -difference)*100 > r.GasConsumed.V {
			t.Errorf(
				"%s at %s used %d gas, and now %d",
				r.ContractID,
				r.ConsensusTimestamp,
				r.GasConsumed.V,
				trace.Gas,
			)
		} else if difference != 0 {
			t.Logf("%s at %s used %d gas, and now %d", r.ContractID, r.ConsensusTimestamp, r.GasConsumed.V, trace.Gas)
		}
		if failed := r.Result != codes.Success; trace.Failed != failed {
			t.Errorf(
				"%s at %s has the result %s, and the replay failed: %t",
				r.ContractID,
				r.ConsensusTimestamp,
				r.Result,
				trace.Failed,
			)
		}
		// A creation returns code. The address that a call returns depends on the nonce of the creator. The demo
		// network has no historical nonces.
		launch := len(r.CreatedContractIDs) > 0 && !slices.Contains(r.CreatedContractIDs, r.ContractID)
		if !bytes.Equal(trace.ReturnValue, r.CallResult) && !launch {
			t.Errorf(
				"%s at %s returned %x, and now %x",
				r.ContractID,
				r.ConsensusTimestamp,
				r.CallResult,
				trace.ReturnValue,
			)
		}
	}
	t.Logf("%d results were replayed", len(list))
	if len(list) < 500 {
		t.Errorf("only %d results were replayed", len(list))
	}
}

// TestEstimates compares estimates of the demo network's calls with the gas that they need.
func TestEstimates(t *testing.T) {
	t.Parallel()
	s, db := service(t, nil)
	estimated := 0
	for _, r := range contractResults(t, db) {
		if len(r.CreatedContractIDs) > 0 || r.Result != codes.Success || estimated == 300 {
			continue
		}
		to, from := r.ContractID.LongZero(), r.SenderID.LongZero()
		in := &calls.ContractCallInput{
			Data:  r.FunctionParameters,
			To:    to[:],
			From:  from[:],
			Value: r.Amount.V,
			Gas:   15_000_000,
		}
		if r.SenderID.IsNone() {
			in.From = nil
		}
		estimate, err := s.Estimate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if !estimate.Gas.Valid {
			continue // the state has changed since
		}
		estimated++
		succeeds := func(gas int64) (used int64, ok bool) {
			in.Gas = gas
			call, err := s.Call(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return call.GasUsed, call.Failure == nil
		}
		gas := estimate.Gas.V
		used, ok := succeeds(gas)
		if !ok || used > gas {
			t.Errorf(
				"%s at %s: a call with the estimate of %d gas fails or uses more: %d",
				r.ContractID,
				r.ConsensusTimestamp,
				gas,
				used,
			)
		}
		if less := gas * 9 / 10; less >= used {
			if _, ok := succeeds(less); ok {
				t.Errorf(
					"%s at %s: the estimate is %d, and %d suffices",
					r.ContractID,
					r.ConsensusTimestamp,
					gas,
					less,
				)
			}
		}
	}
	t.Logf("%d estimates", estimated)
	if estimated < 200 {
		t.Errorf("only %d estimates", estimated)
	}
}
