package evmstate

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// TokenFacts reads data about tokens, allowances and associations in one round trip, for system contracts. Objects
// that do not exist are missing from the maps. It sends no query if r is empty. With an error, which can be
// [ErrTooManyReads], the maps are not complete.
func (s *Snapshot) TokenFacts(ctx context.Context, r *worldstate.TokenReads) (*worldstate.TokenFacts, error) {
	f := &worldstate.TokenFacts{
		Tokens: map[ledger.EntityID]*worldstate.Token{}, Relations: map[worldstate.RelationKey]*worldstate.Relation{},
		NFTs:       map[ledger.NFTKey]*ledger.NFT{},
		Allowances: map[worldstate.AllowanceKey]int64{}, Operators: map[worldstate.AllowanceKey]bool{},
		Slots:   map[ledger.EntityID]worldstate.AutoAssociations{},
		Serials: map[ledger.EntityID]int64{},
	}
	b := s.db.NewBatch()
	s.queueTokens(b, r.Tokens, f)
	s.queueRelations(b, r.Relations, f)
	s.queueEVMNFTs(b, r.NFTs, f)
	s.queueEVMAllowances(b, r.Allowances, f)
	s.queueOperators(b, r.Operators, f)
	s.queueAutoAssociations(b, r.Slots, f)
	s.queueLastSerials(b, r.Serials, f)
	if b.Len() == 0 {
		return f, nil
	}
	err := s.run(ctx, b)
	return f, wrap.Error(err, "reading tokens")
}

// named returns the arguments of a statement. For a historical block it adds to args the snapshot's time and the
// limits of the search for a full balance snapshot: the treasury, which is in each of them, and the times one and
// two spans before.
func (s *Snapshot) named(args pgx.NamedArgs) []any {
	if s.history.past {
		span := ledger.Timestamp(snapshotSpan)
		args["instant"], args["treasury"] = int64(s.history.until), int64(s.db.SystemEntity(entities.TreasuryNum))
		args["since"], args["earliest"] = int64(s.history.until-span), int64(s.history.until-2*span)
	}
	return []any{args}
}

// queueFacts queues the statement for current or for historical state, unless n, the number of keys, is 0. each is
// called with each row when the batch has run.
func queueFacts[T, R any](
	s *Snapshot, b *storage.Batch, rows *storage.Mapper[T, R], n int, r facts, args pgx.NamedArgs, each func(*R),
) {
	if n > 0 {
		storage.Use(b, rows.QueueRead(b, s.pick(r), s.named(args)), func(got []*R) {
			for _, r := range got {
				each(r)
			}
		})
	}
}

// column returns one value of each key, in the order of keys, as an array argument of a statement.
func column[T any, V ~int64](keys []T, value func(*T) V) []int64 {
	out := make([]int64, len(keys))
	for i := range keys {
		out[i] = int64(value(&keys[i]))
	}
	return out
}

// facts are the statements for the current state and for that at the snapshot's time.
type facts struct{ now, then storage.Read }

// pick returns the form of a statement for current or for historical state, whichever the snapshot needs.
func (s *Snapshot) pick(r facts) *storage.Read {
	if s.history.past {
		return &r.then
	}
	return &r.now
}

// versionThen returns the query for an object's version at the snapshot's time: the newest row of a table and its
// history that matches a condition. columns must include timestamp_range, by which the rows are compared, and the
// statement has the argument @instant.
func versionThen(table, columns, condition string) string {
	from := func(table, tail string) string {
		return `(select ` + columns + ` from ` + table + ` where ` + condition +
			` and lower(timestamp_range) <= @instant` + tail + `)`
	}
	return `(select * from (` + from(table, "") + ` union all ` +
		from(table+"_history", ` order by lower(timestamp_range) desc limit 1`) +
		`) versions order by lower(timestamp_range) desc limit 1)`
}

// newestShot selects the time of the newest full balance snapshot up to the snapshot's time.
const newestShot = `(select max(consensus_timestamp) as at from account_balance where account_id = @treasury and consensus_timestamp > @since
and consensus_timestamp <= @instant) shot`

const (
	evmTokenColumns = entities.TokenColumns + `, t.kyc_status, ` + entities.FeesColumns

	evmTokensNow = `select ` + evmTokenColumns + ` from token t join entity e on e.id = t.token_id and e.type = 'TOKEN' and e.deleted is not true
left join custom_fee f on f.entity_id = t.token_id where t.token_id = any(@tokens)`

	tokenVersionColumns = `token_id, type, created_timestamp, decimals, fee_schedule_key, freeze_default, freeze_key, freeze_status, initial_supply, kyc_key,
  kyc_status, max_supply, metadata, metadata_key, name, pause_key, pause_status, supply_key, supply_type, symbol, timestamp_range, treasury_account_id,
wipe_key`

	// The supply of a fungible token is that of the last full balance snapshot plus the transfers since. Mints and
	// burns change the balance of one account.
	tokenSupplyThen = `case when t.type = 'FUNGIBLE_COMMON' then (select coalesce((select sum(b.balance) from (
      select distinct on (account_id) balance from token_balance where token_id = t.token_id
        and consensus_timestamp > greatest(shot.at - 2678400000000000, @earliest) and consensus_timestamp <= shot.at
      order by account_id, consensus_timestamp desc) b), 0)
    + coalesce((select sum(amount) from token_transfer where token_id = t.token_id and consensus_timestamp > coalesce(shot.at, 0)
and consensus_timestamp <= @instant), 0)
    from ` + newestShot + `)::bigint
  else (select count(*) from nft where token_id = t.token_id and created_timestamp <= @instant
and (deleted is not true or lower(timestamp_range) > @instant)) end`
)

