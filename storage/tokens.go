package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"heliograph/internal/domain/ledger"
)

// tokenColumns are the columns of a token t with its entity e, in the order of tokenTargets.
const tokenColumns = `t.token_id, t.type::text, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp, t.decimals, e.deleted,
  e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key, t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key,
  t.name, t.pause_key, t.pause_status::text, t.supply_key, t.supply_type::text, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)), least(upper(t.timestamp_range), upper(e.timestamp_range)),
  t.total_supply, t.treasury_account_id, t.wipe_key`

// tokenRow is a token with the columns that its values are computed from.
type tokenRow struct {
	ledger.Token
	feesRow
	typ, pauseStatus, supplyType                string
	adminKey, feeScheduleKey, freezeKey, kycKey ledger.Key
	metadataKey, pauseKey, supplyKey, wipeKey   ledger.Key
	expiration                                  ledger.Null[int64]
}

func tokenTargets(t *tokenRow, into []any) []any {
	return append(into, &t.EntityID, &t.typ, (*[]byte)(&t.adminKey), &t.AutoRenewAccountID, &t.AutoRenewPeriod, &t.CreatedTimestamp, &t.Decimals, &t.Deleted,
		&t.expiration, (*[]byte)(&t.feeScheduleKey), &t.FreezeDefault, (*[]byte)(&t.freezeKey), &t.InitialSupply, (*[]byte)(&t.kycKey), &t.MaxSupply, &t.Memo,
		&t.Metadata, (*[]byte)(&t.metadataKey), &t.Name, (*[]byte)(&t.pauseKey), &t.pauseStatus, (*[]byte)(&t.supplyKey), &t.supplyType, &t.Symbol,
		&t.Timestamp.From, &t.Timestamp.To, &t.TotalSupply, &t.TreasuryAccountID, (*[]byte)(&t.wipeKey))
}

// finishToken computes what the database does not hold.
func finishToken(t *tokenRow) error {
	t.Type, t.PauseStatus, t.SupplyType = ledger.TokenType(t.typ), ledger.TokenPauseStatus(t.pauseStatus), ledger.TokenSupplyType(t.supplyType)
	t.AdminKey, t.FeeScheduleKey, t.FreezeKey, t.KYCKey = t.adminKey.Info(), t.feeScheduleKey.Info(), t.freezeKey.Info(), t.kycKey.Info()
	t.MetadataKey, t.PauseKey, t.SupplyKey, t.WipeKey = t.metadataKey.Info(), t.pauseKey.Info(), t.supplyKey.Info(), t.wipeKey.Info()
	t.ExpirationTimestamp = expiry(t.expiration, ledger.Of(t.CreatedTimestamp), t.AutoRenewPeriod)
	if t.Metadata == nil {
		t.Metadata = []byte{}
	}
	return nil
}

// feesColumns are the columns of a row f of custom_fee or its history, in the order of feesTargets.
const feesColumns = `f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range)`

// feesRow is the JSON of a token's custom fees.
type feesRow struct {
	hasFees                    bool
	fixed, fractional, royalty []byte
	feesFrom                   ledger.Null[ledger.Timestamp]
}

func feesTargets(f *feesRow, into []any) []any {
	return append(into, &f.hasFees, &f.fixed, &f.fractional, &f.royalty, &f.feesFrom)
}

// fractionalFee is a member of the JSON column custom_fee.fractional_fees.
type fractionalFee struct {
	AllCollectorsAreExempt bool            `json:"all_collectors_are_exempt"`
	CollectorAccountID     ledger.EntityID `json:"collector_account_id"`
	Denominator            int64           `json:"denominator"`
	MaximumAmount          *int64          `json:"maximum_amount"`
	MinimumAmount          int64           `json:"minimum_amount"`
	NetOfTransfers         bool            `json:"net_of_transfers"`
	Numerator              int64           `json:"numerator"`
}

// royaltyFee is a member of the JSON column custom_fee.royalty_fees.
type royaltyFee struct {
	AllCollectorsAreExempt bool            `json:"all_collectors_are_exempt"`
	CollectorAccountID     ledger.EntityID `json:"collector_account_id"`
	Denominator            int64           `json:"denominator"`
	FallbackFee            *fallbackFee    `json:"fallback_fee"`
	Numerator              int64           `json:"numerator"`
}

