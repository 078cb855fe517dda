package evmstate

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/entities"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// open returns a function that opens snapshots of the demo network, which must be closed, and a connection to it.
func open(t *testing.T) (func(worldstate.BlockRef) *Snapshot, *pgx.Conn) {
	t.Helper()
	url := demotest.Network.Shared(t)
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, url), MaxConnections: 16}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.ReadPlacement(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := NewReader(db, entities.NewCallPrices(db), 1<<20)
	return func(at worldstate.BlockRef) *Snapshot {
		s, err := r.Open(t.Context(), Request{Block: at})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close) // if the test fails: a second call does nothing
		return s
	}, pgtest.Connect(t, url)
}

// read returns the rows of a query.
func read[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil || len(out) == 0 {
		t.Fatalf("%d rows, %v: %s", len(out), err, sql)
	}
	return out
}

type pair struct{ A, B int64 }

// TestNewestBlock reads everything twice, in the current state and in the historical state of the newest block. Both
// are equal.
func TestNewestBlock(t *testing.T) {
	t.Parallel()
	snapshot, conn := open(t)
	newest := read[struct{ Index int64 }](t, conn, `select max(index) from record_file`)[0].Index
	now, then := snapshot(worldstate.BlockRef{}), snapshot(worldstate.BlockRef{Number: ledger.Of(newest)})
	defer now.Close()
	defer then.Close()
	if now.Block() != then.Block() {
		t.Errorf("blocks %+v and %+v", now.Block(), then.Block())
	}
	var addresses []ledger.EVMAddress
	for _, e := range read[struct{ ID int64 }](t, conn, `select id from entity where num > 0 order by id`) {
		addresses = append(addresses, ledger.EntityID(e.ID).LongZero())
	}
	for _, e := range read[struct{ Address []byte }](t, conn,
		`select evm_address from entity where evm_address is not null`) {
		addresses = append(addresses, ledger.EVMAddress(e.Address))
	}
	a, err := now.Entities(t.Context(), addresses)
	if err != nil {
		t.Fatal(err)
	}
	b, err := then.Entities(t.Context(), addresses)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i] != nil && b[i] != nil { // entities that have no balance have 0 then
			a[i].Balance = ledger.Of(a[i].Balance.V)
		}
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("entity %s: now %+v, then %+v", addresses[i], a[i], b[i])
		}
	}
	var of worldstate.TokenReads
	for _, r := range read[struct{ ID int64 }](t, conn, `select token_id from token`) {
		of.Tokens, of.Serials = append(of.Tokens, ledger.EntityID(r.ID)), append(of.Serials, ledger.EntityID(r.ID))
	}
	for _, r := range read[struct{ ID int64 }](t, conn,
		`select id from entity where type in ('ACCOUNT', 'CONTRACT')`) {
		of.Slots = append(of.Slots, ledger.EntityID(r.ID))
	}
	for _, r := range read[pair](t, conn, `select account_id, token_id from token_account`) {
		of.Relations = append(of.Relations, worldstate.RelationKey{
			Account: ledger.EntityID(r.A),
			Token:   ledger.EntityID(r.B),
		})
	}
	for _, r := range read[pair](t, conn, `select token_id, serial_number from nft`) {
		of.NFTs = append(of.NFTs, ledger.NFTKey{TokenID: ledger.EntityID(r.A), SerialNumber: r.B})
	}
	type grant struct{ Owner, Spender, Token int64 }
	for _, r := range read[grant](t,
		conn,
		`select owner, spender, token_id from token_allowance union all select owner, spender, 0 from `+
			`crypto_allowance`) {
		of.Allowances = append(of.Allowances, worldstate.AllowanceKey{
			Owner: ledger.EntityID(r.Owner), Spender: ledger.EntityID(r.Spender), Token: ledger.EntityID(r.Token),
		})
	}
	for _, r := range read[grant](t, conn, `select owner, spender, token_id from nft_allowance`) {
		of.Operators = append(of.Operators, worldstate.AllowanceKey{
			Owner: ledger.EntityID(r.Owner), Spender: ledger.EntityID(r.Spender), Token: ledger.EntityID(r.Token),
		})
	}
	x, err := now.TokenFacts(t.Context(), &of)
	if err != nil {
		t.Fatal(err)
	}
	y, err := then.TokenFacts(t.Context(), &of)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "token", x.Tokens, y.Tokens)
	same(t, "relation", x.Relations, y.Relations)
	same(t, "NFT", x.NFTs, y.NFTs)
	same(t, "allowance", x.Allowances, y.Allowances)
	same(t, "operator", x.Operators, y.Operators)
	same(t, "associations", x.Slots, y.Slots)
	same(t, "last serial", x.Serials, y.Serials)
}

