package system

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/holiman/uint256"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Prices of the creation of a token in tinycents. The caller pays the price plus 20 percent in value, minus the price
// of the gas.
const (
	creationGas          = 100_000
	creationPrice        = dollar
	creationWithFeePrice = 2 * dollar // with custom fees
)

// createToken creates a token of the function's type and charges for it. Value in excess of the charge stays with the
// caller, and all of it if no token is created.
func createToken(c *call, in []any) evm.Outcome {
	price := int64(creationPrice)
	if countOf(feeLists(c.f.of, in)) > 0 {
		price = creationWithFeePrice
	}
	due := c.due(price)
	code, values := c.do(func(c *call, in []any) []any {
		failIf(c.Value.Lt(due), codes.InsufficientTxFee)
		t := c.newToken(c.f.of, in)
		c.relateFirst(t)
		return []any{longZero(t.EntityID)}
	}, in)
	back := new(uint256.Int).Set(c.Value)
	if code == codes.Success {
		back.Sub(back, due)
	}
	c.State.SubBalance(c.Self, c.Value, tracing.BalanceChangeTransfer)
	c.State.AddBalance(c.Caller, back, tracing.BalanceChangeTransfer)
	return c.returns(append([]any{int64(code)}, values...)...)
}

// feeLists returns the arguments of a creation that are lists of custom fees, two or none. They are the last
// arguments: (token, supply, decimals, fixed fees, fractional fees) of a fungible token, (token, fixed fees, royalty
// fees) of a non-fungible token.
func feeLists(kind ledger.TokenType, in []any) []any {
	if kind == ledger.TokenFungibleCommon {
		return in[3:]
	}
	return in[1:]
}

func countOf(lists []any) (n int) {
	for _, l := range lists {
		n += len(abi.List(l))
	}
	return n
}

// due returns the value to pay for a price in tinycents, in tinybars. It is 0 if the ledger has no exchange rate.
func (c *call) due(tinycents int64) *uint256.Int {
	rate, known := c.Rate()
	if !known || rate.CentEquivalent <= 0 || rate.HbarEquivalent < 0 {
		return new(uint256.Int)
	}
	gasPrice, err := c.State.Source().GasPrice(c.State.Context())
	c.State.Check(err, "reading the price of gas")
	v := new(big.Int).Mul(big.NewInt(tinycents+tinycents/5), big.NewInt(int64(rate.HbarEquivalent)))
	v.Quo(v, big.NewInt(int64(rate.CentEquivalent)))
	v.Sub(v, new(big.Int).Mul(big.NewInt(gasPrice), big.NewInt(creationGas)))
	if v.Sign() < 0 {
		return new(uint256.Int)
	}
	return uint256.MustFromBig(v)
}

// newToken returns a new token without holders. It applies the checks of the contract first, then those of the
// network.
func (c *call) newToken(kind ledger.TokenType, in []any) *token {
	info, fees := abi.List(in[0]), feeLists(kind, in)
	t := &token{made: true, fresh: true}
	t.Type, t.Name, t.Symbol, t.Memo = kind, info[0].(string), info[1].(string), info[3].(string)
	t.CreatedTimestamp, t.FreezeDefault = c.Block.Start, info[6].(bool)
	t.SupplyType, t.PauseStatus = ledger.SupplyInfinite, ledger.PauseNotApplicable
	var ok bool
	t.Keys, ok = c.keysOf(abi.List(info[7]))
	failIf(!ok, codes.InvalidTransactionBody)
	if t.HasKey(worldstate.PauseKey) {
		t.PauseStatus = ledger.PauseUnpaused
	}
	failIf(t.Symbol == "", codes.MissingTokenSymbol)
	treasury := c.existingParty(info[2], codes.InvalidAccountID)
	// An account must renew it.
	failIf(abi.List(info[8])[1].(common.Address) == common.Address{}, codes.InvalidExpirationTime)
	t.TreasuryAccountID = treasury.id
	if kind == ledger.TokenFungibleCommon {
		t.setUnits(in[1], in[2])
	}
	t.setMaxSupply(info[4].(bool), info[5])
	failIf(kind == ledger.TokenNonFungibleUnique && !t.HasKey(worldstate.SupplyKey), codes.TokenHasNoSupplyKey)
	failIf(t.FreezeDefault && !t.HasKey(worldstate.FreezeKey), codes.TokenHasNoFreezeKey)
	failIf(t.Name == "", codes.MissingTokenName)
	validateTexts(t.Symbol, t.Name, t.Memo)
	t.Metadata = metadataOf(info)
	failIf(len(t.Metadata) > maxMetadata, codes.MetadataTooLong)
	failIf(countOf(fees) > maxFees, codes.CustomFeesListTooLong)
	c.setFirstExpiry(t, abi.List(info[8]))
	t.EntityID = c.facts.create(ledger.EntityToken)
	t.Fees = ledger.Of(&ledger.TokenCustomFees{})
	if len(fees) > 0 {
		t.Fees = ledger.Of(c.customFees(t, kind, abi.List(fees[0]), abi.List(fees[1])))
	}
	t.fresh = false
	c.facts.state.Journal().Append(func() { c.facts.tokens[t.EntityID] = nil })
	c.facts.tokens[t.EntityID] = t
	return t
}

