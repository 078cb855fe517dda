package contractcalls

import (
	"bytes"
	"context"
	"fmt"
	"math/big"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/evmstate"
)

// weibarsPerTinybar converts the values of Ethereum transactions.
const weibarsPerTinybar = 10_000_000_000

// message returns the message that a transaction ran.
func (s *Service) message(ctx context.Context, result *ledger.ContractResult) (*evm.Message, error) {
	m := &evm.Message{Data: result.FunctionParameters, Value: result.Amount.V, Gas: uint64(max(result.GasLimit, 0))}
	if !result.SenderID.IsNone() {
		m.From = ledger.Of(result.SenderID.LongZero())
	}
	var (
		created    bool
		code, data []byte
	)
	b := s.db.NewBatch()
	evmstate.QueueInput(b, result.ConsensusTimestamp, result.ContractID, func(is bool, initcode, callData []byte) {
		created, code, data = is, initcode, callData
	})
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading the input of a transaction: %w", err)
	}
	e := result.Ethereum
	switch {
	case e != nil:
		m.Gas = uint64(max(e.GasLimit, 0))
		if len(data) > 0 {
			m.Data = data
		}
		weibars := new(big.Int).SetBytes(e.Value)
		if tinybars := weibars.Quo(weibars, big.NewInt(weibarsPerTinybar)); tinybars.IsInt64() {
			m.Value = tinybars.Int64()
		}
		if to, ok := ledger.EVMAddressOf(e.ToAddress); ok && to != (ledger.EVMAddress{}) {
			m.To = ledger.Of(to)
		}
	case created:
		// The record has the constructor's arguments. The code may already end with them.
		if len(code) > 0 && !bytes.HasSuffix(code, m.Data) {
			code = append(bytes.Clone(code), m.Data...)
		}
		if len(code) > 0 {
			m.Data = code
		}
	case !result.ContractID.IsNone():
		m.To = ledger.Of(result.ContractID.LongZero())
	}
	return m, nil
}
