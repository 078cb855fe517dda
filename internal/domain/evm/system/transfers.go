package system

import (
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/holiman/uint256"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
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

type transfer struct {
	hbars  []move
	tokens []movement
}

// party returns the account of an argument of a transfer. If receives is set and no account has the address, it is
// created, unless it is a long-zero address.
func (c *call) party(v any, receives bool) party {
	a := v.(common.Address)
	if p, ok := c.facts.party(a); ok {
		return p
	}
	failIf(!receives || !c.createsAccount(a), codes.InvalidAccountID)
	c.State.CreateAccount(a)
	return c.facts.newParty(a)
}

// createsAccount reports whether a transfer to an address would create an account.
func (c *call) createsAccount(a common.Address) bool {
	_, longZero := ledger.EVMAddress(a).Num()
	return !longZero && c.State.Entity(a) == nil && !c.State.Exist(a)
}

// transfer applies a transfer and its custom fees.
func (c *call) transfer(x *transfer) {
	units, serials := 0, 0
	for i := range x.tokens {
		m := &x.tokens[i]
		m.validate()
		units += len(m.moves)
		serials += len(m.serials)
	}
	failIf(sum(x.hbars) != 0, codes.InvalidAccountAmounts)
	failIf(repeats(list.Map(x.hbars, partyOfMove)), codes.AccountRepeatedInAccountAmounts)
	failIf(len(x.hbars) > maxTransfers, codes.TransferListSizeLimitExceeded)
	failIf(units > maxTransfers, codes.TokenTransferListSizeLimitExceeded)
	failIf(serials > maxTransfers, codes.BatchSizeLimitExceeded)
	c.charge(x)
	c.moveHbars(x.hbars)
	for i := range x.tokens {
		c.moveToken(&x.tokens[i])
	}
}

// validate fails if the movement is inconsistent.
func (m *movement) validate() {
	fungible := m.token.Type == ledger.TokenFungibleCommon
	failIf(len(m.moves) > 0 && !fungible, codes.AccountAmountTransfersOnlyAllowedForFungibleCommon)
	failIf(len(m.serials) > 0 && fungible, codes.InvalidNFTID)
	failIf(sum(m.moves) != 0, codes.TransfersNotZeroSumForToken)
	failIf(repeats(list.Map(m.moves, partyOfMove)), codes.AccountRepeatedInAccountAmounts)
	for _, x := range m.serials {
		failIf(x.serial <= 0, codes.InvalidTokenNFTSerialNumber)
		failIf(x.from == x.to, codes.AccountRepeatedInAccountAmounts)
	}
	failIf(repeats(list.Map(m.serials, func(x serialMove) int64 { return x.serial })), codes.InvalidAccountAmounts)
	failIf(len(m.moves)+len(m.serials) == 0, codes.EmptyTokenTransferAccountAmounts)
}

func partyOfMove(m move) party { return m.party }

// maxTransfers is the maximum number of hbar amounts, of token amounts, and of serials in a transfer.
const maxTransfers = 10

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
func (c *call) spend(owner party, t *token, amount int64) {
	left := c.facts.allowance(owner, c.caller(), t)
	failIf(*left == 0, codes.SpenderDoesNotHaveAllowance)
	failIf(amount > *left, codes.AmountExceedsAllowance)
	change(c.facts, left, *left-amount)
}

func (c *call) moveHbars(moves []move) {
	for _, m := range moves {
		a := c.facts.address(m.party)
		if m.amount >= 0 {
			c.State.AddBalance(a, uint256.NewInt(uint64(m.amount)), tracing.BalanceChangeTransfer)
			continue
		}
		if m.approved {
			c.spend(m.party, nil, -m.amount)
		}
		amount := uint256.NewInt(uint64(-m.amount))
		lacks := c.spendable(a).Lt(amount)
		failIf(lacks && m.fee, codes.InsufficientSenderAccountBalanceForCustomFee)
		failIf(lacks, codes.InsufficientAccountBalance)
		c.State.SubBalance(a, amount, tracing.BalanceChangeTransfer)
	}
}

// spendable returns the hbars that an account can send. Accounts other than contracts have a minimum balance.
func (c *call) spendable(a common.Address) *uint256.Int {
	owns := c.State.GetBalance(a)
	if e := c.State.Entity(a); e != nil && e.Type != ledger.EntityContract &&
		owns.LtUint64(evm.DefaultMinimumBalance) {
		return uint256.NewInt(evm.DefaultMinimumBalance)
	}
	return owns
}

// usableRelation returns the association of a party that sends or receives a token. A receiver with a free automatic
// association becomes associated.
func (c *call) usableRelation(t *token, p party, takes bool) *relation {
	r := c.facts.relation(p, t)
	if !r.associated && takes {
		c.autoAssociate(t, p)
	}
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	failIf(r.frozen, codes.AccountFrozenForToken)
	failIf(!r.kyc, codes.AccountKYCNotGrantedForToken)
	return r
}

func (c *call) autoAssociate(t *token, p party) {
	c.facts.load(request{slots: []party{p}})
	room := c.facts.slots[p]
	failIf(room.Most == 0, codes.TokenNotAssociatedToAccount)
	failIf(room.Most > 0 && room.Used >= room.Most, codes.NoRemainingAutomaticAssociations)
	failIf(t.HasKey(worldstate.KYCKey), codes.AccountKYCNotGrantedForToken)
	failIf(t.FreezeDefault, codes.AccountFrozenForToken)
	change(c.facts, &room.Used, room.Used+1)
	c.relate(p, t, true)
}

func (c *call) moveToken(m *movement) {
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
		r := c.usableRelation(t, x.party, x.amount > 0)
		if x.approved && x.amount < 0 {
			c.spend(x.party, t, -x.amount)
		}
		change(c.facts, &r.balance, r.balance+x.amount)
	}
	for _, x := range m.moves {
		overdrawn := c.facts.relation(x.party, t).balance < 0
		failIf(overdrawn && x.fee, codes.InsufficientSenderAccountBalanceForCustomFee)
		failIf(overdrawn, codes.InsufficientTokenBalance)
	}
	for _, x := range m.serials {
		c.moveSerial(t, x)
	}
}

