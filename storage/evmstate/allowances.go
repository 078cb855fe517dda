package evmstate

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

const (
	evmNFTsNow = `select ` + entities.NFTColumns + ` from unnest(@tokens::bigint[], @serials::bigint[]) w(token, serial)
join nft n on n.token_id = w.token and n.serial_number = w.serial join entity e on e.id = n.token_id
where n.deleted is not true and e.deleted is not true`

	nftVersionColumns = `token_id, serial_number, account_id, created_timestamp, delegating_spender, deleted, ` +
		`metadata, spender, timestamp_range`
)

var evmNFTsThen = `select ` + entities.NFTColumns + ` from unnest(@tokens::bigint[], @serials::bigint[]) w(token, serial)
cross join lateral ` + versionThen("nft", nftVersionColumns, "token_id = w.token and serial_number = w.serial") + ` n
cross join lateral ` + versionThen("entity", "id, deleted, timestamp_range", "id = w.token") + ` e
where n.deleted is not true and e.deleted is not true`

var nftFacts = facts{
	storage.Read{SQL: evmNFTsNow, Ahead: keyed("tokens serials", "nft", "entity")},
	storage.Read{SQL: evmNFTsThen, Ahead: keyed("tokens serials", "nft", "nft_history", "entity", "entity_history")},
}

// queueEVMNFTs queues a read of NFTs into f.NFTs, which is filled when the batch has run. Those that do not exist or
// are deleted, or whose token is deleted, are not in the map.
func (s *Snapshot) queueEVMNFTs(b *storage.Batch, keys []ledger.NFTKey, f *worldstate.TokenFacts) {
	queueFacts(s, b, storage.MapperOf(entities.NFTTargets, nil), len(keys), nftFacts, pgx.NamedArgs{
		"tokens":  column(keys, func(k *ledger.NFTKey) ledger.EntityID { return k.TokenID }),
		"serials": column(keys, func(k *ledger.NFTKey) int64 { return k.SerialNumber }),
	}, func(n *ledger.NFT) { f.NFTs[n.Key()] = n })
}

// allowanceKeys returns the named arguments of a statement for a list of allowances: three arrays, whose elements at
// one position are one key.
func allowanceKeys(keys []worldstate.AllowanceKey) pgx.NamedArgs {
	return pgx.NamedArgs{
		"owners":   column(keys, func(k *worldstate.AllowanceKey) ledger.EntityID { return k.Owner }),
		"spenders": column(keys, func(k *worldstate.AllowanceKey) ledger.EntityID { return k.Spender }),
		"tokens":   column(keys, func(k *worldstate.AllowanceKey) ledger.EntityID { return k.Token }),
	}
}

const (
	allowancesWanted = ` from unnest(@owners::bigint[], @spenders::bigint[], @tokens::bigint[]) w(owner, spender, token)
`
	evmAllowancesNow = `select w.owner, w.spender, w.token, coalesce(t.amount, h.amount)` + allowancesWanted +
		`left join token_allowance t on t.owner = w.owner and t.spender = w.spender and t.token_id = w.token and w.token <> 0
left join crypto_allowance h on h.owner = w.owner and h.spender = w.spender and w.token = 0
where coalesce(t.amount, h.amount) is not null`

	evmOperatorsNow = `select w.owner, w.spender, w.token, 1::bigint` + allowancesWanted +
		`join nft_allowance a on a.owner = w.owner and a.spender = w.spender and a.token_id = w.token and ` +
		`a.approved_for_all`
)

// evmAllowancesThen is the statement for allowances at the snapshot's time: the last grant before it, less what the
// spender used since.
var evmAllowancesThen = `select w.owner, w.spender, w.token, coalesce(
  t.amount_granted + coalesce((select sum(amount) from token_transfer where account_id = w.owner and token_id = w.token and payer_account_id = w.spender
    and is_approval and consensus_timestamp > lower(t.timestamp_range) and consensus_timestamp <= @instant), 0),
  h.amount_granted + coalesce((select sum(amount) from crypto_transfer where entity_id = w.owner and payer_account_id = w.spender
    and is_approval and consensus_timestamp > lower(h.timestamp_range) and consensus_timestamp <= @instant and errata is distinct from 'DELETE'),
0))::bigint` + allowancesWanted +
	`left join lateral ` + versionThen("token_allowance", "amount_granted, timestamp_range",
	"owner = w.owner and spender = w.spender and token_id = w.token and w.token <> 0") + ` t on true
left join lateral ` + versionThen("crypto_allowance", "amount_granted, timestamp_range", "owner = w.owner and spender = w.spender and w.token = 0") +
	` h on true
where coalesce(t.amount_granted, h.amount_granted) is not null`

