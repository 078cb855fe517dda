package evm

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

const (
	// firstNewNumber is the lowest number of a new entity.
	firstNewNumber = 1001
	// numberGap is the distance between the highest number of the ledger and the numbers that a simulation allocates. The ledger may create entities while
	// the simulation runs.
	numberGap = 1000
)

// allocateNumber returns an unused number for a new entity.
func (s *State) allocateNumber() int64 {
	if !s.highest.Valid {
		s.reads++
		highest, err := s.source.HighestEntity(s.ctx)
		s.Check(err, "reading the highest entity number")
		s.highest = ledger.Of(highest)
	}
	for {
		num := max(s.highest.V+numberGap+1, firstNewNumber) + s.allocated
		set(&s.journal, &s.allocated, s.allocated+1)
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

// CreateEntity creates a token or a schedule and returns its number. Its address has the code that redirects calls to a system contract. Contracts and
// accounts are created by calls and by CREATE.
func (s *State) CreateEntity(kind ledger.EntityType) int64 {
	num := s.allocateNumber()
	a := longZero(num)
	x := s.account(a)
	set(&s.journal, &x.exists, true)
	set(&s.journal, &x.code, s.codeOf(a, &worldstate.Entity{Type: kind}))
	return num
}

// NumberOf returns the number of an account or contract that the simulation created. It is the number in its address, or is allocated on the first
// call.
func (s *State) NumberOf(a common.Address) int64 {
	if num, ok := ledger.EVMAddress(a).Num(); ok {
		return num
	}
	x := s.account(a)
	if x.number == 0 {
		set(&s.journal, &x.number, s.allocateNumber())
	}
	return x.number
}