func (c *call) moveSerial(t *token, x serialMove) {
	n := c.existingSerial(t, x.serial, codes.InvalidNFTID)
	failIf(c.facts.owner(t, n) != x.from, codes.SenderDoesNotOwnNFTSerialNo)
	failIf(x.approved && n.spender != c.caller() && !*c.facts.operator(
		x.from, c.caller(), t,
	), codes.SpenderDoesNotHaveAllowance)
	from, to := c.usableRelation(t, x.from, false), c.usableRelation(t, x.to, true)
	change(c.facts, &from.balance, from.balance-1)
	change(c.facts, &to.balance, to.balance+1)
	moved := *n
	moved.owner, moved.spender = t.storedOwner(x.to), party{}
	change(c.facts, n, moved)
}

// units moves an amount of a token between two accounts.
func (c *call) units(t *token, from, to any, amount int64, approved bool) movement {
	giver, taker := c.party(from, false), c.party(to, true)
	return movement{token: t, moves: []move{
		{party: giver, amount: -amount, approved: approved && giver != c.caller()}, {party: taker, amount: amount},
	}}
}

// serials moves serials of a token between accounts.
func (c *call) serials(t *token, from, to, numbers []any, approved bool) movement {
	m := movement{token: t}
	failIf(len(from) != len(to) || len(to) != len(numbers), codes.InvalidTransactionBody)
	for i := range numbers {
		giver, taker := c.party(from[i], false), c.party(to[i], true)
		m.serials = append(m.serials, serialMove{
			from: giver, to: taker, serial: numbers[i].(int64), approved: approved && giver != c.caller(),
		})
	}
	return m
}

// sendUnits is transferToken(token, from, to, amount).
func sendUnits(c *call, in []any) {
	t, rest := c.activeToken(in)
	amount := rest[2].(int64)
	failIf(amount < 0, codes.InvalidTransactionBody)
	c.send(c.units(t, rest[0], rest[1], amount, false))
}

