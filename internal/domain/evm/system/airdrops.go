package system

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
)

// maxAirdrops is the maximum number of pending airdrops in a claim or cancellation, and of tokens and serials in a rejection.
const maxAirdrops = 10

// airdrop is a pending airdrop.
type airdrop struct {
	pending bool
	amount  int64 // 0 for a serial
}

// airdropKey identifies a pending airdrop of a serial, or of units if the serial is 0.
type airdropKey struct {
	sender, receiver party
	token            ledger.EntityID
	serial           int64
}

// onAirdrops returns an operation on pending airdrops: a list of (sender, receiver, token, serial).
func onAirdrops(do func(*call, airdropKey, *airdrop) ledger.ResponseCode) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		var keys []airdropKey
		for _, v := range abi.List(in[0]) {
			p := abi.List(v)
			k, code := c.airdropKey(p[0].(common.Address), p[1].(common.Address), p[2].(common.Address), p[3].(int64))
			if code != success {
				return code, nil
			}
			keys = append(keys, k)
		}
		return c.eachAirdrop(keys, do), nil
	}
}

// onOwnAirdrop returns an operation on a pending airdrop of the called token. The caller is the sender or the receiver, the arguments are the other one and
// a serial.
func onOwnAirdrop(sends bool, do func(*call, airdropKey, *airdrop) ledger.ResponseCode) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		sender, receiver, serial := c.Caller, in[0].(common.Address), int64(0)
		if !sends {
			sender, receiver = receiver, sender
		}
		if len(in) > 1 {
			if serial = in[1].(int64); serial <= 0 {
				return invalidPendingAirdrop, nil
			}
		}
		k, code := c.airdropKey(sender, receiver, c.entity, serial)
		if code != success {
			return code, nil
		}
		return c.eachAirdrop([]airdropKey{k}, do), nil
	}
}

// airdropKey returns the key of an airdrop between two existing accounts.
func (c *call) airdropKey(sender, receiver, at common.Address, serial int64) (airdropKey, ledger.ResponseCode) {
	from, known := c.facts.party(sender)
	to, ok := c.facts.party(receiver)
	id, isNumber := c.facts.tokenID(at)
	switch {
	case !isNumber:
		return airdropKey{}, invalidTokenID
	case !known || !ok:
		return airdropKey{}, invalidAccountID
	}
	return airdropKey{from, to, id, serial}, success
}

// eachAirdrop calls do for each of some airdrops. They must be distinct and pending.
func (c *call) eachAirdrop(keys []airdropKey, do func(*call, airdropKey, *airdrop) ledger.ResponseCode) ledger.ResponseCode {
	switch {
	case len(keys) == 0:
		return noPendingAirdrops
	case len(keys) > maxAirdrops:
		return pendingAirdropsTooMany
	}
	c.facts.loadAirdrops(keys)
	if repeats(keys) {
		return pendingAirdropRepeated
	}
	for _, k := range keys {
		a := c.facts.airdrops[k]
		if !a.pending {
			return invalidPendingAirdrop
		}
		if code := do(c, k, a); code != success {
			return code
		}
		change(c.facts, a, airdrop{})
	}
	return success
}

// repeats reports whether a value occurs twice.
func repeats[T comparable](values []T) bool {
	seen := map[T]bool{}
	for _, v := range values {
		seen[v] = true
	}
	return len(seen) < len(values)
}

// loadAirdrops reads airdrops that are not loaded.
func (f *facts) loadAirdrops(keys []airdropKey) {
	var named []*ledger.Airdrop
	for _, k := range missing(f.airdrops, keys, zero[airdrop]) {
		if k.sender.id != 0 && k.receiver.id != 0 {
			named = append(named, &ledger.Airdrop{SenderID: k.sender.id, ReceiverID: k.receiver.id, TokenID: k.token, SerialNumber: ledger.Of(k.serial)})
		}
	}
	if named == nil {
		return
	}
	pending, err := f.source.PendingAirdrops(f.state.Context(), named)
	if err != nil {
		f.state.Abort(fmt.Errorf("running a system contract: %w", err))
	}
	for _, a := range pending {
		*f.airdrops[airdropKey{partyOf(a.SenderID), partyOf(a.ReceiverID), a.TokenID, a.SerialNumber.V}] = airdrop{pending: true, amount: a.Amount.V}
	}
}

