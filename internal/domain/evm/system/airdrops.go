package system

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
)

// mostAirdrops is how many pending airdrops are claimed or cancelled together, and how many tokens and serials rejected.
const mostAirdrops = 10

// airdrop is what somebody is offered.
type airdrop struct {
	pending bool
	amount  int64 // 0 of a serial
}

// airdropKey names a pending airdrop: of a serial, or with the number 0 of units of a token.
type airdropKey struct {
	sender, receiver party
	token            ledger.EntityID
	serial           int64
}

// onAirdrops makes the body of a function that takes pending airdrops: a list of (sender, receiver, token, serial).
func onAirdrops(do func(*call, airdropKey, *airdrop) ledger.ResponseCode) act {
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

// onOwnAirdrop makes the body of a function that is called at the address of a token, by its sender or its receiver, with the other one's address, and
// with a serial.
func onOwnAirdrop(sends bool, do func(*call, airdropKey, *airdrop) ledger.ResponseCode) act {
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

// airdropKey names the airdrop of a token between two accounts, who must be known.
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

func (c *call) eachAirdrop(keys []airdropKey, do func(*call, airdropKey, *airdrop) ledger.ResponseCode) ledger.ResponseCode {
	switch {
	case len(keys) == 0:
		return noPendingAirdrops
	case len(keys) > mostAirdrops:
		return pendingAirdropsTooMany
	}
	c.facts.loadAirdrops(keys)
	seen := map[airdropKey]bool{}
	for _, k := range keys {
		if seen[k] {
			return pendingAirdropRepeated
		}
		seen[k] = true
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

// loadAirdrops reads what is not known yet of airdrops.
func (f *facts) loadAirdrops(keys []airdropKey) {
	var wanted []*ledger.Airdrop
	for _, k := range keys {
		if _, known := f.airdrops[k]; !known {
			f.airdrops[k] = &airdrop{}
			if k.sender.id != 0 && k.receiver.id != 0 {
				wanted = append(wanted, &ledger.Airdrop{SenderID: k.sender.id, ReceiverID: k.receiver.id, TokenID: k.token, SerialNumber: ledger.Of(k.serial)})
			}
		}
	}
	if wanted == nil {
		return
	}
	pending, err := f.source.PendingAirdrops(f.state.Context(), wanted)
	if err != nil {
		f.state.Abort(fmt.Errorf("running a system contract: %w", err))
	}
	for _, a := range pending {
		*f.airdrops[airdropKey{partyOf(a.SenderID), partyOf(a.ReceiverID), a.TokenID, a.SerialNumber.V}] = airdrop{pending: true, amount: a.Amount.V}
	}
}

// cancelAirdrop takes an offer back.
func cancelAirdrop(*call, airdropKey, *airdrop) ledger.ResponseCode { return success }

// claimAirdrop takes what is offered, and associates who takes it with the token. Custom fees were paid when it was offered.
func claimAirdrop(c *call, k airdropKey, a *airdrop) ledger.ResponseCode {
	t, code := c.usableAt(longZero(k.token))
	if code != success {
		return code
	}
	if !c.facts.relation(k.receiver, t).associated {
		c.relate(k.receiver, t, false)
	}
	m := &movement{token: t, moves: []move{{who: k.sender, amount: -a.amount}, {who: k.receiver, amount: a.amount}}}
	if k.serial != 0 {
		m = &movement{token: t, hands: []hand{{from: k.sender, to: k.receiver, serial: k.serial}}}
	}
	return c.moveToken(m)
}

// rejectTokens gives all of an account's units of tokens, and serials, back to the treasuries: rejectTokens(owner, tokens, (token, serial)[]). No
// custom fees are due.
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

// rejectOwn gives the caller's units of the token that was called back.
func rejectOwn(c *call, _ []any) (ledger.ResponseCode, []any) {
	return c.reject(c.caller(), []rejected{{at: c.entity}}, 1), nil
}

// rejectOwnSerials does the same with serials.
func rejectOwnSerials(c *call, in []any) (ledger.ResponseCode, []any) {
	var serials []rejected
	for _, v := range abi.List(in[0]) {
		serials = append(serials, rejected{c.entity, v.(int64)})
	}
	return c.reject(c.caller(), serials, 0), nil
}

// rejected is a token, or a serial of it, that somebody does not want.
type rejected struct {
	at     common.Address
	serial int64
}

// reject gives what somebody does not want back: of the first ones the units.
func (c *call) reject(owner party, what []rejected, units int) ledger.ResponseCode {
	switch {
	case len(what) == 0:
		return noTokenReferences
	case len(what) > mostAirdrops:
		return tokenReferencesTooMany
	}
	seen := map[rejected]bool{}
	for _, r := range what {
		if seen[r] {
			return tokenReferenceRepeated
		}
		seen[r] = true
	}
	for i, r := range what {
		t, code := c.usableAt(r.at)
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
		r, code := c.open(t, owner, false)
		switch {
		case code != success:
			return code
		case r.balance == 0:
			return insufficientTokenBalance
		}
		return c.moveToken(&movement{token: t, moves: []move{{who: owner, amount: -r.balance}, {who: treasury, amount: r.balance}}})
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
	return c.moveToken(&movement{token: t, hands: []hand{{from: owner, to: treasury, serial: serial}}})
}
