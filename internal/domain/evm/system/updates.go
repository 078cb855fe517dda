package system

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

func setPause(status ledger.TokenPauseStatus) operation {
	return func(c *call, in []any) []any {
		t := c.existingToken(in[0].(common.Address))
		t.requireKey(worldstate.PauseKey)
		change(c.facts, &t.PauseStatus, status)
		return nil
	}
}

func deleteToken() operation {
	return keyed(worldstate.AdminKey, func(c *call, t *token, _ []any) []any {
		change(c.facts, &t.deleted, true)
		return nil
	})
}

// Limits of the properties of a token.
const (
	maxText        = 100           // bytes of a name, symbol or memo
	minRenewPeriod = 2_592_000     // in seconds
	maxRenewPeriod = 8_000_001     // in seconds
	maxLifetime    = 3_153_600_000 // in seconds from now
)

// administered returns an operation that updates a token. It requires an admin key, unless without reports true.
func administered(without func(c *call, t *token, in []any) bool, do func(c *call, t *token, in []any)) operation {
	return func(c *call, in []any) []any {
		t, rest := c.activeToken(in)
		failIf(!t.HasKey(worldstate.AdminKey) && !without(c, t, rest), codes.TokenIsImmutable)
		do(c, t, rest)
		return nil
	}
}

// never is for updates that always require an admin key.
func never(*call, *token, []any) bool { return false }

// hasOtherKeys is for updates of keys: a token without an admin key allows them if it has any key.
func hasOtherKeys(_ *call, t *token, in []any) bool {
	return len(abi.List(in[0])) > 0 && slices.ContainsFunc(t.Keys[:], func(k ledger.Key) bool { return !k.IsNone() })
}

// onlyLater is for updates of the expiration: extending it requires no admin key.
func onlyLater(_ *call, _ *token, in []any) bool {
	expiry := abi.List(in[0])
	second, _ := amountOf(expiry[0])
	period, _ := amountOf(expiry[2])
	return second != 0 && period == 0 && expiry[1].(common.Address) == common.Address{}
}

// updateKeys replaces keys of a token: updateTokenKeys(token, keys).
func updateKeys(c *call, t *token, in []any) { c.setKeys(t, abi.List(in[0])) }

// updateExpiry changes the expiration and the renewal of a token: updateTokenExpiryInfo(token, expiry).
func updateExpiry(c *call, t *token, in []any) { c.setExpiry(t, abi.List(in[0])) }

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

// updateInfo updates a token: updateTokenInfo(token, info). An empty name or symbol and a zero treasury are not changed, and values that are fixed at
// creation are ignored. An empty memo clears the memo.
func updateInfo(c *call, t *token, in []any) {
	info := abi.List(in[0])
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
		p, ok := c.facts.party(treasury)
		failIf(!ok, codes.InvalidTreasuryAccountForToken)
		c.setTreasury(t, p)
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
		worldstate.AdminKey: codes.TokenIsImmutable, worldstate.KYCKey: codes.TokenHasNoKYCKey, worldstate.FreezeKey: codes.TokenHasNoFreezeKey,
		worldstate.WipeKey: codes.TokenHasNoWipeKey, worldstate.SupplyKey: codes.TokenHasNoSupplyKey, worldstate.PauseKey: codes.TokenHasNoPauseKey,
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

// setExpiry changes the expiration in seconds, the auto-renew account, and the auto-renew period in seconds. Zero values are not changed.
func (c *call) setExpiry(t *token, expiry []any) {
	second, sound := amountOf(expiry[0])
	failIf(!sound, codes.InvalidExpirationTime)
	if second != 0 {
		tooEarly := t.ExpirationTimestamp.Valid && second < int64(t.ExpirationTimestamp.V)/nanoseconds
		failIf(tooEarly || second > c.now()+maxLifetime, codes.InvalidExpirationTime)
		change(c.facts, &t.ExpirationTimestamp, ledger.Of(ledger.Timestamp(second*nanoseconds)))
	}
	if payer := expiry[1].(common.Address); payer != (common.Address{}) {
		p, ok := c.facts.party(payer)
		failIf(!ok, codes.InvalidAutorenewAccount)
		change(c.facts, &t.AutoRenewAccountID, p.id)
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

// updateMetadata changes the metadata of serials: updateNFTsMetadata(token, serials, metadata). It requires the metadata key, or the supply key for serials
// that the treasury owns.
func updateMetadata(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	serials, metadata := abi.List(rest[0]), rest[1].([]byte)
	failIf(len(serials) == 0, codes.MissingSerialNumbers)
	failIf(len(serials) > maxSerials, codes.BatchSizeLimitExceeded)
	failIf(len(metadata) > maxMetadata, codes.MetadataTooLong)
	failIf(!t.HasKey(worldstate.MetadataKey) && !t.HasKey(worldstate.SupplyKey), codes.TokenHasNoMetadataOrSupplyKey)
	for _, v := range serials {
		n := c.facts.nft(t, v.(int64))
		failIf(n == nil, codes.InvalidNFTID)
		failIf(!t.HasKey(worldstate.MetadataKey) && c.facts.owner(t, n) != partyOf(t.TreasuryAccountID), codes.TokenHasNoMetadataKey)
		change(c.facts, &n.metadata, metadata)
	}
	return nil
}