// evmTokensThen is the statement for tokens at the snapshot's time.
var evmTokensThen = `select ` + evmTokenColumns + ` from unnest(@tokens::bigint[]) w(id)
cross join lateral ` + versionThen("token", tokenVersionColumns, "token_id = w.id") + ` v
cross join lateral (select v.*, (select ` + tokenSupplyThen + ` from (select v.token_id, v.type) t) as total_supply) t
cross join lateral ` + versionThen("entity",
	"id, type, key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo, timestamp_range", "id = w.id") + ` e
left join lateral ` + versionThen("custom_fee", "entity_id, fixed_fees, fractional_fees, royalty_fees, timestamp_range", "entity_id = w.id") + ` f on true
where e.type = 'TOKEN' and e.deleted is not true`

var tokenFacts = facts{
	storage.Read{SQL: evmTokensNow, Ahead: keyed("tokens", "token", "entity", "custom_fee")},
	storage.Read{SQL: evmTokensThen, Ahead: sinceShot("tokens",
		"token", "token_history", "nft", "entity", "entity_history", "custom_fee", "custom_fee_history")},
}

// evmTokenRow is a token with the default KYC status of its accounts.
type evmTokenRow struct {
	entities.TokenRow
	kyc int16
}

// evmTokenTargets appends the targets of the columns in the order in which the statements of this file select them.
func evmTokenTargets(t *evmTokenRow, into []any) []any {
	return entities.FeesTargets(&t.FeesRow, append(entities.TokenTargets(&t.TokenRow, into), &t.kyc))
}

// finishEVMToken sets the members of a token that are computed from columns, with its custom fees. It fails if the
// JSON of the fees is invalid. A token without a row of fees has an empty set of fees.
func finishEVMToken(t *evmTokenRow) error {
	if err := entities.FinishToken(&t.TokenRow); err != nil {
		return err
	}
	fees, err := t.CustomFees(t.EntityID, t.Type)
	if err != nil {
		return err
	}
	if fees == nil {
		fees = &ledger.TokenCustomFees{}
	}
	t.Fees = ledger.Of(fees)
	return nil
}

var evmTokenRows = storage.MapperOf(evmTokenTargets, finishEVMToken)

// token returns a new token as contracts see it, with its keys by kind and the default KYC status.
func (t *evmTokenRow) token() *worldstate.Token {
	return &worldstate.Token{Token: t.Token, KYCByDefault: t.kyc == kycGranted, Keys: [worldstate.KeyKinds]ledger.Key{
		worldstate.AdminKey: t.Keys.Admin, worldstate.KYCKey: t.Keys.KYC, worldstate.FreezeKey: t.Keys.Freeze,
		worldstate.WipeKey:   t.Keys.Wipe,
		worldstate.SupplyKey: t.Keys.Supply, worldstate.FeeScheduleKey: t.Keys.FeeSchedule,
		worldstate.PauseKey:    t.Keys.Pause,
		worldstate.MetadataKey: t.Keys.Metadata,
	}}
}

// queueTokens queues a read of tokens into f.Tokens, which is filled when the batch has run. Tokens that do not exist
// or are deleted are not in the map.
func (s *Snapshot) queueTokens(b *storage.Batch, ids []ledger.EntityID, f *worldstate.TokenFacts) {
	queueFacts(s, b, evmTokenRows, len(ids), tokenFacts, pgx.NamedArgs{"tokens": storage.Int64s(ids)},
		func(r *evmTokenRow) { f.Tokens[r.EntityID] = r.token() })
}

// Numeric statuses of the database.
const (
	frozen     = 1
	kycGranted = 1
	kycRevoked = 2
)

// relationRow is an association with the numeric statuses of the database.
type relationRow struct {
	worldstate.Relation
	freeze, kyc int16
	automatic   ledger.Null[bool]
}

var relationRows = storage.NewMapper(func(r *relationRow, into []any) []any {
	return append(into, &r.Key.Account, &r.Key.Token, &r.Balance, &r.freeze, &r.kyc, &r.automatic)
}, func(r *relationRow) error {
	r.Frozen, r.KYCGranted, r.Automatic = r.freeze == frozen, r.kyc != kycRevoked, r.automatic.V
	return nil
}, func(r *relationRow) *worldstate.Relation { return &r.Relation })

