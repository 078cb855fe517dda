package system

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/evm/worldstate"
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

// scheduleFunctions returns the functions of the schedule service with their prices and response types.
func scheduleFunctions() []*function {
	const (
		created = responseCode + ",address scheduleAddress"
		called  = "uint256 expirySecond,uint256 gasLimit,uint64 value,bytes callData)"
		byPayer = "(address to,address payer," + called
	)
	return []*function{
		writes(signPrice, "authorizeSchedule(address schedule)", responseCode, signSchedule),
		{
			signature: "signSchedule(address schedule,bytes signatureMap)", returns: responseCode, kind: write,
			run:   signByMap,
			price: func(*call, []any) int64 { return signPrice },
		},
		writes(schedulePrice, "scheduleNative(address systemContractAddress,bytes callData,address payer)",
			created, nil).results(scheduleNative),
		writes(scheduleCallPrice, "scheduleCall(address to,"+called, created, nil).results(scheduleOwnCall),
		writes(scheduleCallPrice, "scheduleCallWithPayer"+byPayer, created, nil).results(schedulePaidCall).set(),
		writes(scheduleCallPrice, "executeCallOnPayerSignature"+byPayer, created, nil).
			results(schedulePaidCall),
		writes(unschedulePrice, "deleteSchedule(address scheduleAddress)", responseCode, deleteSchedule),
		{
			signature: "getScheduledCreateFungibleTokenInfo(address schedule)",
			returns:   responseCode + "," + unitsInfo,
			run:       scheduledInfo, of: ledger.TokenFungibleCommon,
		},
		{
			signature: "getScheduledCreateNonFungibleTokenInfo(address schedule)",
			returns:   responseCode + "," + serialInfo, run: scheduledInfo, of: ledger.TokenNonFungibleUnique,
		},
		{
			signature: "hasScheduleCapacity(uint256 expirySecond,uint256 gasLimit)", returns: "bool hasCapacity",
			run: hasScheduleCapacity,
		},
	}
}

