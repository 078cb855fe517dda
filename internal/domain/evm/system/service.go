package system

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// Numbers of the contracts.
const (
	TokenService    = 0x167
	AccountService  = 0x16a
	ScheduleService = 0x16b
	// SecondTokenService is the token service again, for contracts that know of the metadata of tokens.
	SecondTokenService = 0x16c
)

// Source is what the contracts read from, beside what the machine itself reads. The sources of simulations must implement it.
type Source interface {
	// TokenFacts reads facts about tokens, allowances and associations together.
	TokenFacts(ctx context.Context, r *worldstate.TokenReads) (*worldstate.TokenFacts, error)
	// PendingAirdrops tells which airdrops are pending of those that are named by sender, receiver, token and serial, 0 for units, with their amounts.
	PendingAirdrops(ctx context.Context, named []*ledger.Airdrop) ([]*ledger.Airdrop, error)
	// TokensOf lists the tokens that an account has ever been associated with.
	TokensOf(ctx context.Context, account ledger.EntityID) ([]ledger.EntityID, error)
	// Schedule reads a schedule with its signatures; nil when there is none.
	Schedule(ctx context.Context, id ledger.EntityID) (*worldstate.Schedule, error)
}

// Config says what the contracts tell of the network.
type Config struct {
	// ChainID tells which network it is.
	ChainID uint64
	// Base has the shard and realm of the ledger's entities.
	Base ledger.EntityID
}

// Contracts are the network's contracts by their numbers, for [evm.Config].
func Contracts(cfg Config) map[int64]evm.SystemContract {
	out := map[int64]evm.SystemContract{}
	for _, s := range allServices(cfg) {
		switch s.number {
		case TokenService:
			out[s.number] = tokenService{payableService{s}}
		case SecondTokenService:
			out[s.number] = payableService{s}
		default:
			out[s.number] = s
		}
	}
	return out
}

// allServices are the contracts with their functions. A signature that cannot be read is a mistake of the build.
func allServices(cfg Config) []*service {
	list := []*service{
		{number: TokenService, redirect: redirectForToken, direct: tokenFunctions(), facade: tokenFacade()},
		{number: AccountService, redirect: redirectForAccount, direct: accountFunctions(), facade: accountFacade()},
		{number: ScheduleService, redirect: redirectForSchedule, direct: scheduleFunctions(), facade: scheduleFacade()},
		{number: SecondTokenService, redirect: redirectForToken, direct: secondTokenFunctions(), facade: tokenFacade()},
	}
	tokens := map[common.Address]table{}
	for _, s := range list {
		s.cfg = cfg
		if err := s.prepare(); err != nil {
			panic(fmt.Sprintf("table of system contracts: %v", err))
		}
		if s.hasTokens() {
			tokens[longZero(ledger.EntityID(s.number))] = s.functions
		}
		s.tokens = tokens
	}
	return list
}

// Selectors of the functions by which the code at the addresses of entities hands calls on.
const (
	redirectForToken    = 0x618dc65e // redirectForToken(address,bytes)
	redirectForAccount  = 0xe4cbd3a7 // redirectForAccount(address,bytes)
	redirectForSchedule = 0x5c3889ca // redirectForScheduleTxn(address,bytes)
)

// redirectArgs are the parameters of the redirect functions: the entity and the input.
var redirectArgs = abi.MustParse("(address,bytes)")

// kind tells what a function may do.
type kind uint8

const (
	read  kind = iota
	write      // changes something
)

// function is one function of a contract.
type function struct {
	signature string // as it is hashed
	returns   string // the types of what it returns, without parentheses
	kind      kind
	payable   bool
	creates   ledger.TokenType // what kind of token it creates, if it does
	scheduled bool             // the schedule service may be asked to have it called later
	tinycents int64            // the price of what it does, unless price tells it, or gas
	gas       uint64
	price     func(c *call, in []any) int64
	run       func(c *call, in []any) evm.Outcome

	args, result *abi.Type
	selector     uint32
}

// table are functions by selectors.
type table map[uint32]*function

// service is a contract: functions that are called at its address, and functions that are called at the address of an entity and get there by
// the redirect function.
type service struct {
	cfg            Config
	number         int64
	redirect       uint32
	direct, facade []*function

	functions, redirected table
	tokens                map[common.Address]table // the functions of the token services
}

// hasTokens tells whether a service is one of the token services.
func (s *service) hasTokens() bool { return s.number == TokenService || s.number == SecondTokenService }

// prepare reads the signatures of the functions.
func (s *service) prepare() (err error) {
	if s.functions, err = index(s.direct); err != nil {
		return err
	}
	s.redirected, err = index(s.facade)
	return err
}

func index(list []*function) (table, error) {
	t := table{}
	for _, f := range list {
		if err := f.prepare(); err != nil {
			return nil, fmt.Errorf("function %s: %w", f.signature, err)
		}
		if _, twice := t[f.selector]; twice {
			return nil, fmt.Errorf("function %s is there twice", f.signature)
		}
		t[f.selector] = f
	}
	return t, nil
}

func (f *function) prepare() (err error) {
	open := strings.IndexByte(f.signature, '(')
	if open < 0 {
		return abi.ErrInvalid
	}
	if f.args, err = abi.Parse(f.signature[open:]); err != nil {
		return err
	}
	if f.result, err = abi.Parse("(" + f.returns + ")"); err != nil {
		return err
	}
	f.selector = binary.BigEndian.Uint32(crypto.Keccak256([]byte(f.signature)))
	return nil
}

