package system

import (
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/ledger"
)

func setPause(status ledger.TokenPauseStatus) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, code := c.present(in[0].(common.Address))
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(ledger.TokenPauseKey):
			return hasNoPauseKey, nil
		}
		change(c.facts, &t.PauseStatus, status)
		return success, nil
	}
}

func deleteToken() act {
	return keyed(ledger.TokenAdminKey, tokenIsImmutable, func(c *call, t *token, _ []any) (ledger.ResponseCode, []any) {
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

// administered makes the body of a function that changes what a token is. Of a token without an admin key, the network lets other keys be changed
// by themselves, and its expiration put off, which is not simulated.
func administered(do func(c *call, t *token, in []any) ledger.ResponseCode) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.usable(in)
		switch {
		case code != success:
			return code, nil
		case t.HasKey(ledger.TokenAdminKey):
			return do(c, t, rest), nil
		}
		for kind := range ledger.TokenKeyKinds {
			if t.HasKey(kind) {
				c.NotImplemented()
			}
		}
		return tokenIsImmutable, nil
	}
}

// updateKeys gives a token other keys: updateTokenKeys(token, keys).
func updateKeys(c *call, t *token, in []any) ledger.ResponseCode { return c.setKeys(t, list(in[0])) }

// updateExpiry changes when a token expires, and what happens then: updateTokenExpiryInfo(token, expiry).
func updateExpiry(c *call, t *token, in []any) ledger.ResponseCode {
	return c.setExpiry(t, list(in[0]))
}

// updateInfo changes what a token tells of itself: updateTokenInfo(token, info). Texts that are empty, and what a token is made with, are passed over.
func updateInfo(c *call, t *token, in []any) ledger.ResponseCode {
	info := list(in[0])
	name, symbol, memo := info[0].(string), info[1].(string), info[3].(string)
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
	treasury := info[2].(common.Address)
	if p, ok := c.facts.party(treasury); treasury != (common.Address{}) && (!ok || p != partyOf(t.TreasuryAccountID)) {
		c.NotImplemented() // another treasury gets all that the old one has
	}
	if memo == "" && t.Memo != "" {
		c.NotImplemented() // whether that clears it is not known
	}
	for _, text := range []struct {
		at    *string
		given string
	}{{&t.Name, name}, {&t.Symbol, symbol}, {&t.Memo, memo}} {
		if text.given != "" {
			change(c.facts, text.at, text.given)
		}
	}
	if code := c.setKeys(t, list(info[7])); code != success {
		return code
	}
	return c.setExpiry(t, list(info[8]))
}

// hasNoKey is what it means that a token lacks a key that is to be changed.
func hasNoKey(kind ledger.TokenKeyKind) ledger.ResponseCode {
	return [ledger.TokenKeyKinds]ledger.ResponseCode{
		ledger.TokenAdminKey: tokenIsImmutable, ledger.TokenKYCKey: hasNoKYCKey, ledger.TokenFreezeKey: hasNoFreezeKey, ledger.TokenWipeKey: hasNoWipeKey,
		ledger.TokenSupplyKey: hasNoSupplyKey, ledger.TokenFeeScheduleKey: hasNoFeeScheduleKey, ledger.TokenPauseKey: hasNoPauseKey,
		ledger.TokenMetadataKey: hasNoMetadataKey,
	}[kind]
}

// setKeys gives a token keys in place of others. Each entry is for the kinds of keys whose bits are set in its number.
func (c *call) setKeys(t *token, entries []any) ledger.ResponseCode {
	for _, v := range entries {
		entry := list(v)
		kinds := entry[0].(*big.Int)
		if kinds.Sign() == 0 || kinds.Cmp(big.NewInt(1<<ledger.TokenMetadataKey)) >= 0 {
			c.NotImplemented()
		}
		key := c.keyOf(list(entry[1]))
		for kind := range ledger.TokenMetadataKey {
			if kinds.Bit(int(kind)) == 0 {
				continue
			}
			if !t.HasKey(kind) {
				return hasNoKey(kind)
			}
			change(c.facts, &t.Keys[kind], key)
		}
	}
	return success
}

// keyOf is the key that a contract tells by its value: an ed25519 or a secp256k1 key, or a contract. That of the caller's own account is not known.
func (c *call) keyOf(value []any) ledger.Key {
	message := func(field protowire.Number, b []byte) ledger.Key {
		return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), b)
	}
	var keys []ledger.Key
	for _, contract := range []struct {
		field protowire.Number
		at    common.Address
	}{{keyContract, value[1].(common.Address)}, {keyDelegatable, value[4].(common.Address)}} {
		if contract.at == (common.Address{}) {
			continue
		}
		p, ok := c.facts.party(contract.at)
		if !ok || p.id == 0 {
			c.NotImplemented()
		}
		keys = append(keys, message(contract.field, protowire.AppendVarint(protowire.AppendTag(nil, contractNumber, protowire.VarintType), uint64(p.id.Num()))))
	}
	for _, public := range []struct {
		field protowire.Number
		key   []byte
		size  int
	}{{keyED25519, value[2].([]byte), 32}, {keySecp256k1, value[3].([]byte), 33}} {
		switch len(public.key) {
		case 0:
		case public.size:
			keys = append(keys, message(public.field, public.key))
		default:
			c.NotImplemented()
		}
	}
	if value[0].(bool) || len(keys) != 1 {
		c.NotImplemented()
	}
	return keys[0]
}