// cancelAirdrop removes a pending airdrop.
func cancelAirdrop(*call, airdropKey, *airdrop) ledger.ResponseCode { return success }

// claimAirdrop transfers a pending airdrop and associates its receiver with the token. The sender has already paid the custom fees.
func claimAirdrop(c *call, k airdropKey, a *airdrop) ledger.ResponseCode {
	t, code := c.activeTokenAt(longZero(k.token))
	if code != success {
		return code
	}
	if !c.facts.relation(k.receiver, t).associated {
		c.relate(k.receiver, t, false)
	}
	m := &movement{token: t, moves: []move{{party: k.sender, amount: -a.amount}, {party: k.receiver, amount: a.amount}}}
	if k.serial != 0 {
		m = &movement{token: t, serials: []serialMove{{from: k.sender, to: k.receiver, serial: k.serial}}}
	}
	return c.moveToken(m)
}

// rejectTokens returns all of an account's units of tokens, and serials, to the treasuries: rejectTokens(owner, tokens, (token, serial)[]). It charges no
// custom fees.
func rejectTokens(c *call, in []any) (ledger.ResponseCode, []any) {
	owner, ok := c.facts.party(in[0].(common.Address))
	if !ok {
		return invalidOwner, nil
	}
	var serials []rejected
	for _, v := range abi.List(in[2]) {
		p := abi.List(v)
		serials = append(serials, rejected{p[0].(common.Address), p[1].(int64)})
	}
	var units []rejected
	for _, v := range abi.List(in[1]) {
		units = append(units, rejected{at: v.(common.Address)})
	}
	return c.reject(owner, append(units, serials...), len(units)), nil
}

// rejectOwn returns the caller's units of the called token.
func rejectOwn(c *call, _ []any) (ledger.ResponseCode, []any) {
	return c.reject(c.caller(), []rejected{{at: c.entity}}, 1), nil
}

// rejectOwnSerials returns serials of the called token.
func rejectOwnSerials(c *call, in []any) (ledger.ResponseCode, []any) {
	var serials []rejected
	for _, v := range abi.List(in[0]) {
		serials = append(serials, rejected{c.entity, v.(int64)})
	}
	return c.reject(c.caller(), serials, 0), nil
}

// rejected is a rejected token or serial.
type rejected struct {
	at     common.Address
	serial int64
}

// reject returns rejected tokens to their treasuries. The first entries are units.
func (c *call) reject(owner party, what []rejected, units int) ledger.ResponseCode {
	switch {
	case len(what) == 0:
		return noTokenReferences
	case len(what) > maxAirdrops:
		return tokenReferencesTooMany
	}
	if repeats(what) {
		return tokenReferenceRepeated
	}
	for i, r := range what {
		t, code := c.activeTokenAt(r.at)
		if code != success {
			return code
		}
		switch fungible := t.Type == ledger.TokenFungibleCommon; {
		case i < units && !fungible:
			return amountsOnlyForFungible
		case i >= units && fungible:
			return invalidNFTID
		}
		if code := c.giveBack(owner, t, r.serial); code != success {
			return code
		}
	}
	return success
}

// giveBack moves a serial, or all units of a fungible token, to the treasury.
func (c *call) giveBack(owner party, t *token, serial int64) ledger.ResponseCode {
	treasury := partyOf(t.TreasuryAccountID)
	if t.Type == ledger.TokenFungibleCommon {
		if owner == treasury {
			return accountIsTreasury
		}
		r, code := c.usableRelation(t, owner, false)
		switch {
		case code != success:
			return code
		case r.balance == 0:
			return insufficientTokenBalance
		}
		return c.moveToken(&movement{token: t, moves: []move{{party: owner, amount: -r.balance}, {party: treasury, amount: r.balance}}})
	}
	n := c.facts.nft(t, serial)
	switch {
	case n == nil:
		return invalidNFTID
	case owner == treasury:
		return accountIsTreasury
	case c.facts.owner(t, n) != owner:
		return invalidOwner
	}
	return c.moveToken(&movement{token: t, serials: []serialMove{{from: owner, to: treasury, serial: serial}}})
}
