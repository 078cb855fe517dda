package entities

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// versions is a table whose former rows are in the table with the suffix _history. Each row is valid in its
// timestamp_range.
type versions struct {
	table   string
	key     string // its columns
	columns []versionColumn
}

// versionColumn is a column, the field of the graph that has its value, and the form in which the field shows it.
type versionColumn struct {
	field, column string
	form          form
}

// form converts the text of a value in the database's JSON, which is not null, to the text that the graph shows. The
// result is null if the graph has no such value.
type form func(text string) ledger.Null[string]

// The forms of values, with [asKey] and [asBytes].
var (
	asIs     form = ledger.Of[string]
	asEntity      = formOf(func(n int64) (string, bool) { return ledger.EntityID(n).String(), n != 0 })
	asTime        = formOf(func(n int64) (string, bool) { return ledger.Timestamp(n).String(), true })
	asNode        = formOf(func(n int64) (string, bool) { return strconv.FormatInt(n, 10), n >= 0 })
	asFreeze      = formOf(func(n int64) (string, bool) { return string(freezeOf(ledger.Of(int16(n))).V), true })
	asKYC         = formOf(func(n int64) (string, bool) { return string(kycOf(ledger.Of(int16(n))).V), true })
)

// formOf returns the form in which the graph shows a column of integers: the text that name returns for the number, or
// null if ok is false. A text that is not an integer counts as 0.
func formOf(name func(int64) (text string, ok bool)) form {
	return func(text string) ledger.Null[string] {
		n, _ := strconv.ParseInt(text, 10, 64) // of a column of integers
		if v, ok := name(n); ok {
			return ledger.Of(v)
		}
		return ledger.Null[string]{}
	}
}

// asKey is the form of a column of keys, whose text is hex after \x: the hex digits of the key's value, or null if
// there is no key.
func asKey(text string) ledger.Null[string] {
	key, _ := hex.DecodeString(strings.TrimPrefix(text, `\x`)) // of a column of bytes
	info := ledger.Key(key).Info()
	if info == nil {
		return ledger.Null[string]{}
	}
	return ledger.Of(hex.EncodeToString(info.Value()))
}

// asBytes is the form of a column of bytes: their hex digits, as PostgreSQL writes them, with "0x".
func asBytes(text string) ledger.Null[string] {
	return ledger.Of("0x" + strings.TrimPrefix(text, `\x`))
}