// same compares the facts of one kind.
func same[K comparable, V any](t *testing.T, what string, now, then map[K]V) {
	t.Helper()
	if len(now) == 0 {
		t.Errorf("%s: nothing was read", what)
	}
	for k := range maps.Keys(now) {
		if !reflect.DeepEqual(now[k], then[k]) {
			t.Errorf("%s %v: now %+v, then %+v", what, k, now[k], then[k])
		}
	}
	if len(now) != len(then) {
		t.Errorf("%s: %d now, %d then", what, len(now), len(then))
	}
}

// TestHistory compares balances, supplies and storage at random blocks with sums and with the last change over all
// rows.
func TestHistory(t *testing.T) {
	t.Parallel()
	snapshot, conn := open(t)
	type transfer struct{ At, Account, Token, Amount int64 }
	transfers := read[transfer](t, conn, `select consensus_timestamp, entity_id, 0::bigint, amount from crypto_transfer
union all select consensus_timestamp, account_id, token_id, amount from token_transfer`)
	type change struct {
		At, Contract int64
		Slot, Value  []byte
	}
	changes := read[change](t, conn, `select consensus_timestamp, contract_id, slot, coalesce(value_written, value_read) from contract_state_change
order by consensus_timestamp`)
	accounts := read[struct{ ID int64 }](t, conn,
		`select id from entity where type = 'ACCOUNT' and num > 1000 and deleted is not true order by id`)
	fungible := read[struct{ ID int64 }](t, conn, `select token_id from token t join entity e on e.id = t.token_id
where t.type = 'FUNGIBLE_COMMON' and e.deleted is not true`)
	blocks := read[pair](t, conn, `select index, consensus_end from record_file order by index`)
	ends := read[pair](t, conn, `select index, consensus_end from record_file where consensus_end in
(select consensus_timestamp from token_transfer group by 1 having sum(amount) <> 0)`)
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for i := range 25 {
		at := blocks[random.IntN(len(blocks))]
		if i%5 == 0 { // the last transaction is included
			at = ends[random.IntN(len(ends))]
		}
		s := snapshot(worldstate.BlockRef{Number: ledger.Of(at.A)})
		sums := map[pair]int64{} // by account and token; account 0 for the sum of all
		for _, x := range transfers {
			if x.At <= at.B {
				sums[pair{x.Account, x.Token}] += x.Amount
				sums[pair{0, x.Token}] += x.Amount
			}
		}
		var addresses []ledger.EVMAddress
		var of worldstate.TokenReads
		for _, x := range transfers {
			if x.At == at.B && x.Token != 0 {
				of.Relations = append(of.Relations,
					worldstate.RelationKey{Account: ledger.EntityID(x.Account), Token: ledger.EntityID(x.Token)})
			}
		}
		for _, a := range accounts {
			addresses = append(addresses, ledger.EntityID(a.ID).LongZero())
		}
		for _, token := range fungible {
			of.Tokens = append(of.Tokens, ledger.EntityID(token.ID))
			for range 20 {
				of.Relations = append(of.Relations, worldstate.RelationKey{
					Account: ledger.EntityID(accounts[random.IntN(len(accounts))].ID),
					Token:   ledger.EntityID(token.ID),
				})
			}
		}
		found, err := s.Entities(t.Context(), addresses)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range found {
			if e == nil { // created later
				continue
			}
			compared++
			if want := sums[pair{accounts[i].ID, 0}]; e.Balance.V != want {
				t.Errorf("block %d: account %s has %d tinybars, want %d", at.A, e.ID, e.Balance.V, want)
			}
		}
		facts, err := s.TokenFacts(t.Context(), &of)
		if err != nil {
			t.Fatal(err)
		}
		for id, token := range facts.Tokens {
			compared++
			if want := sums[pair{0, int64(id)}]; token.TotalSupply != want {
				t.Errorf("block %d: supply of token %s is %d, want %d", at.A, id, token.TotalSupply, want)
			}
		}
		for k, r := range facts.Relations {
			compared++
			if want := sums[pair{int64(k.Account), int64(k.Token)}]; r.Balance != want {
				t.Errorf("block %d: account %s has %d of token %s, want %d", at.A, k.Account, r.Balance, k.Token, want)
			}
		}
		slots := map[slotKey][32]byte{}
		for _, c := range changes {
			k := slotKey{ledger.EntityID(c.Contract), wordOf(c.Slot)}
			if c.At <= at.B {
				slots[k] = wordOf(c.Value)
			} else if _, changed := slots[k]; !changed {
				slots[k] = [32]byte{} // not written yet
			}
		}
		for k, want := range slots {
			compared++
			if got, err := s.Slots(t.Context(), k.contract, [][32]byte{k.slot}); err != nil ||
				!slices.Equal(got, [][32]byte{want}) {
				t.Errorf("block %d: slot %s of contract %s is %x, want %x, %v", at.A, hex.EncodeToString(k.slot[:]),
					k.contract, got, want, err)
			}
		}
		s.Close()
	}
	if compared < 5000 {
		t.Errorf("%d values were compared, want more", compared)
	}
}