func (t *token) setUnits(supply, decimals any) {
	var sound bool
	t.InitialSupply, sound = amountOf(supply)
	failIf(!sound, codes.InvalidTokenInitialSupply)
	t.Decimals, sound = amountOf(decimals)
	failIf(!sound || t.Decimals > math.MaxInt32, codes.InvalidTokenDecimals)
}

// setMaxSupply sets the supply type and the maximum supply of a new token.
func (t *token) setMaxSupply(isFinite bool, most any) {
	var sound bool
	t.MaxSupply, sound = amountOf(most)
	failIf(!sound || isFinite != (t.MaxSupply > 0), codes.InvalidTokenMaxSupply)
	if isFinite {
		t.SupplyType = ledger.SupplyFinite
		failIf(t.InitialSupply > t.MaxSupply, codes.InvalidTokenInitialSupply)
	}
}

// setFirstExpiry sets the expiration of a new token: an auto-renew period from now, or the given second.
func (c *call) setFirstExpiry(t *token, expiry []any) {
	second, sound := amountOf(expiry[0])
	period, also := amountOf(expiry[2])
	failIf(!also, codes.InvalidRenewalPeriod)
	if period != 0 {
		second, sound = c.now()+min(period, maxLifetime+1), true
	}
	failIf(!sound || second <= c.now() || second > c.now()+maxLifetime, codes.InvalidExpirationTime)
	failIf(period != 0 && (period < minRenewPeriod || period > maxRenewPeriod), codes.InvalidRenewalPeriod)
	t.AutoRenewAccountID = c.existingParty(expiry[1], codes.InvalidAutorenewAccount).id
	t.ExpirationTimestamp = ledger.Expiry{Null: ledger.Of(ledger.Timestamp(second * nanoseconds))}
	if period != 0 {
		t.AutoRenewPeriod = ledger.Of(period)
	}
}

// relateFirst associates a new token with its treasury, which receives the initial supply and is never frozen, and
// with its fee collectors.
func (c *call) relateFirst(t *token) {
	fees := t.Fees.V
	collectors := list.Map(
		fees.FractionalFees, func(f *ledger.FractionalFee) ledger.EntityID { return f.CollectorAccountID },
	)
	for _, fee := range fees.FixedFees {
		if fee.DenominatingTokenID == t.EntityID {
			collectors = append(collectors, fee.CollectorAccountID)
		}
	}
	treasury := partyOf(t.TreasuryAccountID)
	for _, id := range collectors {
		if p := partyOf(id); p != treasury && !c.facts.relation(p, t).associated {
			c.relate(p, t, false)
		}
	}
	change(c.facts, c.facts.relation(treasury, t), relation{associated: true, kyc: true})
	c.changeSupply(t, c.facts.relation(treasury, t), t.InitialSupply)
}

// setPause is pauseToken(token) and unpauseToken(token).
func setPause(c *call, in []any) {
	t := c.existingToken(in[0].(common.Address))
	t.requireKey(worldstate.PauseKey)
	statuses := map[bool]ledger.TokenPauseStatus{true: ledger.PausePaused, false: ledger.PauseUnpaused}
	change(c.facts, &t.PauseStatus, statuses[c.f.sets])
}

