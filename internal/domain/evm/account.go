package evm

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// Numbers of entities that are special to contracts.
const (
	// lastSystemAccount is the last number at which only system contracts can be called. These numbers cannot receive
	// value.
	lastSystemAccount = 750
	// lastSystemNumber is the last number that exists even if the ledger has no entity with it.
	lastSystemNumber = 999
	// lastReservedNumber is the last number whose code hash is zero.
	lastReservedNumber = 1000
	treasuryNumber     = 2
)

// account is the state of an address in a simulation.
type account struct {
	entity     *worldstate.Entity // from the ledger; nil if contracts see no entity at this address
	exists     bool
	isContract bool
	created    bool // in this run
	destroyed  bool
	number     int64 // of an entity that the ledger does not have; 0 until it is allocated
	balance    uint256.Int
	nonce      uint64
	code       *code

	slots   map[common.Hash]common.Hash // before the run
	cleared bool                        // slots has the entire storage
	written map[common.Hash]common.Hash
}

// account returns the account at an address. It reads it from the source once, and aborts the run if that fails.
// Numbers up to lastSystemAccount are not read: unless their entity is known, for example by an override, the account
// has neither balance nor code.
func (s *State) account(a common.Address) *account {
	if x, ok := s.accounts[a]; ok {
		return x
	}
	if num, longZero := ledger.EVMAddress(a).Num(); longZero && num <= lastSystemAccount && s.entities[a] == nil {
		// It always exists, except for the zero address, and contracts see neither its balance nor its code.
		x := &account{exists: num > 0}
		s.accounts[a] = x
		return x
	}
	return s.newAccount(a, s.Entity(a))
}

// Entity returns the entity at an address in any form, or nil if it does not exist. It reads the source on first use
// and caches the entity, which callers must not change; a failed read aborts the run. It returns the entity of the
// ledger, without changes of the simulation. Contracts see an entity only at its [Canonical] address.
func (s *State) Entity(a common.Address) *worldstate.Entity {
	if e, known := s.entities[a]; known {
		return e
	}
	got, err := s.source.Entities(s.ctx, []ledger.EVMAddress{ledger.EVMAddress(a)})
	s.Check(err, "reading the entity at %s", a)
	s.remember(a, got[0])
	return got[0]
}

// remember caches the entity at an address, and at its canonical address, for the simulation. A nil entity records
// that none exists.
func (s *State) remember(a common.Address, e *worldstate.Entity) {
	s.entities[a] = e
	if e != nil {
		s.entities[Canonical(e)] = e
	}
}

// Canonical returns the address that contracts use for an entity: its alias if it has one, else its long-zero address.
func Canonical(e *worldstate.Entity) common.Address {
	return common.Address(e.Alias.Or(e.ID.LongZero()))
}