// scheduleFacade returns the functions of the addresses of schedules.
func scheduleFacade() []*function {
	return []*function{
		writes(signPrice, "signSchedule()", responseCode, signSchedule),
		writes(unschedulePrice, "deleteSchedule()", responseCode, deleteSchedule),
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

// schedule returns the schedule at an address, which it reads from the ledger once, or nil if it does not exist or is
// expired. One that is deleted or executed is returned. A failed read ends the simulation.
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
	s := &schedule{
		executed: found.ExecutedTimestamp.Valid, deleted: e == nil, hasAdmin: e != nil && !ledger.Key(e.Key).IsNone(),
	}
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

// pendingSchedule returns the called schedule, or that in the first argument, which it reads from the ledger on first
// use. It fails with a [refusal] if the schedule does not exist or is expired, deleted or executed. It changes nothing.
func (c *call) pendingSchedule(in []any) (*schedule, error) {
	at := c.entity
	if !c.redirect {
		at = in[0].(common.Address)
	}
	s := c.schedule(at)
	err := refuse(s == nil, codes.InvalidScheduleID)
	if err != nil {
		return nil, err
	}
	return s, firstOf(
		refuse(s.deleted, codes.ScheduleAlreadyDeleted),
		refuse(s.executed, codes.ScheduleAlreadyExecuted),
	)
}

// deleteSchedule implements deleteSchedule(schedule) and deleteSchedule(): it deletes a pending schedule in the
// simulation. The schedule must have an admin key.
func deleteSchedule(c *call, in []any) error {
	s, err := c.pendingSchedule(in)
	if err != nil {
		return err
	}
	err = refuse(!s.hasAdmin, codes.ScheduleIsImmutable)
	if err != nil {
		return err
	}
	evm.Set(c.State, &s.deleted, true)
	return nil
}

// sign adds the public keys of signers to the signatures of a schedule in the simulation. At least one of them
// must be new. The schedule is not executed.
func (c *call) sign(s *schedule, signers [][]byte) error {
	signed := slices.Clone(s.signed)
	for _, k := range signers {
		if !slices.ContainsFunc(signed, func(prefix string) bool { return bytes.HasPrefix(k, []byte(prefix)) }) {
			signed = append(signed, string(k))
		}
	}
	err := refuse(len(signed) == len(s.signed), codes.NoNewValidSignatures)
	if err != nil {
		return err
	}
	evm.Set(c.State, &s.signed, signed)
	return nil
}

// signSchedule implements authorizeSchedule(schedule) and signSchedule(): it signs a pending schedule with all
// keys of the caller, in the simulation.
func signSchedule(c *call, in []any) error {
	s, err := c.pendingSchedule(in)
	if err != nil {
		return err
	}
	return c.sign(s, keys.Primitives(c.signersKey()))
}

// signersKey returns the key that signs for the caller, which it can read: that of an account, or the contract itself.
func (c *call) signersKey() ledger.Key {
	if e := c.State.Entity(c.Caller); e != nil && e.Type != ledger.EntityContract {
		return e.Key
	}
	return c.contractKey(keys.Contract, c.Caller)
}

// signByMap implements signSchedule(schedule, map): it signs with the keys of a signature map. The signed message is
// the schedule's shard, realm and number, in eight bytes each. Each signature must be valid, and its prefix must be
// the entire public key. Otherwise the call is reverted; failures of the schedule are a response code.
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
	code, _ := c.do(func(c *call, in []any) ([]any, error) {
		s, err := c.pendingSchedule(in)
		if err != nil {
			return nil, err
		}
		return nil, c.sign(s, signers)
	}, in)
	return c.returns(int64(code))
}

// scheduledInfo ends the call with the token of the function's type that a schedule would create, or reverts if it
// creates none, is deleted or does not exist. A non-fungible token has no serials yet.
func scheduledInfo(c *call, in []any) evm.Outcome {
	switch s := c.schedule(in[0].(common.Address)); {
	case s == nil || s.deleted:
		return c.reverts(codes.RecordNotFound)
	case s.token == nil || s.token.Type != c.f.of:
		return c.reverts(codes.InvalidScheduleID)
	case c.f.of == ledger.TokenFungibleCommon:
		return c.returns(int64(codes.Success), []any{c.info(s.token), s.token.Decimals})
	default:
		return c.returns(int64(codes.Success), []any{c.info(s.token)})
	}
}

// scheduledCreation returns the token, without an id, that an encoded scheduled transaction would create, or nil if it
// does not create one or cannot be decoded. It reads and changes nothing.
func (c *call) scheduledCreation(body []byte) *token {
	var b services.SchedulableTransactionBody
	if err := proto.Unmarshal(body, &b); err != nil {
		return nil
	}
	m := b.GetTokenCreation()
	if m == nil {
		return nil
	}
	id := func(a *services.AccountID) ledger.EntityID { return c.s.cfg.Base.WithNum(a.GetAccountNum()) }
	t := &token{made: true}
	t.Type, t.SupplyType, t.PauseStatus = ledger.TokenFungibleCommon, ledger.SupplyInfinite, ledger.PauseNotApplicable
	if m.GetTokenType() == services.TokenType_NON_FUNGIBLE_UNIQUE {
		t.Type = ledger.TokenNonFungibleUnique
	}
	if m.GetSupplyType() == services.TokenSupplyType_FINITE {
		t.SupplyType = ledger.SupplyFinite
	}
	t.Name, t.Symbol, t.Memo, t.Metadata = m.GetName(), m.GetSymbol(), m.GetMemo(), m.GetMetadata()
	t.Decimals, t.InitialSupply, t.TotalSupply, t.MaxSupply = int64(
		m.GetDecimals(),
	), int64(m.GetInitialSupply()), int64(m.GetInitialSupply()), m.GetMaxSupply()
	t.TreasuryAccountID, t.AutoRenewAccountID, t.FreezeDefault = id(
		m.GetTreasury(),
	), id(m.GetAutoRenewAccount()), m.GetFreezeDefault()
	if p := m.GetAutoRenewPeriod(); p != nil {
		t.AutoRenewPeriod = ledger.Of(p.GetSeconds())
	}
	if x := m.GetExpiry(); x != nil {
		t.ExpirationTimestamp = ledger.Expiry{Null: ledger.Of(ledger.Timestamp(x.GetSeconds() * nanoseconds))}
	}
	for kind, key := range map[worldstate.KeyKind]*services.Key{
		worldstate.AdminKey: m.GetAdminKey(), worldstate.KYCKey: m.GetKycKey(),
		worldstate.FreezeKey: m.GetFreezeKey(), worldstate.WipeKey: m.GetWipeKey(),
		worldstate.SupplyKey: m.GetSupplyKey(), worldstate.FeeScheduleKey: m.GetFeeScheduleKey(),
		worldstate.PauseKey:    m.GetPauseKey(),
		worldstate.MetadataKey: m.GetMetadataKey(),
	} {
		if key != nil {
			t.Keys[kind], _ = proto.Marshal(key) // a decoded message can be encoded
		}
	}
	t.Fees = ledger.Of(c.scheduledFees(m.GetCustomFees()))
	return t
}

// scheduledFees converts the custom fees of a token that a scheduled transaction would create, which contracts can
// query. A maximum of 0 is none. Fees of no kind are omitted. It reads and checks nothing.
func (c *call) scheduledFees(list []*services.CustomFee) *ledger.TokenCustomFees {
	base := c.s.cfg.Base
	fees := &ledger.TokenCustomFees{}
	part := func(f *services.Fraction) *ledger.Fraction {
		return &ledger.Fraction{Numerator: f.GetNumerator(), Denominator: f.GetDenominator()}
	}
	for _, f := range list {
		collector, exempt := base.WithNum(f.GetFeeCollectorAccountId().GetAccountNum()), f.GetAllCollectorsAreExempt()
		switch {
		case f.GetFixedFee() != nil:
			x := &ledger.FixedFee{
				Amount: f.GetFixedFee().GetAmount(), CollectorAccountID: collector, AllCollectorsAreExempt: exempt,
			}
			x.DenominatingTokenID = c.denominationOf(f.GetFixedFee())
			fees.FixedFees = append(fees.FixedFees, x)
		case f.GetFractionalFee() != nil:
			g := f.GetFractionalFee()
			x := &ledger.FractionalFee{
				Amount: part(g.GetFractionalAmount()), CollectorAccountID: collector, AllCollectorsAreExempt: exempt,
			}
			x.Minimum, x.Maximum, x.NetOfTransfers = g.GetMinimumAmount(), ledger.Of(
				g.GetMaximumAmount(),
			), g.GetNetOfTransfers()
			fees.FractionalFees = append(fees.FractionalFees, x)
		case f.GetRoyaltyFee() != nil:
			g := f.GetRoyaltyFee()
			x := &ledger.RoyaltyFee{Amount: part(
				g.GetExchangeValueFraction(),
			), CollectorAccountID: collector, AllCollectorsAreExempt: exempt}
			if g.GetFallbackFee() != nil {
				x.FallbackFee = &ledger.FallbackFee{
					Amount: g.GetFallbackFee().GetAmount(), DenominatingTokenID: c.denominationOf(g.GetFallbackFee()),
				}
			}
			fees.RoyaltyFees = append(fees.RoyaltyFees, x)
		}
	}
	return fees
}

// denominationOf returns the token that a scheduled fee is paid in, or 0 for hbars.
func (c *call) denominationOf(f *services.FixedFee) ledger.EntityID {
	if f.GetDenominatingTokenId() == nil {
		return 0
	}
	return c.s.cfg.Base.WithNum(f.GetDenominatingTokenId().GetTokenNum())
}

// Limits of scheduled calls.
const (
	maxScheduledAhead = 62 * 86_400 // in seconds from now
	maxScheduledGas   = 15_000_000  // of all calls in a second
	maxScheduledCalls = 100         // calls in a second
	defaultLifetime   = 1_800       // in seconds, without an explicit expiration
)

// plan is a call that the simulation scheduled. Equal plans are identical schedules.
type plan struct {
	creator, payer ledger.EntityID
	to             common.Address
	second         int64 // of its latest execution
	gas            int64
	value          uint64
	data           string
	waits          bool // until that second, even if all have signed
}

// clamped returns an unsigned number of the ABI, or the maximum of int64 if it is greater.
func clamped(v any) int64 {
	if n := v.(*big.Int); n.IsInt64() {
		return n.Int64() // unsigned, so not negative
	}
	return math.MaxInt64
}

// hasScheduleCapacity implements hasScheduleCapacity(second, gas): it ends the call with whether another call can be
// scheduled. That is false for a second that is past or too far ahead.
func hasScheduleCapacity(c *call, in []any) evm.Outcome {
	second := clamped(in[0])
	return c.returns(second > c.now() && second <= c.now()+maxScheduledAhead && c.hasCapacity(second, clamped(in[1])))
}

// hasCapacity reports whether another call with the given gas can be scheduled for a second. It counts only the calls
// that the simulation scheduled, because the ledger does not have the network's throttles.
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

// scheduleOwnCall implements scheduleCall(to, second, gas, value, data): it schedules a call that the caller pays for,
// and returns the address of the schedule. It fails as [call.scheduleCall] does.
func scheduleOwnCall(c *call, in []any) ([]any, error) {
	return c.scheduleCall(c.caller(), in[0], in[1:], true /* waits */)
}

// schedulePaidCall schedules a call with another payer, who must sign: scheduleCallWithPayer(to, payer, second, gas,
// value, data) for the second, and executeCallOnPayerSignature for as soon as the payer has signed. It returns the
// address of the schedule. It fails for an unknown payer, and as [call.scheduleCall] does.
func schedulePaidCall(c *call, in []any) ([]any, error) {
	payer, err := c.existingParty(in[1], codes.InvalidSchedulePayerID)
	if err != nil {
		return nil, err
	}
	return c.scheduleCall(payer, in[0], in[2:], c.f.sets)
}

// scheduleCall adds a schedule of a call to the simulation and returns its address. in are second, gas, value and
// data; waits reports whether it waits for the second. The contract need not exist, and nothing is executed. It fails
// for invalid values, if the second is past, too far ahead or full, and if the same call is scheduled.
func (c *call) scheduleCall(payer ledger.EntityID, to any, in []any, waits bool) ([]any, error) {
	p := &plan{
		creator: c.caller(), payer: payer, to: to.(common.Address), second: clamped(
			in[0],
		), gas: clamped(in[1]), value: in[2].(uint64), data: string(in[3].([]byte)),
		waits: waits,
	}
	err := firstOf(
		refuse(p.to == common.Address{}, codes.InvalidContractID),
		refuse(p.value > math.MaxInt64, codes.ContractNegativeValue),
		refuse(p.second <= c.now(), codes.ScheduleExpirationTimeMustBeHigherThanConsensusTime),
		refuse(p.second > c.now()+maxScheduledAhead, codes.ScheduleExpirationTimeTooFarInFuture),
		refuse(c.isScheduled(p), codes.IdenticalScheduleAlreadyCreated),
		refuse(!c.hasCapacity(p.second, p.gas), codes.ScheduleExpiryIsBusy),
	)
	if err != nil {
		return nil, err
	}
	return c.create(&schedule{plan: p}), nil
}

// scheduleNative implements scheduleNative(contract, data, payer): it schedules a call of another system contract that
// creates or updates a token, and returns the address of the schedule. A creation is validated at once, and undone. It
// fails for other functions, an unknown payer, invalid data and a call that is scheduled already.
func scheduleNative(c *call, in []any) ([]any, error) {
	data := in[1].([]byte)
	err := refuse(len(data) < 4, codes.ScheduledTransactionNotInWhitelist)
	if err != nil {
		return nil, err
	}
	payer, err := c.existingParty(in[2], codes.InvalidSchedulePayerID)
	if err != nil {
		return nil, err
	}
	f := c.s.tokens[in[0].(common.Address)][binary.BigEndian.Uint32(data)]
	err = refuse(f == nil || !f.payable && !strings.HasPrefix(
		f.signature, "updateToken",
	), codes.ScheduledTransactionNotInWhitelist)
	if err != nil {
		return nil, err
	}
	args, err := f.args.Decode(data[4:])
	err = refuse(err != nil, codes.InvalidTransactionBody)
	if err != nil {
		return nil, err
	}
	s := &schedule{plan: &plan{
		creator: c.caller(), payer: payer, to: in[0].(common.Address), second: c.now() + defaultLifetime,
		data: string(data),
	}}
	if f.payable {
		mark := c.State.Snapshot()
		t, err := c.newToken(f.of, abi.List(args))
		if err != nil {
			return nil, err
		}
		c.State.RevertToSnapshot(mark)
		t.TotalSupply = t.InitialSupply
		s.token = t
	}
	err = refuse(c.isScheduled(s.plan), codes.IdenticalScheduleAlreadyCreated)
	if err != nil {
		return nil, err
	}
	return c.create(s), nil
}

// isScheduled reports whether the simulation has already scheduled the same call and not deleted it.
func (c *call) isScheduled(p *plan) bool {
	for _, s := range c.facts.schedules {
		if s != nil && s.plan != nil && !s.deleted && *s.plan == *p {
			return true
		}
	}
	return false
}

// create adds a schedule to the simulation, until the frame is reverted, and returns its address. In s, it notes that
// the creator's key is the admin key, and adds the creator's keys as signatures. It can read the ledger; if that fails,
// it aborts the run.
func (c *call) create(s *schedule) []any {
	id := c.facts.create(ledger.EntitySchedule)
	s.hasAdmin = true
	for _, k := range keys.Primitives(c.signersKey()) {
		s.signed = append(s.signed, string(k))
	}
	evm.SetKey(c.State, c.facts.schedules, id, s)
	return []any{longZero(id)}
}
