package system

import (
	"math"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// move is a change of an account's balance. Senders have a negative amount.
type move struct {
	party    party
	amount   int64
	approved bool // uses the account's allowance for the caller
	fee      bool
}

// serialMove is the transfer of a serial.
type serialMove struct {
	from, to party
	serial   int64
	approved bool
}

// movement is the transfer of one token.
type movement struct {
	token   *token
	moves   []move
	serials []serialMove
	onTop   bool // the sender pays all fractional fees in addition
}

// transfer is an atomic transfer of hbars and tokens.
type transfer struct {
	hbars  []move
	tokens []movement
}

// party returns the account of an argument of a transfer. If receives is set and no account has the address, it is created, unless it is a long-zero
// address.
func (c *call) party(v any, receives bool) (party, ledger.ResponseCode) {
	a := v.(common.Address)
	p, ok := c.facts.party(a)
	if ok {
		return p, success
	}
	if receives && c.createsAccount(a) {
		c.State.CreateAccount(a)
		return c.facts.newParty(a), success
	}
	return p, invalidAccountID
}

// createsAccount reports whether a transfer to an address would create an account.
func (c *call) createsAccount(a common.Address) bool {
	_, longZero := ledger.EVMAddress(a).Num()
	return !longZero && c.State.Entity(a) == nil && !c.State.Exist(a)
}

// transfer applies a transfer and its custom fees.
func (c *call) transfer(x *transfer) ledger.ResponseCode {
	for i := range x.tokens {
		if code := x.tokens[i].validate(); code != success {
			return code
		}
	}
	if sum(x.hbars) != 0 {
		return invalidAccountAmounts
	}
	if code := c.charge(x); code != success {
		return code
	}
	if code := c.moveHbars(x.hbars); code != success {
		return code
	}
	for i := range x.tokens {
		if code := c.moveToken(&x.tokens[i]); code != success {
			return code
		}
	}
	return success
}

// validate returns success if the movement is consistent.
func (m *movement) validate() ledger.ResponseCode {
	switch fungible := m.token.Type == ledger.TokenFungibleCommon; {
	case len(m.moves) > 0 && !fungible:
		return amountsOnlyForFungible
	case len(m.serials) > 0 && fungible:
		return invalidNFTID
	case sum(m.moves) != 0:
		return transfersNotZeroSum
	default:
		return success
	}
}

// sum adds up amounts. On overflow it returns a number other than 0.
func sum(moves []move) (n int64) {
	for _, m := range moves {
		if m.amount > 0 && n > math.MaxInt64-m.amount || m.amount < 0 && n < math.MinInt64-m.amount {
			return math.MaxInt64
		}
		n += m.amount
	}
	return n
}

// spend subtracts an amount from an owner's allowance for the caller.
func (c *call) spend(owner party, t *token, amount int64) ledger.ResponseCode {
	left := c.facts.allowance(owner, c.caller(), t)
	switch {
	case *left == 0:
		return spenderHasNoAllowance
	case amount > *left:
		return exceedsAllowance
	}
	change(c.facts, left, *left-amount)
	return success
}

func (c *call) moveHbars(moves []move) ledger.ResponseCode {
	for _, m := range moves {
		a := c.facts.address(m.party)
		if m.amount >= 0 {
			c.State.AddBalance(a, uint256.NewInt(uint64(m.amount)), tracing.BalanceChangeTransfer)
			continue
		}
		if m.approved {
			if code := c.spend(m.party, nil, -m.amount); code != success {
				return code
			}
		}
		amount := uint256.NewInt(uint64(-m.amount))
		if c.spendable(a).Lt(amount) {
			if m.fee {
				return cannotPayFee
			}
			return insufficientAccountBalance
		}
		c.State.SubBalance(a, amount, tracing.BalanceChangeTransfer)
	}
	return success
}

// spendable returns the hbars that an account can send. Accounts other than contracts have a minimum balance.
func (c *call) spendable(a common.Address) *uint256.Int {
	owns := c.State.GetBalance(a)
	if e := c.State.Entity(a); e != nil && e.Type != ledger.EntityContract && owns.LtUint64(evm.DefaultMinimumBalance) {
		return uint256.NewInt(evm.DefaultMinimumBalance)
	}
	return owns
}

// usableRelation returns the association of a party that sends or receives a token. A receiver with a free automatic association becomes associated.
func (c *call) usableRelation(t *token, p party, takes bool) (*relation, ledger.ResponseCode) {
	r := c.facts.relation(p, t)
	if !r.associated && takes {
		if code := c.autoAssociate(t, p); code != success {
			return nil, code
		}
	}
	switch {
	case !r.associated:
		return nil, notAssociated
	case r.frozen:
		return nil, accountFrozen
	case !r.kyc:
		return nil, kycNotGranted
	}
	return r, success
}

func (c *call) autoAssociate(t *token, p party) ledger.ResponseCode {
	c.facts.load(request{slots: []party{p}})
	room := c.facts.slots[p]
	switch {
	case room.Most == 0:
		return notAssociated
	case room.Most > 0 && room.Used >= room.Most:
		return noAutomaticAssociations
	case t.HasKey(worldstate.KYCKey):
		return kycNotGranted
	case t.FreezeDefault:
		return accountFrozen
	}
	change(c.facts, &room.Used, room.Used+1)
	c.relate(p, t, true)
	return success
}

func (c *call) moveToken(m *movement) ledger.ResponseCode {
	t := m.token
	req := request{}
	for _, x := range m.moves {
		req.relations = append(req.relations, relationKey{x.party, t.EntityID})
	}
	for _, x := range m.serials {
		req.relations = append(req.relations, relationKey{x.from, t.EntityID}, relationKey{x.to, t.EntityID})
		req.nfts = append(req.nfts, ledger.NFTKey{TokenID: t.EntityID, SerialNumber: x.serial})
	}
	c.facts.load(req)
	for _, x := range m.moves {
		r, code := c.usableRelation(t, x.party, x.amount > 0)
		if code != success {
			return code
		}
		if x.approved && x.amount < 0 {
			if code := c.spend(x.party, t, -x.amount); code != success {
				return code
			}
		}
		change(c.facts, &r.balance, r.balance+x.amount)
	}
	for _, x := range m.moves {
		if c.facts.relation(x.party, t).balance < 0 {
			if x.fee {
				return cannotPayFee
			}
			return insufficientTokenBalance
		}
	}
	for _, x := range m.serials {
		if code := c.moveSerial(t, x); code != success {
			return code
		}
	}
	return success
}

func (c *call) moveSerial(t *token, x serialMove) ledger.ResponseCode {
	n := c.facts.nft(t, x.serial)
	switch {
	case n == nil:
		return invalidNFTID
	case c.facts.owner(t, n) != x.from:
		return doesNotOwnSerial
	}
	if x.approved && n.spender != c.caller() && !*c.facts.operator(x.from, c.caller(), t) {
		return spenderHasNoAllowance
	}
	from, code := c.usableRelation(t, x.from, false)
	if code != success {
		return code
	}
	to, code := c.usableRelation(t, x.to, true)
	if code != success {
		return code
	}
	change(c.facts, &from.balance, from.balance-1)
	change(c.facts, &to.balance, to.balance+1)
	moved := *n
	moved.owner, moved.spender = t.storedOwner(x.to), party{}
	change(c.facts, n, moved)
	return success
}