func deleteToken(c *call, in []any) {
	t, _ := c.keyedToken(in, worldstate.AdminKey)
	change(c.facts, &t.deleted, true)
}

// Limits of the properties of a token.
const (
	maxText        = 100           // bytes of a name, symbol or memo
	minRenewPeriod = 2_592_000     // in seconds
	maxRenewPeriod = 8_000_001     // in seconds
	maxLifetime    = 3_153_600_000 // in seconds from now
)

// updateKeys replaces keys of a token: updateTokenKeys(token, keys). A token without an admin key allows that if it
// has any key.
func updateKeys(c *call, in []any) {
	t, rest := c.activeToken(in)
	entries := abi.List(rest[0])
	hasKey := slices.ContainsFunc(t.Keys[:], func(k ledger.Key) bool { return !k.IsNone() })
	failIf(!t.HasKey(worldstate.AdminKey) && (len(entries) == 0 || !hasKey), codes.TokenIsImmutable)
	c.setKeys(t, entries)
}

// updateExpiry changes the expiration and the renewal of a token: updateTokenExpiryInfo(token, expiry). Extending the
// expiration requires no admin key.
func updateExpiry(c *call, in []any) {
	t, rest := c.activeToken(in)
	expiry := abi.List(rest[0])
	second, _ := amountOf(expiry[0])
	period, _ := amountOf(expiry[2])
	extends := second != 0 && period == 0 && expiry[1].(common.Address) == common.Address{}
	failIf(!t.HasKey(worldstate.AdminKey) && !extends, codes.TokenIsImmutable)
	c.setExpiry(t, expiry)
}

// validateTexts fails if a symbol, a name or a memo is invalid.
func validateTexts(symbol, name, memo string) {
	for _, text := range []struct {
		given   string
		tooLong ledger.ResponseCode
	}{{symbol, codes.TokenSymbolTooLong}, {name, codes.TokenNameTooLong}, {memo, codes.MemoTooLong}} {
		failIf(len(text.given) > maxText, text.tooLong)
		failIf(strings.ContainsRune(text.given, 0), codes.InvalidZeroByteInString)
	}
}

// metadataOf returns the metadata of a token in the form of the second interface.
func metadataOf(info []any) []byte {
	if len(info) <= metadataIndex {
		return nil
	}
	return info[metadataIndex].([]byte)
}

const metadataIndex = 9 // after the values of the first interface

// updateInfo updates a token: updateTokenInfo(token, info). An empty name or symbol and a zero treasury are not
// changed, and values that are fixed at creation are ignored. An empty memo clears the memo.
func updateInfo(c *call, in []any) {
	t, rest := c.keyedToken(in, worldstate.AdminKey)
	info := abi.List(rest[0])
	name, symbol, memo := info[0].(string), info[1].(string), info[3].(string)
	validateTexts(symbol, name, memo)
	if name != "" {
		change(c.facts, &t.Name, name)
	}
	if symbol != "" {
		change(c.facts, &t.Symbol, symbol)
	}
	change(c.facts, &t.Memo, memo)
	metadata := metadataOf(info)
	failIf(len(metadata) > maxMetadata, codes.MetadataTooLong)
	if len(metadata) > 0 {
		change(c.facts, &t.Metadata, metadata)
	}
	c.setKeys(t, abi.List(info[7]))
	c.setExpiry(t, abi.List(info[8]))
	if treasury := info[2].(common.Address); treasury != (common.Address{}) {
		c.setTreasury(t, c.existingParty(treasury, codes.InvalidTreasuryAccountForToken))
	}
}

// setTreasury changes the treasury of a token. The new treasury receives the balance of the old one.
func (c *call) setTreasury(t *token, p party) {
	old := partyOf(t.TreasuryAccountID)
	if p == old {
		return
	}
	c.facts.load(request{relations: []relationKey{{p, t.EntityID}, {old, t.EntityID}}})
	to := c.usableRelation(t, p, true)
	failIf(t.Type == ledger.TokenNonFungibleUnique && to.balance > 0, codes.TransactionRequiresZeroTokenBalances)
	from := c.facts.relation(old, t)
	change(c.facts, &to.balance, to.balance+from.balance)
	change(c.facts, &from.balance, 0)
	change(c.facts, &t.TreasuryAccountID, p.id) // and the owner of its serials
}

