package resolvers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/breadth"
	"heliograph/storage/pgtest"
)

// moved are the objects in the transfers of a transaction, as the tables have them.
type moved struct {
	entity   int64
	accounts map[int64]bool
	held     map[holding]bool
	nfts     []serial
}

// movedBy reads the transfers of a transaction.
func movedBy(t *testing.T, conn *pgx.Conn, at int64) moved {
	t.Helper()
	m := moved{accounts: map[int64]bool{}, held: map[holding]bool{}}
	each(t, conn, fmt.Sprintf(`select entity_id from crypto_transfer where consensus_timestamp = %d`, at),
		func(r pgx.Rows) error {
			var id int64
			err := r.Scan(&id)
			m.accounts[id] = true
			return err
		})
	each(t, conn, fmt.Sprintf(`select account_id, token_id from token_transfer where consensus_timestamp = %d`, at),
		func(r pgx.Rows) error {
			var of holding
			err := r.Scan(&of.account, &of.token)
			m.held[of] = true
			return err
		})
	each(t, conn, fmt.Sprintf(`select coalesce(entity_id, 0), coalesce(nft_transfer, '[]') from transaction where `+
		`consensus_timestamp = %d`, at),
		func(r pgx.Rows) error {
			var nfts []struct {
				Sender   *int64 `json:"sender_account_id"`
				Receiver *int64 `json:"receiver_account_id"`
				Token    int64  `json:"token_id"`
				Serial   int64  `json:"serial_number"`
			}
			err := r.Scan(&m.entity, &nfts)
			for _, n := range nfts {
				if n.Serial < 0 {
					continue
				}
				if of := (serial{n.Token, n.Serial}); !slices.Contains(m.nfts, of) {
					m.nfts = append(m.nfts, of)
				}
				for _, account := range []*int64{n.Sender, n.Receiver} {
					if account != nil && *account != 0 {
						m.held[holding{*account, n.Token}] = true
					}
				}
			}
			return err
		})
	return m
}

// of returns the lines that describe the objects in the state of an oracle.
func (m *moved) of(o *oracle) map[string]string {
	out := map[string]string{}
	all := maps.Clone(m.accounts)
	for h := range m.held {
		all[h.account] = true
	}
	if m.entity != 0 {
		all[m.entity] = true
	}
	for id := range all {
		if m.accounts[id] {
			out[fmt.Sprintf("entity %d balance", id)] = strconv.FormatInt(o.hbars[id], 10)
		}
		out[fmt.Sprintf("entity %d memo", id)] = o.memos[id]
	}
	owned := map[holding]int64{}
	for of, n := range o.nfts {
		if n.exists && !n.deleted {
			owned[holding{n.owner, of.token}]++
		}
	}
	for of := range m.held {
		balance := o.amounts[of]
		if o.kinds[of.token] == "NON_FUNGIBLE_UNIQUE" {
			balance = owned[of]
		}
		r := o.relations[of]
		out[fmt.Sprintf("relationship %d %d balance", of.account, of.token)] = strconv.FormatInt(balance, 10)
		out[fmt.Sprintf("relationship %d %d associated", of.account, of.token)] = strconv.FormatBool(r.associated)
		out[fmt.Sprintf("relationship %d %d automaticAssociation", of.account,
			of.token)] = strconv.FormatBool(r.automatic)
	}
	entity := func(id int64) string {
		if id == 0 {
			return ""
		}
		return fmt.Sprintf("0.0.%d", id)
	}
	for _, of := range m.nfts {
		n := o.nfts[of]
		out[fmt.Sprintf("nft %d %d accountId", of.token, of.number)] = entity(n.owner)
		out[fmt.Sprintf("nft %d %d spenderId", of.token, of.number)] = entity(n.spender)
		out[fmt.Sprintf("nft %d %d delegatingSpenderId", of.token, of.number)] = entity(n.delegate)
		out[fmt.Sprintf("nft %d %d deleted", of.token, of.number)] = strconv.FormatBool(n.deleted)
	}
	return out
}

// effect is an element of the lists of TransactionEffects.
type effect struct {
	EntityID, AccountID, TokenID, SerialNumber string
	Balance                                    *struct {
		Amount                 string
		Before, After, Unknown *string
	}
	Changes []struct {
		Field         string
		Before, After *string
	}
}

const effectsDocument = `{ transaction(at: "%d.%09d") { effects {
  entities { entityId balance { amount before after unknown } changes { field before after } }
  relationships { accountId tokenId balance { amount before after unknown } changes { field before after } }
  nfts { tokenId serialNumber changes { field before after } } notCovered } } }`

