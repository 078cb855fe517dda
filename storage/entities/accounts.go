package entities

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// syntheticTreasuryMemo is the memo of the treasury account that an importer creates if its history starts later than
// the network's.
const syntheticTreasuryMemo = "Mirror node created synthetic treasury account"

const (
	noNode = -1 // staked_node_id of accounts that stake to no node; stake_period_start of accounts that do not stake
)

// finishAccount sets the members of an account that are computed from columns: key, addresses, expiry, and the staking
// that is in effect. The pending reward is 0 for an account that declines rewards, does not stake to a node, or began
// to stake in the last computed period or later. The error is always nil.
func finishAccount(a *accountRow) error {
	a.Type = ledger.EntityType(a.typ)
	a.Key = a.key.Typed()
	a.Balance.AccountID = a.EntityID
	if address, ok := ledger.EVMAddressOf(a.evmAddress); ok {
		a.EVMAddress = ledger.Of(address)
	} else if address, ok := ledger.EVMAddressOf(a.Alias); ok {
		a.EVMAddress = ledger.Of(address)
	} else if !a.EntityID.IsNone() {
		a.EVMAddress = ledger.Of(a.EntityID.LongZero())
	}
	if len(bytes.Trim(a.DelegationAddress, "\x00")) == 0 { // none, or only zeros
		a.DelegationAddress = []byte{}
	}
	a.ExpirationTimestamp = Expiry(a.expiration, a.CreatedTimestamp, a.AutoRenewPeriod)
	if a.StakedNodeID.V == noNode {
		a.StakedNodeID = ledger.Null[int64]{}
	}
	if a.StakedNodeID.Valid && a.stakePeriodStart.Valid && a.stakePeriodStart.V != noNode {
		a.StakePeriodStart = ledger.Day{Days: a.stakePeriodStart.V, Valid: true}
	}
	waiting := a.stakePeriodStart.Valid && a.endStakePeriod.Valid && a.stakePeriodStart.V >= a.endStakePeriod.V
	a.PendingReward = ledger.Of[int64](0)
	if !a.DeclineReward && a.StakedNodeID.Valid && !waiting {
		a.PendingReward.V = a.pendingReward.V
	}
	return nil
}

// Expiry returns when an entity expires: the explicit expiration time, or else the creation time plus the auto-renew
// period, or null if one of these two is unknown.
func Expiry(set ledger.Null[int64], created ledger.Null[ledger.Timestamp], period ledger.Null[int64]) ledger.Expiry {
	switch {
	case set.Valid:
		return ledger.Expiry{Null: ledger.Of(ledger.Timestamp(set.V))}
	case created.Valid && period.Valid:
		return ledger.ExpiryAfter(created.V, period.V)
	default:
		return ledger.Expiry{}
	}
}

// Accounts reads a page of accounts and contracts, deleted or not, ordered by id. hideSyntheticTreasury excludes the
// synthetic treasury. With onlyIDs, only the ids of the accounts are set.
func Accounts(
	ctx context.Context, db *storage.DB, f ledger.AccountFilter, hideSyntheticTreasury, onlyIDs bool, p storage.Page,
) ([]*ledger.Account, error) {
	var w storage.Where
	storage.Filter(&w, "e.id", f.ID)
	storage.Filter(&w, "e.balance", f.Balance)
	storage.FilterText(&w, "e.public_key", f.PublicKey)
	if hideSyntheticTreasury {
		w.And("not (e.num = 2 and e.memo = '" + syntheticTreasuryMemo + "')")
	}
	cut, order := accountsPage(db, &w, p)
	if onlyIDs {
		return accountIDRows.List(ctx, db, "accounts", `select `+accountIDColumns+cut, w.Args...)
	}
	// The page is limited before the join with the stake. Otherwise the planner would merge whole tables.
	return accountRows.ListRead(ctx, db, "accounts", &storage.Read{
		Select: accountColumns, Page: `select *` + cut, As: "e",
		Joins: []storage.Join{withStake}, Rest: order,
	}, w.Args)
}

// withStake joins a page of entities e with their stakes.
var withStake = storage.By("left join", "entity_stake", "s", "e", "id", "id")

