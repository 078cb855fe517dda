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

// createToken creates a token of the function's type in the simulation and subtracts its price from the value of
// the call. Value in excess of the price returns to the caller, and all of it if no token is created. It ends the
// call with the response code and the address of the token.
func createToken(c *call, in []any) evm.Outcome {
	price := int64(creationPrice)
	if countOf(feeLists(c.f.of, in)) > 0 {
		price = creationWithFeePrice
	}
	due := c.due(price)
	code, values := c.do(func(c *call, in []any) ([]any, error) {
		err := refuse(c.Value.Lt(due), codes.InsufficientTxFee)
		if err != nil {
			return nil, err
		}
		t, err := c.newToken(c.f.of, in)
		if err != nil {
			return nil, err
		}
		c.relateFirst(t)
		return []any{longZero(t.EntityID)}, nil
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

// countOf returns the number of items in lists of the ABI.
func countOf(lists []any) (n int) {
	for _, l := range lists {
		n += len(abi.List(l))
	}
	return n
}

// due returns the tinybars to pay for a price in tinycents plus 20 percent, less the price of the gas. It reads the
// exchange rate and the gas price; a failed read aborts the run. It is 0 without a valid rate, or if the gas costs
// more.
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

// newToken adds a new token without holders to the simulation and returns it, from the arguments of a creation, with
// an id that the simulation allocates. It applies the checks of the contract first, then those of the network. It
// fails with a [refusal]; call.do undoes what it created.
func (c *call) newToken(kind ledger.TokenType, in []any) (*token, error) {
	info, fees := abi.List(in[0]), feeLists(kind, in)
	t := &token{made: true, fresh: true}
	t.Type, t.Name, t.Symbol, t.Memo = kind, info[0].(string), info[1].(string), info[3].(string)
	t.CreatedTimestamp, t.FreezeDefault = c.Block.Start, info[6].(bool)
	t.SupplyType, t.PauseStatus = ledger.SupplyInfinite, ledger.PauseNotApplicable
	var ok bool
	t.Keys, ok = c.keysOf(abi.List(info[7]))
	err := refuse(!ok, codes.InvalidTransactionBody)
	if err != nil {
		return nil, err
	}
	if t.HasKey(worldstate.PauseKey) {
		t.PauseStatus = ledger.PauseUnpaused
	}
	err = refuse(t.Symbol == "", codes.MissingTokenSymbol)
	if err != nil {
		return nil, err
	}
	treasury, err := c.existingParty(info[2], codes.InvalidAccountID)
	if err != nil {
		return nil, err
	}
	// An account must renew it.
	err = refuse(abi.List(info[8])[1].(common.Address) == common.Address{}, codes.InvalidExpirationTime)
	if err != nil {
		return nil, err
	}
	t.TreasuryAccountID = treasury
	if kind == ledger.TokenFungibleCommon {
		err = t.setUnits(in[1], in[2])
		if err != nil {
			return nil, err
		}
	}
	err = t.setMaxSupply(info[4].(bool), info[5])
	if err != nil {
		return nil, err
	}
	err = firstOf(
		refuse(kind == ledger.TokenNonFungibleUnique && !t.HasKey(worldstate.SupplyKey), codes.TokenHasNoSupplyKey),
		refuse(t.FreezeDefault && !t.HasKey(worldstate.FreezeKey), codes.TokenHasNoFreezeKey),
		refuse(t.Name == "", codes.MissingTokenName),
		validateTexts(t.Symbol, t.Name, t.Memo),
	)
	if err != nil {
		return nil, err
	}
	t.Metadata = metadataOf(info)
	err = firstOf(
		refuse(len(t.Metadata) > maxMetadata, codes.MetadataTooLong),
		refuse(countOf(fees) > maxFees, codes.CustomFeesListTooLong),
	)
	if err != nil {
		return nil, err
	}
	err = c.setFirstExpiry(t, abi.List(info[8]))
	if err != nil {
		return nil, err
	}
	t.EntityID = c.facts.create(ledger.EntityToken)
	t.Fees = ledger.Of(&ledger.TokenCustomFees{})
	if len(fees) > 0 {
		custom, err := c.customFees(t, kind, abi.List(fees[0]), abi.List(fees[1]))
		if err != nil {
			return nil, err
		}
		t.Fees = ledger.Of(custom)
	}
	t.fresh = false
	evm.SetKey(c.State, c.facts.tokens, t.EntityID, t)
	return t, nil
}

// setUnits sets the initial supply, in units of the smallest denomination, and the decimals of a new token. It
// fails if they are negative or too large.
func (t *token) setUnits(supply, decimals any) error {
	var sound bool
	t.InitialSupply, sound = amountOf(supply)
	err := refuse(!sound, codes.InvalidTokenInitialSupply)
	if err != nil {
		return err
	}
	t.Decimals, sound = amountOf(decimals)
	return refuse(!sound || t.Decimals > math.MaxInt32, codes.InvalidTokenDecimals)
}

// setMaxSupply sets the supply type and the maximum supply of a new token, whose initial supply is set. With
// isFinite, most must be positive and at least the initial supply, otherwise it must be 0.
func (t *token) setMaxSupply(isFinite bool, most any) error {
	var sound bool
	t.MaxSupply, sound = amountOf(most)
	err := refuse(!sound || isFinite != (t.MaxSupply > 0), codes.InvalidTokenMaxSupply)
	if err != nil {
		return err
	}
	if isFinite {
		t.SupplyType = ledger.SupplyFinite
		err = refuse(t.InitialSupply > t.MaxSupply, codes.InvalidTokenInitialSupply)
		if err != nil {
			return err
		}
	}
	return nil
}

// setFirstExpiry sets the expiration and the renewal of a new token from expiry, (second, account, period): a period
// in seconds from now, or the given second. It fails if they are outside of the network's limits or the account does
// not exist.
func (c *call) setFirstExpiry(t *token, expiry []any) error {
	second, sound := amountOf(expiry[0])
	period, also := amountOf(expiry[2])
	err := refuse(!also, codes.InvalidRenewalPeriod)
	if err != nil {
		return err
	}
	if period != 0 {
		second, sound = c.now()+min(period, maxLifetime+1), true
	}
	err = firstOf(
		refuse(!sound || second <= c.now() || second > c.now()+maxLifetime, codes.InvalidExpirationTime),
		refuse(period != 0 && (period < minRenewPeriod || period > maxRenewPeriod), codes.InvalidRenewalPeriod),
	)
	if err != nil {
		return err
	}
	payer, err := c.existingParty(expiry[1], codes.InvalidAutorenewAccount)
	if err != nil {
		return err
	}
	t.AutoRenewAccountID = payer
	t.ExpirationTimestamp = ledger.Expiry{Null: ledger.Of(ledger.Timestamp(second * nanoseconds))}
	if period != 0 {
		t.AutoRenewPeriod = ledger.Of(period)
	}
	return nil
}

// relateFirst associates a new token in the simulation with its treasury, which receives the initial supply and is
// never frozen, and with the collectors of the fees that are paid in it.
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
	treasury := t.TreasuryAccountID
	for _, id := range collectors {
		if id != treasury && !c.facts.relation(id, t).associated {
			c.relate(id, t, false /* automatic */)
		}
	}
	evm.Set(c.State, c.facts.relation(treasury, t), relation{associated: true, kyc: true})
	c.changeSupply(t, c.facts.relation(treasury, t), t.InitialSupply)
}

// setPause implements pauseToken(token), if c.f.sets is set, and unpauseToken(token) of the token service: it changes
// the token in the simulation. The token needs a pause key.
func setPause(c *call, in []any) error {
	t, err := c.existingToken(in[0].(common.Address))
	if err != nil {
		return err
	}
	err = t.requireKey(worldstate.PauseKey)
	if err != nil {
		return err
	}
	statuses := map[bool]ledger.TokenPauseStatus{true: ledger.PausePaused, false: ledger.PauseUnpaused}
	evm.Set(c.State, &t.PauseStatus, statuses[c.f.sets])
	return nil
}

// deleteToken implements deleteToken(token): it marks a token as deleted in the simulation. The token needs an
// admin key.
func deleteToken(c *call, in []any) error {
	t, _, err := c.keyedToken(in, worldstate.AdminKey)
	if err != nil {
		return err
	}
	evm.Set(c.State, &t.deleted, true)
	return nil
}

// Limits of the properties of a token.
const (
	maxText        = 100           // bytes of a name, symbol or memo
	minRenewPeriod = 2_592_000     // in seconds
	maxRenewPeriod = 8_000_001     // in seconds
	maxLifetime    = 3_153_600_000 // in seconds from now
)

// updateKeys implements updateTokenKeys(token, keys): it replaces keys of a token in the simulation. A token without
// an admin key allows that if it has any key and entries are given.
func updateKeys(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	entries := abi.List(rest[0])
	hasKey := slices.ContainsFunc(t.Keys[:], func(k ledger.Key) bool { return !k.IsNone() })
	err = refuse(!t.HasKey(worldstate.AdminKey) && (len(entries) == 0 || !hasKey), codes.TokenIsImmutable)
	if err != nil {
		return err
	}
	return c.setKeys(t, entries)
}

// updateExpiry implements updateTokenExpiryInfo(token, expiry): it changes the expiration and the renewal of a token
// in the simulation. Extending the expiration requires no admin key.
func updateExpiry(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	expiry := abi.List(rest[0])
	second, _ := amountOf(expiry[0])
	period, _ := amountOf(expiry[2])
	extends := second != 0 && period == 0 && expiry[1].(common.Address) == common.Address{}
	err = refuse(!t.HasKey(worldstate.AdminKey) && !extends, codes.TokenIsImmutable)
	if err != nil {
		return err
	}
	return c.setExpiry(t, expiry)
}

// validateTexts fails if a symbol, a name or a memo has more than maxText bytes or a zero byte.
func validateTexts(symbol, name, memo string) error {
	for _, text := range []struct {
		given   string
		tooLong ledger.ResponseCode
	}{{symbol, codes.TokenSymbolTooLong}, {name, codes.TokenNameTooLong}, {memo, codes.MemoTooLong}} {
		err := firstOf(
			refuse(len(text.given) > maxText, text.tooLong),
			refuse(strings.ContainsRune(text.given, 0), codes.InvalidZeroByteInString),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// metadataOf returns the metadata in the token struct of the second interface, or nil for the first, which has
// none.
func metadataOf(info []any) []byte {
	if len(info) <= metadataIndex {
		return nil
	}
	return info[metadataIndex].([]byte)
}

const metadataIndex = 9 // after the values of the first interface

// updateInfo implements updateTokenInfo(token, info) in the simulation. An empty name or symbol and a zero treasury
// are not changed, and values that are fixed at creation are ignored. An empty memo clears the memo. The token needs
// an admin key. If a value fails, earlier ones stay changed until call.do undoes that.
func updateInfo(c *call, in []any) error {
	t, rest, err := c.keyedToken(in, worldstate.AdminKey)
	if err != nil {
		return err
	}
	info := abi.List(rest[0])
	name, symbol, memo := info[0].(string), info[1].(string), info[3].(string)
	err = validateTexts(symbol, name, memo)
	if err != nil {
		return err
	}
	if name != "" {
		evm.Set(c.State, &t.Name, name)
	}
	if symbol != "" {
		evm.Set(c.State, &t.Symbol, symbol)
	}
	evm.Set(c.State, &t.Memo, memo)
	metadata := metadataOf(info)
	err = refuse(len(metadata) > maxMetadata, codes.MetadataTooLong)
	if err != nil {
		return err
	}
	if len(metadata) > 0 {
		evm.Set(c.State, &t.Metadata, metadata)
	}
	err = c.setKeys(t, abi.List(info[7]))
	if err != nil {
		return err
	}
	err = c.setExpiry(t, abi.List(info[8]))
	if err != nil {
		return err
	}
	if treasury := info[2].(common.Address); treasury != (common.Address{}) {
		p, err := c.existingParty(treasury, codes.InvalidTreasuryAccountForToken)
		if err != nil {
			return err
		}
		return c.setTreasury(t, p)
	}
	return nil
}

// setTreasury changes the treasury of a token in the simulation. The new treasury receives the balance of the old
// one, and is associated with the token if it has a free slot. It fails if the new treasury cannot receive the token,
// or already owns serials of it.
func (c *call) setTreasury(t *token, p ledger.EntityID) error {
	old := t.TreasuryAccountID
	if p == old {
		return nil
	}
	c.facts.load(worldstate.TokenReads{
		Relations: []worldstate.RelationKey{{Account: p, Token: t.EntityID}, {Account: old, Token: t.EntityID}},
	})
	to, err := c.usableRelation(t, p, true /* takes */)
	if err != nil {
		return err
	}
	err = refuse(t.Type == ledger.TokenNonFungibleUnique && to.balance > 0, codes.TransactionRequiresZeroTokenBalances)
	if err != nil {
		return err
	}
	from := c.facts.relation(old, t)
	evm.Set(c.State, &to.balance, to.balance+from.balance)
	evm.Set(c.State, &from.balance, 0)
	evm.Set(c.State, &t.TreasuryAccountID, p) // and the owner of its serials
	return nil
}

// requireKey fails with the response code for the kind if a token does not have a key of the given kind.
func (t *token) requireKey(kind worldstate.KeyKind) error {
	return refuse(!t.HasKey(kind), [worldstate.KeyKinds]ledger.ResponseCode{
		worldstate.AdminKey: codes.TokenIsImmutable, worldstate.KYCKey: codes.TokenHasNoKYCKey,
		worldstate.FreezeKey: codes.TokenHasNoFreezeKey, worldstate.WipeKey: codes.TokenHasNoWipeKey,
		worldstate.SupplyKey: codes.TokenHasNoSupplyKey, worldstate.PauseKey: codes.TokenHasNoPauseKey,
		worldstate.FeeScheduleKey: codes.TokenHasNoFeeScheduleKey, worldstate.MetadataKey: codes.TokenHasNoMetadataKey,
	}[kind])
}

// setKeys replaces the keys of a token that the entries name, in the simulation. The token must have each key that is
// replaced; signatures are not checked. If a key fails, those before it stay replaced until call.do undoes that.
func (c *call) setKeys(t *token, entries []any) error {
	keys, ok := c.keysOf(entries)
	err := refuse(!ok, codes.InvalidTransactionBody)
	if err != nil {
		return err
	}
	for kind, key := range keys {
		if key != nil {
			err = t.requireKey(worldstate.KeyKind(kind))
			if err != nil {
				return err
			}
			evm.Set(c.State, &t.Keys[kind], key)
		}
	}
	return nil
}

// setExpiry changes the expiration in seconds, the auto-renew account, and the auto-renew period in seconds of a
// token, in this order in expiry, in the simulation. Zero values are not changed. If one fails, those before it stay
// changed until call.do undoes that.
func (c *call) setExpiry(t *token, expiry []any) error {
	second, sound := amountOf(expiry[0])
	err := refuse(!sound, codes.InvalidExpirationTime)
	if err != nil {
		return err
	}
	if second != 0 {
		tooEarly := t.ExpirationTimestamp.Valid && second < int64(t.ExpirationTimestamp.V)/nanoseconds
		err = refuse(tooEarly || second > c.now()+maxLifetime, codes.InvalidExpirationTime)
		if err != nil {
			return err
		}
		evm.Set(c.State, &t.ExpirationTimestamp, ledger.Expiry{Null: ledger.Of(ledger.Timestamp(second * nanoseconds))})
	}
	if payer := expiry[1].(common.Address); payer != (common.Address{}) {
		p, err := c.existingParty(payer, codes.InvalidAutorenewAccount)
		if err != nil {
			return err
		}
		evm.Set(c.State, &t.AutoRenewAccountID, p)
	}
	period, sound := amountOf(expiry[2])
	err = refuse(!sound || period != 0 && (period < minRenewPeriod || period > maxRenewPeriod),
		codes.InvalidRenewalPeriod)
	if err != nil {
		return err
	}
	if period != 0 {
		evm.Set(c.State, &t.AutoRenewPeriod, ledger.Of(period))
	}
	return nil
}

const nanoseconds = 1_000_000_000 // per second

// now returns the start of the block in seconds since 1970.
func (c *call) now() int64 { return int64(c.Block.Start) / nanoseconds }

// updateMetadata implements updateNFTsMetadata(token, serials, metadata) in the simulation. It requires the metadata
// key, or the supply key if the treasury owns all serials. If one serial does not exist, none changes.
func updateMetadata(c *call, in []any) error {
	serials, metadata := abi.List(in[1]), in[2].([]byte)
	err := refuse(len(serials) == 0, codes.MissingSerialNumbers)
	if err != nil {
		return err
	}
	t, err := c.existingToken(in[0].(common.Address))
	if err != nil {
		return err
	}
	inTreasury := true
	for _, v := range serials {
		n, err := c.existingSerial(t, v.(int64), codes.InvalidNFTID)
		if err != nil {
			return err
		}
		inTreasury = inTreasury && t.ownerOf(n) == t.TreasuryAccountID
	}
	if !t.HasKey(worldstate.MetadataKey) {
		err = firstOf(
			refuse(!inTreasury, codes.TokenHasNoMetadataKey),
			refuse(!t.HasKey(worldstate.SupplyKey), codes.TokenHasNoMetadataOrSupplyKey),
		)
		if err != nil {
			return err
		}
	}
	err = firstOf(
		refuse(len(metadata) > maxMetadata, codes.MetadataTooLong),
		refuse(len(serials) > maxSerials, codes.BatchSizeLimitExceeded),
		t.requireActive(),
	)
	if err != nil {
		return err
	}
	for _, v := range serials {
		evm.Set(c.State, &c.facts.nft(t, v.(int64)).metadata, metadata)
	}
	return nil
}