// TestEffectsTwice selects the balances of effects at one place and at three places with different fields, which must
// not change them.
func TestEffectsTwice(t *testing.T) {
	t.Parallel()
	type balance struct{ Amount, Before string }
	amounts := func(places string) (all []balance) {
		var got struct {
			Transactions struct {
				Nodes []struct {
					Effects struct{ Entities, Relationships []map[string]*balance }
				}
			}
		}
		testenv.Shared(t).Data(t, `{ transactions(first: 60, filter: {types: [CRYPTOTRANSFER]}) { nodes { effects {
			entities { `+places+` } relationships { `+places+` } } } } }`, nil, &got)
		for _, n := range got.Transactions.Nodes {
			for _, e := range append(n.Effects.Entities, n.Effects.Relationships...) {
				if b := e["one"]; b != nil {
					all = append(all, *b)
				}
			}
		}
		return all
	}
	const one = `one: balance { amount before } `
	alone := amounts(one)
	together := amounts(one + `two: balance { before amount after } three: balance { amount }`)
	if len(alone) < 60 || !slices.Equal(alone, together) {
		t.Errorf("%d balances alone, %d at three places:\n%v\n%v", len(alone), len(together), alone, together)
	}
}

// effectsAt returns the effects of a transaction by their names, which begin as those of [moved].
func effectsAt(t *testing.T, g *testenv.Gateway, at int64) map[string]effect {
	t.Helper()
	var got struct {
		Errors []struct{ Message string }
		Data   struct {
			Transaction []struct {
				Effects struct{ Entities, Relationships, NFTs []effect }
			}
		}
	}
	body := g.Query(t, fmt.Sprintf(effectsDocument, at/1e9, at%1e9), nil).Body
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Errors) > 0 || len(got.Data.Transaction) != 1 {
		t.Fatalf("%v: %.900s", err, body)
	}
	out, e := map[string]effect{}, got.Data.Transaction[0].Effects
	num := func(id string) string { return id[strings.LastIndexByte(id, '.')+1:] }
	for _, one := range e.Entities {
		out["entity "+num(one.EntityID)] = one
	}
	for _, one := range e.Relationships {
		out["relationship "+num(one.AccountID)+" "+num(one.TokenID)] = one
	}
	for _, one := range e.NFTs {
		out["nft "+num(one.TokenID)+" "+one.SerialNumber] = one
	}
	return out
}

// values returns the values of a state that an effect describes: before or after the transaction.
func (e effect) values(name string, after bool, unknown *int) map[string]string {
	out := map[string]string{}
	pick := func(a, b *string) string {
		if after {
			a = b
		}
		if a == nil {
			return ""
		}
		return *a
	}
	if e.Balance != nil {
		if e.Balance.Unknown != nil {
			*unknown++
		} else {
			out[name+" balance"] = pick(e.Balance.Before, e.Balance.After)
		}
	}
	for _, c := range e.Changes {
		out[name+" "+c.Field] = pick(c.Before, c.After)
	}
	return out
}

// TestEffects compares the effects of transactions with the states that a replay of all rows has before and after them.
func TestEffects(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Shared(t)
	o, g, conn := newOracle(t, url), testenv.Over(t, url), pgtest.Connect(t, url)
	var times []int64
	each(t, conn, `select consensus_timestamp from transaction`, func(r pgx.Rows) error {
		var at int64
		err := r.Scan(&at)
		times = append(times, at)
		return err
	})
	rng := rand.New(rand.NewPCG(42, 7))
	rng.Shuffle(len(times), func(i, j int) { times[i], times[j] = times[j], times[i] })
	times = times[:min(breadth.Of(300, 20_000), len(times))]
	slices.Sort(times)
	compared, unknown := 0, 0
	for _, at := range times {
		m := movedBy(t, conn, at)
		o.replay(at - 1)
		before := m.of(o)
		o.replay(at)
		after, got := m.of(o), effectsAt(t, g, at)
		for name := range after {
			object := name[:strings.LastIndexByte(name, ' ')]
			if _, found := got[object]; !found {
				t.Errorf("at %d: %s is missing", at, object)
			}
		}
		for object, e := range got {
			then, now := e.values(object, false, &unknown), e.values(object, true, &unknown)
			for name, value := range now {
				was, known := before[name]
				if !known { // a field that the replay does not keep
					continue
				}
				compared++
				if first := then[name] == "" && (was == "" || was == "false"); value != after[name] ||
					then[name] != was && !first {
					t.Errorf("at %d: %s changed from %q to %q, want %q to %q", at, name, then[name], value, was,
						after[name])
				}
			}
			for name := range after {
				if _, changed := now[name]; !changed && strings.HasPrefix(name, object+" ") &&
					!strings.HasSuffix(name, " balance") &&
					before[name] != after[name] {
					t.Errorf("at %d: %s changed from %q to %q, and the effects do not have it", at, name, before[name],
						after[name])
				}
			}
			if e.Balance == nil && after[object+" balance"] != "" {
				t.Errorf("at %d: %s has no balance", at, object)
			}
		}
	}
	t.Logf("%d values of %d transactions, %d unknown", compared, len(times), unknown)
	if compared < 5*len(times) || unknown > compared/20 {
		t.Errorf("only %d values were compared, %d are unknown", compared, unknown)
	}
}
