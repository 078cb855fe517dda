package system

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger/codes"
)

// airdropTokens sends units and serials of tokens: airdropTokens((token, (account, amount, approved)[], (from, to, serial, approved)[])[]). A receiver that
// is associated with the token, or has a free automatic association, receives it at once. For other receivers the airdrop is pending until they claim it.
// The sender pays all custom fees at once, including those that a transfer would deduct from the received amount.
func airdropTokens(c *call, in []any) []any {
	x := &transfer{}
	parts := abi.List(in[0])
	failIf(len(parts) == 0, codes.EmptyTokenTransferBody)
	failIf(len(parts) > maxAirdrops, codes.InvalidTransactionBody)
	for _, v := range parts {
		m := c.airdropOf(abi.List(v))
		failIf(slices.ContainsFunc(x.tokens, func(other movement) bool { return other.token == m.token }), codes.TokenIDRepeatedInTokenList)
		x.tokens = append(x.tokens, m)
	}
	asked := len(x.tokens)
	c.charge(x)
	c.moveHbars(x.hbars)
	for i := range x.tokens {
		m := &x.tokens[i]
		var offers []offer
		if i < asked {
			offers = c.withhold(m)
		}
		c.moveToken(m)
		c.offer(m.token, offers)
	}
	return nil
}

// airdropOf reads the airdrop of one token by one sender. A sender cannot airdrop tokens of another account, even with an approval.
func (c *call) airdropOf(part []any) movement {
	amounts, serials := abi.List(part[1]), abi.List(part[2])
	for _, v := range slices.Concat(amounts, serials) {
		parts := abi.List(v)
		failIf(parts[len(parts)-1].(bool), codes.NotSupported)
	}
	t := c.activeTokenAt(part[0].(common.Address))
	failIf(len(amounts)+len(serials) == 0, codes.EmptyTokenTransferAccountAmounts)
	m := movement{token: t, onTop: true, moves: c.amountsOf(amounts), serials: c.serialMovesOf(t, serials)}
	m.validate()
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
			failIf(fee.FallbackFee != nil && !exempt(t, h.from, fee.CollectorAccountID, fee.AllCollectorsAreExempt) &&
				!exempt(t, h.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt), codes.TokenAirdropWithFallbackRoyalty)
		}
	}
	failIf(len(senders) > 1, codes.AirdropContainsMultipleSendersForAToken)
	return m
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
func (c *call) offer(t *token, offers []offer) {
	held := int64(0)
	for _, o := range offers {
		r := c.usableRelation(t, o.sender, false)
		if o.serial != 0 {
			n := c.facts.nft(t, o.serial)
			failIf(n == nil, codes.InvalidNFTID)
			failIf(c.facts.owner(t, n) != o.sender, codes.SenderDoesNotOwnNFTSerialNo)
		}
		held += o.amount
		failIf(held > r.balance, codes.InsufficientTokenBalance)
		c.facts.loadAirdrops([]airdropKey{o.airdropKey})
		a := c.facts.airdrops[o.airdropKey]
		failIf(a.pending && o.serial != 0, codes.PendingNFTAirdropAlreadyExists)
		change(c.facts, a, airdrop{pending: true, amount: a.amount + o.amount})
	}
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