var evmOperatorsThen = `select w.owner, w.spender, w.token, 1::bigint` + allowancesWanted +
	`cross join lateral ` + versionThen("nft_allowance", "approved_for_all, timestamp_range",
	"owner = w.owner and spender = w.spender and token_id = w.token") + ` a where a.approved_for_all`

var (
	allowanceFacts = facts{
		storage.Read{
			SQL: evmAllowancesNow, Ahead: keyed("owners spenders tokens", "token_allowance", "crypto_allowance"),
		},
		storage.Read{SQL: evmAllowancesThen, Ahead: keyed("owners spenders tokens", "token_transfer", "crypto_transfer",
			"token_allowance", "token_allowance_history", "crypto_allowance", "crypto_allowance_history")},
	}
	operatorFacts = facts{
		storage.Read{SQL: evmOperatorsNow, Ahead: keyed("owners spenders tokens", "nft_allowance")},
		storage.Read{
			SQL: evmOperatorsThen, Ahead: keyed("owners spenders tokens", "nft_allowance", "nft_allowance_history"),
		},
	}
)

type allowanceRow struct {
	key    worldstate.AllowanceKey
	amount int64
}

var allowanceRows = storage.MapperOf(func(r *allowanceRow, into []any) []any {
	return append(into, &r.key.Owner, &r.key.Spender, &r.key.Token, &r.amount)
}, nil)

// queueEVMAllowances queues a read of allowances of hbars (token 0) and fungible tokens into f.Allowances, in tinybars
// and smallest units. The batch fills f when it has run; negative amounts become 0. Keys without a grant are not in
// the map.
func (s *Snapshot) queueEVMAllowances(b *storage.Batch, keys []worldstate.AllowanceKey, f *worldstate.TokenFacts) {
	queueFacts(s, b, allowanceRows, len(keys), allowanceFacts, allowanceKeys(keys),
		func(r *allowanceRow) { f.Allowances[r.key] = max(r.amount, 0) })
}

// queueOperators queues a read of the operators for all NFTs of an owner into f.Operators, which is filled when the
// batch has run. Pairs without an approval are not in the map.
func (s *Snapshot) queueOperators(b *storage.Batch, keys []worldstate.AllowanceKey, f *worldstate.TokenFacts) {
	queueFacts(s, b, allowanceRows, len(keys), operatorFacts, allowanceKeys(keys),
		func(r *allowanceRow) {
			f.Operators[r.key] = true
		})
}

// countRow contains up to two counts of an entity.
type countRow struct {
	id            ledger.EntityID
	first, second int64
}

var countRows = storage.MapperOf(func(r *countRow, into []any) []any {
	return append(into, &r.id, &r.first, &r.second)
}, nil)

const (
	autoAssociationsNow = `select e.id, coalesce(e.max_automatic_token_associations, 0)::bigint,
  (select count(*) from token_account where account_id = e.id and associated and automatic_association) from entity e where e.id = any(@accounts)`

	lastSerialsNow = `select w.id, coalesce((select max(serial_number) from nft where token_id = w.id), 0), ` +
		`0::bigint from unnest(@tokens::bigint[]) w(id)`

	lastSerialsThen = `select w.id, coalesce((select max(serial_number) from nft where token_id = w.id and created_timestamp <= @instant), 0), 0::bigint
from unnest(@tokens::bigint[]) w(id)`
)

// autoAssociationsThen is the statement that counts automatic associations at the snapshot's time. Whether an
// association is automatic never changes, so the current row selects the pairs to check.
var autoAssociationsThen = `select e.id, coalesce(e.max_automatic_token_associations, 0)::bigint, (select count(*) from token_account r
  cross join lateral ` + versionThen("token_account", "associated, automatic_association, timestamp_range",
	"account_id = r.account_id and token_id = r.token_id") + ` a
  where r.account_id = e.id and a.associated and a.automatic_association)
from unnest(@accounts::bigint[]) w(id)
cross join lateral ` + versionThen("entity", "id, max_automatic_token_associations, timestamp_range", "id = w.id") + ` e`