// requireKey fails if a token does not have a key of the given kind.
func (t *token) requireKey(kind worldstate.KeyKind) {
	failIf(!t.HasKey(kind), [worldstate.KeyKinds]ledger.ResponseCode{
		worldstate.AdminKey: codes.TokenIsImmutable, worldstate.KYCKey: codes.TokenHasNoKYCKey,
		worldstate.FreezeKey: codes.TokenHasNoFreezeKey, worldstate.WipeKey: codes.TokenHasNoWipeKey,
		worldstate.SupplyKey: codes.TokenHasNoSupplyKey, worldstate.PauseKey: codes.TokenHasNoPauseKey,
		worldstate.FeeScheduleKey: codes.TokenHasNoFeeScheduleKey, worldstate.MetadataKey: codes.TokenHasNoMetadataKey,
	}[kind])
}

// setKeys replaces keys of a token.
func (c *call) setKeys(t *token, entries []any) {
	keys, ok := c.keysOf(entries)
	failIf(!ok, codes.InvalidTransactionBody)
	for kind, key := range keys {
		if key != nil {
			t.requireKey(worldstate.KeyKind(kind))
			change(c.facts, &t.Keys[kind], key)
		}
	}
}

// setExpiry changes the expiration in seconds, the auto-renew account, and the auto-renew period in seconds. Zero
// values are not changed.
func (c *call) setExpiry(t *token, expiry []any) {
	second, sound := amountOf(expiry[0])
	failIf(!sound, codes.InvalidExpirationTime)
	if second != 0 {
		tooEarly := t.ExpirationTimestamp.Valid && second < int64(t.ExpirationTimestamp.V)/nanoseconds
		failIf(tooEarly || second > c.now()+maxLifetime, codes.InvalidExpirationTime)
		change(c.facts, &t.ExpirationTimestamp, ledger.Expiry{Null: ledger.Of(ledger.Timestamp(second * nanoseconds))})
	}
	if payer := expiry[1].(common.Address); payer != (common.Address{}) {
		change(c.facts, &t.AutoRenewAccountID, c.existingParty(payer, codes.InvalidAutorenewAccount).id)
	}
	period, sound := amountOf(expiry[2])
	failIf(!sound || period != 0 && (period < minRenewPeriod || period > maxRenewPeriod), codes.InvalidRenewalPeriod)
	if period != 0 {
		change(c.facts, &t.AutoRenewPeriod, ledger.Of(period))
	}
}

const nanoseconds = 1_000_000_000 // per second

// now returns the second of the block's start.
func (c *call) now() int64 { return int64(c.Block.Start) / nanoseconds }

// updateMetadata changes the metadata of serials: updateNFTsMetadata(token, serials, metadata). It requires the
// metadata key, or the supply key if the treasury owns all serials.
func updateMetadata(c *call, in []any) {
	serials, metadata := abi.List(in[1]), in[2].([]byte)
	failIf(len(serials) == 0, codes.MissingSerialNumbers)
	t := c.existingToken(in[0].(common.Address))
	inTreasury := true
	for _, v := range serials {
		n := c.existingSerial(t, v.(int64), codes.InvalidNFTID)
		inTreasury = inTreasury && c.facts.owner(t, n) == partyOf(t.TreasuryAccountID)
	}
	if !t.HasKey(worldstate.MetadataKey) {
		failIf(!inTreasury, codes.TokenHasNoMetadataKey)
		failIf(!t.HasKey(worldstate.SupplyKey), codes.TokenHasNoMetadataOrSupplyKey)
	}
	failIf(len(metadata) > maxMetadata, codes.MetadataTooLong)
	failIf(len(serials) > maxSerials, codes.BatchSizeLimitExceeded)
	t.requireActive()
	for _, v := range serials {
		change(c.facts, &c.facts.nft(t, v.(int64)).metadata, metadata)
	}
}
