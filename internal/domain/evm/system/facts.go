package system

import (
	"cmp"
	"errors"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

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
		owner    ledger.EntityID // 0: the current treasury
		spender  ledger.EntityID
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
)

// facts are the ledger's facts about tokens and schedules, with the changes of a simulation. Each simulation has one.
type facts struct {
	state  *evm.State
	source Source
	cfg    Config

	tokens     map[ledger.EntityID]*token // nil if it does not exist
	relations  map[worldstate.RelationKey]*relation
	nfts       map[ledger.NFTKey]*nft
	allowances map[worldstate.AllowanceKey]*int64 // of hbars if the token is 0
	operators  map[worldstate.AllowanceKey]*bool
	slots      map[ledger.EntityID]*worldstate.AutoAssociations
	serials    map[ledger.EntityID]*int64
	airdrops   map[airdropKey]*airdrop
	schedules  map[ledger.EntityID]*schedule      // nil if it does not exist
	addresses  map[ledger.EntityID]common.Address // of parties that the ledger does not have
}

type factsKey struct{}

// factsOf returns what the system contracts have read and changed in a simulation. The first call creates it. The run
// ends with an error if the source of the simulation does not implement [Source].
func factsOf(state *evm.State, cfg Config) *facts {
	return evm.Overlay(state, factsKey{}, func() *facts {
		source, ok := state.Source().(Source)
		if !ok {
			state.Abort(errNoSource)
		}
		return &facts{
			state: state, source: source, cfg: cfg,
			tokens: map[ledger.EntityID]*token{}, relations: map[worldstate.RelationKey]*relation{},
			nfts: map[ledger.NFTKey]*nft{}, allowances: map[worldstate.AllowanceKey]*int64{},
			operators: map[worldstate.AllowanceKey]*bool{}, slots: map[ledger.EntityID]*worldstate.AutoAssociations{},
			serials: map[ledger.EntityID]*int64{}, airdrops: map[airdropKey]*airdrop{},
			schedules: map[ledger.EntityID]*schedule{}, addresses: map[ledger.EntityID]common.Address{},
		}
	})
}

var errNoSource = errors.New("the source of the simulation does not implement system.Source")

// load reads the facts of r that the simulation has not read yet, in one request to the source. What the ledger does
// not have becomes the zero value, a token nil. A failed read ends the simulation.
func (f *facts) load(r worldstate.TokenReads) {
	r.Tokens = missing(f.tokens, r.Tokens, func() *token { return nil })
	r.Relations = missing(f.relations, r.Relations, zero[relation])
	r.NFTs = missing(f.nfts, r.NFTs, zero[nft])
	r.Allowances = missing(f.allowances, r.Allowances, zero[int64])
	r.Operators = missing(f.operators, r.Operators, zero[bool])
	r.Slots = missing(f.slots, r.Slots, zero[worldstate.AutoAssociations])
	r.Serials = missing(f.serials, r.Serials, zero[int64])
	for _, id := range r.Slots {
		if a, made := f.addresses[id]; made && f.state.Entity(a) == nil && !f.state.IsNewContract(a) {
			f.slots[id].Most = -1 // an account that a transfer created accepts all tokens
		}
	}
	if len(r.Tokens)+len(r.Relations)+len(r.NFTs)+len(r.Allowances)+len(r.Operators)+len(r.Slots)+len(r.Serials) == 0 {
		return
	}
	got, err := f.source.TokenFacts(f.state.Context(), &r)
	f.state.Check(err, "running a system contract")
	for id, t := range got.Tokens {
		f.tokens[id] = &token{Token: *t, former: t.TreasuryAccountID}
	}
	for k, v := range got.Relations {
		*f.relations[k] = relation{true, v.Frozen, v.KYCGranted, v.Automatic, v.Balance}
	}
	for k, n := range got.NFTs {
		owner := n.AccountID
		if t := f.tokens[k.TokenID]; t != nil && owner == t.former {
			owner = 0
		}
		*f.nfts[k] = nft{
			exists: true, owner: owner, spender: n.SpenderID, metadata: n.Metadata, created: n.CreatedTimestamp.V,
		}
	}
	fill(f.allowances, got.Allowances)
	fill(f.operators, got.Operators)
	fill(f.slots, got.Slots)
	fill(f.serials, got.Serials)
}

// missing returns the keys that are not loaded, and stores an empty value for each of them in loaded.
func missing[K comparable, V any](loaded map[K]V, keys []K, empty func() V) (out []K) {
	for _, k := range keys {
		if _, ok := loaded[k]; !ok {
			loaded[k] = empty()
			out = append(out, k)
		}
	}
	return out
}

// zero returns a pointer to a new zero value, for [missing].
func zero[T any]() *T { return new(T) }