// accountsPage returns the FROM clause for a page of the accounts and contracts e that match w, with its conditions,
// order and limit, and again the clauses for order and limit, for a statement around it. It adds the page's conditions
// and arguments to w.
func accountsPage(db *storage.DB, w *storage.Where, p storage.Page) (from, order string) {
	w.Keyset(p, "e.id")
	order = w.OrderBy(p, "e.id")
	if !p.Desc || db.Distributed() {
		return ` from entity e where e.type in ('ACCOUNT', 'CONTRACT')` + w.String() + order, order
	}
	of := func(typ string) string { // a range of one type, since "=" would let the planner choose the index on id
		return `(select * from entity e where e.type between '` + typ + `' and '` + typ + `'` + w.String() +
			w.OrderBy(p, "e.type", "e.id") + `)`
	}
	// The newest entities can be many of other types. The index on type and id skips them.
	return ` from (` + of("ACCOUNT") + ` union all ` + of("CONTRACT") + `) e` + order, order
}

// named returns the condition on entities e that the address or alias in ref selects, and its argument. It is empty
// if ref has an id. Deleted entities do not match. With an address or a literal alias, neither do those of which it
// is unknown whether they are deleted.
func named(ref ledger.AccountRef) (condition string, arg []byte) {
	switch {
	case ref.Address.Valid:
		return `e.evm_address = $1 and e.deleted <> true`, ref.Address.V[:]
	case ref.Alias != nil && ref.Literal:
		return `e.alias = $1 and e.deleted <> true`, ref.Alias
	case ref.Alias != nil:
		return `e.alias = $1 and coalesce(e.deleted, false) <> true`, ref.Alias
	default:
		return "", nil
	}
}

// ResolveAccount reads the id of the account that ref identifies, or null if no entity that is not deleted has the
// alias or address. An id in ref is returned without a lookup, so the entity may not exist. If two such entities
// share the alias or address, the error is [storage.ErrAmbiguous].
func ResolveAccount(ctx context.Context, db *storage.DB, ref ledger.AccountRef) (ledger.Null[ledger.EntityID], error) {
	condition, arg := named(ref)
	if condition == "" {
		return ledger.Of(ref.ID), nil
	}
	return onlyID(ctx, db, ref, `select e.id from entity e where `+condition+` limit 2`, arg)
}

// onlyID reads the id that a statement selects, or null if it selects none. arg is $1 of the statement, and ref names
// the account in errors. If it selects more than one, the error is [storage.ErrAmbiguous].
func onlyID(
	ctx context.Context, db *storage.DB, ref ledger.AccountRef, sql string, arg []byte,
) (ledger.Null[ledger.EntityID], error) {
	ids, err := storage.Values[ledger.EntityID]().List(ctx, db, "an id", sql, arg)
	if err == nil && len(ids) > 1 {
		err = storage.ErrAmbiguous
	}
	switch {
	case err != nil:
		return ledger.Null[ledger.EntityID]{}, fmt.Errorf("looking for %s: %w", ref, err)
	case len(ids) == 0:
		return ledger.Null[ledger.EntityID]{}, nil
	default:
		return ledger.Of(*ids[0]), nil
	}
}

// namedEntities returns the statement for at most 100 entities e with the address, alias or public key that a text can
// name, and its argument. The caller has checked that c has one of them. Only by public key it selects deleted
// entities too. types is an SQL list of types of entities, and columns are the columns of e and of what join adds.
func namedEntities(
	c ledger.Candidates, types, columns string, join storage.Join,
) (r *storage.Read, args []any) {
	condition, value := named(ledger.AccountRef{Address: c.Address, Alias: c.Alias})
	args = []any{value}
	if c.PublicKey != "" {
		condition, args[0] = "e.public_key = $1", c.PublicKey
	}
	return &storage.Read{
		Select: columns,
		Page:   `select * from entity e where ` + condition + ` and e.type in (` + types + `) limit 100`, As: "e",
		Joins: []storage.Join{join}, Rest: ` order by e.id`,
	}, args
}

// QueueNamedAccounts queues a query for the accounts and contracts with the address, alias or public key that a text
// can name: at most 100, ordered by id. c must have one of them. Only by public key deleted ones are found too.
func QueueNamedAccounts(b *storage.Batch, c ledger.Candidates) storage.Result[[]*ledger.Account] {
	r, args := namedEntities(c, `'ACCOUNT', 'CONTRACT'`, accountColumns, withStake)
	return accountRows.QueueRead(b, r, args)
}

// QueueNamedContracts queues a query for the contracts with the address, alias or public key that a text can name, as
// [QueueNamedAccounts] does for accounts: at most 100, ordered by id. c must have one of them. Only by public key
// deleted ones are found too.
func QueueNamedContracts(b *storage.Batch, c ledger.Candidates) storage.Result[[]*ledger.Contract] {
	r, args := namedEntities(c, `'CONTRACT'`, contractColumns, withCode)
	return contractRows.QueueRead(b, r, args)
}