// sendUnitsOfAll is transferTokens(token, accounts, amounts).
func sendUnitsOfAll(c *call, in []any) {
	t, rest := c.activeToken(in)
	accounts, values := abi.List(rest[0]), abi.List(rest[1])
	m := movement{token: t}
	failIf(len(accounts) != len(values), codes.InvalidTransactionBody)
	for i, v := range values {
		m.moves = append(m.moves, move{party: c.party(accounts[i], v.(int64) > 0), amount: v.(int64)})
	}
	c.send(m)
}

// sendSerial is transferNFT(token, from, to, serial).
func sendSerial(c *call, in []any) {
	t, rest := c.activeToken(in)
	c.send(c.serials(t, rest[:1], rest[1:2], rest[2:3], false))
}

// sendSerials is transferNFTs(token, from, to, serials).
func sendSerials(c *call, in []any) {
	t, rest := c.activeToken(in)
	c.send(c.serials(t, abi.List(rest[0]), abi.List(rest[1]), abi.List(rest[2]), false))
}

// takeOf is transferFrom(token, from, to, amount) and transferFromNFT(token, from, to, serial). The caller uses its
// allowance.
func takeOf(c *call, in []any) {
	t, rest := c.activeToken(in)
	failIf(t.Type != c.f.of, codes.InvalidTokenID)
	c.take(t, rest[0], rest[1], rest[2].(*big.Int))
}

// take transfers an amount or a serial of a token with the allowance of the caller.
func (c *call) take(t *token, from, to any, n *big.Int) {
	if t.Type == ledger.TokenNonFungibleUnique {
		c.send(c.serials(t, []any{from}, []any{to}, []any{n.Int64()}, true))
		return
	}
	c.send(c.units(t, from, to, n.Int64(), true))
}

func (c *call) send(m movement) { c.transfer(&transfer{tokens: []movement{m}}) }

// transferOwn is transfer(to, amount) at the address of a token.
func transferOwn(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	failIf(t.Type != ledger.TokenFungibleCommon, codes.AccountAmountTransfersOnlyAllowedForFungibleCommon)
	return c.takeAndLog(t, c.Caller, rest[0], rest[1])
}

// transferFrom is transferFrom(from, to, amount or serial) at the address of a token.
func transferFrom(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	return c.takeAndLog(t, rest[0], rest[1], rest[2])
}

// takeAndLog transfers an amount or a serial of the called token and emits a log. For units it returns true, for a
// serial nothing.
func (c *call) takeAndLog(t *token, from, to, n any) []any {
	c.take(t, from, to, n.(*big.Int))
	parties := []common.Hash{topic(from), topic(to)}
	if t.Type == ledger.TokenNonFungibleUnique {
		c.log(t, "Transfer(address,address,uint256)", append(parties, topic(n)), nil)
		return nil
	}
	c.log(t, "Transfer(address,address,uint256)", parties, word(n.(*big.Int).Int64()))
	return []any{true}
}

// cryptoTransfer transfers hbars and tokens at once. Its arguments are lists of tokens with their movements. The newer
// form has a list of hbar transfers before them, and reports which movements use an approval.
func cryptoTransfer(c *call, in []any) {
	x := &transfer{}
	if len(in) == 2 {
		x.hbars = c.amountsOf(abi.List(abi.List(in[0])[0]))
	}
	for _, v := range abi.List(in[len(in)-1]) {
		part := abi.List(v)
		t := c.activeTokenAt(part[0].(common.Address))
		x.tokens = append(x.tokens, movement{
			token: t, moves: c.amountsOf(abi.List(part[1])), serials: c.serialMovesOf(t, abi.List(part[2])),
		})
	}
	c.transfer(x)
}

// serialMovesOf reads the transfers of serials of a token, with or without the flag for approvals.
func (c *call) serialMovesOf(t *token, values []any) []serialMove {
	var out []serialMove
	for _, v := range values {
		h := abi.List(v)
		out = append(out, c.serials(t, h[:1], h[1:2], h[2:3], len(h) > 3 && h[3].(bool)).serials...)
	}
	return out
}

// amountsOf reads the amounts of accounts, with or without the flag for approvals.
func (c *call) amountsOf(values []any) []move {
	var out []move
	for _, v := range values {
		part := abi.List(v)
		amount := part[1].(int64)
		out = append(
			out, move{party: c.party(part[0], amount > 0), amount: amount, approved: len(part) > 2 && part[2].(bool)},
		)
	}
	return out
}
