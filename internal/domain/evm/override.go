package evm

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// Override replaces values of an account in a simulation. Null values are not replaced.
type Override struct {
	// Address is the account's address in any form. If no account has it, an account is created, or a contract if the override has code or storage.
	Address ledger.EVMAddress
	// Balance is in tinybars.
	Balance ledger.Null[uint64]
	Nonce   ledger.Null[uint64]
	Code    []byte
	// Slots replace storage slots. With All, all other slots are zero.
	Slots map[[32]byte][32]byte
	All   bool
}

// Override applies overrides to the whole simulation. It must be called before a message runs.
func (s *Simulation) Override(list []Override) error {
	addresses := make([]common.Address, len(list))
	for i, o := range list {
		addresses[i] = common.Address(o.Address)
	}
	if err := s.state.prefetch(addresses...); err != nil {
		return err
	}
	for i, o := range list {
		a := addresses[i]
		if visible := s.visible(a); visible != (common.Address{}) {
			a = visible
		}
		s.state.override(a, o)
	}
	return nil
}

func (s *State) override(a common.Address, o Override) {
	x := s.account(a)
	if x.entity == nil {
		// The ledger has no such account.
		x.synthetic = true
		s.entities[a] = &worldstate.Entity{Type: ledger.EntityAccount, Alias: ledger.Of(ledger.EVMAddress(a))}
	}
	x.exists = true
	if o.Balance.Valid {
		x.balance = *uint256.NewInt(o.Balance.V)
	}
	if o.Nonce.Valid {
		x.nonce = o.Nonce.V
	}
	if o.Code != nil {
		x.code = newCode(slices.Clone(o.Code))
	}
	x.isContract = x.isContract || o.Code != nil || o.Slots != nil
	if x.slots == nil && (o.Slots != nil || o.All) {
		x.slots = map[common.Hash]common.Hash{}
	}
	if o.All {
		clear(x.slots)
		x.cleared = true
	}
	for slot, value := range o.Slots {
		x.slots[slot] = value
	}
}
