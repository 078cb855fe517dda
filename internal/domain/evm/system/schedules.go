package system

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/ledger"
)

// Prices in tinycents.
const (
	schedulePrice     = dollar / 100
	scheduleCallPrice = dollar / 10 // of a call of a contract
	signPrice         = dollar / 100
	unschedulePrice   = dollar / 200
)

// scheduleFunctions are the functions of the schedule service.
func scheduleFunctions() []*function {
	const calls = "uint256,uint256,uint64,bytes)"
	change := func(signature, returns string, price int64, run func(*call, []any) evm.Outcome) *function {
		return &function{signature: signature, returns: returns, kind: write, tinycents: price, run: run}
	}
	const created = "int64,address"
	return []*function{
		change("authorizeSchedule(address)", "int64", signPrice, classic(ofSchedule(signByCaller))),
		change("signSchedule(address,bytes)", "int64", signPrice, signByMap),
		change("scheduleNative(address,bytes,address)", created, schedulePrice, classic(scheduleNative)),
		change("scheduleCall(address,"+calls, created, scheduleCallPrice, classic(scheduleOwnCall)),
		change("scheduleCallWithPayer(address,address,"+calls, created, scheduleCallPrice, classic(schedulePaidCall(true))),
		change("executeCallOnPayerSignature(address,address,"+calls, created, scheduleCallPrice, classic(schedulePaidCall(false))),
		change("deleteSchedule(address)", "int64", unschedulePrice, classic(ofSchedule(deleteSchedule))),
		{signature: "getScheduledCreateFungibleTokenInfo(address)", returns: "int64,(" + tokenInfo + ",int32)", run: scheduledUnits},
		{
			signature: "getScheduledCreateNonFungibleTokenInfo(address)", returns: "int64,(" + tokenInfo + ",int64,address,int64,bytes,address)",
			run: scheduledSerials,
		},
		{signature: "hasScheduleCapacity(uint256,uint256)", returns: "bool", run: hasScheduleCapacity},
	}
}

// scheduleFacade are the functions of a schedule's address.
func scheduleFacade() []*function {
	return []*function{
		{signature: "signSchedule()", returns: "int64", kind: write, tinycents: signPrice, run: classic(ofSchedule(signByCaller))},
		{signature: "deleteSchedule()", returns: "int64", kind: write, tinycents: unschedulePrice, run: classic(ofSchedule(deleteSchedule))},
	}
}

// schedule is a transaction that waits to be executed. The network does that by a transaction of its own, after the one that schedules it or gives the
// last signature that it waits for, so simulations never do.
type schedule struct {
	token             *token // that it would create; nil when it does anything else
	hasAdmin          bool
	executed, deleted bool
	signed            []string // keys, or what they begin with
	made              *plan    // by the simulation
}

// schedule is the schedule at an address, nil when there is none.
func (c *call) schedule(at common.Address) *schedule {
	num, ok := ledger.EVMAddress(at).Num()
	if !ok || num == 0 {
		return nil
	}
	id := c.s.cfg.Base.WithNum(num)
	if s, known := c.facts.schedules[id]; known {
		return s
	}
	c.facts.schedules[id] = nil
	found, err := c.facts.source.Schedule(c.State.Context(), id)
	if err != nil {
		c.State.Abort(fmt.Errorf("running a system contract: %w", err))
	}
	if found == nil {
		return nil
	}
	e := c.State.Entity(at)
	s := &schedule{executed: found.ExecutedTimestamp.Valid, deleted: e == nil, hasAdmin: e != nil && !ledger.Key(e.Key).IsNone()}
	found.Deleted = ledger.Of(s.deleted)
	if found.StateAt(c.Block.Start) == ledger.ScheduleExpired {
		return nil // the network forgets what has expired
	}
	for _, x := range found.Signatures {
		s.signed = append(s.signed, string(x.PublicKeyPrefix))
	}
	s.token = c.scheduledCreation(found.TransactionBody)
	c.facts.schedules[id] = s
	return s
}

// ofSchedule makes the body of a function that does something to a schedule that has not come to its end: the one that was called, or the one that the
// first argument names.
func ofSchedule(do func(*call, *schedule) ledger.ResponseCode) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		at := c.entity
		if !c.redirect {
			at = in[0].(common.Address)
		}
		switch s := c.schedule(at); {
		case s == nil:
			return invalidScheduleID, nil
		case s.deleted:
			return scheduleAlreadyDeleted, nil
		case s.executed:
			return scheduleAlreadyExecuted, nil
		default:
			return do(c, s), nil
		}
	}
}

// deleteSchedule takes a schedule back, for which it needs an admin key.
func deleteSchedule(c *call, s *schedule) ledger.ResponseCode {
	if !s.hasAdmin {
		return scheduleIsImmutable
	}
	change(c.facts, &s.deleted, true)
	return success
}

// sign adds keys that have signed, of which at least one must be new.
func (c *call) sign(s *schedule, signers [][]byte) ledger.ResponseCode {
	signed := slices.Clone(s.signed)
	for _, k := range signers {
		if !slices.ContainsFunc(signed, func(prefix string) bool { return bytes.HasPrefix(k, []byte(prefix)) }) {
			signed = append(signed, string(k))
		}
	}
	if len(signed) == len(s.signed) {
		return noNewSignatures
	}
	change(c.facts, &s.signed, signed)
	return success
}

// signByCaller signs with all keys of who calls.
func signByCaller(c *call, s *schedule) ledger.ResponseCode {
	return c.sign(s, keys.Primitives(c.signersKey()))
}

// signersKey is the key that signs by a call: that of an account, and of a contract that it called.
func (c *call) signersKey() ledger.Key {
	if e := c.State.Entity(c.Caller); e != nil && e.Type != ledger.EntityContract {
		return e.Key
	}
	return c.contractKey(keys.Contract, c.Caller)
}

// signByMap signs with keys whose signatures a map holds: of the schedule's shard, realm and number, each in eight bytes. Every one of them must be right,
// and tell its whole key: signSchedule(schedule, map).
func signByMap(c *call, in []any) evm.Outcome {
	signatures, ok := keys.ParseSignatures(in[1].([]byte))
	if !ok || len(signatures) == 0 {
		return c.reverts(invalidTransactionBody)
	}
	num, _ := ledger.EVMAddress(in[0].(common.Address)).Num()
	id := c.s.cfg.Base.WithNum(num)
	message := binary.BigEndian.AppendUint64(nil, uint64(id.Shard()))
	message = binary.BigEndian.AppendUint64(message, uint64(id.Realm()))
	message = binary.BigEndian.AppendUint64(message, uint64(num))
	var signers [][]byte
	for _, x := range signatures {
		if !keys.SignedBy(x.Prefix, message, []keys.Signature{x}, x.Secp256k1) {
			return c.reverts(invalidSignature)
		}
		signers = append(signers, x.Prefix)
	}
	return classic(ofSchedule(func(c *call, s *schedule) ledger.ResponseCode { return c.sign(s, signers) }))(c, in)
}
