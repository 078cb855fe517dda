package system

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

func setPause(status ledger.TokenPauseStatus) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, code := c.existingToken(in[0].(common.Address))
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(worldstate.PauseKey):
			return hasNoPauseKey, nil
		}
		change(c.facts, &t.PauseStatus, status)
		return success, nil
	}
}

func deleteToken() operation {
	return keyed(worldstate.AdminKey, tokenIsImmutable, func(c *call, t *token, _ []any) (ledger.ResponseCode, []any) {
		change(c.facts, &t.deleted, true)
		return success, nil
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
func administered(without func(c *call, t *token, in []any) bool, do func(c *call, t *token, in []any) ledger.ResponseCode) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.activeToken(in)
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(worldstate.AdminKey) && !without(c, t, rest):
			return tokenIsImmutable, nil
		}
		return do(c, t, rest), nil
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
func updateKeys(c *call, t *token, in []any) ledger.ResponseCode {
	return c.setKeys(t, abi.List(in[0]))
}

// updateExpiry changes the expiration and the renewal of a token: updateTokenExpiryInfo(token, expiry).
func updateExpiry(c *call, t *token, in []any) ledger.ResponseCode {
	return c.setExpiry(t, abi.List(in[0]))
}

// validateTexts returns success if a symbol, a name and a memo are valid.
func validateTexts(symbol, name, memo string) ledger.ResponseCode {
	for _, text := range []struct {
		given   string
		tooLong ledger.ResponseCode
	}{{symbol, symbolTooLong}, {name, nameTooLong}, {memo, memoTooLong}} {
		switch {
		case len(text.given) > maxText:
			return text.tooLong
		case strings.ContainsRune(text.given, 0):
			return zeroByteInString
		}
	}
	return success
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
func updateInfo(c *call, t *token, in []any) ledger.ResponseCode {
	info := abi.List(in[0])
	name, symbol, memo := info[0].(string), info[1].(string), info[3].(string)
	if code := validateTexts(symbol, name, memo); code != success {
		return code
	}
	if name != "" {
		change(c.facts, &t.Name, name)
	}
	if symbol != "" {
		change(c.facts, &t.Symbol, symbol)
	}
	change(c.facts, &t.Memo, memo)
	switch metadata := metadataOf(info); {
	case len(metadata) > maxMetadata:
		return metadataTooLong
	case len(metadata) > 0:
		change(c.facts, &t.Metadata, metadata)
	}
	if code := c.setKeys(t, abi.List(info[7])); code != success {
		return code
	}
	if code := c.setExpiry(t, abi.List(info[8])); code != success {
		return code
	}
	treasury := info[2].(common.Address)
	if treasury == (common.Address{}) {
		return success
	}
	p, ok := c.facts.party(treasury)
	if !ok {
		return invalidTreasury
	}
	return c.setTreasury(t, p)
}

// setTreasury changes the treasury of a token. The new treasury receives the balance of the old one.
func (c *call) setTreasury(t *token, p party) ledger.ResponseCode {
	old := partyOf(t.TreasuryAccountID)
	if p == old {
		return success
	}
	c.facts.load(request{relations: []relationKey{{p, t.EntityID}, {old, t.EntityID}}})
	to, code := c.usableRelation(t, p, true)
	if code != success {
		return code
	}
	if t.Type == ledger.TokenNonFungibleUnique && to.balance > 0 {
		return requiresZeroBalances
	}
	from := c.facts.relation(old, t)
	change(c.facts, &to.balance, to.balance+from.balance)
	change(c.facts, &from.balance, 0)
	change(c.facts, &t.TreasuryAccountID, p.id) // and the owner of its serials
	return success
}

// hasNoKey returns the response code for a missing key of a token.
func hasNoKey(kind worldstate.KeyKind) ledger.ResponseCode {
	return [worldstate.KeyKinds]ledger.ResponseCode{
		worldstate.AdminKey: tokenIsImmutable, worldstate.KYCKey: hasNoKYCKey, worldstate.FreezeKey: hasNoFreezeKey, worldstate.WipeKey: hasNoWipeKey,
		worldstate.SupplyKey: hasNoSupplyKey, worldstate.FeeScheduleKey: hasNoFeeScheduleKey, worldstate.PauseKey: hasNoPauseKey,
		worldstate.MetadataKey: hasNoMetadataKey,
	}[kind]
}

// setKeys replaces keys of a token.
func (c *call) setKeys(t *token, entries []any) ledger.ResponseCode {
	keys, ok := c.keysOf(entries)
	if !ok {
		return invalidTransactionBody
	}
	for kind, key := range keys {
		switch {
		case key == nil:
		case !t.HasKey(worldstate.KeyKind(kind)):
			return hasNoKey(worldstate.KeyKind(kind))
		default:
			change(c.facts, &t.Keys[kind], key)
		}
	}
	return success
}

// setExpiry changes the expiration in seconds, the auto-renew account, and the auto-renew period in seconds. Zero values are not changed.
func (c *call) setExpiry(t *token, expiry []any) ledger.ResponseCode {
	second, sound := amountOf(expiry[0])
	if !sound {
		return invalidExpiration
	}
	if second != 0 {
		if second > c.now()+maxLifetime || t.ExpirationTimestamp.Valid && second < int64(t.ExpirationTimestamp.V)/nanoseconds {
			return invalidExpiration
		}
		change(c.facts, &t.ExpirationTimestamp, ledger.Of(ledger.Timestamp(second*nanoseconds)))
	}
	if payer := expiry[1].(common.Address); payer != (common.Address{}) {
		p, ok := c.facts.party(payer)
		if !ok {
			return invalidAutoRenewAccount
		}
		change(c.facts, &t.AutoRenewAccountID, p.id)
	}
	period, sound := amountOf(expiry[2])
	switch {
	case !sound:
		return invalidRenewalPeriod
	case period == 0:
		return success
	case period < minRenewPeriod || period > maxRenewPeriod:
		return invalidRenewalPeriod
	}
	change(c.facts, &t.AutoRenewPeriod, ledger.Of(period))
	return success
}

const nanoseconds = 1_000_000_000 // per second

// now returns the second of the block's start.
func (c *call) now() int64 { return int64(c.Block.Start) / nanoseconds }

// updateMetadata changes the metadata of serials: updateNFTsMetadata(token, serials, metadata). It requires the metadata key, or the supply key for serials
// that the treasury owns.
func updateMetadata(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.activeToken(in)
	if code != success {
		return code, nil
	}
	serials, metadata := abi.List(rest[0]), rest[1].([]byte)
	switch {
	case len(serials) == 0:
		return missingSerials, nil
	case len(serials) > maxSerials:
		return batchTooLarge, nil
	case len(metadata) > maxMetadata:
		return metadataTooLong, nil
	case !t.HasKey(worldstate.MetadataKey) && !t.HasKey(worldstate.SupplyKey):
		return hasNoMetadataOrSupplyKey, nil
	}
	for _, v := range serials {
		n := c.facts.nft(t, v.(int64))
		switch {
		case n == nil:
			return invalidNFTID, nil
		case !t.HasKey(worldstate.MetadataKey) && c.facts.owner(t, n) != partyOf(t.TreasuryAccountID):
			return hasNoMetadataKey, nil
		}
		change(c.facts, &n.metadata, metadata)
	}
	return success, nil
}
