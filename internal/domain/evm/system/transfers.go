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
	party    ledger.EntityID
	amount   int64
	approved bool // uses the account's allowance for the caller
	fee      bool
}

// shortage returns the code for a move that a balance does not permit: that of custom fees for a fee, else other.
func (m *move) shortage(other ledger.ResponseCode) ledger.ResponseCode {
	if m.fee {
		return codes.InsufficientSenderAccountBalanceForCustomFee
	}
	return other
}

// serialMove is the transfer of a serial.
type serialMove struct {
	from, to ledger.EntityID
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

// party returns the account of an argument of a transfer. If receives is set and no account has the address, it
// creates one in the simulation, unless it is a long-zero address. Otherwise it fails if the account does not
// exist.
func (c *call) party(v any, receives bool) (ledger.EntityID, error) {
	a := v.(common.Address)
	if p, ok := c.facts.party(a); ok {
		return p, nil
	}
	err := refuse(!receives || !c.createsAccount(a), codes.InvalidAccountID)
	if err != nil {
		return 0, err
	}
	c.State.CreateAccount(a)
	return c.facts.newParty(a), nil
}

// createsAccount reports whether a transfer to an address would create an account. It creates none, but can read the
// ledger; a failed read aborts the run.
func (c *call) createsAccount(a common.Address) bool {
	_, longZero := ledger.EVMAddress(a).Num()
	return !longZero && c.State.Entity(a) == nil && !c.State.Exist(a)
}

// transfer checks a transfer, adds its custom fees to x, and moves hbars, units and serials in the simulation. Earlier
// moves remain if a later one fails, until call.do undoes them.
func (c *call) transfer(x *transfer) error {
	units, serials := 0, 0
	for i := range x.tokens {
		m := &x.tokens[i]
		err := m.validate()
		if err != nil {
			return err
		}
		units += len(m.moves)
		serials += len(m.serials)
	}
	err := firstOf(
		refuse(sum(x.hbars) != 0, codes.InvalidAccountAmounts),
		refuse(repeats(list.Map(x.hbars, partyOfMove)), codes.AccountRepeatedInAccountAmounts),
		refuse(len(x.hbars) > maxTransfers, codes.TransferListSizeLimitExceeded),
		refuse(units > maxTransfers, codes.TokenTransferListSizeLimitExceeded),
		refuse(serials > maxTransfers, codes.BatchSizeLimitExceeded),
	)
	if err != nil {
		return err
	}
	err = c.charge(x)
	if err != nil {
		return err
	}
	err = c.moveHbars(x.hbars)
	if err != nil {
		return err
	}
	for i := range x.tokens {
		err = c.moveToken(&x.tokens[i])
		if err != nil {
			return err
		}
	}
	return nil
}

// validate fails if the movement is empty or cannot be that of its token: kind of token, sum, a serial that is not
// positive or goes to its sender, or parties and serials that occur twice.
func (m *movement) validate() error {
	fungible := m.token.Type == ledger.TokenFungibleCommon
	err := firstOf(
		refuse(len(m.moves) > 0 && !fungible, codes.AccountAmountTransfersOnlyAllowedForFungibleCommon),
		refuse(len(m.serials) > 0 && fungible, codes.InvalidNFTID),
		refuse(sum(m.moves) != 0, codes.TransfersNotZeroSumForToken),
		refuse(repeats(list.Map(m.moves, partyOfMove)), codes.AccountRepeatedInAccountAmounts),
	)
	if err != nil {
		return err
	}
	for _, x := range m.serials {
		err = firstOf(
			refuse(x.serial <= 0, codes.InvalidTokenNFTSerialNumber),
			refuse(x.from == x.to, codes.AccountRepeatedInAccountAmounts),
		)
		if err != nil {
			return err
		}
	}
	return firstOf(
		refuse(repeats(list.Map(m.serials, func(x serialMove) int64 { return x.serial })), codes.InvalidAccountAmounts),
		refuse(len(m.moves)+len(m.serials) == 0, codes.EmptyTokenTransferAccountAmounts),
	)
}

// partyOfMove returns the account whose balance a move changes, for checks of repeated accounts.
func partyOfMove(m move) ledger.EntityID { return m.party }

// maxTransfers is the maximum number of hbar amounts, of token amounts, and of serials in a transfer.
const maxTransfers = 10

// sum returns the sum of the amounts. On overflow it returns a number other than 0.
func sum(moves []move) (n int64) {
	for _, m := range moves {
		if m.amount > 0 && n > math.MaxInt64-m.amount || m.amount < 0 && n < math.MinInt64-m.amount {
			return math.MaxInt64
		}
		n += m.amount
	}
	return n
}

// spend subtracts an amount from an owner's allowance for the caller in the simulation, of tinybars if the token
// is 0. It fails if the allowance is too small.
func (c *call) spend(owner, token ledger.EntityID, amount int64) error {
	left := c.facts.allowance(owner, c.caller(), token)
	err := firstOf(
		refuse(*left == 0, codes.SpenderDoesNotHaveAllowance),
		refuse(amount > *left || amount < 0, codes.AmountExceedsAllowance), // -2^63 negated is negative
	)
	if err != nil {
		return err
	}
	evm.Set(c.State, left, *left-amount)
	return nil
}

// moveHbars changes balances by amounts in tinybars, in the simulation. Approved amounts are subtracted from the
// caller's allowance. It fails if an account or an allowance has too little; call.do then undoes earlier moves.
func (c *call) moveHbars(moves []move) error {
	for _, m := range moves {
		a := c.facts.address(m.party)
		if m.amount >= 0 {
			c.State.AddBalance(a, uint256.NewInt(uint64(m.amount)), tracing.BalanceChangeTransfer)
			continue
		}
		if m.approved {
			err := c.spend(m.party, 0, -m.amount)
			if err != nil {
				return err
			}
		}
		amount := uint256.NewInt(uint64(-m.amount))
		err := refuse(c.spendable(a).Lt(amount), m.shortage(codes.InsufficientAccountBalance))
		if err != nil {
			return err
		}
		c.State.SubBalance(a, amount, tracing.BalanceChangeTransfer)
	}
	return nil
}

// spendable returns the tinybars that an account can send. Entities of the ledger other than contracts have at least
// the minimum balance of the machine. It can read the account; a failed read aborts the run.
func (c *call) spendable(a common.Address) *uint256.Int {
	owns, least := c.State.GetBalance(a), c.MinimumBalance()
	if e := c.State.Entity(a); e != nil && e.Type != ledger.EntityContract && owns.Lt(least) {
		return least
	}
	return owns
}

// usableRelation returns the association of a party that sends or receives a token, which it reads if necessary. With
// takes, a receiver with a free automatic association becomes associated in the simulation. It fails if the party is
// not associated, is frozen or lacks KYC.
func (c *call) usableRelation(t *token, p ledger.EntityID, takes bool) (*relation, error) {
	r := c.facts.relation(p, t)
	if !r.associated && takes {
		err := c.autoAssociate(t, p)
		if err != nil {
			return nil, err
		}
	}
	return r, firstOf(
		refuse(!r.associated, codes.TokenNotAssociatedToAccount),
		refuse(r.frozen, codes.AccountFrozenForToken),
		refuse(!r.kyc, codes.AccountKYCNotGrantedForToken),
	)
}

// autoAssociate associates an account with a token that it receives, in the simulation, and uses one of its slots.
// It fails if no slot is free, or the account would be frozen or lack KYC.
func (c *call) autoAssociate(t *token, p ledger.EntityID) error {
	c.facts.load(worldstate.TokenReads{Slots: []ledger.EntityID{p}})
	room := c.facts.slots[p]
	err := firstOf(
		refuse(room.Most == 0, codes.TokenNotAssociatedToAccount),
		refuse(room.Most > 0 && room.Used >= room.Most, codes.NoRemainingAutomaticAssociations),
		refuse(t.HasKey(worldstate.KYCKey), codes.AccountKYCNotGrantedForToken),
		refuse(t.FreezeDefault, codes.AccountFrozenForToken),
	)
	if err != nil {
		return err
	}
	evm.Set(c.State, &room.Used, room.Used+1)
	c.relate(p, t, true /* automatic */)
	return nil
}

// moveToken moves the units and serials of one token in the simulation and checks that no balance is negative. Earlier
// moves remain if a later one fails, until call.do undoes them.
func (c *call) moveToken(m *movement) error {
	t := m.token
	req := worldstate.TokenReads{}
	for _, x := range m.moves {
		req.Relations = append(req.Relations, worldstate.RelationKey{Account: x.party, Token: t.EntityID})
	}
	for _, x := range m.serials {
		req.Relations = append(req.Relations, worldstate.RelationKey{Account: x.from, Token: t.EntityID},
			worldstate.RelationKey{Account: x.to, Token: t.EntityID})
		req.NFTs = append(req.NFTs, ledger.NFTKey{TokenID: t.EntityID, SerialNumber: x.serial})
	}
	c.facts.load(req)
	for _, x := range m.moves {
		r, err := c.usableRelation(t, x.party, x.amount > 0)
		if err != nil {
			return err
		}
		if x.approved && x.amount < 0 {
			err = c.spend(x.party, t.EntityID, -x.amount)
			if err != nil {
				return err
			}
		}
		balance := r.balance + x.amount
		overflows := (x.amount < 0) != (balance < r.balance)
		err = refuse(overflows, x.shortage(codes.InsufficientTokenBalance))
		if err != nil {
			return err
		}
		evm.Set(c.State, &r.balance, balance)
	}
	for _, x := range m.moves {
		err := refuse(c.facts.relation(x.party, t).balance < 0, x.shortage(codes.InsufficientTokenBalance))
		if err != nil {
			return err
		}
	}
	for _, x := range m.serials {
		err := c.moveSerial(t, x)
		if err != nil {
			return err
		}
	}
	return nil
}

// moveSerial changes the owner of a serial and the balances of both, and removes its approved spender, in the
// simulation. It fails if x.from does not own the serial or the approval is missing.
func (c *call) moveSerial(t *token, x serialMove) error {
	n, err := c.existingSerial(t, x.serial, codes.InvalidNFTID)
	if err != nil {
		return err
	}
	err = firstOf(
		refuse(t.ownerOf(n) != x.from, codes.SenderDoesNotOwnNFTSerialNo),
		refuse(x.approved && n.spender != c.caller() && !*c.facts.operator(x.from, c.caller(), t),
			codes.SpenderDoesNotHaveAllowance),
	)
	if err != nil {
		return err
	}
	from, err := c.usableRelation(t, x.from, false /* takes */)
	if err != nil {
		return err
	}
	to, err := c.usableRelation(t, x.to, true /* takes */)
	if err != nil {
		return err
	}
	evm.Set(c.State, &from.balance, from.balance-1)
	evm.Set(c.State, &to.balance, to.balance+1)
	moved := *n
	moved.owner, moved.spender = x.to, 0
	if x.to == t.TreasuryAccountID {
		moved.owner = 0
	}
	evm.Set(c.State, n, moved)
	return nil
}

// units returns the movement of an amount of a token between two accounts, but does not execute it. It creates the
// account of a new receiver in the simulation. approved makes the caller use its allowance, unless it is the
// sender.
func (c *call) units(t *token, from, to any, amount int64, approved bool) (movement, error) {
	giver, err := c.party(from, false /* receives */)
	if err != nil {
		return movement{}, err
	}
	taker, err := c.party(to, true /* receives */)
	if err != nil {
		return movement{}, err
	}
	return movement{token: t, moves: []move{
		{party: giver, amount: -amount, approved: approved && giver != c.caller()}, {party: taker, amount: amount},
	}}, nil
}

// serials returns the movement of serials of a token between accounts, from lists of the ABI, but does not execute it.
// The elements of from, to and numbers at one index belong together; other lengths fail. It creates the accounts of
// new receivers in the simulation. approved makes the caller use approvals, unless it is the sender.
func (c *call) serials(t *token, from, to, numbers []any, approved bool) (movement, error) {
	m := movement{token: t}
	err := refuse(len(from) != len(to) || len(to) != len(numbers), codes.InvalidTransactionBody)
	if err != nil {
		return movement{}, err
	}
	for i := range numbers {
		giver, err := c.party(from[i], false /* receives */)
		if err != nil {
			return movement{}, err
		}
		taker, err := c.party(to[i], true /* receives */)
		if err != nil {
			return movement{}, err
		}
		m.serials = append(m.serials, serialMove{
			from: giver, to: taker, serial: numbers[i].(int64), approved: approved && giver != c.caller(),
		})
	}
	return m, nil
}

// sendUnits implements transferToken(token, from, to, amount) of the token service: it moves units in the simulation.
// An error is a [refusal]; a failed read ends the simulation.
func sendUnits(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	amount := rest[2].(int64)
	err = refuse(amount < 0, codes.InvalidTransactionBody)
	if err != nil {
		return err
	}
	return c.send(c.units(t, rest[0], rest[1], amount, false /* approved */))
}

// sendUnitsOfAll implements transferTokens(token, accounts, amounts) in the simulation. The lists pair by index:
// negative amounts are sent, positive ones received.
func sendUnitsOfAll(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	accounts, values := abi.List(rest[0]), abi.List(rest[1])
	m := movement{token: t}
	err = refuse(len(accounts) != len(values), codes.InvalidTransactionBody)
	if err != nil {
		return err
	}
	for i, v := range values {
		p, err := c.party(accounts[i], v.(int64) > 0)
		if err != nil {
			return err
		}
		m.moves = append(m.moves, move{party: p, amount: v.(int64)})
	}
	return c.send(m, nil)
}

// sendSerial implements transferNFT(token, from, to, serial) of the token service: it moves an NFT in the simulation.
// An error is a [refusal]; a failed read ends the simulation.
func sendSerial(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	return c.send(c.serials(t, rest[:1], rest[1:2], rest[2:3], false /* approved */))
}

// sendSerials implements transferNFTs(token, from, to, serials) of the token service: it moves NFTs in the
// simulation. An error is a [refusal]; a failed read ends the simulation.
func sendSerials(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	return c.send(c.serials(t, abi.List(rest[0]), abi.List(rest[1]), abi.List(rest[2]), false /* approved */))
}

// takeOf implements transferFrom(token, from, to, amount) and transferFromNFT(token, from, to, serial) in the
// simulation. The caller uses its allowance. It fails if the token has the other type.
func takeOf(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	err = refuse(t.Type != c.f.of, codes.InvalidTokenID)
	if err != nil {
		return err
	}
	return c.take(t, rest[0], rest[1], rest[2].(*big.Int))
}

// take transfers an amount or a serial of a token in the simulation, with the allowance of the caller unless it is
// the sender. n fits into an int64: that is checked of all functions that transfer; see [function.limited].
func (c *call) take(t *token, from, to any, n *big.Int) error {
	if t.Type == ledger.TokenNonFungibleUnique {
		return c.send(c.serials(t, []any{from}, []any{to}, []any{n.Int64()}, true /* approved */))
	}
	return c.send(c.units(t, from, to, n.Int64(), true /* approved */))
}

// send executes the transfer of one token in the simulation, unless err is set, which it returns.
func (c *call) send(m movement, err error) error {
	if err != nil {
		return err
	}
	return c.transfer(&transfer{tokens: []movement{m}})
}

// transferOwn implements transfer(to, amount) at the address of a token: it sends units of the caller and emits a log,
// in the simulation. It returns true, and fails for a non-fungible token.
func transferOwn(c *call, in []any) ([]any, error) {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return nil, err
	}
	err = refuse(t.Type != ledger.TokenFungibleCommon, codes.AccountAmountTransfersOnlyAllowedForFungibleCommon)
	if err != nil {
		return nil, err
	}
	return c.takeAndLog(t, c.Caller, rest[0], rest[1])
}