// The tables with the versions of accounts, tokens and NFTs.
var (
	accountVersions = []versions{{"entity", "id", []versionColumn{
		{"autoRenewAccountId", "auto_renew_account_id", asEntity},
		{"autoRenewPeriod", "auto_renew_period", asIs},
		{"declineReward", "decline_reward", asIs},
		{"deleted", "deleted", asIs},
		{"ethereumNonce", "ethereum_nonce", asIs},
		{"evmAddress", "evm_address", asBytes},
		{"expirationTimestamp", "expiration_timestamp", asTime},
		{"key", "key", asKey},
		{"maxAutomaticTokenAssociations", "max_automatic_token_associations", asIs},
		{"memo", "memo", asIs},
		{"receiverSigRequired", "receiver_sig_required", asIs},
		{"stakedAccountId", "staked_account_id", asEntity},
		{"stakedNodeId", "staked_node_id", asNode},
	}}}
	tokenVersions = []versions{
		{"entity", "id", []versionColumn{
			{"adminKey", "key", asKey},
			{"autoRenewAccountId", "auto_renew_account_id", asEntity},
			{"autoRenewPeriod", "auto_renew_period", asIs},
			{"deleted", "deleted", asIs},
			{"expirationTimestamp", "expiration_timestamp", asTime},
			{"memo", "memo", asIs},
		}},
		{"token", "token_id", []versionColumn{
			{"feeScheduleKey", "fee_schedule_key", asKey},
			{"freezeKey", "freeze_key", asKey},
			{"kycKey", "kyc_key", asKey},
			{"metadata", "metadata", asBytes},
			{"metadataKey", "metadata_key", asKey},
			{"name", "name", asIs},
			{"pauseKey", "pause_key", asKey},
			{"pauseStatus", "pause_status", asIs},
			{"supplyKey", "supply_key", asKey},
			{"symbol", "symbol", asIs},
			{"totalSupply", "total_supply", asIs},
			{"treasuryAccountId", "treasury_account_id", asEntity},
			{"wipeKey", "wipe_key", asKey},
		}},
		{"custom_fee", "entity_id", []versionColumn{
			{"customFees.fixedFees", "fixed_fees", asIs},
			{"customFees.fractionalFees", "fractional_fees", asIs},
			{"customFees.royaltyFees", "royalty_fees", asIs},
		}},
	}
	nftVersions = []versions{{"nft", "token_id serial_number", []versionColumn{
		{"accountId", "account_id", asEntity},
		{"delegatingSpenderId", "delegating_spender", asEntity},
		{"deleted", "deleted", asIs},
		{"metadata", "metadata", asBytes},
		{"spenderId", "spender", asEntity},
	}}}
	relationshipVersions = []versions{{"token_account", "account_id token_id", []versionColumn{
		{"associated", "associated", asIs},
		{"automaticAssociation", "automatic_association", asIs},
		{"freezeStatus", "freeze_status", asFreeze},
		{"kycStatus", "kyc_status", asKYC},
	}}}
	// entityVersions are those of all types of entities.
	entityVersions = []versions{
		{"entity", "id", slices.Concat(versioned(accountVersions[0].columns), []versionColumn{
			{"adminKey", "case when type not in ('ACCOUNT', 'FILE') then key end", asKey},
			{"key", "case when type in ('ACCOUNT', 'FILE') then key end", asKey},
			{"obtainerId", "obtainer_id", asEntity},
			{"permanentRemoval", "permanent_removal", asIs},
			{"proxyAccountId", "proxy_account_id", asEntity},
		})},
		{"token", tokenVersions[1].key, versioned(tokenVersions[1].columns)},
		{"topic", "id", []versionColumn{
			{"feeExemptKeys", "fee_exempt_key_list", asBytes},
			{"feeScheduleKey", "fee_schedule_key", asKey},
			{"submitKey", "submit_key", asKey},
		}},
		tokenVersions[2],
	}
)

// versioned returns a copy of the columns for [QueueEntityChanges], without the nonce and the total supply, which
// importers overwrite without a new version, and without the key, whose name depends on the type of the entity.
func versioned(columns []versionColumn) []versionColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c versionColumn) bool {
		return slices.Contains([]string{"ethereumNonce", "totalSupply", "key"}, c.field)
	})
}

// QueueAccountVersions queues a query for the versions of each of the given accounts, each with what changed since the
// one before, ordered by time. The result has one page per account.
func QueueAccountVersions(b *storage.Batch, ids []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Version] {
	return queueVersions(b, accountVersions, p, storage.Int64s(ids))
}

// QueueTokenVersions queues a query for the versions of each of the given tokens, as [QueueAccountVersions] does for
// accounts. Each change of a token, of its entity or of its custom fees begins a version. The result has one page per
// token.
func QueueTokenVersions(b *storage.Batch, ids []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Version] {
	return queueVersions(b, tokenVersions, p, storage.Int64s(ids))
}

// QueueNFTVersions queues a query for the versions of each of the given NFTs, ordered by time, as
// [QueueAccountVersions] does for accounts. The result has one page per NFT.
func QueueNFTVersions(b *storage.Batch, keys []ledger.NFTKey, p storage.Page) storage.Result[[][]*ledger.Version] {
	tokens, serials := nftKeys(keys)
	return queueVersions(b, nftVersions, p, tokens, serials)
}

// versionRow is a version and the values of its columns at its time and before, as JSON arrays, for each table.
type versionRow struct {
	ledger.Version
	values []struct{ now, before []byte }
}

