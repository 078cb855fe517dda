package system

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// party is an account or contract. A party that the simulation created has the number that the simulation allocated.
type party struct {
	id      ledger.EntityID
	address common.Address // of a caller that does not exist, only if id is 0
}

func (p party) isZero() bool { return p == party{} }

func partyOf(id ledger.EntityID) party { return party{id: id} }

// Facts that contracts can change. Pointers to them are valid for the whole simulation.
type (
	// relation is the association of an account with a token.
	relation struct {
		associated, frozen, kyc, automatic bool
		balance                            int64
	}
	// nft is a serial.
	nft struct {
		exists   bool
		owner    party // zero: the current treasury
		spender  party
		metadata []byte
		created  ledger.Timestamp
	}
	// token is a token with its changes.
	token struct {
		worldstate.Token
		deleted bool
		made    bool // created by the simulation
		fresh   bool // being created
		// former is the treasury in the ledger, 0 for a new token.
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

// facts are the ledger's facts about tokens and schedules, with the changes of a simulation. Each simulation has one.
type facts struct {
	state  *evm.State
	source Source
	cfg    Config

	tokens     map[ledger.EntityID]*token // nil if it does not exist
	relations  map[relationKey]*relation
	nfts       map[ledger.NFTKey]*nft
	allowances map[allowanceKey]*int64 // of hbars if the token is 0
	operators  map[allowanceKey]*bool
	slots      map[party]*worldstate.AutoAssociations
	serials    map[ledger.EntityID]*int64
	airdrops   map[airdropKey]*airdrop
	schedules  map[ledger.EntityID]*schedule      // nil if it does not exist
	addresses  map[ledger.EntityID]common.Address // of new parties
}

type factsKey struct{}

func factsOf(state *evm.State, cfg Config) *facts {
	return evm.Overlay(state, factsKey{}, func() *facts {
		source, ok := state.Source().(Source)
		if !ok {
			state.Abort(errNoSource)
		}
		return &facts{
			state: state, source: source, cfg: cfg,
			tokens: map[ledger.EntityID]*token{}, relations: map[relationKey]*relation{},
			nfts: map[ledger.NFTKey]*nft{}, allowances: map[allowanceKey]*int64{},
			operators: map[allowanceKey]*bool{}, slots: map[party]*worldstate.AutoAssociations{},
			serials: map[ledger.EntityID]*int64{}, airdrops: map[airdropKey]*airdrop{},
			schedules: map[ledger.EntityID]*schedule{}, addresses: map[ledger.EntityID]common.Address{},
		}
	})
}

var errNoSource = errors.New("the source of the simulation does not implement system.Source")

// change assigns a value and registers its undo function.
func change[T any](f *facts, at *T, v T) {
	old := *at
	f.state.Journal().Append(func() { *at = old })
	*at = v
}

// request selects facts to load together.
type request struct {
	tokens     []ledger.EntityID
	relations  []relationKey
	nfts       []ledger.NFTKey
	allowances []allowanceKey
	operators  []allowanceKey
	slots      []party
	serials    []ledger.EntityID
}

// load reads the facts of a request that are not loaded.
func (f *facts) load(req request) {
	r := worldstate.TokenReads{
		Tokens:     missing(f.tokens, req.tokens, func() *token { return nil }),
		Allowances: stored(missing(f.allowances, req.allowances, zero[int64])),
		Operators:  stored(missing(f.operators, req.operators, zero[bool])),
	}
	for _, k := range missing(f.relations, req.relations, zero[relation]) {
		if k.account.id != 0 && k.token != 0 && !f.newToken(k.token) {
			r.Relations = append(r.Relations, worldstate.RelationKey{Account: k.account.id, Token: k.token})
		}
	}
	for _, k := range missing(f.nfts, req.nfts, zero[nft]) {
		if !f.newToken(k.TokenID) {
			r.NFTs = append(r.NFTs, k)
		}
	}
	for _, p := range missing(f.slots, req.slots, zero[worldstate.AutoAssociations]) {
		if a, made := f.addresses[p.id]; made && f.state.Entity(a) == nil && !f.state.IsNewContract(a) {
			f.slots[p].Most = -1 // an account that a transfer created accepts all tokens
		}
		if p.id != 0 {
			r.Slots = append(r.Slots, p.id)
		}
	}
	for _, id := range missing(f.serials, req.serials, zero[int64]) {
		if !f.newToken(id) {
			r.Serials = append(r.Serials, id)
		}
	}
	f.read(&r)
}

// missing returns the keys that are not loaded, and stores an empty value for each.
func missing[K comparable, V any](loaded map[K]V, keys []K, empty func() V) (out []K) {
	for _, k := range keys {
		if _, ok := loaded[k]; !ok {
			loaded[k] = empty()
			out = append(out, k)
		}
	}
	return out
}

func zero[T any]() *T { return new(T) }

// stored returns the keys of allowances that the ledger can have: those between parties with an id.
func stored(keys []allowanceKey) (out []worldstate.AllowanceKey) {
	for _, k := range keys {
		if k.owner.id != 0 && k.spender.id != 0 {
			out = append(out, worldstate.AllowanceKey{Owner: k.owner.id, Spender: k.spender.id, Token: k.token})
		}
	}
	return out
}

// newToken reports whether the simulation created a token.
func (f *facts) newToken(id ledger.EntityID) bool { return f.tokens[id] != nil && f.tokens[id].made }

func ofLedger(k worldstate.AllowanceKey) allowanceKey {
	return allowanceKey{partyOf(k.Owner), partyOf(k.Spender), k.Token}
}

func (f *facts) read(r *worldstate.TokenReads) {
	if len(r.Tokens)+len(r.Relations)+len(r.NFTs)+len(r.Allowances)+len(r.Operators)+len(r.Slots)+len(r.Serials) == 0 {
		return
	}
	got, err := f.source.TokenFacts(f.state.Context(), r)
	f.state.Check(err, "running a system contract")
	for id, t := range got.Tokens {
		f.tokens[id] = &token{Token: *t, former: t.TreasuryAccountID}
	}
	for k, v := range got.Relations {
		*f.relations[relationKey{
			partyOf(k.Account), k.Token,
		}] = relation{true, v.Frozen, v.KYCGranted, v.Automatic, v.Balance}
	}
	for k, n := range got.NFTs {
		owner := partyOf(n.AccountID)
		if t := f.tokens[k.TokenID]; t != nil && n.AccountID == t.former {
			owner = party{}
		}
		*f.nfts[k] = nft{exists: true, owner: owner, spender: partyOf(
			n.SpenderID,
		), metadata: n.Metadata, created: n.CreatedTimestamp.V}
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
	for id, v := range got.Serials {
		*f.serials[id] = v
	}
}

// tokenID returns the id of the token at a long-zero address. Tokens have no other addresses.
func (f *facts) tokenID(a common.Address) (ledger.EntityID, bool) {
	num, ok := ledger.EVMAddress(a).Num()
	return f.cfg.Base.WithNum(num), ok && num > 0
}

// token returns the token at an address, or nil if it does not exist or is deleted.
func (f *facts) token(a common.Address) *token {
	id, ok := f.tokenID(a)
	if !ok {
		return nil
	}
	f.load(request{tokens: []ledger.EntityID{id}})
	if t := f.tokens[id]; t != nil && !t.deleted {
		return t
	}
	return nil
}

// party returns the account or contract at an address. ok is false if contracts cannot refer to one by this address.
func (f *facts) party(a common.Address) (p party, ok bool) {
	e := f.state.Entity(a)
	if e == nil {
		// New tokens and schedules are not parties.
		if _, longZero := ledger.EVMAddress(a).Num(); longZero && !f.state.IsNewContract(a) || !f.state.Exist(a) {
			return party{}, false
		}
		return f.newParty(a), true
	}
	switch e.Type {
	case ledger.EntityAccount, ledger.EntityContract, ledger.EntityUnknown:
	default:
		return party{}, false
	}
	if evm.Canonical(e) != a {
		return party{}, false
	}
	if e.ID == 0 { // it exists by an override
		return f.newParty(a), true
	}
	return partyOf(e.ID), true
}

// newParty returns the party at an address that the ledger does not have.
func (f *facts) newParty(a common.Address) party {
	p := partyOf(f.cfg.Base.WithNum(f.state.NumberOf(a)))
	f.addresses[p.id] = a
	return p
}

// create creates a token or a schedule and returns its id.
func (f *facts) create(kind ledger.EntityType) ledger.EntityID {
	return f.cfg.Base.WithNum(f.state.CreateEntity(kind))
}

// longZero returns the address of an id, the zero address for 0.
func longZero(id ledger.EntityID) common.Address { return common.Address(id.LongZero()) }

// address returns the address that contracts use for a party.
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

// relation returns the association of a party with a token.
func (f *facts) relation(p party, t *token) *relation {
	k := relationKey{p, t.EntityID}
	f.load(request{relations: []relationKey{k}})
	return f.relations[k]
}

// storedOwner returns the value of nft.owner for a new owner.
func (t *token) storedOwner(p party) party {
	if p == partyOf(t.TreasuryAccountID) {
		return party{}
	}
	return p
}

// nft returns a serial of a token, or nil if it does not exist.
func (f *facts) nft(t *token, serial int64) *nft {
	k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: serial}
	f.load(request{nfts: []ledger.NFTKey{k}})
	if n := f.nfts[k]; n.exists {
		return n
	}
	return nil
}

// owner returns the owner of a serial.
func (f *facts) owner(t *token, n *nft) party {
	if n.owner.isZero() {
		return partyOf(t.TreasuryAccountID)
	}
	return n.owner
}

// allowance returns the amount that a spender may transfer of a token, or of hbars if t is nil.
func (f *facts) allowance(owner, spender party, t *token) *int64 {
	k := allowanceKey{owner: owner, spender: spender}
	if t != nil {
		k.token = t.EntityID
	}
	f.load(request{allowances: []allowanceKey{k}})
	return f.allowances[k]
}

// operator returns whether a spender may transfer all serials of an owner.
func (f *facts) operator(owner, spender party, t *token) *bool {
	k := allowanceKey{owner, spender, t.EntityID}
	f.load(request{operators: []allowanceKey{k}})
	return f.operators[k]
}
