package system

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Numbers of the system contracts.
const (
	TokenService    = 0x167
	AccountService  = 0x16a
	ScheduleService = 0x16b
	// SecondTokenService is the newer interface of the token service, which has the metadata of tokens.
	SecondTokenService = 0x16c
)

// Source reads facts for the system contracts, in addition to [evm.Source]. The sources of simulations must implement
// it.
type Source interface {
	// TokenFacts reads facts about tokens, allowances and associations together.
	TokenFacts(ctx context.Context, r *worldstate.TokenReads) (*worldstate.TokenFacts, error)
	// PendingAirdrops returns those of the given airdrops that are pending, with their amounts. An airdrop is
	// identified by sender, receiver, token and serial; the serial is 0 for units.
	PendingAirdrops(ctx context.Context, named []*ledger.Airdrop) ([]*ledger.Airdrop, error)
	// TokensOf returns the tokens that an account has ever been associated with.
	TokensOf(ctx context.Context, account ledger.EntityID) ([]ledger.EntityID, error)
	// Schedule returns a schedule with its signatures, or nil if it does not exist.
	Schedule(ctx context.Context, id ledger.EntityID) (*worldstate.Schedule, error)
}

// Config describes the network.
type Config struct {
	// ChainID is the chain ID of the network.
	ChainID uint64
	// Base has the shard and realm of the ledger's entities.
	Base ledger.EntityID
}

// Contracts returns the network's system contracts by entity number, for [evm.Config]. It panics if a signature in
// this package is invalid.
func Contracts(cfg Config) map[int64]evm.SystemContract {
	out := map[int64]evm.SystemContract{}
	for _, s := range allServices(cfg) {
		out[s.number] = s
	}
	return out
}

// allServices returns the contracts with their functions, newly parsed. It panics if a signature is invalid.
func allServices(cfg Config) []*service {
	list := []*service{
		{number: TokenService, redirect: redirectForToken, direct: tokenFunctions(), facade: tokenFacade()},
		{number: AccountService, redirect: redirectForAccount, direct: accountFunctions(), facade: accountFacade()},
		{
			number: ScheduleService, redirect: redirectForSchedule, direct: scheduleFunctions(),
			facade: scheduleFacade(),
		},
		{
			number: SecondTokenService, redirect: redirectForToken, direct: secondTokenFunctions(),
			facade: tokenFacade(),
		},
	}
	tokens := map[common.Address]table{}
	for _, s := range list {
		s.cfg, s.functions, s.redirected = cfg, index(s.direct), index(s.facade)
		if s.hasTokens() {
			tokens[longZero(ledger.EntityID(s.number))] = s.functions
		}
		s.tokens = tokens
	}
	return list
}

// Declarations returns the functions of the contracts in the notation of Solidity, to decode calls with.
func Declarations() (out []string) {
	for _, s := range allServices(Config{}) {
		for _, f := range slices.Concat(s.direct, s.facade) {
			out = append(out, "function "+f.signature+" returns ("+f.returns+")")
		}
	}
	return out
}

// Selectors of the functions that the proxy code of entities calls.
const (
	redirectForToken    = 0x618dc65e // redirectForToken(address,bytes)
	redirectForAccount  = 0xe4cbd3a7 // redirectForAccount(address,bytes)
	redirectForSchedule = 0x5c3889ca // redirectForScheduleTxn(address,bytes)
)

// redirectArgs are the parameters of the redirect functions: the entity and the input.
var redirectArgs = abi.MustParse("(address,bytes)")

// kind distinguishes functions that read and functions that write.
type kind uint8

const (
	read  kind = iota
	write      // may change the state
)

// function is a function of a contract. The function that implements it is either do or run.
type function struct {
	signature string // with the names of parameters
	returns   string // result types with names, without parentheses
	kind      kind
	payable   bool             // it creates a token
	of        ledger.TokenType // the type of the tokens that it reads, changes or creates, empty for all
	sets      bool             // it sets, grants or claims what its counterpart clears, revokes or cancels
	amountAt  int              // position of an unsigned amount that must be at most 2^63 - 1: 1 is the first, 0 none
	gas       uint64           // of a function that writes, if it has no price
	// price returns the price of a function that writes, in tinycents.
	price func(c *call, in []any) int64
	// do returns the results without the response code, or a [refusal]. [call.perform] converts them to the outcome.
	do func(c *call, in []any) ([]any, error)
	// run returns the outcome itself.
	run func(c *call, in []any) evm.Outcome

	args, result *abi.Type
	selector     uint32
	coded        bool // the first result is the response code
}

// responseCode is the first result of most functions.
const responseCode = "int64 responseCode"

// reads returns the row of a read-only function with one result besides the response code. value returns it from the
// decoded arguments, or a [refusal] with another response code.
func reads(signature, returns string, value func(c *call, in []any) (any, error)) *function {
	f := &function{signature: signature, returns: returns}
	return f.results(func(c *call, in []any) ([]any, error) {
		v, err := value(c, in)
		return []any{v}, err
	})
}