// transferFrom implements transferFrom(from, to, amount or serial) at the address of a token, with the allowance of
// the caller, and emits a log, in the simulation. Its results are those of takeAndLog.
func transferFrom(c *call, in []any) ([]any, error) {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return nil, err
	}
	return c.takeAndLog(t, rest[0], rest[1], rest[2])
}

// takeAndLog implements transferFrom of a token, with the allowance of the caller: it transfers an amount or a serial
// and emits a log, in the simulation. For units it returns true, for a serial nothing.
func (c *call) takeAndLog(t *token, from, to, n any) ([]any, error) {
	err := c.take(t, from, to, n.(*big.Int))
	if err != nil {
		return nil, err
	}
	parties := []common.Hash{topic(from), topic(to)}
	if t.Type == ledger.TokenNonFungibleUnique {
		c.log(t, "Transfer(address,address,uint256)", append(parties, topic(n)), nil)
		return nil, nil
	}
	c.log(t, "Transfer(address,address,uint256)", parties, word(n.(*big.Int).Int64()))
	return []any{true}, nil
}

// cryptoTransfer implements cryptoTransfer, which transfers hbars and tokens at once. Its arguments are lists of
// tokens with their movements. The newer form has a list of hbar transfers before them, and reports which
// movements use an approval. It changes only the state of the simulation, in which it creates the accounts of new
// receivers; if it fails, call.do undoes the part that is done.
func cryptoTransfer(c *call, in []any) error {
	x := &transfer{}
	if len(in) == 2 {
		var err error
		x.hbars, err = c.amountsOf(abi.List(abi.List(in[0])[0]))
		if err != nil {
			return err
		}
	}
	for _, v := range abi.List(in[len(in)-1]) {
		part := abi.List(v)
		t, err := c.activeTokenAt(part[0].(common.Address))
		if err != nil {
			return err
		}
		m := movement{token: t}
		m.moves, err = c.amountsOf(abi.List(part[1]))
		if err != nil {
			return err
		}
		m.serials, err = c.serialMovesOf(t, abi.List(part[2]))
		if err != nil {
			return err
		}
		x.tokens = append(x.tokens, m)
	}
	return c.transfer(x)
}

// serialMovesOf reads the transfers of serials of a token from the values of the ABI, with or without the flag for
// approvals. It creates the accounts of new receivers in the simulation.
func (c *call) serialMovesOf(t *token, values []any) ([]serialMove, error) {
	var out []serialMove
	for _, v := range values {
		h := abi.List(v)
		m, err := c.serials(t, h[:1], h[1:2], h[2:3], len(h) > 3 && h[3].(bool))
		if err != nil {
			return nil, err
		}
		out = append(out, m.serials...)
	}
	return out, nil
}

// amountsOf reads the amounts of accounts from the values of the ABI, with or without the flag for approvals. It
// creates the accounts of new receivers in the simulation.
func (c *call) amountsOf(values []any) ([]move, error) {
	var out []move
	for _, v := range values {
		part := abi.List(v)
		amount := part[1].(int64)
		p, err := c.party(part[0], amount > 0)
		if err != nil {
			return nil, err
		}
		out = append(out, move{party: p, amount: amount, approved: len(part) > 2 && part[2].(bool)})
	}
	return out, nil
}
