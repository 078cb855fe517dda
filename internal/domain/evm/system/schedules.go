package system

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Prices in tinycents.
const (
	schedulePrice     = dollar / 100
	scheduleCallPrice = dollar / 10 // of a contract call
	signPrice         = dollar / 100
	unschedulePrice   = dollar / 200
)

// scheduleFunctions returns the functions of the schedule service.
func scheduleFunctions() []*function {
	const calls = "uint256,uint256,uint64,bytes)"
	change := func(signature, returns string, price int64, run func(*call, []any) evm.Outcome) *function {
		return &function{signature: signature, returns: returns, kind: write, tinycents: price, run: run}
	}
	const created = "int64,address"
	return []*function{
		change("authorizeSchedule(address)", "int64", signPrice, withCode(ofSchedule(signByCaller))),
		change("signSchedule(address,bytes)", "int64", signPrice, signByMap),
		change("scheduleNative(address,bytes,address)", created, schedulePrice, withCode(scheduleNative)),
		change("scheduleCall(address,"+calls, created, scheduleCallPrice, withCode(scheduleOwnCall)),
		change("scheduleCallWithPayer(address,address,"+calls, created, scheduleCallPrice, withCode(schedulePaidCall(true))),
		change("executeCallOnPayerSignature(address,address,"+calls, created, scheduleCallPrice, withCode(schedulePaidCall(false))),
		change("deleteSchedule(address)", "int64", unschedulePrice, withCode(ofSchedule(deleteSchedule))),
		{
			signature: "getScheduledCreateFungibleTokenInfo(address)", returns: "int64,(" + tokenInfo + ",int32)",
			run: readingScheduled(ledger.TokenFungibleCommon, func(c *call, t *token) []any { return []any{c.info(t), t.Decimals} }),
		},
		{
			signature: "getScheduledCreateNonFungibleTokenInfo(address)", returns: "int64,(" + tokenInfo + ",int64,address,int64,bytes,address)",
			run: readingScheduled(ledger.TokenNonFungibleUnique, func(c *call, t *token) []any { return []any{c.info(t)} }), // a new token has no serial
		},
		{signature: "hasScheduleCapacity(uint256,uint256)", returns: "bool", run: hasScheduleCapacity},
	}
}

// scheduleFacade returns the functions of the address of a schedule.
func scheduleFacade() []*function {
	return []*function{
		{signature: "signSchedule()", returns: "int64", kind: write, tinycents: signPrice, run: withCode(ofSchedule(signByCaller))},
		{signature: "deleteSchedule()", returns: "int64", kind: write, tinycents: unschedulePrice, run: withCode(ofSchedule(deleteSchedule))},
	}
}

// schedule is a scheduled transaction. The network executes it by a later transaction, so a simulation never does.
type schedule struct {
	token             *token // that it would create, or nil
	hasAdmin          bool
	executed, deleted bool
	signed            []string // public keys, or prefixes of them
	plan              *plan    // if the simulation created it
}

// schedule returns the schedule at an address, or nil if it does not exist or is expired.
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
	c.State.Check(err, "running a system contract")
	if found == nil {
		return nil
	}
	e := c.State.Entity(at)
	s := &schedule{executed: found.ExecutedTimestamp.Valid, deleted: e == nil, hasAdmin: e != nil && !ledger.Key(e.Key).IsNone()}
	found.Deleted = ledger.Of(s.deleted)
	if found.StateAt(c.Block.Start) == ledger.ScheduleExpired {
		return nil // the network removes expired schedules
	}
	for _, x := range found.Signatures {
		s.signed = append(s.signed, string(x.PublicKeyPrefix))
	}
	s.token = c.scheduledCreation(found.TransactionBody)
	c.facts.schedules[id] = s
	return s
}

// ofSchedule returns an operation on a pending schedule: the called one, or the first argument.
func ofSchedule(do func(*call, *schedule)) operation {
	return func(c *call, in []any) []any {
		at := c.entity
		if !c.redirect {
			at = in[0].(common.Address)
		}
		s := c.schedule(at)
		failIf(s == nil, codes.InvalidScheduleID)
		failIf(s.deleted, codes.ScheduleAlreadyDeleted)
		failIf(s.executed, codes.ScheduleAlreadyExecuted)
		do(c, s)
		return nil
	}
}

// deleteSchedule deletes a schedule. The schedule must have an admin key.
func deleteSchedule(c *call, s *schedule) {
	failIf(!s.hasAdmin, codes.ScheduleIsImmutable)
	change(c.facts, &s.deleted, true)
}

// sign adds signatures. At least one of them must be new.
func (c *call) sign(s *schedule, signers [][]byte) {
	signed := slices.Clone(s.signed)
	for _, k := range signers {
		if !slices.ContainsFunc(signed, func(prefix string) bool { return bytes.HasPrefix(k, []byte(prefix)) }) {
			signed = append(signed, string(k))
		}
	}
	failIf(len(signed) == len(s.signed), codes.NoNewValidSignatures)
	change(c.facts, &s.signed, signed)
}

// signByCaller signs with all keys of the caller.
func signByCaller(c *call, s *schedule) {
	c.sign(s, keys.Primitives(c.signersKey()))
}

// signersKey returns the key that signs for the caller: the key of an account, or the contract itself.
func (c *call) signersKey() ledger.Key {
	if e := c.State.Entity(c.Caller); e != nil && e.Type != ledger.EntityContract {
		return e.Key
	}
	return c.contractKey(keys.Contract, c.Caller)
}

// signByMap signs with the keys of a signature map: signSchedule(schedule, map). The signed message is the schedule's shard, realm and number, in eight
// bytes each. Each signature must be valid, and its prefix must be the entire public key.
func signByMap(c *call, in []any) evm.Outcome {
	signatures, ok := keys.ParseSignatures(in[1].([]byte))
	if !ok || len(signatures) == 0 {
		return c.reverts(codes.InvalidTransactionBody)
	}
	num, _ := ledger.EVMAddress(in[0].(common.Address)).Num()
	id := c.s.cfg.Base.WithNum(num)
	message := binary.BigEndian.AppendUint64(nil, uint64(id.Shard()))
	message = binary.BigEndian.AppendUint64(message, uint64(id.Realm()))
	message = binary.BigEndian.AppendUint64(message, uint64(num))
	var signers [][]byte
	for _, x := range signatures {
		if !keys.SignedBy(x.Prefix, message, []keys.Signature{x}, x.Secp256k1) {
			return c.reverts(codes.InvalidSignature)
		}
		signers = append(signers, x.Prefix)
	}
	return withCode(ofSchedule(func(c *call, s *schedule) { c.sign(s, signers) }))(c, in)
}