// readsToken returns the row of a read-only function with one result, which value computes from the token that is
// called or in the first argument. It fails if the token does not exist.
func readsToken(signature, returns string, value func(c *call, t *token) any) *function {
	return reads(signature, returns, func(c *call, in []any) (any, error) {
		t, err := c.readToken(in)
		if err != nil {
			return nil, err
		}
		return value(c, t), nil
	})
}

// writes returns the row of a function that writes to the simulation by do, at a fixed price in tinycents. do is nil
// if [function.results] sets another one.
func writes(price int64, signature, returns string, do func(c *call, in []any) error) *function {
	return writesFor(func(*call, []any) int64 { return price }, signature, returns, do)
}

// writesFor returns the row of a function that writes to the simulation by do, at a price in tinycents that price
// computes from the arguments. do is nil if [function.results] sets another one.
func writesFor(
	price func(c *call, in []any) int64, signature, returns string, do func(c *call, in []any) error,
) *function {
	f := &function{signature: signature, returns: returns, kind: write, price: price}
	return f.results(func(c *call, in []any) ([]any, error) { return nil, do(c, in) })
}

// results sets f.do, which returns the results of the function, and returns f.
func (f *function) results(do func(c *call, in []any) ([]any, error)) *function {
	f.do = do
	return f
}

// limited sets f.amountAt, the position from 1 of an amount that must fit into int64, and returns f.
func (f *function) limited(at int) *function {
	f.amountAt = at
	return f
}

// set sets f.sets, which distinguishes a function such as freeze from its opposite, and returns f.
func (f *function) set() *function {
	f.sets = true
	return f
}

// only sets f.of, the type of tokens that the function accepts or creates, and returns f.
func (f *function) only(kind ledger.TokenType) *function {
	f.of = kind
	return f
}

// canonical returns the signature without names of parameters, whose hash is the selector.
func (f *function) canonical() string {
	return f.signature[:strings.IndexByte(f.signature, '(')] + f.args.String()
}

// table is a set of functions by selector.
type table map[uint32]*function

// service is a contract. direct are the functions of its address. facade are the functions of the addresses of
// entities, whose calls arrive by the redirect function.
type service struct {
	cfg            Config
	number         int64
	redirect       uint32
	direct, facade []*function

	functions, redirected table
	tokens                map[common.Address]table // functions of the token services, by address
}

// hasTokens reports whether the contract is one of the two token services.
func (s *service) hasTokens() bool { return s.number == TokenService || s.number == SecondTokenService }

// index prepares functions: it parses their signatures and sets what follows from these. It returns them by selector.
// It panics if a signature is invalid or declared twice.
func index(list []*function) table {
	t := table{}
	for _, f := range list {
		f.prepare()
		if t[f.selector] != nil {
			panic("function " + f.signature + " is declared twice")
		}
		t[f.selector] = f
	}
	return t
}

// prepare parses the signature and sets the members that follow from it. It panics on an invalid signature, which
// only a mistake in this package can be.
func (f *function) prepare() {
	f.args = abi.MustParse(f.signature[strings.IndexByte(f.signature, '('):])
	f.result = abi.MustParse("(" + f.returns + ")")
	f.selector = binary.BigEndian.Uint32(crypto.Keccak256([]byte(f.canonical())))
	f.coded = strings.HasPrefix(f.returns, responseCode)
}

var (
	_ evm.PayableContract = (*service)(nil)
	_ evm.DestructGuard   = (*service)(nil)
)

// Payable implements [evm.PayableContract]: it reports whether a function accepts value, as those do that create
// tokens.
func (s *service) Payable(selector uint32) bool {
	f := s.functions[selector]
	return f != nil && f.payable
}

// MayDestruct implements [evm.DestructGuard]. It returns false if a contract holds tokens, or is the treasury of a
// token. Only the token service checks that; the others return true. It can read the tokens of the contract from the
// ledger; a failed read ends the simulation.
func (s *service) MayDestruct(state *evm.State, contract common.Address) bool {
	f := factsOf(state, s.cfg)
	p, ok := f.party(contract)
	if !ok || s.number != TokenService {
		return true
	}
	if _, made := f.addresses[p]; !made {
		tokens, err := f.source.TokensOf(state.Context(), p)
		state.Check(err, "reading the tokens of a contract")
		req := worldstate.TokenReads{Tokens: tokens}
		for _, t := range tokens {
			req.Relations = append(req.Relations, worldstate.RelationKey{Account: p, Token: t})
		}
		f.load(req)
	}
	for k, r := range f.relations {
		t := f.tokens[k.Token]
		isTreasury := t != nil && !t.deleted && t.TreasuryAccountID == p
		if k.Account == p && r.associated && (r.balance > 0 || isTreasury) {
			return false
		}
	}
	return true
}

