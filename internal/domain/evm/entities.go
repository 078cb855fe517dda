package evm

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// firstNewNumber is the least number that an entity can be created with, and gap is by how much the numbers of what a simulation creates are above
// those of the ledger, which may create entities while the simulation runs.
const (
	firstNewNumber = 1001
	gap            = 1000
)

// takeNumber takes the next number for something that the run creates. Nobody is at its address.
func (s *State) takeNumber() int64 {
	if !s.highest.Valid {
		s.reads++
		highest, err := s.source.HighestEntity(s.ctx)
		if err != nil {
			s.Abort(fmt.Errorf("reading the highest number of an entity: %w", err))
		}
		s.highest = ledger.Of(highest)
	}
	for {
		num := max(s.highest.V+gap+1, firstNewNumber) + s.taken
		set(&s.journal, &s.taken, s.taken+1)
		a := longZero(num)
		if s.seen[a] != nil { // the request says that somebody is there
			continue
		}
		s.seen[a] = nil
		if s.accounts[a] == nil || !s.accounts[a].exists {
			s.accounts[a] = &account{}
		}
		return num
	}
}

// CreateEntity creates a token or a schedule, whose address from then on has the code that hands calls on, and returns its number. Contracts and
// accounts come to be by calls and creations.
func (s *State) CreateEntity(kind ledger.EntityType) int64 {
	num := s.takeNumber()
	a := longZero(num)
	x := s.account(a)
	set(&s.journal, &x.exists, true)
	set(&s.journal, &x.code, s.codeOf(a, &worldstate.Entity{Type: kind}))
	return num
}

// NumberOf is the number of an account or contract that the simulation has and the ledger has not. It is taken when it is asked for the first time;
// one that was created at the address of a number has that.
func (s *State) NumberOf(a common.Address) int64 {
	if num, ok := ledger.EVMAddress(a).Num(); ok {
		return num
	}
	x := s.account(a)
	if x.number == 0 {
		set(&s.journal, &x.number, s.takeNumber())
	}
	return x.number
}
