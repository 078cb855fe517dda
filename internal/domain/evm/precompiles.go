package evm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// ExchangeRateNumber is the number of the system contract that converts between hbars and US cents.
const ExchangeRateNumber = 0x168

const (
	tinycentsToTinybars = 0x2e3cff6a // tinycentsToTinybars(uint256)
	tinybarsToTinycents = 0x43a88229 // tinybarsToTinycents(uint256)
	exchangeRateGas     = 100
)

// exchangeRate converts amounts at the network's rate at the block.
type exchangeRate struct{}

// Call implements [SystemContract]: it converts an amount between tinycents and tinybars with the exchange rate at the
// block, rounded down. It reads the rate from the source; a failed read aborts the run. Without an amount or a valid
// rate, or if the result exceeds 256 bits, the call halts its frame. Other selectors have the outcome of [Unknown].
func (exchangeRate) Call(c *SystemCall) Outcome {
	if c.Selector != tinycentsToTinybars && c.Selector != tinybarsToTinycents {
		return Unknown()
	}
	amount, given := c.Word(0)
	rate, known := c.Rate()
	if !given || !known {
		return Halt(codes.ContractExecutionException)
	}
	times, by := int64(rate.HbarEquivalent), int64(rate.CentEquivalent)
	if c.Selector == tinybarsToTinycents {
		times, by = by, times
	}
	if by <= 0 || times < 0 {
		return Halt(codes.ContractExecutionException)
	}
	v := new(big.Int).SetBytes(amount[:])
	v.Mul(v, big.NewInt(times)).Quo(v, big.NewInt(by))
	if v.BitLen() > 256 {
		return Halt(codes.ContractExecutionException)
	}
	return Return(exchangeRateGas, common.BigToHash(v).Bytes())
}

// Rate returns the exchange rate of hbars at the start of the block. It reads from the source and aborts the run
// if that fails. ok is false if the ledger has no rates.
func (c *SystemCall) Rate() (rate ledger.ExchangeRate, ok bool) {
	rates, err := c.State.source.ExchangeRates(c.State.ctx)
	c.State.Check(err, "reading exchange rates")
	if rates == nil {
		return rate, false
	}
	return rates.At(c.Block.Start), true
}

// PRNGNumber is the number of the system contract that returns pseudo-random seeds.
const PRNGNumber = 0x169

const (
	getPseudorandomSeed = 0xd83bf9a1 // getPseudorandomSeed()
	prngTinycents       = 10_000_000 // 0.001 $
)

// prng returns the block's hash as the seed.
type prng struct{}

// Call implements [SystemContract]: it returns the hash of the block as the seed, so that a call gives the same result
// each time. Only a call that is not static costs the gas of a transaction. It reads nothing. Other selectors have the
// outcome of [Unknown].
func (prng) Call(c *SystemCall) Outcome {
	if c.Selector != getPseudorandomSeed {
		return Unknown()
	}
	gas := ViewGas()
	if !c.Static {
		gas = max(gas, OperationGas(prngTinycents, viewGasPrice))
	}
	return Return(gas, append([]byte(nil), c.Block.Hash[:]...))
}

// selectorOf returns the function selector of input, its first 4 bytes as a big-endian number. ok is false if
// input is too short.
func selectorOf(input []byte) (selector uint32, ok bool) {
	if len(input) < 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(input), true
}

// ErrPointEvaluation ends a run that needs the point evaluation (EIP-4844) before its set-up, which takes seconds. Run
// it again after [PreparePointEvaluation].
var ErrPointEvaluation = errors.New("the point evaluation is not set up")

const pointEvaluationNumber = 0x0a

// setUp is the set-up of the point evaluation in this process. ready is closed when it is complete.
var setUp = struct {
	start sync.Once
	ready chan struct{}
}{ready: make(chan struct{})}

// PreparePointEvaluation waits until the set-up of the point evaluation precompile is complete. The first call
// starts it in the background. It fails if ctx ends before; the set-up then continues.
func PreparePointEvaluation(ctx context.Context) error {
	setUp.start.Do(func() {
		go func() {
			defer close(setUp.ready)
			_ = kzg4844.UseCKZG(false) // sets up the Go implementation, which cannot fail
		}()
	})
	select {
	case <-setUp.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the set-up of the point evaluation: %w", ctx.Err())
	}
}

// pointEvaluation ends runs before its set-up, so that they do not keep the connection of their snapshot for seconds.
type pointEvaluation struct {
	vm.PrecompiledContract
	sim **Simulation
}

// Run implements vm.PrecompiledContract: it runs the point evaluation of Ethereum. If the set-up is not complete, it
// aborts the run with [ErrPointEvaluation], and does not wait.
func (p pointEvaluation) Run(input []byte) ([]byte, error) {
	select {
	case <-setUp.ready:
	default:
		(*p.sim).state.Abort(ErrPointEvaluation)
	}
	return p.PrecompiledContract.Run(input) //nolint:wrapcheck // the interpreter compares errors
}