// call is a call of a function.
type call struct {
	*evm.SystemCall
	s        *service
	f        *function
	facts    *facts
	redirect bool // by the proxy code of an entity
	entity   common.Address
	// tinycents is the price of the operation.
	tinycents int64
}

// Call implements [evm.SystemContract]: it decodes the call, computes its gas, and runs its function. Invalid input, a
// write in a static call, and a delegate call of a token service other than by the proxy of its token halt the frame.
// A call of an unknown function uses all gas. A write that costs more than the gas of the frame is not run.
func (s *service) Call(sc *evm.SystemCall) evm.Outcome {
	c := &call{SystemCall: sc, s: s}
	selector, args, functions := sc.Selector, sc.Args, s.functions
	if sc.Selector == s.redirect {
		inner, ok := c.unwrap()
		if !ok {
			return evm.Halt(codes.ContractExecutionException)
		}
		selector, args, functions = binary.BigEndian.Uint32(inner), inner[4:], s.redirected
		c.redirect = true
	}
	if s.hasTokens() && delegated(sc.Op) && (!c.redirect || !sc.Proxied(c.entity)) {
		return evm.Halt(codes.ContractExecutionException)
	}
	c.f = functions[selector]
	if c.f == nil {
		return evm.Unknown()
	}
	if c.f.kind == write && sc.Static {
		return evm.Halt(codes.LocalCallModificationException)
	}
	in, err := c.f.args.Decode(args)
	if err != nil {
		return evm.Halt(codes.ContractExecutionException)
	}
	c.facts = factsOf(sc.State, s.cfg)
	values := abi.List(in)
	if c.f.kind == write {
		if c.f.price != nil {
			c.tinycents = c.f.price(c, values)
		}
		if gas := c.gas(); gas > sc.Gas {
			return evm.Return(gas, nil) // the frame runs out of gas
		}
	}
	if c.f.run != nil {
		return c.f.run(c, values)
	}
	return c.perform(values)
}

// perform runs the function with do and ends the call with its results, or with the response code of its failure: as a
// result if the function has one, else by a revert; for a read-only function see [call.fails]. Changes of a failed
// function are undone. An amount that [function.limited] selects and that does not fit into int64 halts the frame.
func (c *call) perform(in []any) evm.Outcome {
	if at := c.f.amountAt; at > 0 {
		if _, ok := amountOf(in[at-1]); !ok { // like invalid input
			return evm.Halt(codes.ContractExecutionException)
		}
	}
	code, values := c.do(c.f.do, in)
	switch {
	case code == codes.Success && c.f.coded:
		return c.returns(append([]any{int64(code)}, values...)...)
	case code == codes.Success && values == nil:
		return evm.Return(c.gas(), nil)
	case code == codes.Success:
		return c.returns(values...)
	case c.f.kind == read:
		return c.fails(code)
	case c.f.coded:
		return c.returns(int64(code))
	default:
		return c.reverts(code)
	}
}

// delegated reports whether an instruction runs code in the context of its caller, as DELEGATECALL and CALLCODE
// do.
func delegated(op vm.OpCode) bool { return op == vm.DELEGATECALL || op == vm.CALLCODE }

// unwrap returns the input of a redirected call and sets c.entity. The arguments are either ABI-encoded or, from
// the proxy code of entities, the address followed by the input. ok is false if they are too short.
func (c *call) unwrap() (inner []byte, ok bool) {
	if packed := c.Args; len(packed) >= 20 && c.Proxied(common.Address(packed[:20])) {
		c.entity, inner = common.Address(packed[:20]), packed[20:]
		return inner, len(inner) >= 4
	}
	c.entity, inner, ok = unwrapRedirect(c.Args)
	return inner, ok
}

// gas returns the gas of the call: that of views, a constant, or c.tinycents, the price of the transaction, as gas.
func (c *call) gas() uint64 {
	switch {
	case c.f.kind == read:
		return evm.ViewGas()
	case c.f.gas != 0:
		return c.f.gas
	}
	return evm.DispatchGas(c.tinycents)
}

// returns returns the successful end of the call, with values of the function's return types as its output and the gas
// of the call. Missing values are zero.
func (c *call) returns(values ...any) evm.Outcome {
	return evm.Return(c.gas(), c.f.result.Encode(nil, values))
}

// reverts returns the end of the call by a revert with a response code as its data, and records the code as that of a
// child of the transaction.
func (c *call) reverts(code ledger.ResponseCode) evm.Outcome {
	c.ChildFailed(code)
	word := abi.Word(uint64(code))
	return evm.Revert(c.gas(), word[:])
}

// fails returns the end of a read-only function that failed: in a static call or at the address of an entity by a
// revert, else with the response code and zero values.
func (c *call) fails(code ledger.ResponseCode) evm.Outcome {
	if c.Static || c.redirect {
		return c.reverts(code)
	}
	return evm.Return(c.gas(), c.f.result.Encode(nil, []any{int64(code)}))
}
