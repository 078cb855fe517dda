package system

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

func setPause(status ledger.TokenPauseStatus) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, code := c.present(in[0].(common.Address))
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

func deleteToken() act {
	return keyed(worldstate.AdminKey, tokenIsImmutable, func(c *call, t *token, _ []any) (ledger.ResponseCode, []any) {
		change(c.facts, &t.deleted, true)
		return success, nil
	})
}

// Bounds of what a token can have.
const (
	mostText         = 100           // bytes of a name, a symbol or a memo
	leastRenewPeriod = 2_592_000     // seconds
	mostRenewPeriod  = 8_000_001     // seconds
	mostLifetime     = 3_153_600_000 // seconds from now until a token expires
)

// administered makes the body of a function that changes what a token is, for which it needs an admin key unless what is asked can be done without.
func administered(without func(c *call, t *token, in []any) bool, do func(c *call, t *token, in []any) ledger.ResponseCode) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.usable(in)
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(worldstate.AdminKey) && !without(c, t, rest):
			return tokenIsImmutable, nil
		}
		return do(c, t, rest), nil
	}
}

// never is for what cannot be done without an admin key. An update of all that a token is always says what its memo is to be.
func never(*call, *token, []any) bool { return false }

// hasOtherKeys is for new keys: each key that a token has can be replaced by whoever has it.
func hasOtherKeys(_ *call, t *token, in []any) bool {
	return len(abi.List(in[0])) > 0 && slices.ContainsFunc(t.Keys[:], func(k ledger.Key) bool { return !k.IsNone() })
}

// onlyLater is for expirations: anybody may put one off, and nothing else.
func onlyLater(_ *call, _ *token, in []any) bool {
	expiry := abi.List(in[0])
	second, _ := amountOf(expiry[0])
	period, _ := amountOf(expiry[2])
	return second != 0 && period == 0 && expiry[1].(common.Address) == common.Address{}
}

// updateKeys gives a token other keys: updateTokenKeys(token, keys).
func updateKeys(c *call, t *token, in []any) ledger.ResponseCode {
	return c.setKeys(t, abi.List(in[0]))
}

// updateExpiry changes when a token expires, and what happens then: updateTokenExpiryInfo(token, expiry).
func updateExpiry(c *call, t *token, in []any) ledger.ResponseCode {
	return c.setExpiry(t, abi.List(in[0]))
}

// soundTexts tells whether a symbol, a name and a memo are ones that a token can have.
func soundTexts(symbol, name, memo string) ledger.ResponseCode {
	for _, text := range []struct {
		given   string
		tooLong ledger.ResponseCode
	}{{symbol, symbolTooLong}, {name, nameTooLong}, {memo, memoTooLong}} {
		switch {
		case len(text.given) > mostText:
			return text.tooLong
		case strings.ContainsRune(text.given, 0):
			return zeroByteInString
		}
	}
	return success
}

// metadataOf is the metadata of a token that is told in the form of the second interface.
func metadataOf(info []any) []byte {
	if len(info) <= metadataPlace {
		return nil
	}
	return info[metadataPlace].([]byte)
}

const metadataPlace = 9 // behind what the first interface tells of a token

// updateInfo changes what a token tells of itself: updateTokenInfo(token, info). A name or a symbol that is empty, no treasury, and what a token is made
// with are passed over. A memo is not: the update that the network makes of the call always has one, and an empty one clears it.
func updateInfo(c *call, t *token, in []any) ledger.ResponseCode {
	info := abi.List(in[0])
	name, symbol, memo := info[0].(string), info[1].(string), info[3].(string)
	if code := soundTexts(symbol, name, memo); code != success {
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
	case len(metadata) > mostMetadata:
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

// setTreasury makes somebody the treasury of a token, who gets all that the old one has of it.
func (c *call) setTreasury(t *token, p party) ledger.ResponseCode {
	old := partyOf(t.TreasuryAccountID)
	if p == old {
		return success
	}
	c.facts.load(wants{relations: []relationKey{{p, t.EntityID}, {old, t.EntityID}}})
	to, code := c.open(t, p, true)
	if code != success {
		return code
	}
	if t.Type == ledger.TokenNonFungibleUnique && to.balance > 0 {
		return requiresZeroBalances
	}
	from := c.facts.relation(old, t)
	change(c.facts, &to.balance, to.balance+from.balance)
	change(c.facts, &from.balance, 0)
	change(c.facts, &t.TreasuryAccountID, p.id) // and with it the owner of all serials that nobody else has
	return success
}

// hasNoKey is what it means that a token lacks a key that is to be changed.
func hasNoKey(kind worldstate.KeyKind) ledger.ResponseCode {
	return [worldstate.KeyKinds]ledger.ResponseCode{
		worldstate.AdminKey: tokenIsImmutable, worldstate.KYCKey: hasNoKYCKey, worldstate.FreezeKey: hasNoFreezeKey, worldstate.WipeKey: hasNoWipeKey,
		worldstate.SupplyKey: hasNoSupplyKey, worldstate.FeeScheduleKey: hasNoFeeScheduleKey, worldstate.PauseKey: hasNoPauseKey,
		worldstate.MetadataKey: hasNoMetadataKey,
	}[kind]
}

// setKeys gives a token keys in place of others.
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

// setExpiry changes when a token expires, in seconds, who pays for its renewal, and for how many seconds it is renewed. What is zero stays as it is.
func (c *call) setExpiry(t *token, expiry []any) ledger.ResponseCode {
	second, sound := amountOf(expiry[0])
	if !sound {
		return invalidExpiration
	}
	if second != 0 {
		if second > c.now()+mostLifetime || t.ExpirationTimestamp.Valid && second < int64(t.ExpirationTimestamp.V)/nanoseconds {
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
	case period < leastRenewPeriod || period > mostRenewPeriod:
		return invalidRenewalPeriod
	}
	change(c.facts, &t.AutoRenewPeriod, ledger.Of(period))
	return success
}

const nanoseconds = 1_000_000_000 // in a second

// now is the second in which the block begins, as contracts see it.
func (c *call) now() int64 { return int64(c.Block.Start) / nanoseconds }

// updateMetadata gives serials other metadata: updateNFTsMetadata(token, serials, metadata). The metadata key is for all serials, the supply key for
// those that the treasury has not given away yet.
func updateMetadata(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.usable(in)
	if code != success {
		return code, nil
	}
	serials, metadata := abi.List(rest[0]), rest[1].([]byte)
	switch {
	case len(serials) == 0:
		return missingSerials, nil
	case len(serials) > mostSerials:
		return batchTooLarge, nil
	case len(metadata) > mostMetadata:
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
