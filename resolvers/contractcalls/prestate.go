package contractcalls

import (
	"bytes"
	"context"
	"slices"

	"heliograph/graph/fault"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/evmstate"
	"heliograph/storage/transactions"
)

// Limits of a prestate.
const (
	MaxTouched       = 1000
	MaxPrestateBytes = 10_000_000 // of all runtime bytecode
)

// PrestateOptions select the parts of a prestate.
type PrestateOptions struct {
	// Code and Storage include the runtime bytecode and the storage slots of contracts.
	Code, Storage bool
	// Diff also derives the state after the transaction, and leaves out what did not change.
	Diff bool
}

// Prestate derives the state that the transaction of a contract result touched from its recorded actions and state
// changes, which it reads in several statements. It runs no code. It fails with NOT_FOUND if prestates are off, with
// RATE_LIMITED above the limit per second, with TIMEOUT after the timeout of calls, and with BAD_USER_INPUT if the
// code of the entities is too large.
func (s *Service) Prestate(
	ctx context.Context, o PrestateOptions, r *ledger.ContractResult,
) (*ledger.ContractPrestate, error) {
	if !s.o.Prestate {
		return nil, fault.Of(fault.NotFound, calls.ErrPrestateDisabled)
	}
	if err := s.limits.admitOne(ctx, s.limits.prestates); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	var p *prestate
	err := s.prepared(ctx, func() (err error) {
		p, err = s.readPrestate(ctx, o, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.result()
}

// prestate is the state before and after a transaction.
type prestate struct {
	o       PrestateOptions
	before  map[ledger.EntityID]*worldstate.Entity
	now     map[ledger.EntityID]*transactions.TouchedEntity
	at      ledger.Timestamp
	ids     []ledger.EntityID // at most MaxTouched, in the order in which the transaction touched them
	created map[ledger.EntityID]bool
	moved   map[ledger.EntityID]int64
	nonces  map[ledger.EntityID]int64 // after the transaction, as far as they are known
	spent   map[ledger.EntityID]int64 // by how much the transaction increased nonces
	slots   map[ledger.EntityID][]*ledger.ContractStateChange
}

// touch adds to p.ids entities that the transaction has used, each once, up to MaxTouched. It ignores ids without a
// number.
func (p *prestate) touch(ids ...ledger.EntityID) {
	for _, id := range ids {
		if !id.IsNone() && len(p.ids) < MaxTouched && !slices.Contains(p.ids, id) {
			p.ids = append(p.ids, id)
		}
	}
}

// readPrestate reads what the transaction of r has used: entities, balances, nonces and storage slots, as they are now
// and as they were before the transaction. It reads the mirror database in several statements. The prestate beside an
// error is not complete and must not be used.
func (s *Service) readPrestate(ctx context.Context, o PrestateOptions, r *ledger.ContractResult) (*prestate, error) {
	p := &prestate{
		o: o, at: r.ConsensusTimestamp,
		before: map[ledger.EntityID]*worldstate.Entity{}, now: map[ledger.EntityID]*transactions.TouchedEntity{},
		created: map[ledger.EntityID]bool{}, moved: map[ledger.EntityID]int64{},
		nonces: map[ledger.EntityID]int64{}, spent: map[ledger.EntityID]int64{},
		slots: map[ledger.EntityID][]*ledger.ContractStateChange{},
	}
	touched, err := transactions.ReadTouched(ctx, s.db, r, o.Storage)
	if err != nil {
		return nil, err
	}
	p.add(r, touched)
	rows, err := transactions.TouchedEntities(ctx, s.db, p.ids, o.Code)
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		p.now[e.ID] = e
	}
	return p, s.readBefore(ctx, p, r)
}

// add adds to p the entities that r and t name, as far as MaxTouched permits, and what the transaction did to
// balances, in tinybars, nonces and slots. t.Created begins with the contracts of r.CreatedContractIDs. r and t do not
// change.
func (p *prestate) add(r *ledger.ContractResult, t *transactions.Touched) {
	for _, a := range t.Actions {
		recipient := a.Account
		if recipient.IsNone() {
			recipient = a.Contract
		}
		p.touch(a.Caller, a.Account, a.Contract)
		if a.Moved {
			p.moved[a.Caller] -= a.Value
			p.moved[recipient] += a.Value
		}
		if a.Depth > 0 && (a.Operation == ledger.OperationCreate || a.Operation == ledger.OperationCreate2) {
			p.spent[a.Caller]++
		}
	}
	p.touch(t.Created[len(r.CreatedContractIDs):]...)
	p.touch(r.SenderID)
	p.touch(r.CreatedContractIDs...)
	for _, id := range t.Created {
		p.created[id] = true
	}
	withNonce := make([]ledger.EntityID, 0, len(t.Nonces))
	for id, nonce := range t.Nonces {
		withNonce = append(withNonce, id)
		p.nonces[id] = nonce
	}
	slices.Sort(withNonce)
	p.touch(withNonce...)
	if e := r.Ethereum; e != nil {
		p.nonces[r.SenderID] = e.Nonce + 1
		p.spent[r.SenderID]++
	}
	for _, c := range t.Slots {
		p.slots[c.ContractID] = append(p.slots[c.ContractID], c)
	}
}

// readBefore reads the entities before the transaction into p, and adds the accounts that signed its authorizations.
// It skips an authorization whose signer is unknown, or whose nonce is not that of the signer before the transaction,
// or one more for the sender. It holds a connection while it reads.
func (s *Service) readBefore(ctx context.Context, p *prestate, r *ledger.ContractResult) error {
	var addresses []ledger.EVMAddress
	for _, id := range p.ids {
		addresses = append(addresses, id.LongZero())
	}
	type authority struct {
		address ledger.EVMAddress
		nonce   int64
	}
	var authorities []authority
	for _, a := range r.AuthorizationList() {
		if signer, nonce, ok := evm.Authority(a, s.db.ChainID()); ok {
			authorities = append(authorities, authority{signer, nonce})
			addresses = append(addresses, signer)
		}
	}
	before := worldstate.BlockRef{Before: p.at}
	snapshot, err := s.reader.Open(ctx, evmstate.Request{Block: before, Addresses: addresses})
	if err != nil {
		return failure(err)
	}
	defer snapshot.Close()
	found, err := snapshot.Entities(ctx, addresses)
	if err != nil {
		return failure(err)
	}
	for i, e := range found[:len(p.ids)] {
		if e != nil && (e.Type == ledger.EntityAccount || e.Type == ledger.EntityContract) && !p.created[p.ids[i]] {
			p.before[p.ids[i]] = e
		}
	}
	for i, signer := range found[len(p.ids):] {
		nonce := authorities[i].nonce
		if signer == nil || signer.Nonce+spentBySender(r, signer.ID) != nonce {
			continue
		}
		p.touch(signer.ID)
		p.before[signer.ID] = signer
		p.nonces[signer.ID] = max(p.nonces[signer.ID], nonce+1)
		p.spent[signer.ID]++
	}
	return nil
}

// spentBySender returns 1 if the entity sent the Ethereum transaction, which increases its nonce before its
// authorizations apply, else 0.
func spentBySender(r *ledger.ContractResult, id ledger.EntityID) int64 {
	if r.Ethereum != nil && r.SenderID == id {
		return 1
	}
	return 0
}

// result returns the accounts before the transaction, and for a diff those after it, without accounts that did not
// change. Both lists are sorted by address. More code than [MaxPrestateBytes] is BAD_USER_INPUT.
func (p *prestate) result() (*ledger.ContractPrestate, error) {
	out := &ledger.ContractPrestate{Pre: []*ledger.PrestateAccount{}, Post: []*ledger.PrestateAccount{}}
	size := 0
	for _, id := range p.ids {
		before, after := p.accountBefore(id), p.accountAfter(id)
		switch {
		case !p.o.Diff:
			after = nil
		case before != nil && after != nil && p.equal(before, after):
			continue
		}
		if before != nil {
			size += len(before.Code)
			out.Pre = append(out.Pre, before)
		}
		if after != nil {
			size += len(after.Code)
			out.Post = append(out.Post, after)
		}
		if size > MaxPrestateBytes {
			return nil, fault.Of(fault.BadUserInput, calls.ErrPrestateSize)
		}
	}
	for _, list := range [][]*ledger.PrestateAccount{out.Pre, out.Post} {
		slices.SortFunc(list, func(a, b *ledger.PrestateAccount) int { return bytes.Compare(a.Address, b.Address) })
	}
	return out, nil
}

// equal reports whether an account has the same balance, nonce, code and storage slots before and after the
// transaction. Neither may be nil.
func (p *prestate) equal(before, after *ledger.PrestateAccount) bool {
	same := func(a, b *ledger.PrestateSlot) bool {
		return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
	}
	return before.Balance == after.Balance && before.Nonce == after.Nonce && bytes.Equal(before.Code, after.Code) &&
		slices.EqualFunc(before.Storage, after.Storage, same)
}

// accountBefore returns an entity as it was before the transaction, with balance in tinybars, or nil if it did not
// exist. An unknown nonce is 0. It reads only p.
func (p *prestate) accountBefore(id ledger.EntityID) *ledger.PrestateAccount {
	e := p.before[id]
	if e == nil {
		return nil
	}
	address := id.LongZero()
	if e.Alias.Valid {
		address = e.Alias.V
	}
	a := &ledger.PrestateAccount{
		Address: address[:], EntityID: id, Balance: e.Balance.V, Nonce: max(p.nonces[id]-p.spent[id], 0),
	}
	if e.Type == ledger.EntityContract {
		p.addContract(a, e.Code, func(c *ledger.ContractStateChange) []byte { return c.ValueRead })
	}
	return a
}

// accountAfter returns an entity as it was after the transaction, with balance in tinybars, or nil if it did not exist
// or the transaction deleted it. An unknown nonce is 0. It reads only p.
func (p *prestate) accountAfter(id ledger.EntityID) *ledger.PrestateAccount {
	before, now := p.before[id], p.now[id]
	deleted := now != nil && now.Deleted && now.Since == p.at
	if deleted || before == nil && (now == nil || !p.created[id]) {
		return nil
	}
	address, balance := id.LongZero(), p.moved[id]
	var kind ledger.EntityType
	var code []byte
	if before != nil {
		kind, code, balance = before.Type, before.Code, before.Balance.V+p.moved[id]
		if before.Alias.Valid {
			address = before.Alias.V
		}
	} else {
		kind, code = now.Type, now.Code
		if own, ok := ledger.EVMAddressOf(now.Address); ok {
			address = own
		}
	}
	a := &ledger.PrestateAccount{Address: address[:], EntityID: id, Balance: balance, Nonce: p.nonces[id]}
	if kind == ledger.EntityContract {
		p.addContract(a, code, func(c *ledger.ContractStateChange) []byte { return c.ValueWritten })
	}
	return a
}

// addContract adds the code and the storage slots of a contract to a, as far as they are requested. value returns the
// value of a slot before or after the transaction. Slots without one, or with 0, are left out, and in a diff also
// those that were only read.
func (p *prestate) addContract(
	a *ledger.PrestateAccount, code []byte, value func(*ledger.ContractStateChange) []byte,
) {
	if p.o.Code {
		a.Code = append([]byte{}, code...)
	}
	a.Storage = []*ledger.PrestateSlot{}
	for _, c := range p.slots[a.EntityID] {
		if v := value(c); (!p.o.Diff || c.ValueWritten != nil) && len(bytes.Trim(v, "\x00")) > 0 {
			a.Storage = append(a.Storage, &ledger.PrestateSlot{Key: c.Slot, Value: v})
		}
	}
}
