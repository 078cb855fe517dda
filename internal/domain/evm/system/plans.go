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
)

// Bounds of what can be scheduled.
const (
	mostScheduledAhead = 62 * 86_400 // seconds from now
	mostScheduledGas   = 15_000_000  // of the calls of one second
	mostScheduledCalls = 100         // in one second
	defaultLifetime    = 1_800       // seconds until something expires whose time is not given
)

// plan is a call that the simulation scheduled. Two that are the same are one.
type plan struct {
	creator, payer party
	to             common.Address
	second         int64 // when it is executed at the latest
	gas            int64
	value          uint64
	data           string
	waits          bool // until then, even when all have signed
}

// clamped is a number as one between 0 and the greatest that the ledger has.
func clamped(v any) int64 {
	if n := v.(*big.Int); n.IsInt64() {
		return n.Int64() // an unsigned one is not below 0
	}
	return math.MaxInt64
}

// hasScheduleCapacity tells whether another call could be scheduled: hasScheduleCapacity(second, gas).
func hasScheduleCapacity(c *call, in []any) evm.Outcome {
	second := clamped(in[0])
	return c.returns(second > c.now() && second <= c.now()+mostScheduledAhead && c.hasRoom(second, clamped(in[1])))
}

// hasRoom tells whether calls of a second leave room for one with so much gas. Of those calls the simulation knows what it scheduled itself; what the
// network's throttles hold for others is no part of the ledger.
func (c *call) hasRoom(second, gas int64) bool {
	used, calls := int64(0), 0
	for _, s := range c.facts.schedules {
		if s != nil && s.made != nil && !s.deleted && s.made.second == second {
			used += s.made.gas
			calls++
		}
	}
	return gas <= mostScheduledGas-used && calls < mostScheduledCalls
}

// scheduleOwnCall schedules a call that the caller pays for: scheduleCall(to, second, gas, value, data).
func scheduleOwnCall(c *call, in []any) (ledger.ResponseCode, []any) {
	return c.scheduleCall(c.caller(), in[0], in[1:], true)
}

// schedulePaidCall makes the body of a function that schedules a call that somebody else pays for, who has to sign: (to, payer, second, gas, value, data). It
// waits for its second, or only for the signature.
func schedulePaidCall(waits bool) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		payer, ok := c.facts.party(in[1].(common.Address))
		if !ok {
			return invalidSchedulePayer, nil
		}
		return c.scheduleCall(payer, in[0], in[2:], waits)
	}
}

// scheduleCall schedules a call. The contract need not be there yet.
func (c *call) scheduleCall(payer party, to any, in []any, waits bool) (ledger.ResponseCode, []any) {
	p := &plan{
		creator: c.caller(), payer: payer, to: to.(common.Address), second: clamped(in[0]), gas: clamped(in[1]), value: in[2].(uint64), data: string(in[3].([]byte)),
		waits: waits,
	}
	switch {
	case p.to == common.Address{}:
		return invalidContractID, nil
	case p.value > math.MaxInt64:
		return negativeValue, nil
	case p.second <= c.now():
		return expiryNotInFuture, nil
	case p.second > c.now()+mostScheduledAhead:
		return expiryTooFar, nil
	}
	if c.planned(p) {
		return identicalSchedule, nil
	}
	if !c.hasRoom(p.second, p.gas) {
		return scheduleExpiryIsBusy, nil
	}
	return c.create(&schedule{made: p})
}

// scheduleNative schedules a call of another of the network's contracts: scheduleNative(contract, data, payer). It can be one that creates a token or
// changes what one is. What is to be created is looked at at once, as if it were created now.
func scheduleNative(c *call, in []any) (ledger.ResponseCode, []any) {
	data := in[1].([]byte)
	payer, ok := c.facts.party(in[2].(common.Address))
	switch {
	case len(data) < 4:
		return notSchedulable, nil
	case !ok:
		return invalidSchedulePayer, nil
	}
	f := c.s.tokens[in[0].(common.Address)][binary.BigEndian.Uint32(data)]
	if f == nil || !f.scheduled {
		return notSchedulable, nil
	}
	args, err := f.args.Decode(data[4:])
	if err != nil {
		return invalidTransactionBody, nil
	}
	s := &schedule{made: &plan{creator: c.caller(), payer: payer, to: in[0].(common.Address), second: c.now() + defaultLifetime, data: string(data)}}
	if f.creates != "" {
		mark := c.State.Snapshot()
		t, code := c.newToken(f.creates, abi.List(args))
		c.State.RevertToSnapshot(mark)
		if code != success {
			return code, nil
		}
		t.TotalSupply = t.InitialSupply
		s.token = t
	}
	if c.planned(s.made) {
		return identicalSchedule, nil
	}
	return c.create(s)
}

// planned tells whether the simulation has scheduled the very same call before.
func (c *call) planned(p *plan) bool {
	for _, s := range c.facts.schedules {
		if s != nil && s.made != nil && !s.deleted && *s.made == *p {
			return true
		}
	}
	return false
}

// create makes a schedule come to be, with its creator's key as its admin key, who has signed it.
func (c *call) create(s *schedule) (ledger.ResponseCode, []any) {
	id := c.facts.create(ledger.EntitySchedule)
	s.hasAdmin = true
	for _, k := range keys.Primitives(c.signersKey()) {
		s.signed = append(s.signed, string(k))
	}
	c.State.Journal().Append(func() { c.facts.schedules[id] = nil })
	c.facts.schedules[id] = s
	return success, []any{longZero(id)}
}