const (
	relationStatuses = `coalesce(a.freeze_status, t.freeze_status), coalesce(a.kyc_status, t.kyc_status), ` +
		`a.automatic_association`

	relationsNow = `select a.account_id, a.token_id, a.balance, ` + relationStatuses + `
from (select distinct * from unnest(@accounts::bigint[], @tokens::bigint[]) w(account, token)) w
join token_account a on a.account_id = w.account and a.token_id = w.token and a.associated join token t on t.token_id = a.token_id`

	// relationBalanceThen is an account's balance of a token at the snapshot's time. For non-fungible tokens it is the
	// number of serials.
	relationBalanceThen = `case when t.type = 'FUNGIBLE_COMMON'
then (select coalesce((select balance from token_balance where account_id = a.account_id and token_id = a.token_id
        and consensus_timestamp > greatest(shot.at - 2678400000000000, @earliest) and consensus_timestamp <= shot.at
order by consensus_timestamp desc limit 1), 0)
      + coalesce((select sum(amount)::bigint from token_transfer where account_id = a.account_id and token_id = a.token_id
        and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= @instant), 0)
    from ` + newestShot + `)
  else (select count(*) from nft where account_id = a.account_id and token_id = a.token_id and lower(timestamp_range) <= @instant and deleted is not true)
    + (select count(*) from nft_history where account_id = a.account_id and token_id = a.token_id and timestamp_range @> @instant::bigint
and deleted is not true) end`
)

var relationsThen = `select a.account_id, a.token_id, ` + relationBalanceThen + `, ` + relationStatuses + `
from (select distinct * from unnest(@accounts::bigint[], @tokens::bigint[]) w(account, token)) w
cross join lateral ` + versionThen("token_account", "account_id, token_id, associated, freeze_status, kyc_status, automatic_association, timestamp_range",
	"account_id = w.account and token_id = w.token") + ` a
join token t on t.token_id = a.token_id where a.associated`

var relationFacts = facts{
	storage.Read{SQL: relationsNow, Ahead: keyed("accounts tokens", "token_account", "token")},
	storage.Read{SQL: relationsThen, Ahead: sinceShot("accounts tokens",
		"nft", "nft_history", "token_account", "token_account_history", "token")},
}

// queueRelations queues a read of relationships of accounts with tokens into f.Relations. The batch fills f when it
// has run. Pairs that are not associated are not in the map.
func (s *Snapshot) queueRelations(b *storage.Batch, keys []worldstate.RelationKey, f *worldstate.TokenFacts) {
	queueFacts(s, b, relationRows, len(keys), relationFacts, pgx.NamedArgs{
		"accounts": column(keys, func(k *worldstate.RelationKey) ledger.EntityID { return k.Account }),
		"tokens":   column(keys, func(k *worldstate.RelationKey) ledger.EntityID { return k.Token }),
	}, func(r *worldstate.Relation) { f.Relations[r.Key] = r })
}

// TokensOf reads the tokens with which an account has ever been associated. This includes all associations at any
// time, also those that ended, and those after the time of a historical snapshot. It takes one round trip, and can fail
// with [ErrTooManyReads].
func (s *Snapshot) TokensOf(ctx context.Context, account ledger.EntityID) ([]ledger.EntityID, error) {
	if err := s.trip(); err != nil {
		return nil, err
	}
	rows, err := storage.Values[ledger.EntityID]().List(ctx, s.db, "the tokens of an account",
		`select token_id from token_account where account_id = $1`,
		int64(account))
	return list.Map(rows, func(id *ledger.EntityID) ledger.EntityID { return *id }), err
}

// Schedule reads a schedule with its signatures, or nil if it does not exist or was created after the snapshot's time.
// Execution and signatures are included up to the snapshot's time. Deleted is its current value; the entity of the
// schedule has that of the snapshot's time. It takes one round trip, and can fail with [ErrTooManyReads].
func (s *Snapshot) Schedule(ctx context.Context, id ledger.EntityID) (*worldstate.Schedule, error) {
	b := s.db.NewBatch()
	schedules := transactions.QueueSchedules(b, []ledger.EntityID{id})
	signed := transactions.QueueScheduleSignatures(b, []ledger.EntityID{id})
	if err := s.run(ctx, b); err != nil {
		return nil, fmt.Errorf("reading schedule %s: %w", id, err)
	}
	got, err := schedules()
	if err != nil || got[0] == nil {
		return nil, err
	}
	signatures, err := signed()
	if err != nil {
		return nil, err
	}
	found, out := got[0], &worldstate.Schedule{Schedule: *got[0], Signatures: signatures[0]}
	if s.history.past {
		if found.CreatedTimestamp > s.history.until {
			return nil, nil //nolint:nilnil // created after the snapshot
		}
		if found.ExecutedTimestamp.V > s.history.until {
			out.ExecutedTimestamp = ledger.Null[ledger.Timestamp]{}
		}
		out.Signatures = slices.DeleteFunc(out.Signatures, func(x *ledger.ScheduleSignature) bool {
			return x.ConsensusTimestamp > s.history.until
		})
	}
	return out, nil
}