type fallbackFee struct {
	Amount              int64           `json:"amount"`
	DenominatingTokenID ledger.EntityID `json:"denominating_token_id"`
}

// fees are the custom fees of a token, nil when the database has no row of them. A fungible token has no royalty fees and any other no fractional
// ones, whatever is stored.
func (f *feesRow) fees(token ledger.EntityID, typ ledger.TokenType) (*ledger.TokenCustomFees, error) {
	if !f.hasFees {
		return nil, nil //nolint:nilnil // there are none
	}
	out := &ledger.TokenCustomFees{CreatedTimestamp: f.feesFrom, FixedFees: []*ledger.FixedFee{}}
	fixed, err := members[fixedFee](f.fixed)
	if err != nil {
		return nil, fmt.Errorf("fixed fees of token %s: %w", token, err)
	}
	for _, m := range fixed {
		out.FixedFees = append(out.FixedFees, (*ledger.FixedFee)(&m))
	}
	if typ == ledger.TokenFungibleCommon {
		fractional, err := members[fractionalFee](f.fractional)
		if err != nil {
			return nil, fmt.Errorf("fractional fees of token %s: %w", token, err)
		}
		out.FractionalFees = []*ledger.FractionalFee{}
		for _, m := range fractional {
			fee := &ledger.FractionalFee{
				AllCollectorsAreExempt: m.AllCollectorsAreExempt, Amount: &ledger.Fraction{Numerator: m.Numerator, Denominator: m.Denominator},
				CollectorAccountID: m.CollectorAccountID, DenominatingTokenID: token, Minimum: m.MinimumAmount, NetOfTransfers: m.NetOfTransfers,
			}
			if m.MaximumAmount != nil {
				fee.Maximum = ledger.Of(*m.MaximumAmount)
			}
			out.FractionalFees = append(out.FractionalFees, fee)
		}
		return out, nil
	}
	royalty, err := members[royaltyFee](f.royalty)
	if err != nil {
		return nil, fmt.Errorf("royalty fees of token %s: %w", token, err)
	}
	out.RoyaltyFees = []*ledger.RoyaltyFee{}
	for _, m := range royalty {
		fee := &ledger.RoyaltyFee{
			AllCollectorsAreExempt: m.AllCollectorsAreExempt, Amount: &ledger.Fraction{Numerator: m.Numerator, Denominator: m.Denominator},
			CollectorAccountID: m.CollectorAccountID,
		}
		if m.FallbackFee != nil && m.FallbackFee.Amount != 0 {
			fee.FallbackFee = (*ledger.FallbackFee)(m.FallbackFee)
		}
		out.RoyaltyFees = append(out.RoyaltyFees, fee)
	}
	return out, nil
}

// members reads a JSON array; null has none.
func members[T any](text []byte) ([]T, error) {
	if text == nil {
		return nil, nil
	}
	var out []T
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return out, nil
}

// tokens drops the columns that were needed only to compute others.
func tokens(rows []*tokenRow) []*ledger.Token {
	out := make([]*ledger.Token, len(rows))
	for i, r := range rows {
		out[i] = &r.Token
	}
	return out
}

// Tokens reads a page of tokens by id. associated, if valid, is an account that they are associated with. Custom fees are not read.
func (db *DB) Tokens(ctx context.Context, f *ledger.TokenFilter, associated ledger.Null[ledger.EntityID], p Page) ([]*ledger.Token, error) {
	var w where
	from := "token t join entity e on e.id = t.token_id"
	if associated.Valid {
		from += " join token_account a on a.token_id = t.token_id and a.associated and a.account_id = " + w.arg(int64(associated.V))
	}
	if f != nil {
		filter(&w, "t.token_id", f.ID)
		for _, part := range f.NameContains {
			w.and("t.name ilike ?", "%"+part+"%")
		}
		textFilter(&w, "e.public_key", f.PublicKey)
		if f.Types != nil {
			w.and("t.type = any(?::text[]::token_type[])", f.Types)
		}
	}
	w.keyset(p, "t.token_id")
	b := db.NewBatch()
	if f != nil && len(f.NameContains) > 0 {
		b.set("enable_bitmapscan", "on") // the index of names answers with bitmaps only
	}
	var found []*ledger.Token
	queue(b, `select `+tokenColumns+` from `+from+` where true`+w.String()+w.orderBy(p, "t.token_id"), w.args, tokenTargets, finishToken,
		func(rows []*tokenRow) { found = tokens(rows) })
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading tokens: %w", err)
	}
	return found, nil
}

