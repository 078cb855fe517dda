package entities

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	key     []string
	columns []versionColumn
}

// versionColumn is a column and the field of the graph that has its value. form, if not nil, converts values other
// than null.
type versionColumn struct {
	field, column string
	form          func(text string) ledger.Null[string]
}

// The forms of values in the database's JSON.
var (
	versionID   = formOf(func(n int64) (string, bool) { return ledger.EntityID(n).String(), n != 0 })
	versionTime = formOf(func(n int64) (string, bool) { return ledger.Timestamp(n).String(), true })
	versionNode = formOf(func(n int64) (string, bool) { return strconv.FormatInt(n, 10), n >= 0 })
)

func formOf(form func(int64) (text string, ok bool)) func(string) ledger.Null[string] {
	return func(text string) ledger.Null[string] {
		n, _ := strconv.ParseInt(text, 10, 64) // of a column of integers
		if v, ok := form(n); ok {
			return ledger.Of(v)
		}
		return ledger.Null[string]{}
	}
}

func versionKey(text string) ledger.Null[string] {
	key, _ := hex.DecodeString(strings.TrimPrefix(text, `\x`)) // of a column of bytes
	info := ledger.Key(key).Info()
	if info == nil {
		return ledger.Null[string]{}
	}
	return ledger.Of(hex.EncodeToString(info.Value()))
}

func versionBytes(text string) ledger.Null[string] {
	return ledger.Of("0x" + strings.TrimPrefix(text, `\x`))
}

// The tables with the versions of accounts, tokens and NFTs.
var (
	accountVersions = []versions{{"entity", []string{"id"}, []versionColumn{
		{"autoRenewAccountId", "auto_renew_account_id", versionID},
		{"autoRenewPeriod", "auto_renew_period", nil},
		{"declineReward", "decline_reward", nil},
		{"deleted", "deleted", nil},
		{"ethereumNonce", "ethereum_nonce", nil},
		{"evmAddress", "evm_address", versionBytes},
		{"expirationTimestamp", "expiration_timestamp", versionTime},
		{"key", "key", versionKey},
		{"maxAutomaticTokenAssociations", "max_automatic_token_associations", nil},
		{"memo", "memo", nil},
		{"receiverSigRequired", "receiver_sig_required", nil},
		{"stakedAccountId", "staked_account_id", versionID},
		{"stakedNodeId", "staked_node_id", versionNode},
	}}}
	tokenVersions = []versions{
		{"entity", []string{"id"}, []versionColumn{
			{"adminKey", "key", versionKey},
			{"autoRenewAccountId", "auto_renew_account_id", versionID},
			{"autoRenewPeriod", "auto_renew_period", nil},
			{"deleted", "deleted", nil},
			{"expirationTimestamp", "expiration_timestamp", versionTime},
			{"memo", "memo", nil},
		}},
		{"token", []string{"token_id"}, []versionColumn{
			{"feeScheduleKey", "fee_schedule_key", versionKey},
			{"freezeKey", "freeze_key", versionKey},
			{"kycKey", "kyc_key", versionKey},
			{"metadata", "metadata", versionBytes},
			{"metadataKey", "metadata_key", versionKey},
			{"name", "name", nil},
			{"pauseKey", "pause_key", versionKey},
			{"pauseStatus", "pause_status", nil},
			{"supplyKey", "supply_key", versionKey},
			{"symbol", "symbol", nil},
			{"totalSupply", "total_supply", nil},
			{"treasuryAccountId", "treasury_account_id", versionID},
			{"wipeKey", "wipe_key", versionKey},
		}},
		{"custom_fee", []string{"entity_id"}, []versionColumn{
			{"customFees.fixedFees", "fixed_fees", nil},
			{"customFees.fractionalFees", "fractional_fees", nil},
			{"customFees.royaltyFees", "royalty_fees", nil},
		}},
	}
	nftVersions = []versions{{"nft", []string{"token_id", "serial_number"}, []versionColumn{
		{"accountId", "account_id", versionID},
		{"delegatingSpenderId", "delegating_spender", versionID},
		{"deleted", "deleted", nil},
		{"metadata", "metadata", versionBytes},
		{"spenderId", "spender", versionID},
	}}}
)

