package system

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// maxAirdrops is the maximum number of pending airdrops in a claim or cancellation, and of tokens and serials in a
// rejection.
const maxAirdrops = 10

type airdrop struct {
	pending bool
	amount  int64 // 0 for a serial
}

// airdropKey identifies a pending airdrop of a serial, or of units if the serial is 0.
type airdropKey struct {
	sender, receiver ledger.EntityID
	token            ledger.EntityID
	serial           int64
}

// settleAirdrops implements claimAirdrops((sender, receiver, token, serial)[]) and cancelAirdrops: it ends pending
// airdrops in the simulation, after a transfer if they are claimed. It fails unless 1 to 10 are given, all pending.
func settleAirdrops(c *call, in []any) error {
	var keys []airdropKey
	for _, v := range abi.List(in[0]) {
		p := abi.List(v)
		k, err := c.airdropKey(p[0].(common.Address), p[1].(common.Address), p[2].(common.Address), p[3].(int64))
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	return c.settle(keys)
}

// settleOwnAirdrop claims, if c.f.sets is set, or cancels an airdrop of the called token to or by the caller:
// claimAirdropFT(sender), claimAirdropNFT(sender, serial), cancelAirdropFT(receiver) and cancelAirdropNFT(receiver,
// serial). It fails unless the airdrop is pending.
func settleOwnAirdrop(c *call, in []any) error {
	sender, receiver, serial := c.Caller, in[0].(common.Address), int64(0)
	if c.f.sets {
		sender, receiver = receiver, sender
	}
	if len(in) > 1 {
		serial = in[1].(int64)
		err := refuse(serial <= 0, codes.InvalidPendingAirdropID)
		if err != nil {
			return err
		}
	}
	k, err := c.airdropKey(sender, receiver, c.entity, serial)
	if err != nil {
		return err
	}
	return c.settle([]airdropKey{k})
}

// airdropKey returns the key of an airdrop of the token at an address between two existing accounts. serial is 0 for
// units. It fails if an account does not exist or at is no long-zero address. The token need not exist.
func (c *call) airdropKey(sender, receiver, at common.Address, serial int64) (airdropKey, error) {
	from, known := c.facts.party(sender)
	to, ok := c.facts.party(receiver)
	id, isNumber := c.facts.tokenID(at)
	return airdropKey{from, to, id, serial}, firstOf(
		refuse(!isNumber, codes.InvalidTokenID),
		refuse(!known || !ok, codes.InvalidAccountID),
	)
}

// settle claims airdrops in the simulation if c.f.sets is set, else cancels them. There must be 1 to maxAirdrops,
// distinct and pending. It reads them on first use. If one fails, call.do undoes those before it.
func (c *call) settle(keys []airdropKey) error {
	err := firstOf(
		refuse(len(keys) == 0, codes.EmptyPendingAirdropIDList),
		refuse(len(keys) > maxAirdrops, codes.PendingAirdropIDListTooLong),
	)
	if err != nil {
		return err
	}
	c.facts.loadAirdrops(keys)
	err = refuse(repeats(keys), codes.PendingAirdropIDRepeated)
	if err != nil {
		return err
	}
	for _, k := range keys {
		a := c.facts.airdrops[k]
		err = refuse(!a.pending, codes.InvalidPendingAirdropID)
		if err != nil {
			return err
		}
		if c.f.sets {
			err = c.claim(k, a)
			if err != nil {
				return err
			}
		}
		evm.Set(c.State, a, airdrop{})
	}
	return nil
}

// repeats reports whether a value occurs twice in a list, for checks of the network.
func repeats[T comparable](values []T) bool {
	seen := map[T]bool{}
	for _, v := range values {
		seen[v] = true
	}
	return len(seen) < len(values)
}

// loadAirdrops reads the pending airdrops with the keys, unless they were read before. Others are not pending. A
// failed read ends the simulation.
func (f *facts) loadAirdrops(keys []airdropKey) {
	var named []*ledger.Airdrop
	for _, k := range missing(f.airdrops, keys, zero[airdrop]) {
		named = append(named, &ledger.Airdrop{
			SenderID: k.sender, ReceiverID: k.receiver, TokenID: k.token, SerialNumber: ledger.Of(k.serial),
		})
	}
	if named == nil {
		return
	}
	pending, err := f.source.PendingAirdrops(f.state.Context(), named)
	f.state.Check(err, "running a system contract")
	for _, a := range pending {
		*f.airdrops[airdropKey{
			a.SenderID, a.ReceiverID, a.TokenID, a.SerialNumber.V,
		}] = airdrop{pending: true, amount: a.Amount.V}
	}
}

// claim transfers a pending airdrop in the simulation and associates its receiver with the token. The sender has
// already paid the custom fees. It leaves the airdrop pending. It fails if the token is not active or cannot be moved.
func (c *call) claim(k airdropKey, a *airdrop) error {
	t, err := c.activeTokenAt(longZero(k.token))
	if err != nil {
		return err
	}
	if !c.facts.relation(k.receiver, t).associated {
		c.relate(k.receiver, t, false /* automatic */)
	}
	m := &movement{token: t, moves: []move{
		{party: k.sender, amount: -a.amount},
		{party: k.receiver, amount: a.amount},
	}}
	if k.serial != 0 {
		m = &movement{token: t, serials: []serialMove{{from: k.sender, to: k.receiver, serial: k.serial}}}
	}
	return c.moveToken(m)
}

// rejectTokens implements rejectTokens(owner, tokens, (token, serial)[]): in the simulation, it gives all of an
// account's units of tokens, and serials, back to the treasuries, without custom fees. It fails as [call.reject] does.
func rejectTokens(c *call, in []any) error {
	owner, err := c.existingParty(in[0], codes.InvalidOwnerID)
	if err != nil {
		return err
	}
	what := list.Map(abi.List(in[1]), func(v any) rejected { return rejected{at: v.(common.Address)} })
	units := len(what)
	for _, v := range abi.List(in[2]) {
		p := abi.List(v)
		what = append(what, rejected{p[0].(common.Address), p[1].(int64)})
	}
	return c.reject(owner, what, units)
}

// rejectOwn implements rejectTokenFT(): in the simulation, it moves all the caller's units to the token's treasury.
func rejectOwn(c *call, _ []any) error { return c.reject(c.caller(), []rejected{{at: c.entity}}, 1) }

// rejectOwnSerials implements rejectTokenNFTs(serials): in the simulation, it gives the caller's serials of the called
// token back to the treasury. It fails as [call.reject] does.
func rejectOwnSerials(c *call, in []any) error {
	return c.reject(
		c.caller(), list.Map(abi.List(in[0]), func(v any) rejected { return rejected{c.entity, v.(int64)} }), 0,
	)
}

type rejected struct {
	at     common.Address
	serial int64
}

// reject returns rejected tokens of an owner to their treasuries in the simulation. The first entries, as many as
// units, are of fungible tokens; the others are serials. If one fails, call.do undoes those before it.
func (c *call) reject(owner ledger.EntityID, what []rejected, units int) error {
	err := firstOf(
		refuse(len(what) == 0, codes.EmptyTokenReferenceList),
		refuse(len(what) > maxAirdrops, codes.TokenReferenceListSizeLimitExceeded),
		refuse(repeats(what), codes.TokenReferenceRepeated),
	)
	if err != nil {
		return err
	}
	for i, r := range what {
		t, err := c.activeTokenAt(r.at)
		if err != nil {
			return err
		}
		fungible := t.Type == ledger.TokenFungibleCommon
		err = firstOf(
			refuse(i < units && !fungible, codes.AccountAmountTransfersOnlyAllowedForFungibleCommon),
			refuse(i >= units && fungible, codes.InvalidNFTID),
		)
		if err != nil {
			return err
		}
		err = c.giveBack(owner, t, r.serial)
		if err != nil {
			return err
		}
	}
	return nil
}

// giveBack moves a serial, or all units of a fungible token, from an owner to the treasury, in the simulation. It
// fails if the owner is the treasury or owns none.
func (c *call) giveBack(owner ledger.EntityID, t *token, serial int64) error {
	treasury := t.TreasuryAccountID
	if t.Type == ledger.TokenFungibleCommon {
		err := refuse(owner == treasury, codes.AccountIsTreasury)
		if err != nil {
			return err
		}
		r, err := c.usableRelation(t, owner, false /* takes */)
		if err != nil {
			return err
		}
		err = refuse(r.balance == 0, codes.InsufficientTokenBalance)
		if err != nil {
			return err
		}
		return c.moveToken(&movement{
			token: t, moves: []move{{party: owner, amount: -r.balance}, {party: treasury, amount: r.balance}},
		})
	}
	n, err := c.existingSerial(t, serial, codes.InvalidNFTID)
	if err != nil {
		return err
	}
	err = firstOf(
		refuse(owner == treasury, codes.AccountIsTreasury),
		refuse(t.ownerOf(n) != owner, codes.InvalidOwnerID),
	)
	if err != nil {
		return err
	}
	return c.moveToken(&movement{token: t, serials: []serialMove{{from: owner, to: treasury, serial: serial}}})
}

// airdropTokens implements airdropTokens((token, (account, amount, approved)[], (from, to, serial, approved)[])[]): it
// sends units and serials of tokens in the simulation. A receiver that is associated with the token, or has a free
// automatic association, receives it at once. For other receivers the airdrop is pending until they claim it. The
// sender pays all custom fees at once, including those that a transfer would deduct from the received amount. It fails
// with a [refusal]; earlier changes then remain until call.do undoes them.
func airdropTokens(c *call, in []any) error {
	x := &transfer{}
	parts := abi.List(in[0])
	err := firstOf(
		refuse(len(parts) == 0, codes.EmptyTokenTransferBody),
		refuse(len(parts) > maxAirdrops, codes.InvalidTransactionBody),
	)
	if err != nil {
		return err
	}
	for _, v := range parts {
		m, err := c.airdropOf(abi.List(v))
		if err != nil {
			return err
		}
		err = refuse(slices.ContainsFunc(x.tokens, func(other movement) bool { return other.token == m.token }),
			codes.TokenIDRepeatedInTokenList)
		if err != nil {
			return err
		}
		x.tokens = append(x.tokens, m)
	}
	asked := len(x.tokens)
	err = c.charge(x)
	if err != nil {
		return err
	}
	err = c.moveHbars(x.hbars)
	if err != nil {
		return err
	}
	for i := range x.tokens {
		m := &x.tokens[i]
		var offers []offer
		if i < asked {
			offers = c.withhold(m)
		}
		err = c.moveToken(m)
		if err != nil {
			return err
		}
		err = c.offer(m.token, offers)
		if err != nil {
			return err
		}
	}
	return nil
}

// airdropOf reads the airdrop of one token by one sender from the values of the ABI and validates it. It creates
// accounts of new receivers in the simulation. A sender cannot airdrop tokens of another account, even with an
// approval. A serial with a royalty whose fallback fee the receiver would have to pay fails.
func (c *call) airdropOf(part []any) (movement, error) {
	amounts, serials := abi.List(part[1]), abi.List(part[2])
	for _, v := range slices.Concat(amounts, serials) {
		parts := abi.List(v)
		err := refuse(parts[len(parts)-1].(bool), codes.NotSupported)
		if err != nil {
			return movement{}, err
		}
	}
	t, err := c.activeTokenAt(part[0].(common.Address))
	if err != nil {
		return movement{}, err
	}
	err = refuse(len(amounts)+len(serials) == 0, codes.EmptyTokenTransferAccountAmounts)
	if err != nil {
		return movement{}, err
	}
	m := movement{token: t, onTop: true}
	m.moves, err = c.amountsOf(amounts)
	if err != nil {
		return movement{}, err
	}
	m.serials, err = c.serialMovesOf(t, serials)
	if err != nil {
		return movement{}, err
	}
	err = m.validate()
	if err != nil {
		return movement{}, err
	}
	senders := map[ledger.EntityID]bool{}
	for _, v := range m.moves {
		if v.amount < 0 {
			senders[v.party] = true
		}
	}
	for _, h := range m.serials {
		senders[h.from] = true
		for _, fee := range t.Fees.V.RoyaltyFees {
			// The receiver would have to pay the fallback fee without consent.
			err = refuse(fee.FallbackFee != nil &&
				!exempt(t, h.from, fee.CollectorAccountID, fee.AllCollectorsAreExempt) &&
				!exempt(t, h.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt),
				codes.TokenAirdropWithFallbackRoyalty)
			if err != nil {
				return movement{}, err
			}
		}
	}
	return m, refuse(len(senders) > 1, codes.AirdropContainsMultipleSendersForAToken)
}

// offer is an airdrop that the receiver must claim.
type offer struct {
	airdropKey
	amount int64 // 0 for a serial
}

// withhold removes from m, a movement of an airdrop with one sender, the parts that receivers must claim, and returns
// them. It reads accounts and associations from the ledger on first use, and changes nothing else.
func (c *call) withhold(m *movement) (offers []offer) {
	var sender ledger.EntityID
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

// offer adds pending airdrops of a token by one sender to the simulation. The sender must own the amount and keeps it
// until the airdrop is claimed. Units are added to those that are already pending; a serial that is pending fails.
func (c *call) offer(t *token, offers []offer) error {
	held := int64(0)
	for _, o := range offers {
		r, err := c.usableRelation(t, o.sender, false /* takes */)
		if err != nil {
			return err
		}
		if o.serial != 0 {
			n, err := c.existingSerial(t, o.serial, codes.InvalidNFTID)
			if err != nil {
				return err
			}
			err = refuse(t.ownerOf(n) != o.sender, codes.SenderDoesNotOwnNFTSerialNo)
			if err != nil {
				return err
			}
		}
		err = refuse(o.amount > r.balance-held, codes.InsufficientTokenBalance)
		held += o.amount
		if err != nil {
			return err
		}
		c.facts.loadAirdrops([]airdropKey{o.airdropKey})
		a := c.facts.airdrops[o.airdropKey]
		err = refuse(a.pending && o.serial != 0, codes.PendingNFTAirdropAlreadyExists)
		if err != nil {
			return err
		}
		evm.Set(c.State, a, airdrop{pending: true, amount: a.amount + o.amount})
	}
	return nil
}

// mustClaim reports whether a party receives airdrops of a token only by claiming them: it requires its signature and
// is not the caller, or has no association and no free slot (none without an entry). A failed read aborts the run.
func (c *call) mustClaim(t *token, p ledger.EntityID) bool {
	if e := c.State.Entity(c.facts.address(p)); e != nil && e.ReceiverSigRequired && p != c.caller() {
		return true
	}
	if c.facts.relation(p, t).associated {
		return false
	}
	c.facts.load(worldstate.TokenReads{Slots: []ledger.EntityID{p}})
	room := c.facts.slots[p]
	return room.Most >= 0 && room.Used >= room.Most
}