// QueueEntityChanges queues a query for what transactions changed in entities of any type: the changes of the version
// that began at the consensus time, none if no version began. The result has one list per effect.
func QueueEntityChanges(b *storage.Batch, of []*ledger.EntityEffect) storage.Result[[][]*ledger.Change] {
	return queueChanges(b, entityVersions, list.Map(of,
		func(e *ledger.EntityEffect) int64 { return int64(e.EntityID) }),
		list.Map(of, func(e *ledger.EntityEffect) int64 { return int64(e.At) }))
}

// QueueRelationshipChanges queues a query for what transactions changed in token relationships, as [QueueEntityChanges]
// does for entities. The result has one list per effect.
func QueueRelationshipChanges(b *storage.Batch, of []*ledger.RelationshipEffect) storage.Result[[][]*ledger.Change] {
	return queueChanges(b, relationshipVersions,
		list.Map(of, func(e *ledger.RelationshipEffect) int64 { return int64(e.AccountID) }),
		list.Map(of, func(e *ledger.RelationshipEffect) int64 { return int64(e.TokenID) }),
		list.Map(of, func(e *ledger.RelationshipEffect) int64 { return int64(e.At) }))
}

// QueueNFTChanges queues a query for what transactions changed in NFTs, as [QueueEntityChanges] does for entities. The
// result has one list per effect.
func QueueNFTChanges(b *storage.Batch, of []*ledger.NFTEffect) storage.Result[[][]*ledger.Change] {
	tokens, serials := nftKeys(list.Map(of, (*ledger.NFTEffect).Key))
	at := list.Map(of, func(e *ledger.NFTEffect) int64 { return int64(e.At) })
	return queueChanges(b, nftVersions, tokens, serials, at)
}

// queueChanges queues a query for the versions in some tables at given times. keys has an array for each column of the
// keys, and as the last one the times. Elements at the same position belong together. The result has one list for each
// position, which is empty if no version began then.
func queueChanges(b *storage.Batch, of []versions, keys ...[]int64) storage.Result[[][]*ledger.Change] {
	parents := keyNames[:len(keys)-1]
	ps, _ := b.Parents(strings.Join(parents, ", ")+", at", keys...)
	found := queueVersionsOf(b, of, parents, &storage.Read{Parents: ps, Page: "select p.* from " + ps.From}, "",
		ps.Args,
		len(keys[0]))
	return storage.Map(found, func(rows [][]*ledger.Version) [][]*ledger.Change {
		return list.Map(rows, func(of []*ledger.Version) []*ledger.Change { return of[0].Changes })
	})
}

// keyNames are the names of the columns of a key in statements for versions.
var keyNames = []string{"a", "b"}

// matching returns the SQL condition on the rows of a table that have the key of a parent. parents are the names of
// the columns of its key, in the order of v.key and at least as many; key returns the SQL expression of such a column.
func (v *versions) matching(parents []string, key func(column string) string) string {
	var conditions []string
	for i, column := range strings.Fields(v.key) {
		conditions = append(conditions, column+" = "+key(parents[i]))
	}
	return strings.Join(conditions, " and ")
}

// beginning is the time at which a version began.
const beginning = "lower(timestamp_range)"

// queueVersions queues a query for the versions in some tables. keys has an array for each column of the keys.
// Elements at the same position are one key. The result has one page per key, ordered by time.
func queueVersions(
	b *storage.Batch, of []versions, p storage.Page, keys ...[]int64,
) storage.Result[[][]*ledger.Version] {
	parents := keyNames[:len(keys)]
	ps, w := b.Parents(strings.Join(parents, ", "), keys...)
	var times []string
	for _, v := range of {
		for _, table := range []string{v.table, v.table + "_history"} {
			part := storage.With(w.Args...)
			part.Keyset(p, beginning)
			times = append(times, "(select "+beginning+" as at from "+table+" where "+v.matching(parents, ps.Key)+
				part.String()+part.OrderBy(p, beginning)+")")
			w.Args = part.Args
		}
	}
	r := &storage.Read{Parents: ps, Page: `
  select p.*, t.at from ` + ps.From + ` cross join lateral (
    select at from (` + strings.Join(times, " union ") + `) t` + w.OrderBy(p, "at") + `) t`}
	return queueVersionsOf(b, of, parents, r, p.Direction(), w.Args, len(keys[0]))
}