// payableService is a service some of whose functions take value.
type payableService struct{ *service }

// tokenService is the token service, which also knows who must stay.
type tokenService struct{ payableService }

var (
	_ evm.PayableContract = payableService{}
	_ evm.DestructGuard   = tokenService{}
)

// Payable implements [evm.PayableContract].
func (s payableService) Payable(selector uint32) bool {
	f := s.functions[selector]
	return f != nil && f.payable
}

// MayDestruct implements [evm.DestructGuard]: who holds tokens, or is the treasury of one, must stay.
func (s tokenService) MayDestruct(state *evm.State, contract common.Address) bool {
	f := factsOf(state, s.cfg)
	p, ok := f.party(contract)
	if !ok {
		return true
	}
	if _, made := f.addresses[p.id]; !made {
		tokens, err := f.source.TokensOf(state.Context(), p.id)
		if err != nil {
			state.Abort(fmt.Errorf("looking for tokens of a contract: %w", err))
		}
		w := wants{tokens: tokens}
		for _, t := range tokens {
			w.relations = append(w.relations, relationKey{p, t})
		}
		f.load(w)
	}
	for k, r := range f.relations {
		if t := f.tokens[k.token]; k.account == p && r.associated && (r.balance > 0 || t != nil && !t.deleted && partyOf(t.TreasuryAccountID) == p) {
			return false
		}
	}
	return true
}

// call is one call of a function.
type call struct {
	*evm.SystemCall
	s        *service
	f        *function
	facts    *facts
	redirect bool // it came by the address of an entity
	entity   common.Address
	// tinycents is the price of what is done.
	tinycents int64
}

// Call implements [evm.SystemContract].
func (s *service) Call(sc *evm.SystemCall) evm.Outcome {
	c := &call{SystemCall: sc, s: s}
	selector, args, functions := sc.Selector, sc.Args, s.functions
	if sc.Selector == s.redirect {
		inner, ok := c.unwrap()
		if !ok {
			return evm.Halt(evm.ContractExecutionException)
		}
		selector, args, functions = binary.BigEndian.Uint32(inner), inner[4:], s.redirected
		c.redirect = true
	}
	if s.hasTokens() && delegated(sc.Op) && (!c.redirect || !sc.Proxied(c.entity)) {
		return evm.Halt(evm.ContractExecutionException)
	}
	c.f = functions[selector]
	if c.f == nil {
		return evm.Unknown()
	}
	if c.f.kind == write && sc.Static {
		return evm.Halt(evm.LocalCallModification)
	}
	in, err := c.f.args.Decode(args)
	if err != nil {
		return evm.Halt(evm.ContractExecutionException)
	}
	c.facts = factsOf(sc.State, s.cfg)
	if c.f.kind == write {
		c.tinycents = c.f.tinycents
		if c.f.price != nil {
			c.tinycents = c.f.price(c, abi.List(in))
		}
		if gas := c.gas(); gas > sc.Gas {
			return evm.Return(gas, nil) // the frame fails for want of gas, whatever the function would do
		}
	}
	return c.f.run(c, abi.List(in))
}

func delegated(op vm.OpCode) bool { return op == vm.DELEGATECALL || op == vm.CALLCODE }

// unwrap takes a redirected call out of its wrapping: the entity and the input, either as the ABI encodes them or, as the code at the addresses of
// entities does it, one directly behind the other.
func (c *call) unwrap() (inner []byte, ok bool) {
	if packed := c.Args; len(packed) >= 20 && c.Proxied(common.Address(packed[:20])) {
		c.entity, inner = common.Address(packed[:20]), packed[20:]
		return inner, len(inner) >= 4
	}
	if v, err := redirectArgs.Decode(c.Args); err == nil {
		parts := abi.List(v)
		c.entity, inner = parts[0].(common.Address), parts[1].([]byte)
		return inner, len(inner) >= 4
	}
	if len(c.Args) < 24 {
		return nil, false
	}
	c.entity = common.Address(c.Args[:20])
	return c.Args[20:], true
}

// gas is what the function costs.
func (c *call) gas() uint64 {
	switch {
	case c.f.kind == read:
		return evm.ViewGas()
	case c.f.gas != 0:
		return c.f.gas
	}
	return evm.DispatchGas(c.tinycents)
}

// returns ends the call with values of the function's types.
func (c *call) returns(values ...any) evm.Outcome {
	return evm.Return(c.gas(), c.f.result.Encode(nil, values))
}

// reverts ends the call with a response code as the data that is reverted with.
func (c *call) reverts(code ledger.ResponseCode) evm.Outcome {
	c.ChildFailed(code)
	word := abi.Word(uint64(code))
	return evm.Revert(c.gas(), word[:])
}

// refuses ends a function that reads and cannot: in a static call, or at the address of an entity, with a revert, else with the code and values of
// nothing.
func (c *call) refuses(code ledger.ResponseCode) evm.Outcome {
	if c.Static || c.redirect {
		return c.reverts(code)
	}
	return evm.Return(c.gas(), c.f.result.Encode(nil, []any{int64(code)}))
}
