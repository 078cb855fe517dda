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

// move is what an account gets; what it gives is below zero.
type move struct {
	who      party
	amount   int64
	approved bool // by the account, for the caller to take
	fee      bool
}

// hand is a serial that goes from one account to another.
type hand struct {
	from, to party
	serial   int64
	approved bool
}

// movement is what moves of a token.
type movement struct {
	token *token
	moves []move
	hands []hand
	onTop bool // the sender pays all fees that are a part of what moves
}

// transfer is what moves at once: hbars, and tokens.
type transfer struct {
	hbars  []move
	tokens []movement
}

// party is who an argument of a transfer names. An address at which nobody is comes to be an account by what it receives; a number at which nobody is
// does not.
func (c *call) party(v any, receives bool) (party, ledger.ResponseCode) {
	a := v.(common.Address)
	p, ok := c.facts.party(a)
	if ok {
		return p, success
	}
	if receives && c.comesToBe(a) {
		c.State.CreateAccount(a)
		return c.facts.made(a), success
	}
	return p, invalidAccountID
}

// comesToBe tells whether there would be an account at an address if it received anything.
func (c *call) comesToBe(a common.Address) bool {
	_, longZero := ledger.EVMAddress(a).Num()
	return !longZero && c.State.Entity(a) == nil && !c.State.Exist(a)
}

// transfer moves what is to be moved together with the custom fees that are due for it.
func (c *call) transfer(x *transfer) ledger.ResponseCode {
	for i := range x.tokens {
		if code := x.tokens[i].sound(); code != success {
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

// sound tells whether what moves of a token can.
func (m *movement) sound() ledger.ResponseCode {
	switch fungible := m.token.Type == ledger.TokenFungibleCommon; {
	case len(m.moves) > 0 && !fungible:
		return amountsOnlyForFungible
	case len(m.hands) > 0 && fungible:
		return invalidNFTID
	case sum(m.moves) != 0:
		return transfersNotZeroSum
	default:
		return success
	}
}

// sum adds up amounts; it is not zero when they do not fit.
func sum(moves []move) (n int64) {
	for _, m := range moves {
		if m.amount > 0 && n > math.MaxInt64-m.amount || m.amount < 0 && n < math.MinInt64-m.amount {
			return math.MaxInt64
		}
		n += m.amount
	}
	return n
}

// spend takes an amount from what an owner allows the caller to take.
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
		a := c.facts.address(m.who)
		if m.amount >= 0 {
			c.State.AddBalance(a, uint256.NewInt(uint64(m.amount)), tracing.BalanceChangeTransfer)
			continue
		}
		if m.approved {
			if code := c.spend(m.who, nil, -m.amount); code != success {
				return code
			}
		}
		amount := uint256.NewInt(uint64(-m.amount))
		if c.solvency(a).Lt(amount) {
			if m.fee {
				return cannotPayFee
			}
			return insufficientAccountBalance
		}
		c.State.SubBalance(a, amount, tracing.BalanceChangeTransfer)
	}
	return success
}

// solvency is how much an account can give: it is treated as owning much, if it is no contract.
func (c *call) solvency(a common.Address) *uint256.Int {
	owns := c.State.GetBalance(a)
	if e := c.State.Entity(a); e != nil && e.Type != ledger.EntityContract && owns.LtUint64(evm.DefaultMinimumBalance) {
		return uint256.NewInt(evm.DefaultMinimumBalance)
	}
	return owns
}

// open makes sure that an account may give or take a token; one that takes and has room for another token is associated with it.
func (c *call) open(t *token, p party, takes bool) (*relation, ledger.ResponseCode) {
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
	c.facts.load(wants{slots: []party{p}})
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
	w := wants{}
	for _, x := range m.moves {
		w.relations = append(w.relations, relationKey{x.who, t.EntityID})
	}
	for _, x := range m.hands {
		w.relations = append(w.relations, relationKey{x.from, t.EntityID}, relationKey{x.to, t.EntityID})
		w.nfts = append(w.nfts, ledger.NFTKey{TokenID: t.EntityID, SerialNumber: x.serial})
	}
	c.facts.load(w)
	for _, x := range m.moves {
		r, code := c.open(t, x.who, x.amount > 0)
		if code != success {
			return code
		}
		if x.approved && x.amount < 0 {
			if code := c.spend(x.who, t, -x.amount); code != success {
				return code
			}
		}
		change(c.facts, &r.balance, r.balance+x.amount)
	}
	for _, x := range m.moves {
		if c.facts.relation(x.who, t).balance < 0 {
			if x.fee {
				return cannotPayFee
			}
			return insufficientTokenBalance
		}
	}
	for _, x := range m.hands {
		if code := c.moveSerial(t, x); code != success {
			return code
		}
	}
	return success
}

func (c *call) moveSerial(t *token, x hand) ledger.ResponseCode {
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
	from, code := c.open(t, x.from, false)
	if code != success {
		return code
	}
	to, code := c.open(t, x.to, true)
	if code != success {
		return code
	}
	change(c.facts, &from.balance, from.balance-1)
	change(c.facts, &to.balance, to.balance+1)
	moved := *n
	moved.owner, moved.spender = t.handTo(x.to), party{}
	change(c.facts, n, moved)
	return success
}