// QueueAccountVersions queues a query for the versions of each of the given accounts, ordered by time. The result has
// one page per account.
func QueueAccountVersions(b *storage.Batch, ids []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Version] {
	return queueVersions(b, accountVersions, p, storage.Int64s(ids))
}

// QueueTokenVersions is [QueueAccountVersions] for tokens. Each change of a token, of its entity or of its custom fees
// begins a version.
func QueueTokenVersions(b *storage.Batch, ids []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Version] {
	return queueVersions(b, tokenVersions, p, storage.Int64s(ids))
}

// QueueNFTVersions is [QueueAccountVersions] for NFTs.
func QueueNFTVersions(b *storage.Batch, keys []ledger.NFTKey, p storage.Page) storage.Result[[][]*ledger.Version] {
	tokens, serials := nftKeys(keys)
	return queueVersions(b, nftVersions, p, tokens, serials)
}

// versionRow is a version and the values of its columns at its time and before, as JSON arrays, for each table.
type versionRow struct {
	ledger.Version
	values []struct{ now, before []byte }
}

// queueVersions queues a query for the versions in some tables. keys has an array for each column of the keys.
func queueVersions(
	b *storage.Batch, of []versions, p storage.Page, keys ...[]int64,
) storage.Result[[][]*ledger.Version] {
	parents := []string{"a", "b"}[:len(keys)]
	ps := b.Parents(strings.Join(parents, ", "), keys...)
	w := storage.With(ps.Args...)
	const at = "lower(timestamp_range)"
	var times []string
	var columns, joins strings.Builder
	for i, v := range of {
		match := func(key func(column string) string) string {
			conditions := make([]string, len(v.key))
			for i, column := range v.key {
				conditions[i] = column + " = " + key(parents[i])
			}
			return strings.Join(conditions, " and ")
		}
		for _, table := range []string{v.table, v.table + "_history"} {
			part := storage.With(w.Args...)
			part.Keyset(p, at)
			times = append(times, "(select "+at+" as at from "+table+" where "+match(ps.Key)+part.String()+
				part.OrderBy(p, at)+")")
			w.Args = part.Args
		}
		names := list.Map(v.columns, func(c versionColumn) string { return c.column })
		row := "select jsonb_build_array(" + strings.Join(names, ", ") + ")::text as row from " + v.table
		fmt.Fprintf(&columns, ", n%d.row, b%[1]d.row", i)
		fmt.Fprintf(&joins, `
left join lateral (%s where %s and %s = v.at union all %[1]s_history where %[2]s and %[3]s = v.at limit 1) n%d on true
left join lateral (%[1]s_history where %[2]s and %[3]s < v.at order by %[3]s desc limit 1) b%[4]d on true`,
			row, match(func(key string) string { return "v." + key }), at, i)
	}
	r := &storage.Read{
		Setting: storage.NoBitmaps, Parents: ps, Select: `v.ord, v.at` + columns.String(),
		Page: `
  select p.*, t.at from ` + ps.From + ` cross join lateral (
    select at from (` + strings.Join(times, " union ") + `) t` + w.OrderBy(p, "at") + `) t`, As: "v",
		Rest: joins.String() + `
order by v.ord, v.at` + p.Direction(),
	}
	rows := storage.NewMapper(func(r *versionRow, into []any) []any {
		r.values = make([]struct{ now, before []byte }, len(of))
		into = append(into, &r.Timestamp)
		for i := range r.values {
			into = append(into, &r.values[i].now, &r.values[i].before)
		}
		return into
	}, func(r *versionRow) error { return r.compare(of) }, func(r *versionRow) *ledger.Version { return &r.Version })
	return rows.QueueChildren(b, len(keys[0]), r, w.Args)
}

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

func (c versionColumn) text(value json.RawMessage) ledger.Null[string] {
	var text *string
	switch {
	case value == nil || string(value) == "null":
		return ledger.Null[string]{}
	case json.Unmarshal(value, &text) != nil: // not a string
		raw := string(value)
		text = &raw
	}
	if c.form != nil {
		return c.form(*text)
	}
	return ledger.Of(*text)
}
