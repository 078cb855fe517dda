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

// party returns the account of an argument of a transfer. If receives is set and no account has the address, it is created, unless it is a long-zero address.
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
func (c *call) transfer(x *transfer) []any {
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
	return nil
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
	if e := c.State.Entity(a); e != nil && e.Type != ledger.EntityContract && owns.LtUint64(evm.DefaultMinimumBalance) {
		return uint256.NewInt(evm.DefaultMinimumBalance)
	}
	return owns
}

// usableRelation returns the association of a party that sends or receives a token. A receiver with a free automatic association becomes associated.
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
	n := c.facts.nft(t, x.serial)
	failIf(n == nil, codes.InvalidNFTID)
	failIf(c.facts.owner(t, n) != x.from, codes.SenderDoesNotOwnNFTSerialNo)
	failIf(x.approved && n.spender != c.caller() && !*c.facts.operator(x.from, c.caller(), t), codes.SpenderDoesNotHaveAllowance)
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
	return movement{token: t, moves: []move{{party: giver, amount: -amount, approved: approved && giver != c.caller()}, {party: taker, amount: amount}}}
}

// serials moves serials of a token between accounts.
func (c *call) serials(t *token, from, to, numbers []any, approved bool) movement {
	m := movement{token: t}
	failIf(len(from) != len(to) || len(to) != len(numbers), codes.InvalidTransactionBody)
	for i := range numbers {
		giver, taker := c.party(from[i], false), c.party(to[i], true)
		m.serials = append(m.serials, serialMove{from: giver, to: taker, serial: numbers[i].(int64), approved: approved && giver != c.caller()})
	}
	return m
}

// sends returns an operation that transfers one token.
func sends(what func(c *call, t *token, in []any) movement) operation {
	return func(c *call, in []any) []any {
		t, rest := c.activeToken(in)
		return c.transfer(&transfer{tokens: []movement{what(c, t, rest)}})
	}
}

// transferToken(token, from, to, amount)
func oneAmount(c *call, t *token, in []any) movement {
	amount := in[2].(int64)
	failIf(amount < 0, codes.InvalidTransactionBody)
	return c.units(t, in[0], in[1], amount, false)
}

// transferTokens(token, accounts, amounts)
func amounts(c *call, t *token, in []any) movement {
	accounts, values := abi.List(in[0]), abi.List(in[1])
	m := movement{token: t}
	failIf(len(accounts) != len(values), codes.InvalidTransactionBody)
	for i, v := range values {
		m.moves = append(m.moves, move{party: c.party(accounts[i], v.(int64) > 0), amount: v.(int64)})
	}
	return m
}

// transferNFT(token, from, to, serial)
func oneSerial(c *call, t *token, in []any) movement {
	return c.serials(t, in[:1], in[1:2], in[2:3], false)
}

// transferNFTs(token, from, to, serials)
func manySerials(c *call, t *token, in []any) movement {
	return c.serials(t, abi.List(in[0]), abi.List(in[1]), abi.List(in[2]), false)
}

// taken is transferFrom(token, from, to, amount or serial). The caller uses its allowance.
func taken(c *call, t *token, in []any) movement {
	n := in[2].(*big.Int).Int64()
	if t.Type == ledger.TokenNonFungibleUnique {
		return c.serials(t, in[:1], in[1:2], []any{n}, true)
	}
	return c.units(t, in[0], in[1], n, true)
}

// takenOf is the operation of taken for tokens of one type.
func takenOf(kind ledger.TokenType) operation {
	return sends(func(c *call, t *token, in []any) movement {
		failIf(t.Type != kind, codes.InvalidTokenID)
		return taken(c, t, in)
	})
}

// announced returns a transfer at the address of a token. It emits a log. For NFTs it returns nothing.
func announced(from func(c *call, in []any) []any) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		in = from(c, in)
		if n := in[2].(*big.Int); !n.IsInt64() {
			return evm.Halt(codes.ContractExecutionException)
		}
		code, _ := c.do(func(c *call, in []any) []any {
			sends(taken)(c, in)
			t, parties := c.facts.token(c.entity), []common.Hash{topic(in[0]), topic(in[1])}
			if t.Type == ledger.TokenNonFungibleUnique {
				c.log(t, "Transfer(address,address,uint256)", append(parties, topic(in[2])), nil)
			} else {
				word := abi.Word(in[2])
				c.log(t, "Transfer(address,address,uint256)", parties, word[:])
			}
			return nil
		}, in)
		if code != codes.Success {
			return c.reverts(code)
		}
		if t := c.facts.token(c.entity); t != nil && t.Type == ledger.TokenNonFungibleUnique {
			return evm.Return(c.gas(), nil)
		}
		return c.returns(true)
	}
}

// itself returns the arguments of transferFrom.
func itself(_ *call, in []any) []any   { return in }
func ofCaller(c *call, in []any) []any { return append([]any{c.Caller}, in...) }

// onlyUnits makes a function fail for NFTs.
func onlyUnits(run func(*call, []any) evm.Outcome) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		if t := c.facts.token(c.entity); t != nil && t.PauseStatus != ledger.PausePaused && t.Type != ledger.TokenFungibleCommon {
			return c.reverts(codes.AccountAmountTransfersOnlyAllowedForFungibleCommon)
		}
		return run(c, in)
	}
}

// cryptoTransfer transfers hbars and tokens at once. Its arguments are lists of tokens with their movements. The newer form has a list of hbar transfers
// before them, and reports which movements use an approval.
func cryptoTransfer(c *call, in []any) []any {
	x := &transfer{}
	if len(in) == 2 {
		x.hbars = c.amountsOf(abi.List(abi.List(in[0])[0]))
	}
	for _, v := range abi.List(in[len(in)-1]) {
		part := abi.List(v)
		t := c.activeTokenAt(part[0].(common.Address))
		x.tokens = append(x.tokens, movement{token: t, moves: c.amountsOf(abi.List(part[1])), serials: c.serialMovesOf(t, abi.List(part[2]))})
	}
	return c.transfer(x)
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
		out = append(out, move{party: c.party(part[0], amount > 0), amount: amount, approved: len(part) > 2 && part[2].(bool)})
	}
	return out
}
