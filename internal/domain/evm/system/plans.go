package system

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Limits of scheduled calls.
const (
	maxScheduledAhead = 62 * 86_400 // in seconds from now
	maxScheduledGas   = 15_000_000  // of all calls in a second
	maxScheduledCalls = 100         // calls in a second
	defaultLifetime   = 1_800       // in seconds, without an explicit expiration
)

// plan is a call that the simulation scheduled. Equal plans are identical schedules.
type plan struct {
	creator, payer party
	to             common.Address
	second         int64 // of its latest execution
	gas            int64
	value          uint64
	data           string
	waits          bool // until that second, even if all have signed
}

// clamped returns an unsigned number, or the maximum of the ledger if it is greater.
func clamped(v any) int64 {
	if n := v.(*big.Int); n.IsInt64() {
		return n.Int64() // unsigned, so not negative
	}
	return math.MaxInt64
}

// hasScheduleCapacity reports whether another call can be scheduled: hasScheduleCapacity(second, gas).
func hasScheduleCapacity(c *call, in []any) evm.Outcome {
	second := clamped(in[0])
	return c.returns(second > c.now() && second <= c.now()+maxScheduledAhead && c.hasCapacity(second, clamped(in[1])))
}

// hasCapacity reports whether another call with the given gas can be scheduled for a second. It counts only the calls that the simulation scheduled, because
// the ledger does not have the network's throttles.
func (c *call) hasCapacity(second, gas int64) bool {
	used, calls := int64(0), 0
	for _, s := range c.facts.schedules {
		if s != nil && s.plan != nil && !s.deleted && s.plan.second == second {
			used += s.plan.gas
			calls++
		}
	}
	return gas <= maxScheduledGas-used && calls < maxScheduledCalls
}

// scheduleOwnCall schedules a call that the caller pays for: scheduleCall(to, second, gas, value, data).
func scheduleOwnCall(c *call, in []any) []any {
	return c.scheduleCall(c.caller(), in[0], in[1:], true)
}

// schedulePaidCall returns an operation that schedules a call with another payer, who must sign: (to, payer, second, gas, value, data). waits delays the
// call until its second.
func schedulePaidCall(waits bool) operation {
	return func(c *call, in []any) []any {
		payer, ok := c.facts.party(in[1].(common.Address))
		failIf(!ok, codes.InvalidSchedulePayerID)
		return c.scheduleCall(payer, in[0], in[2:], waits)
	}
}

// scheduleCall schedules a call. The contract need not exist.
func (c *call) scheduleCall(payer party, to any, in []any, waits bool) []any {
	p := &plan{
		creator: c.caller(), payer: payer, to: to.(common.Address), second: clamped(in[0]), gas: clamped(in[1]), value: in[2].(uint64), data: string(in[3].([]byte)),
		waits: waits,
	}
	failIf(p.to == common.Address{}, codes.InvalidContractID)
	failIf(p.value > math.MaxInt64, codes.ContractNegativeValue)
	failIf(p.second <= c.now(), codes.ScheduleExpirationTimeMustBeHigherThanConsensusTime)
	failIf(p.second > c.now()+maxScheduledAhead, codes.ScheduleExpirationTimeTooFarInFuture)
	failIf(c.isScheduled(p), codes.IdenticalScheduleAlreadyCreated)
	failIf(!c.hasCapacity(p.second, p.gas), codes.ScheduleExpiryIsBusy)
	return c.create(&schedule{plan: p})
}

// scheduleNative schedules a call of another system contract that creates or updates a token: scheduleNative(contract, data, payer). A creation is validated
// at once.
func scheduleNative(c *call, in []any) []any {
	data := in[1].([]byte)
	payer, ok := c.facts.party(in[2].(common.Address))
	failIf(len(data) < 4, codes.ScheduledTransactionNotInWhitelist)
	failIf(!ok, codes.InvalidSchedulePayerID)
	f := c.s.tokens[in[0].(common.Address)][binary.BigEndian.Uint32(data)]
	failIf(f == nil || !f.scheduled, codes.ScheduledTransactionNotInWhitelist)
	args, err := f.args.Decode(data[4:])
	failIf(err != nil, codes.InvalidTransactionBody)
	s := &schedule{plan: &plan{creator: c.caller(), payer: payer, to: in[0].(common.Address), second: c.now() + defaultLifetime, data: string(data)}}
	if f.creates != "" {
		mark := c.State.Snapshot()
		t := c.newToken(f.creates, abi.List(args))
		c.State.RevertToSnapshot(mark)
		t.TotalSupply = t.InitialSupply
		s.token = t
	}
	failIf(c.isScheduled(s.plan), codes.IdenticalScheduleAlreadyCreated)
	return c.create(s)
}

// isScheduled reports whether the simulation has already scheduled the same call.
func (c *call) isScheduled(p *plan) bool {
	for _, s := range c.facts.schedules {
		if s != nil && s.plan != nil && !s.deleted && *s.plan == *p {
			return true
		}
	}
	return false
}

// create creates a schedule. The creator's key is its admin key and signs it.
func (c *call) create(s *schedule) []any {
	id := c.facts.create(ledger.EntitySchedule)
	s.hasAdmin = true
	for _, k := range keys.Primitives(c.signersKey()) {
		s.signed = append(s.signed, string(k))
	}
	c.State.Journal().Append(func() { c.facts.schedules[id] = nil })
	c.facts.schedules[id] = s
	return []any{longZero(id)}
}