// fill stores the values that were read in those of loaded, which must have their keys.
func fill[K comparable, V any](loaded map[K]*V, got map[K]V) {
	for k, v := range got {
		*loaded[k] = v
	}
}

// tokenID returns the id that a long-zero address stands for, and false for other addresses. Tokens have no other
// addresses. It does not check that the token exists.
func (f *facts) tokenID(a common.Address) (ledger.EntityID, bool) {
	num, ok := ledger.EVMAddress(a).Num()
	return f.cfg.Base.WithNum(num), ok && num > 0
}

// token returns the token at an address, which it reads if necessary, or nil if it does not exist or is deleted. A
// failed read aborts the run.
func (f *facts) token(a common.Address) *token {
	id, ok := f.tokenID(a)
	if !ok {
		return nil
	}
	f.load(worldstate.TokenReads{Tokens: []ledger.EntityID{id}})
	if t := f.tokens[id]; t != nil && !t.deleted {
		return t
	}
	return nil
}

// party returns the id of the account or contract at an address, which it reads if necessary. For one that the
// simulation created it can allocate a number. ok is false if contracts cannot refer to one by this address.
func (f *facts) party(a common.Address) (id ledger.EntityID, ok bool) {
	e := f.state.Entity(a)
	switch {
	case e == nil:
		// New tokens and schedules are not parties.
		if _, longZero := ledger.EVMAddress(a).Num(); longZero && !f.state.IsNewContract(a) || !f.state.Exist(a) {
			return 0, false
		}
		return f.newParty(a), true
	case e.Type != ledger.EntityAccount && e.Type != ledger.EntityContract && e.Type != ledger.EntityUnknown,
		evm.Canonical(e) != a:
		return 0, false
	case e.ID == 0: // it exists by an override
		return f.newParty(a), true
	default:
		return e.ID, true
	}
}

// newParty returns the id for an address that the ledger does not have. The simulation allocates its number on the
// first call; a failed read of the highest number aborts the run.
func (f *facts) newParty(a common.Address) ledger.EntityID {
	id := f.cfg.Base.WithNum(f.state.NumberOf(a))
	f.addresses[id] = a
	return id
}

// create adds a token or a schedule to the simulation and returns its id. It is undone if the frame is reverted.
func (f *facts) create(kind ledger.EntityType) ledger.EntityID {
	return f.cfg.Base.WithNum(f.state.CreateEntity(kind))
}

// longZero returns the address of an id, the zero address for 0.
func longZero(id ledger.EntityID) common.Address { return common.Address(id.LongZero()) }

// address returns the address that contracts use for a party: its alias if it has one, otherwise long-zero. It is the
// zero address for 0. It reads the party on first use; a failed read aborts the run.
func (f *facts) address(id ledger.EntityID) common.Address {
	if a, made := f.addresses[id]; made {
		return a
	}
	if id != 0 {
		if e := f.state.Entity(longZero(id)); e != nil {
			return evm.Canonical(e)
		}
	}
	return longZero(id)
}

// relation returns the association of an account with a token, read on first use, with the changes of the simulation.
// It is never nil: without one all values are zero. Only [evm.Set] may change it. A failed read aborts the run.
func (f *facts) relation(account ledger.EntityID, t *token) *relation {
	k := worldstate.RelationKey{Account: account, Token: t.EntityID}
	f.load(worldstate.TokenReads{Relations: []worldstate.RelationKey{k}})
	return f.relations[k]
}

// nft returns a serial of a token, which it reads if necessary, or nil if it does not exist. A failed read aborts the
// run.
func (f *facts) nft(t *token, serial int64) *nft {
	k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: serial}
	f.load(worldstate.TokenReads{NFTs: []ledger.NFTKey{k}})
	if n := f.nfts[k]; n.exists {
		return n
	}
	return nil
}

// ownerOf returns the owner of a serial: its own, or else the treasury of the token.
func (t *token) ownerOf(n *nft) ledger.EntityID { return cmp.Or(n.owner, t.TreasuryAccountID) }

// allowance returns a pointer to the amount that a spender may transfer of a token, or in tinybars of hbars if the
// token is 0. It reads the amount if necessary; a failed read aborts the run.
func (f *facts) allowance(owner, spender, token ledger.EntityID) *int64 {
	k := worldstate.AllowanceKey{Owner: owner, Spender: spender, Token: token}
	f.load(worldstate.TokenReads{Allowances: []worldstate.AllowanceKey{k}})
	return f.allowances[k]
}

// operator returns a pointer to whether a spender may transfer all serials of an owner. It reads that if necessary; a
// failed read aborts the run.
func (f *facts) operator(owner, spender ledger.EntityID, t *token) *bool {
	k := worldstate.AllowanceKey{Owner: owner, Spender: spender, Token: t.EntityID}
	f.load(worldstate.TokenReads{Operators: []worldstate.AllowanceKey{k}})
	return f.operators[k]
}
