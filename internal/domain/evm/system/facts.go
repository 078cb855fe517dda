package system

import (
	"errors"
	"fmt"
	"maps"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// party is an account or contract. One that the simulation itself created has the id of the number that the simulation gave it.
type party struct {
	id      ledger.EntityID
	address common.Address // only without an id: of a caller who is not there
}

// none tells whether it is nobody.
func (p party) none() bool { return p == party{} }

func partyOf(id ledger.EntityID) party { return party{id: id} }

// The facts that contracts may change. Pointers to them stay the same for the whole simulation.
type (
	// relation is an association of an account with a token.
	relation struct {
		associated, frozen, kyc, automatic bool
		balance                            int64
	}
	// nft is a serial.
	nft struct {
		exists   bool
		owner    party // nobody: the treasury, whoever that is
		spender  party
		metadata []byte
		created  ledger.Timestamp
	}
	// token is a token with what of it changes.
	token struct {
		worldstate.Token
		deleted bool
		made    bool // by the simulation: the ledger knows nothing of it
		fresh   bool // while it is being made
		// former is the treasury that the ledger knows, nobody for a token that the simulation created.
		former ledger.EntityID
	}
	relationKey struct {
		account party
		token   ledger.EntityID
	}
	allowanceKey struct {
		owner, spender party
		token          ledger.EntityID
	}
)

// facts are what has been read of the ledger and what the simulation changed of it. One belongs to each simulation.
type facts struct {
	state  *evm.State
	source Source
	cfg    Config

	tokens     map[ledger.EntityID]*token // nil where there is none
	relations  map[relationKey]*relation
	nfts       map[ledger.NFTKey]*nft
	allowances map[allowanceKey]*int64 // of hbars without a token
	operators  map[allowanceKey]*bool
	slots      map[party]*worldstate.AutoAssociations
	serials    map[ledger.EntityID]*int64
	airdrops   map[airdropKey]*airdrop
	schedules  map[ledger.EntityID]*schedule      // nil where there is none
	addresses  map[ledger.EntityID]common.Address // of those whom the ledger does not know
}

type factsKey struct{}

// factsOf are the facts of a simulation.
func factsOf(state *evm.State, cfg Config) *facts {
	return evm.Overlay(state, factsKey{}, func() *facts {
		source, ok := state.Source().(Source)
		if !ok {
			state.Abort(errNoSource)
		}
		return &facts{
			state: state, source: source, cfg: cfg,
			tokens: map[ledger.EntityID]*token{}, relations: map[relationKey]*relation{}, nfts: map[ledger.NFTKey]*nft{},
			allowances: map[allowanceKey]*int64{}, operators: map[allowanceKey]*bool{}, slots: map[party]*worldstate.AutoAssociations{},
			serials: map[ledger.EntityID]*int64{}, airdrops: map[airdropKey]*airdrop{},
			schedules: map[ledger.EntityID]*schedule{}, addresses: map[ledger.EntityID]common.Address{},
		}
	})
}

var errNoSource = errors.New("the source of the simulation does not know of tokens")

// change gives a fact a new value, which the journal can take back.
func change[T any](f *facts, at *T, v T) {
	old := *at
	f.state.Journal().Append(func() { *at = old })
	*at = v
}

// wants are facts that are about to be used. What is not known of them is read at once.
type wants struct {
	tokens     []ledger.EntityID
	relations  []relationKey
	nfts       []ledger.NFTKey
	allowances []allowanceKey
	operators  []allowanceKey
	slots      []party
	serials    []ledger.EntityID
}

// load reads what is not known yet of what is wanted.
func (f *facts) load(w wants) {
	var r worldstate.TokenReads
	for _, id := range w.tokens {
		if _, known := f.tokens[id]; !known {
			f.tokens[id] = nil
			r.Tokens = append(r.Tokens, id)
		}
	}
	for _, k := range w.relations {
		if _, known := f.relations[k]; !known {
			f.relations[k] = &relation{}
			if k.account.id != 0 && k.token != 0 && !f.newToken(k.token) {
				r.Relations = append(r.Relations, worldstate.RelationKey{Account: k.account.id, Token: k.token})
			}
		}
	}
	for _, k := range w.nfts {
		if _, known := f.nfts[k]; !known {
			f.nfts[k] = &nft{}
			if !f.newToken(k.TokenID) {
				r.NFTs = append(r.NFTs, k)
			}
		}
	}
	for _, k := range w.allowances {
		if _, known := f.allowances[k]; !known {
			f.allowances[k] = new(int64)
			if k.owner.id != 0 && k.spender.id != 0 {
				r.Allowances = append(r.Allowances, k.ledger())
			}
		}
	}
	for _, k := range w.operators {
		if _, known := f.operators[k]; !known {
			f.operators[k] = new(bool)
			if k.owner.id != 0 && k.spender.id != 0 {
				r.Operators = append(r.Operators, k.ledger())
			}
		}
	}
	for _, p := range w.slots {
		if _, known := f.slots[p]; !known {
			f.slots[p] = &worldstate.AutoAssociations{}
			if a, made := f.addresses[p.id]; made && f.state.Entity(a) == nil && !f.state.IsNewContract(a) {
				f.slots[p].Most = -1 // an account that comes to be by what it is sent takes every token
			}
			if p.id != 0 {
				r.Slots = append(r.Slots, p.id)
			}
		}
	}
	for _, id := range w.serials {
		if _, known := f.serials[id]; !known {
			f.serials[id] = new(int64)
			if !f.newToken(id) {
				r.Serials = append(r.Serials, id)
			}
		}
	}
	f.read(&r)
}

// newToken tells whether the simulation made a token.
func (f *facts) newToken(id ledger.EntityID) bool { return f.tokens[id] != nil && f.tokens[id].made }

func (k allowanceKey) ledger() worldstate.AllowanceKey {
	return worldstate.AllowanceKey{Owner: k.owner.id, Spender: k.spender.id, Token: k.token}
}

func ofLedger(k worldstate.AllowanceKey) allowanceKey {
	return allowanceKey{partyOf(k.Owner), partyOf(k.Spender), k.Token}
}

// read asks the source, when there is anything to ask.
func (f *facts) read(r *worldstate.TokenReads) {
	if len(r.Tokens)+len(r.Relations)+len(r.NFTs)+len(r.Allowances)+len(r.Operators)+len(r.Slots)+len(r.Serials) == 0 {
		return
	}
	got, err := f.source.TokenFacts(f.state.Context(), r)
	if err != nil {
		f.state.Abort(fmt.Errorf("running a system contract: %w", err))
	}
	for id, t := range got.Tokens {
		f.tokens[id] = &token{Token: *t, former: t.TreasuryAccountID}
	}
	for k, v := range got.Relations {
		*f.relations[relationKey{partyOf(k.Account), k.Token}] = relation{true, v.Frozen, v.KYCGranted, v.Automatic, v.Balance}
	}
	for k, n := range got.NFTs {
		owner := partyOf(n.AccountID)
		if t := f.tokens[k.TokenID]; t != nil && n.AccountID == t.former {
			owner = party{}
		}
		*f.nfts[k] = nft{exists: true, owner: owner, spender: partyOf(n.SpenderID), metadata: n.Metadata, created: n.CreatedTimestamp.V}
	}
	for k, v := range got.Allowances {
		*f.allowances[ofLedger(k)] = v
	}
	for k, v := range got.Operators {
		*f.operators[ofLedger(k)] = v
	}
	for id, v := range got.Slots {
		*f.slots[partyOf(id)] = v
	}
	for id, v := range maps.All(got.Serials) {
		*f.serials[id] = v
	}
}

// tokenID is the id that the address of a token stands for. Tokens are known by their numbers alone.
func (f *facts) tokenID(a common.Address) (ledger.EntityID, bool) {
	num, ok := ledger.EVMAddress(a).Num()
	return f.cfg.Base.WithNum(num), ok && num > 0
}

// token is the token at an address, nil when there is none.
func (f *facts) token(a common.Address) *token {
	id, ok := f.tokenID(a)
	if !ok {
		return nil
	}
	f.load(wants{tokens: []ledger.EntityID{id}})
	if t := f.tokens[id]; t != nil && !t.deleted {
		return t
	}
	return nil
}

// party is who is at an address; ok is false when nobody is that contracts can name so.
func (f *facts) party(a common.Address) (p party, ok bool) {
	e := f.state.Entity(a)
	if e == nil {
		// Of what the simulation created, tokens and schedules are no parties.
		if _, longZero := ledger.EVMAddress(a).Num(); longZero && !f.state.IsNewContract(a) || !f.state.Exist(a) {
			return party{}, false
		}
		return f.made(a), true
	}
	switch e.Type {
	case ledger.EntityAccount, ledger.EntityContract, ledger.EntityUnknown:
	default:
		return party{}, false
	}
	if evm.Canonical(e) != a {
		return party{}, false
	}
	if e.ID == 0 { // the request says that it is there
		return f.made(a), true
	}
	return partyOf(e.ID), true
}

// made is who is at an address without the ledger knowing.
func (f *facts) made(a common.Address) party {
	p := partyOf(f.cfg.Base.WithNum(f.state.NumberOf(a)))
	f.addresses[p.id] = a
	return p
}

// create makes a token or a schedule come to be.
func (f *facts) create(kind ledger.EntityType) ledger.EntityID {
	return f.cfg.Base.WithNum(f.state.CreateEntity(kind))
}

// longZero is the address of an id's number; nobody's is the zero address.
func longZero(id ledger.EntityID) common.Address { return common.Address(id.LongZero()) }

// address is by what contracts know a party.
func (f *facts) address(p party) common.Address {
	if p.id == 0 {
		return p.address
	}
	if a, made := f.addresses[p.id]; made {
		return a
	}
	if e := f.state.Entity(longZero(p.id)); e != nil {
		return evm.Canonical(e)
	}
	return longZero(p.id)
}

// relation is the association of a party with a token.
func (f *facts) relation(p party, t *token) *relation {
	k := relationKey{p, t.EntityID}
	f.load(wants{relations: []relationKey{k}})
	return f.relations[k]
}

// handTo is how a serial has its owner, for the time after it went to somebody.
func (t *token) handTo(p party) party {
	if p == partyOf(t.TreasuryAccountID) {
		return party{}
	}
	return p
}

// nft is a serial of a token; nil when there is no such serial.
func (f *facts) nft(t *token, serial int64) *nft {
	k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: serial}
	f.load(wants{nfts: []ledger.NFTKey{k}})
	if n := f.nfts[k]; n.exists {
		return n
	}
	return nil
}

// owner is who has a serial.
func (f *facts) owner(t *token, n *nft) party {
	if n.owner.none() {
		return partyOf(t.TreasuryAccountID)
	}
	return n.owner
}

// allowance is how much of a token, or without one of hbars, an owner lets a spender take.
func (f *facts) allowance(owner, spender party, t *token) *int64 {
	k := allowanceKey{owner: owner, spender: spender}
	if t != nil {
		k.token = t.EntityID
	}
	f.load(wants{allowances: []allowanceKey{k}})
	return f.allowances[k]
}

// operator tells whether a spender may take every serial of an owner.
func (f *facts) operator(owner, spender party, t *token) *bool {
	k := allowanceKey{owner, spender, t.EntityID}
	f.load(wants{operators: []allowanceKey{k}})
	return f.operators[k]
}
