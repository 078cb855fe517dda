package system

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
)

// airdropTokens sends units and serials of tokens: airdropTokens((token, (account, amount, approved)[], (from, to, serial, approved)[])[]). A receiver that
// is associated with the token, or has a free automatic association, receives it at once. For other receivers the airdrop is pending until they claim it.
// The sender pays all custom fees at once, including those that a transfer would deduct from the received amount.
func airdropTokens(c *call, in []any) (ledger.ResponseCode, []any) {
	x := &transfer{}
	parts := abi.List(in[0])
	switch {
	case len(parts) == 0:
		return emptyTransfer, nil
	case len(parts) > maxAirdrops:
		return invalidTransactionBody, nil
	}
	for _, v := range parts {
		m, code := c.airdropOf(abi.List(v))
		switch {
		case code != success:
			return code, nil
		case slices.ContainsFunc(x.tokens, func(other movement) bool { return other.token == m.token }):
			return tokenRepeated, nil
		}
		x.tokens = append(x.tokens, m)
	}
	asked := len(x.tokens)
	if code := c.charge(x); code != success {
		return code, nil
	}
	if code := c.moveHbars(x.hbars); code != success {
		return code, nil
	}
	for i := range x.tokens {
		m := &x.tokens[i]
		var offers []offer
		if i < asked {
			offers = c.withhold(m)
		}
		if code := c.moveToken(m); code != success {
			return code, nil
		}
		if code := c.offer(m.token, offers); code != success {
			return code, nil
		}
	}
	return success, nil
}

// airdropOf reads the airdrop of one token by one sender. A sender cannot airdrop tokens of another account, even with an approval.
func (c *call) airdropOf(part []any) (movement, ledger.ResponseCode) {
	amounts, serials := abi.List(part[1]), abi.List(part[2])
	for _, v := range slices.Concat(amounts, serials) {
		if parts := abi.List(v); parts[len(parts)-1].(bool) {
			return movement{}, notSupported
		}
	}
	t, code := c.activeTokenAt(part[0].(common.Address))
	if code != success {
		return movement{}, code
	}
	if len(amounts)+len(serials) == 0 {
		return movement{}, emptyAmounts
	}
	m := movement{token: t, onTop: true}
	if m.moves, code = c.amountsOf(amounts); code != success {
		return m, code
	}
	if m.serials, code = c.serialMovesOf(t, serials); code != success {
		return m, code
	}
	if code := m.validate(); code != success {
		return m, code
	}
	senders := map[party]bool{}
	for _, v := range m.moves {
		if v.amount < 0 {
			senders[v.party] = true
		}
	}
	for _, h := range m.serials {
		senders[h.from] = true
		for _, fee := range t.Fees.V.RoyaltyFees {
			// The receiver would have to pay the fallback fee without consent.
			if fee.FallbackFee != nil && !exempt(t, h.from, fee.CollectorAccountID, fee.AllCollectorsAreExempt) &&
				!exempt(t, h.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				return m, fallbackRoyaltyInAirdrop
			}
		}
	}
	if len(senders) > 1 {
		return m, severalSenders
	}
	return m, success
}

// offer is an airdrop that the receiver must claim.
type offer struct {
	airdropKey
	amount int64 // 0 for a serial
}

// withhold removes from a movement the parts that receivers must claim, and returns them.
func (c *call) withhold(m *movement) (offers []offer) {
	var sender party
	for _, v := range m.moves {
		if v.amount < 0 && !v.fee {
			sender = v.party
		}
	}
	var moves []move
	var serials []serialMove
	held := int64(0)
	for _, v := range m.moves {
		if v.amount > 0 && !v.fee && c.mustClaim(m.token, v.party) {
			offers = append(offers, offer{airdropKey{sender, v.party, m.token.EntityID, 0}, v.amount})
			held += v.amount
			continue
		}
		moves = append(moves, v)
	}
	for i, v := range moves {
		if v.amount < 0 && !v.fee {
			moves[i].amount += held
		}
	}
	for _, h := range m.serials {
		if c.mustClaim(m.token, h.to) {
			offers = append(offers, offer{airdropKey{h.from, h.to, m.token.EntityID, h.serial}, 0})
			continue
		}
		serials = append(serials, h)
	}
	m.moves, m.serials = moves, serials
	return offers
}

// offer adds pending airdrops of a token by one sender. The sender must own the amount and keeps it until the airdrop is claimed.
func (c *call) offer(t *token, offers []offer) ledger.ResponseCode {
	held := int64(0)
	for _, o := range offers {
		r, code := c.usableRelation(t, o.sender, false)
		if code != success {
			return code
		}
		if o.serial != 0 {
			switch n := c.facts.nft(t, o.serial); {
			case n == nil:
				return invalidNFTID
			case c.facts.owner(t, n) != o.sender:
				return doesNotOwnSerial
			}
		}
		if held += o.amount; held > r.balance {
			return insufficientTokenBalance
		}
		c.facts.loadAirdrops([]airdropKey{o.airdropKey})
		a := c.facts.airdrops[o.airdropKey]
		if a.pending && o.serial != 0 {
			return serialAlreadyOffered
		}
		change(c.facts, a, airdrop{pending: true, amount: a.amount + o.amount})
	}
	return success
}

// mustClaim reports whether a party receives airdrops of a token only by claiming them.
func (c *call) mustClaim(t *token, p party) bool {
	if e := c.State.Entity(c.facts.address(p)); e != nil && e.ReceiverSigRequired && p != c.caller() {
		return true
	}
	if c.facts.relation(p, t).associated {
		return false
	}
	c.facts.load(request{slots: []party{p}})
	room := c.facts.slots[p]
	return room.Most >= 0 && room.Used >= room.Most
}