// newAccount adds the account at address a to the state and returns it. e is the entity that the source has there, or
// nil. An account exists without entity if its number is that of a system entity. If e has another canonical address,
// no account exists at a. The accounts that collect fees and pay rewards exist without code, nonce and entity, whatever
// code and nonce the ledger has.
func (s *State) newAccount(a common.Address, e *worldstate.Entity) *account {
	x := &account{}
	s.accounts[a] = x
	num, longZero := ledger.EVMAddress(a).Num()
	switch {
	case longZero && (num == 98 || num >= 800 && num <= 802):
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

// codeOf returns the code that contracts see at an entity e, whose address is a, or nil: the code of a contract, of a
// delegation from Level70 on, or the proxy of a token or schedule. It reads nothing.
func (s *State) codeOf(a common.Address, e *worldstate.Entity) *code {
	switch {
	case e.Type == ledger.EntityToken:
		return newCode(tokenRedirect.proxy(a))
	case e.Type == ledger.EntitySchedule:
		return newCode(scheduleRedirect.proxy(a))
	case len(e.Code) > 0:
		return s.codes.get(e.Code)
	case e.Delegation.Valid && e.Delegation.V != ledger.EVMAddress{} && s.level >= Level70:
		return newCode(types.AddressToDelegation(common.Address(e.Delegation.V)))
	default:
		return nil
	}
}

// prefetch reads the entities at several addresses with one request to the source, except for those that are
// cached, and caches them. It does not abort: it returns the error of the source.
func (s *State) prefetch(addresses ...common.Address) error {
	var missing []ledger.EVMAddress
	for _, a := range addresses {
		if _, known := s.entities[a]; !known {
			missing = append(missing, ledger.EVMAddress(a))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	got, err := s.source.Entities(s.ctx, missing)
	if err != nil {
		return fmt.Errorf("reading the accounts of a call: %w", err)
	}
	for i, a := range missing {
		s.remember(common.Address(a), got[i])
	}
	return nil
}

// tinybars returns a balance as an unsigned number. A negative balance counts as 0.
func tinybars(v int64) uint256.Int { return *uint256.NewInt(uint64(max(v, 0))) }

// isLongZero reports whether an address encodes an entity number: 12 zero bytes and the number. The zero address
// encodes 0.
func isLongZero(a common.Address) bool {
	_, ok := ledger.EVMAddress(a).Num()
	return ok
}

// longZero returns the address that encodes an entity number: 12 zero bytes and the number, without shard and realm.
func longZero(num int64) common.Address { return common.Address(ledger.EntityID(num).LongZero()) }

// Selectors of the functions of accounts.
var (
	hbarAllowance                     = [4]byte{0xbb, 0xee, 0x98, 0x9e}
	hbarApprove                       = [4]byte{0x86, 0xaf, 0xf0, 0x7c}
	setUnlimitedAutomaticAssociations = [4]byte{0xf5, 0x67, 0x7e, 0x99}
)

// isAccountSelector reports whether selector is that of a function that accounts without code have, because calls of
// it are passed to the account service.
func isAccountSelector(selector [4]byte) bool {
	return selector == hbarAllowance || selector == hbarApprove || selector == setUnlimitedAutomaticAssociations
}

const (
	// firstNewNumber is the lowest number of a new entity.
	firstNewNumber = 1001
	// numberGap is the distance between the highest number of the ledger and the numbers that a simulation allocates.
	// The ledger may create entities while the simulation runs.
	numberGap = 1000
)

// allocateNumber returns an unused number for a new entity of the simulation and marks it as used, until the frame is
// reverted. Numbers whose addresses have an entity, such as that of an override, are skipped. The first call reads the
// highest number from the source. If that fails, it aborts the run.
func (s *State) allocateNumber() int64 {
	if !s.highest.Valid {
		highest, err := s.source.HighestEntity(s.ctx)
		s.Check(err, "reading the highest entity number")
		s.highest = ledger.Of(highest)
	}
	for {
		num := max(s.highest.V+numberGap+1, firstNewNumber) + s.allocated
		Set(s, &s.allocated, s.allocated+1)
		a := longZero(num)
		if s.entities[a] != nil { // an override uses the address
			continue
		}
		s.entities[a] = nil
		if s.accounts[a] == nil || !s.accounts[a].exists {
			s.accounts[a] = &account{}
		}
		return num
	}
}

// CreateEntity creates a token or a schedule and returns its number. Its address has the code that redirects calls to
// a system contract. Contracts and accounts are created by calls and by CREATE. The creation is undone if the frame is
// reverted. A failed read of the highest number aborts the run.
func (s *State) CreateEntity(kind ledger.EntityType) int64 {
	num := s.allocateNumber()
	a := longZero(num)
	x := s.account(a)
	Set(s, &x.exists, true)
	Set(s, &x.code, s.codeOf(a, &worldstate.Entity{Type: kind}))
	return num
}

// NumberOf returns the number of an account or contract that the simulation created: the number in its address, or one
// that the first call allocates, until the frame is reverted. It can read the account and the highest number from the
// source; a failed read aborts the run.
func (s *State) NumberOf(a common.Address) int64 {
	if num, ok := ledger.EVMAddress(a).Num(); ok {
		return num
	}
	x := s.account(a)
	if x.number == 0 {
		Set(s, &x.number, s.allocateNumber())
	}
	return x.number
}