const accountsOfIDs = `select ` + accountColumns + ` from entity e left join entity_stake s on s.id = e.id
where e.id = ` + storage.Any1 + ` and e.type in ('ACCOUNT', 'CONTRACT')`

var (
	accountsByID = storage.ByKeys(accountsOfIDs)
	// The condition is only in statements whose IDs have the number of the treasury.
	accountsWithTreasuryByID = storage.ByKeys(accountsOfIDs + ` and not (e.num = 2 and e.memo = '` +
		syntheticTreasuryMemo + `')`)
)

// QueueAccounts queues a query for accounts and contracts by id, deleted or not. The result has one account per id,
// or nil for ids that do not exist and for the synthetic treasury.
func QueueAccounts(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.Account] {
	by := accountsByID
	if slices.ContainsFunc(ids, func(id ledger.EntityID) bool { return id.Num() == TreasuryNum }) {
		by = accountsWithTreasuryByID
	}
	return storage.QueueByKey(b, accountRows, by, ids, func(a *ledger.Account) ledger.EntityID { return a.EntityID })
}

// Account reads the current state of an account or contract, or that at the moment of ctx. It returns nil if the
// account does not exist or is the synthetic treasury. By id it returns deleted accounts too. If two entities that
// are not deleted share the alias or address, the error is [storage.ErrAmbiguous].
func Account(ctx context.Context, db *storage.DB, ref ledger.AccountRef) (*ledger.Account, error) {
	condition, arg := named(ref)
	if condition == "" {
		return storage.ReadOne(ctx, db, "account", ref.ID, QueueAccounts)
	}
	rows, err := accountRows.List(ctx, db, "an account", `select `+accountColumns+` from entity e left join entity_stake s on s.id = e.id
where `+condition+` limit 2`, arg)
	if err == nil && len(rows) > 1 {
		err = storage.ErrAmbiguous
	}
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", ref, err)
	}
	if len(rows) == 0 || rows[0].Type != ledger.EntityAccount && rows[0].Type != ledger.EntityContract ||
		rows[0].EntityID.Num() == TreasuryNum && rows[0].Memo == syntheticTreasuryMemo {
		return nil, nil //nolint:nilnil // no account
	}
	return rows[0], nil
}

// AccountAt reads the newest version of an account or contract that matches at, with the balances of the balance
// snapshot for that time. Without a snapshot, it has the balance of the version and no balances of tokens. An account
// that is not in the snapshot has the balance 0. It returns nil if there is no such version. now limits the search for
// the snapshot. If the read of the balance, which is the last one, fails, it returns the account and the error.
func AccountAt(
	ctx context.Context, db *storage.DB, id ledger.EntityID, at *ledger.TimestampFilter, now ledger.Timestamp,
) (*ledger.Account, error) {
	w := storage.With(int64(id))
	w.Versions("timestamp_range", at)
	version := func(table string) string {
		return `(select * from ` + table + ` where id = $1` + w.String() + ` order by timestamp_range desc limit 1)`
	}
	newest := func(table string) string {
		return `(select * from (` + version(table) + ` union all ` + version(table+"_history") +
			`) v order by timestamp_range desc limit 1)`
	}
	sql := `select ` + accountColumns + ` from ` + newest("entity") + ` e left join ` + newest("entity_stake") + ` s on s.id = e.id
where e.type in ('ACCOUNT', 'CONTRACT') and not (e.num = 2 and e.memo = '` + syntheticTreasuryMemo + `')`
	a, err := accountRows.One(ctx, db, "an account at a time", sql, w.Args...)
	if err != nil || a == nil {
		return nil, err
	}
	window, err := SnapshotWindow(ctx, db, at, now)
	if err != nil {
		return nil, err
	}
	// Without a snapshot, use the balance of the version itself. Token balances are not versioned.
	a.Balance.Snapshot = window
	if !window.Valid {
		a.Balance.Snapshot = ledger.Of(ledger.SnapshotWindow{From: 1, At: 0})
		return a, nil
	}
	a.Balance.Timestamp = ledger.Of(window.V.At)
	a.Balance.Balance = ledger.Of(int64(0))
	held, err := storage.Values[int64]().One(ctx, db, "the balance of an account at a time",
		`select balance from account_balance where account_id = $1 and consensus_timestamp between $2 and $3
order by consensus_timestamp desc limit 1`, int64(id), int64(window.V.From), int64(window.V.At))
	if held != nil {
		a.Balance.Balance = ledger.Of(*held)
	}
	return a, err
}

// CountAccounts counts accounts and contracts.
const CountAccounts storage.Countable = `select 1 from entity where type in ('ACCOUNT', 'CONTRACT')`