// queueVersionsOf completes r, whose page has the columns of the keys and the times, and queues it as a query for the
// versions at these times. parents are the names of the columns of the keys, direction is that of the page or empty,
// and n is the number of parents. It changes r.
func queueVersionsOf(b *storage.Batch, of []versions, parents []string, r *storage.Read, direction string, args []any,
	n int,
) storage.Result[[][]*ledger.Version] {
	var columns, joins strings.Builder
	for i, v := range of {
		names := list.Map(v.columns, func(c versionColumn) string { return c.column })
		row := "select jsonb_build_array(" + strings.Join(names, ", ") + ")::text as row from " + v.table
		fmt.Fprintf(&columns, ", n%d.row, b%[1]d.row", i)
		fmt.Fprintf(&joins, `
left join lateral (%s where %s and %s = v.at union all %[1]s_history where %[2]s and %[3]s = v.at limit 1) n%d on true
left join lateral (%[1]s_history where %[2]s and %[3]s < v.at order by %[3]s desc limit 1) b%[4]d on true`,
			row, v.matching(parents, func(key string) string { return "v." + key }), beginning, i)
	}
	r.Setting, r.As, r.Select = storage.NoBitmaps, "v", `v.ord, v.at`+columns.String()
	r.Rest = joins.String() + `
order by v.ord, v.at` + direction
	rows := storage.NewMapper(func(r *versionRow, into []any) []any {
		r.values = make([]struct{ now, before []byte }, len(of))
		into = append(into, &r.Timestamp)
		for i := range r.values {
			into = append(into, &r.values[i].now, &r.values[i].before)
		}
		return into
	}, func(r *versionRow) error { return r.compare(of) }, func(r *versionRow) *ledger.Version { return &r.Version })
	return rows.QueueChildren(b, n, r, args)
}

// compare sets r.Changes: the columns whose values differ from the version before, in the form that the graph shows.
// The first version of a row is compared with null, and tables in which no version began are left out. It fails if a
// row is not a JSON array.
func (r *versionRow) compare(of []versions) error {
	r.Changes = []*ledger.Change{}
	for i, v := range of {
		if r.values[i].now == nil {
			continue // another table has the version
		}
		now, before := make([]json.RawMessage, len(v.columns)), make([]json.RawMessage, len(v.columns))
		if err := json.Unmarshal(r.values[i].now, &now); err != nil {
			return fmt.Errorf("decoding a row of %s: %w", v.table, err)
		}
		if r.values[i].before != nil {
			if err := json.Unmarshal(r.values[i].before, &before); err != nil {
				return fmt.Errorf("decoding a row of %s_history: %w", v.table, err)
			}
		}
		for j, c := range v.columns {
			if bytes.Equal(now[j], before[j]) {
				continue
			}
			change := &ledger.Change{Field: c.field, Before: c.text(before[j]), After: c.text(now[j])}
			if change.Before != change.After {
				r.Changes = append(r.Changes, change)
			}
		}
	}
	return nil
}

// text returns the value of a column, which is JSON, in the form in which the schema shows it, or null for null and
// nil.
func (c versionColumn) text(value json.RawMessage) ledger.Null[string] {
	var text *string
	switch {
	case value == nil || string(value) == "null":
		return ledger.Null[string]{}
	case json.Unmarshal(value, &text) != nil: // not a string
		text = new(string(value))
	}
	return c.form(*text)
}