var (
	associationFacts = facts{
		storage.Read{SQL: autoAssociationsNow, Ahead: keyed("accounts", "token_account", "entity")},
		storage.Read{SQL: autoAssociationsThen, Ahead: keyed("accounts",
			"token_account", "token_account_history", "entity", "entity_history")},
	}
	serialsAhead = []storage.Rows{{Table: "nft", Query: `select token_id, created_timestamp, max(serial_number) as serial_number
  from nft where token_id = any(@tokens::bigint[]) group by token_id, created_timestamp`}}
	serialFacts = facts{
		storage.Read{SQL: lastSerialsNow, Ahead: serialsAhead}, storage.Read{SQL: lastSerialsThen, Ahead: serialsAhead},
	}
)

// queueAutoAssociations queues a read of the automatic associations of accounts into f.Slots: how many there may be,
// -1 for any number, and how many are used. The batch fills f when it has run. Accounts that do not exist are not in
// the map.
func (s *Snapshot) queueAutoAssociations(b *storage.Batch, accounts []ledger.EntityID, f *worldstate.TokenFacts) {
	queueFacts(s, b, countRows, len(accounts), associationFacts,
		pgx.NamedArgs{"accounts": storage.Int64s(accounts)},
		func(r *countRow) { f.Slots[r.id] = worldstate.AutoAssociations{Most: r.first, Used: r.second} })
}

// queueLastSerials queues a read of the last serial numbers of tokens into f.Serials. The batch fills f when it has
// run; a token without serials, or that does not exist, has 0.
func (s *Snapshot) queueLastSerials(b *storage.Batch, tokens []ledger.EntityID, f *worldstate.TokenFacts) {
	queueFacts(s, b, countRows, len(tokens), serialFacts,
		pgx.NamedArgs{"tokens": storage.Int64s(tokens)},
		func(r *countRow) { f.Serials[r.id] = r.first })
}

const (
	pendingWanted = `select w.sender, w.receiver, w.token, w.serial, coalesce(a.amount, 0)
from unnest(@senders::bigint[], @receivers::bigint[], @tokens::bigint[], @serials::bigint[]) w(sender, receiver, token, serial)
`
	pendingCondition = `sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token ` +
		`and serial_number = w.serial`

	pendingNow = pendingWanted + `join token_airdrop a on ` + pendingCondition + ` and a.state = 'PENDING'`
)

var pendingThen = pendingWanted + `cross join lateral ` +
	versionThen("token_airdrop", "amount, state, timestamp_range",
		pendingCondition) + ` a where a.state = 'PENDING'`

var pendingFacts = facts{
	storage.Read{SQL: pendingNow, Ahead: keyed("senders receivers tokens serials", "token_airdrop")},
	storage.Read{
		SQL:   pendingThen,
		Ahead: keyed("senders receivers tokens serials", "token_airdrop", "token_airdrop_history"),
	},
}

var pendingRows = storage.MapperOf(func(a *ledger.Airdrop, into []any) []any {
	return append(into, &a.SenderID, &a.ReceiverID, &a.TokenID, &a.SerialNumber, &a.Amount)
}, nil)

// PendingAirdrops reads those of the named airdrops that are pending, with their amounts, in no order. An airdrop is
// identified by sender, receiver, token and serial; the serial is 0 for fungible tokens. It takes one round trip,
// and can fail with [ErrTooManyReads].
func (s *Snapshot) PendingAirdrops(ctx context.Context, named []*ledger.Airdrop) ([]*ledger.Airdrop, error) {
	n := len(named)
	senders, receivers, tokens, serials := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, a := range named {
		senders[i], receivers[i], tokens[i], serials[i] = int64(a.SenderID), int64(a.ReceiverID), int64(a.TokenID),
			a.SerialNumber.V
	}
	args := s.named(pgx.NamedArgs{"senders": senders, "receivers": receivers, "tokens": tokens, "serials": serials})
	if err := s.trip(); err != nil {
		return nil, err
	}
	return pendingRows.ListRead(ctx, s.db, "airdrops", s.pick(pendingFacts), args)
}