// setExpiry changes when a token expires, in seconds, who pays for its renewal, and for how many seconds it is renewed. What is zero stays as it is.
func (c *call) setExpiry(t *token, expiry []any) ledger.ResponseCode {
	second, sound := amountOf(expiry[0])
	period, also := amountOf(expiry[2])
	payer := expiry[1].(common.Address)
	if !sound || !also {
		c.NotImplemented()
	}
	const nanoseconds = 1_000_000_000
	if second != 0 {
		if second > int64(c.Block.Start)/nanoseconds+mostLifetime || t.ExpirationTimestamp.Valid && second < int64(t.ExpirationTimestamp.V)/nanoseconds {
			return invalidExpiration
		}
		change(c.facts, &t.ExpirationTimestamp, ledger.Of(ledger.Timestamp(second*nanoseconds)))
	}
	if payer != (common.Address{}) {
		p, ok := c.facts.party(payer)
		switch {
		case !ok:
			return invalidAutoRenewAccount
		case p.id == 0:
			c.NotImplemented()
		}
		change(c.facts, &t.AutoRenewAccountID, p.id)
	}
	if period != 0 {
		if period < leastRenewPeriod || period > mostRenewPeriod {
			return invalidRenewalPeriod
		}
		change(c.facts, &t.AutoRenewPeriod, ledger.Of(period))
	}
	return success
}

// updateMetadata gives serials other metadata: updateNFTsMetadata(token, serials, metadata). The network also takes the supply key for it in some
// cases, which is not simulated.
func updateMetadata(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.usable(in)
	if code != success {
		return code, nil
	}
	serials, metadata := list(rest[0]), rest[1].([]byte)
	switch {
	case len(serials) == 0:
		return missingSerials, nil
	case len(serials) > mostSerials:
		return batchTooLarge, nil
	case len(metadata) > mostMetadata:
		return metadataTooLong, nil
	case t.Type != ledger.TokenNonFungibleUnique, !t.HasKey(ledger.TokenMetadataKey) && t.HasKey(ledger.TokenSupplyKey):
		c.NotImplemented()
	case !t.HasKey(ledger.TokenMetadataKey):
		return hasNoMetadataKey, nil
	}
	for _, v := range serials {
		n := c.facts.nft(t, v.(int64))
		if n == nil {
			return invalidNFTID, nil
		}
		change(c.facts, &n.metadata, metadata)
	}
	return success, nil
}
