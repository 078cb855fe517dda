package evm

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// The numbers of the ledger's own entities.
const (
	// lastSystemAccount is the last number below which nothing but system contracts can be called, and nothing can be sent to.
	lastSystemAccount = 750
	// lastSystemNumber is the last number whose entity is treated as being there even when it is not.
	lastSystemNumber = 999
	// lastReservedNumber is the last number that no code hash is told of.
	lastReservedNumber = 1000
	treasuryNumber     = 2
)

// isDummy tells which entities are always shown as empty accounts: those that collect fees and pay rewards.
func isDummy(num int64) bool { return num == 98 || num >= 800 && num <= 802 }

// account is what a simulation knows of an address.
type account struct {
	entity     *worldstate.Entity // who was there before; nil: nobody, or nobody that contracts can see at this address
	exists     bool
	isContract bool
	created    bool // in this run
	destroyed  bool
	synthetic  bool  // there only because the request says so
	number     int64 // of somebody whom the ledger does not know; 0 until it is asked for
	balance    uint256.Int
	nonce      uint64
	code       *code

	slots   map[common.Hash]common.Hash // as they were before the run
	wiped   bool                        // slots is all there is
	written map[common.Hash]common.Hash
}

// account returns who is at an address, and reads it the first time.
func (s *State) account(a common.Address) *account {
	if x, ok := s.accounts[a]; ok {
		return x
	}
	if num, longZero := ledger.EVMAddress(a).Num(); longZero && num <= lastSystemAccount && s.seen[a] == nil {
		// Contracts see neither balance nor code here, and it is there in any case. The zero address is nobody.
		x := &account{exists: num > 0}
		s.accounts[a] = x
		return x
	}
	return s.admit(a, s.Entity(a))
}

// Entity reads who is at an address, in whichever form: contracts see an entity that has an alias only there ([State.Canonical]). It is what
// the ledger says, without what the simulation changed; nil when nobody is there.
func (s *State) Entity(a common.Address) *worldstate.Entity {
	if e, known := s.seen[a]; known {
		return e
	}
	s.reads++
	got, err := s.source.Entities(s.ctx, []ledger.EVMAddress{ledger.EVMAddress(a)})
	if err != nil {
		s.Abort(fmt.Errorf("reading who is at %s: %w", a, err))
	}
	s.saw(a, got[0])
	return got[0]
}

// saw remembers who is at an address, and at the one by which contracts know it.
func (s *State) saw(a common.Address, e *worldstate.Entity) {
	s.seen[a] = e
	if e != nil {
		s.seen[Canonical(e)] = e
	}
}

// Canonical is the address by which contracts know an entity.
func Canonical(e *worldstate.Entity) common.Address {
	return common.Address(e.Alias.Or(e.ID.LongZero()))
}

// admit makes the account of an address of what was read there.
func (s *State) admit(a common.Address, e *worldstate.Entity) *account {
	x := &account{}
	s.accounts[a] = x
	num, longZero := ledger.EVMAddress(a).Num()
	switch {
	case longZero && isDummy(num):
		x.exists = true
		if e != nil && num > lastSystemAccount {
			x.balance = tinybars(e.Balance.V)
		}
		return x
	case e == nil || Canonical(e) != a:
		x.exists = longZero && num >= 1 && num <= lastSystemNumber && e == nil
		return x
	}
	x.entity, x.exists, x.balance, x.nonce = e, true, tinybars(e.Balance.V), uint64(max(e.Nonce, 0))
	x.isContract = e.Type == ledger.EntityContract
	x.code = s.codeOf(a, e)
	return x
}

// codeOf is the code of an entity; nil when it has none.
func (s *State) codeOf(a common.Address, e *worldstate.Entity) *code {
	switch {
	case e.Type == ledger.EntityToken:
		return newCode(tokenRedirect.proxy(a))
	case e.Type == ledger.EntitySchedule:
		return newCode(scheduleRedirect.proxy(a))
	case len(e.Code) > 0:
		return s.codes.of(e.Code)
	case e.Delegation.Valid && e.Delegation.V != ledger.EVMAddress{} && s.level >= Level67:
		return newCode(types.AddressToDelegation(common.Address(e.Delegation.V)))
	default:
		return nil
	}
}

// prefetch reads who is at some addresses, at once.
func (s *State) prefetch(addresses ...common.Address) error {
	var asked []ledger.EVMAddress
	for _, a := range addresses {
		if _, known := s.seen[a]; !known {
			asked = append(asked, ledger.EVMAddress(a))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	s.reads++
	got, err := s.source.Entities(s.ctx, asked)
	if err != nil {
		return fmt.Errorf("reading who takes part in a call: %w", err)
	}
	for i, a := range asked {
		s.saw(common.Address(a), got[i])
	}
	return nil
}

// tinybars is a balance; one below zero, which no sound ledger has, counts as nothing.
func tinybars(v int64) uint256.Int { return *uint256.NewInt(uint64(max(v, 0))) }

// isLongZero tells whether an address is made of an entity's number.
func isLongZero(a common.Address) bool {
	_, ok := ledger.EVMAddress(a).Num()
	return ok
}

// longZero is the address of a number.
func longZero(num int64) common.Address { return common.Address(ledger.EntityID(num).LongZero()) }

// The selectors of the functions that accounts have.
var (
	hbarAllowance                     = [4]byte{0xbb, 0xee, 0x98, 0x9e}
	hbarApprove                       = [4]byte{0x86, 0xaf, 0xf0, 0x7c}
	setUnlimitedAutomaticAssociations = [4]byte{0xf5, 0x67, 0x7e, 0x99}
)

// isAccountSelector tells whether input calls one of the functions that an account without code has.
func isAccountSelector(selector [4]byte) bool {
	switch selector {
	case hbarAllowance, hbarApprove, setUnlimitedAutomaticAssociations:
		return true
	default:
		return false
	}
}