// QueueTokens queues reading tokens by their ids; done gets one for each id, nil for those that do not exist. Custom fees are not read.
func (b *Batch) QueueTokens(ids []ledger.EntityID, done func([]*ledger.Token)) {
	queue(b, `select `+tokenColumns+` from token t join entity e on e.id = t.token_id where t.token_id = any($1)`, []any{int64s(ids)}, tokenTargets, finishToken,
		func(rows []*tokenRow) {
			byID := make(map[ledger.EntityID]*ledger.Token, len(rows))
			for _, r := range rows {
				byID[r.EntityID] = &r.Token
			}
			out := make([]*ledger.Token, len(ids))
			for i, id := range ids {
				out[i] = byID[id]
			}
			done(out)
		})
}

// Token reads a token with its custom fees, as it is or, where at is given, as it was: of each of the three rows that make it the newest version
// whose time meets at. Nil when there is none.
func (db *DB) Token(ctx context.Context, id ledger.EntityID, at *ledger.TimestampFilter) (*ledger.Token, error) {
	w := where{args: []any{int64(id)}}
	w.versions("timestamp_range", at)
	newest := func(table, key string) string {
		version := func(table string) string {
			return `(select * from ` + table + ` where ` + key + ` = $1` + w.String() + ` order by lower(timestamp_range) desc limit 1)`
		}
		if at == nil {
			return `(select * from ` + table + ` where ` + key + ` = $1)`
		}
		return `(select * from (` + version(table) + ` union all ` + version(table+"_history") + `) v order by lower(timestamp_range) desc limit 1)`
	}
	sql := `select ` + tokenColumns + `, ` + feesColumns + ` from ` + newest("token", "token_id") + ` t join ` + newest("entity", "id") + ` e on e.id = t.token_id
left join ` + newest("custom_fee", "entity_id") + ` f on f.entity_id = t.token_id`
	rows, err := list(ctx, db, sql, w.args, func(t *tokenRow, into []any) []any { return feesTargets(&t.feesRow, tokenTargets(t, into)) }, func(t *tokenRow) error {
		if err := finishToken(t); err != nil {
			return err
		}
		fees, err := t.fees(t.EntityID, t.Type)
		t.Fees, t.At = ledger.Of(fees), at
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading token %s: %w", id, err)
	case len(rows) == 0:
		return nil, nil //nolint:nilnil // no such token, or not then
	default:
		return &rows[0].Token, nil
	}
}

// tokenFees are the custom fees of a token.
type tokenFees struct {
	feesRow
	token ledger.EntityID
	fees  *ledger.TokenCustomFees
}

// QueueTokenFees queues reading the present custom fees of tokens; done gets those of each, nil where the database has none.
func (b *Batch) QueueTokenFees(of []*ledger.Token, done func([]*ledger.TokenCustomFees)) {
	types := make(map[ledger.EntityID]ledger.TokenType, len(of))
	ids := make([]int64, len(of))
	for i, t := range of {
		types[t.EntityID], ids[i] = t.Type, int64(t.EntityID)
	}
	queue(b, `select f.entity_id, `+feesColumns+` from custom_fee f where f.entity_id = any($1)`, []any{ids},
		func(f *tokenFees, into []any) []any { return feesTargets(&f.feesRow, append(into, &f.token)) },
		func(f *tokenFees) (err error) {
			f.fees, err = f.feesRow.fees(f.token, types[f.token])
			return err
		},
		func(rows []*tokenFees) {
			byID := make(map[ledger.EntityID]*ledger.TokenCustomFees, len(rows))
			for _, r := range rows {
				byID[r.token] = r.fees
			}
			out := make([]*ledger.TokenCustomFees, len(of))
			for i, t := range of {
				out[i] = byID[t.EntityID]
			}
			done(out)
		})
}