// TestTooManyReads checks that each read of the database fails beyond the limit, and that exchange rates and the price
// of gas, which do not count, are read once.
func TestTooManyReads(t *testing.T) {
	t.Parallel()
	snapshot, conn := open(t)
	s := snapshot(worldstate.BlockRef{})
	defer s.Close()
	ctx := t.Context()
	rates, err := s.ExchangeRates(ctx)
	if err != nil || rates == nil {
		t.Fatal(rates, err)
	}
	price, err := s.GasPrice(ctx)
	if err != nil || price == 0 {
		t.Fatal(price, err)
	}
	contract := ledger.EntityID(read[struct{ ID int64 }](t, conn, `select max(id) from contract`)[0].ID)
	reads := map[string]func() error{
		"blocks":   func() error { _, err := s.BlockHash(ctx, 1); return err },
		"numbers":  func() error { _, err := s.HighestEntity(ctx); return err },
		"tokens":   func() error { _, err := s.TokensOf(ctx, contract); return err },
		"airdrops": func() error { _, err := s.PendingAirdrops(ctx, []*ledger.Airdrop{{}}); return err },
		"schedule": func() error { _, err := s.Schedule(ctx, contract); return err },
		"entities": func() error { _, err := s.Entities(ctx, []ledger.EVMAddress{{19: 9}}); return err },
		"slots":    func() error { _, err := s.Slots(ctx, contract, make([][32]byte, 1)); return err },
		"facts": func() error {
			_, err := s.TokenFacts(ctx, &worldstate.TokenReads{Tokens: []ledger.EntityID{contract}})
			return err
		},
	}
	for name, run := range reads {
		if name != "entities" && name != "slots" { // these are read once
			if err := run(); err != nil {
				t.Errorf("%s below the limit: %v", name, err)
			}
		}
	}
	s.trips = maxTrips
	for name, run := range reads {
		if err := run(); !errors.Is(err, ErrTooManyReads) {
			t.Errorf("%s beyond the limit: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel() // no statement succeeds any more
	if again, err := s.ExchangeRates(ctx); err != nil || again != rates {
		t.Errorf("rates again: %v, %v", again, err)
	}
	if again, err := s.GasPrice(ctx); err != nil || again != price {
		t.Errorf("the price again: %d, %v", again, err)
	}
}
