package entities

import (
	"context"
	"fmt"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// TokenKeys are the encoded keys of a token.
type TokenKeys struct {
	Admin, FeeSchedule, Freeze, KYC, Metadata, Pause, Supply, Wipe ledger.Key
}

// FinishToken sets the members of a token that are computed from columns: names, keys and expiry. It is part of the
// mappers of packages that read tokens. The error is always nil.
func FinishToken(t *TokenRow) error {
	k := &t.Keys
	t.Type, t.PauseStatus, t.SupplyType = ledger.TokenType(t.typ), ledger.TokenPauseStatus(t.pauseStatus),
		ledger.TokenSupplyType(t.supplyType)
	t.AdminKey, t.FeeScheduleKey, t.FreezeKey, t.KYCKey = k.Admin.Info(), k.FeeSchedule.Info(), k.Freeze.Info(),
		k.KYC.Info()
	t.MetadataKey, t.PauseKey, t.SupplyKey, t.WipeKey = k.Metadata.Info(), k.Pause.Info(), k.Supply.Info(),
		k.Wipe.Info()
	t.ExpirationTimestamp = Expiry(t.expiration, ledger.Of(t.CreatedTimestamp), t.AutoRenewPeriod)
	if t.Metadata == nil {
		t.Metadata = []byte{}
	}
	return nil
}

// fractionalFee is a member of the JSON column custom_fee.fractional_fees.
type fractionalFee struct {
	ledger.FractionalFee
	ledger.Fraction
	MaximumAmount ledger.Null[int64]
	MinimumAmount int64
}

// royaltyFee is a member of the JSON column custom_fee.royalty_fees.
type royaltyFee struct {
	ledger.RoyaltyFee
	ledger.Fraction
}

// CustomFees returns the custom fees of a token from the decoded row, or nil if the database has no row of them.
// Royalty fees of fungible tokens and fractional fees of non-fungible tokens are ignored, and a fallback fee of 0 is
// none. It fails if their JSON is invalid.
func (f *FeesRow) CustomFees(token ledger.EntityID, typ ledger.TokenType) (*ledger.TokenCustomFees, error) {
	if !f.hasFees {
		return nil, nil //nolint:nilnil // no row
	}
	out := &ledger.TokenCustomFees{CreatedTimestamp: f.feesFrom, FixedFees: []*ledger.FixedFee{}}
	err := storage.DecodeJSON(f.fixed, &out.FixedFees)
	if err != nil {
		return nil, fmt.Errorf("fixed fees of token %s: %w", token, err)
	}
	if typ == ledger.TokenFungibleCommon {
		var fractional []*fractionalFee
		err = storage.DecodeJSON(f.fractional, &fractional)
		if err != nil {
			return nil, fmt.Errorf("fractional fees of token %s: %w", token, err)
		}
		out.FractionalFees = list.Map(fractional, func(m *fractionalFee) *ledger.FractionalFee {
			m.Amount, m.DenominatingTokenID = &m.Fraction, token
			m.Minimum, m.Maximum = m.MinimumAmount, m.MaximumAmount
			return &m.FractionalFee
		})
		return out, nil
	}
	var royalty []*royaltyFee
	err = storage.DecodeJSON(f.royalty, &royalty)
	if err != nil {
		return nil, fmt.Errorf("royalty fees of token %s: %w", token, err)
	}
	out.RoyaltyFees = list.Map(royalty, func(m *royaltyFee) *ledger.RoyaltyFee {
		m.Amount = &m.Fraction
		if m.FallbackFee != nil && m.FallbackFee.Amount == 0 {
			m.FallbackFee = nil
		}
		return &m.RoyaltyFee
	})
	return out, nil
}

// Tokens reads a page of tokens, deleted or not, ordered by id. A valid associated limits them to the tokens with
// which the account is associated, and a valid treasury to its tokens: no index has the treasury, but every treasury
// is associated with its tokens. The parts in f.NameContains are patterns, with % and _. Custom fees are not read.
// With onlyIDs, only the ids of the tokens are set.
func Tokens(
	ctx context.Context, db *storage.DB, f ledger.TokenFilter, associated, treasury ledger.Null[ledger.EntityID],
	onlyIDs bool, p storage.Page,
) (
	[]*ledger.Token, error,
) {
	var w storage.Where
	from, of := "token t join entity e on e.id = t.token_id", "" // of are the accounts whose tokens are read
	if associated.Valid {
		of = w.Arg(int64(associated.V))
		from += " join token_account a on a.token_id = t.token_id and a.associated and a.account_id = " + of
	}
	if treasury.Valid {
		id := w.Arg(int64(treasury.V))
		from += " join token_account o on o.token_id = t.token_id and o.account_id = " +
			id + " and t.treasury_account_id = " + id
		of = strings.TrimPrefix(of+", "+id, ", ")
	}
	storage.Filter(&w, "t.token_id", f.ID)
	for _, part := range f.NameContains {
		w.And("t.name ilike ?", "%"+part+"%")
	}
	storage.FilterText(&w, "e.public_key", f.PublicKey)
	if f.Types != nil {
		w.Among("t.type = any(?::text[]::token_type[])", len(f.Types), f.Types)
	}
	w.Keyset(p, "t.token_id")
	r := storage.Read{
		Select: TokenColumns, From: from, Rest: ` where true` + w.String() + w.OrderBy(p, "t.token_id"),
	}
	if of != "" {
		r.Ahead = []storage.Rows{storage.RowsOf("token_account", `account_id in (`+of+`)`)}
	}
	if onlyIDs {
		r.Select = tokenIDColumns
		return tokenIDRows.ListRead(ctx, db, "tokens", &r, w.Args)
	}
	return tokenRows.ListRead(ctx, db, "tokens", &r, w.Args)
}

// QueueTokensNamed queues a query for at most limit tokens, deleted or not, whose name starts with a text, ignoring
// case. The text is no pattern. Short names are first. Custom fees are not read.
func QueueTokensNamed(b *storage.Batch, name string, limit int) storage.Result[[]*ledger.Token] {
	start := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(name) + "%"
	return tokenRows.QueueRead(b, &storage.Read{
		Select: TokenColumns,
		Page:   `select * from token where name ilike $1 order by length(name), token_id limit $2`, As: "t",
		Joins: []storage.Join{
			storage.Joined(` join entity e on e.id = t.token_id`, "entity", `id in (select token_id from page)`),
		},
		Rest: ` order by length(t.name), t.token_id`,
	}, []any{start, limit})
}

var (
	decimalsByID = storage.ByKeys(`select ` + decimalsColumns + ` from token where token_id = ` + storage.Any1)
	tokensByID   = storage.ByKeys(`select ` + TokenColumns +
		` from token t join entity e on e.id = t.token_id where t.token_id = ` + storage.Any1)
	feesByID = storage.ByKeys(`select f.entity_id, ` + FeesColumns +
		` from custom_fee f where f.entity_id = ` + storage.Any1)
	factsByID = storage.ByKeys(`select t.token_id, t.type = 'NON_FUNGIBLE_UNIQUE', ` +
		hasFees("f.fixed_fees") + ` or ` + hasFees("f.fractional_fees") + `
or ` + hasFees("f.royalty_fees") + `
from token t left join custom_fee f on f.entity_id = t.token_id where t.token_id = ` + storage.Any1)
)

// QueueDecimals queues a query for the numbers of decimals of tokens. The result has one row per token, in which only
// token and decimals are set, or nil for tokens that do not exist.
func QueueDecimals(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.TokenHolder] {
	return storage.QueueByKey(b, decimalsRows, decimalsByID, ids,
		func(t *ledger.TokenHolder) ledger.EntityID { return t.TokenID })
}

// QueueTokens queues a query for tokens by id, deleted or not. The result has one token per id, or nil for ids that do
// not exist. Custom fees are not read.
func QueueTokens(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.Token] {
	return storage.QueueByKey(b, tokenRows, tokensByID, ids,
		func(t *ledger.Token) ledger.EntityID { return t.EntityID })
}

// tokenWithFees returns the statement for a token with its custom fees. newest returns the FROM item, without an
// alias, for the row of a table whose column key has the id $1.
func tokenWithFees(newest func(table, key string) string) string {
	return `select ` + TokenColumns + `, ` + FeesColumns + ` from ` + newest("token", "token_id") + ` t join ` + newest("entity", "id") + ` e on e.id = t.token_id
left join ` + newest("custom_fee", "entity_id") + ` f on f.entity_id = t.token_id`
}

var currentToken = tokenWithFees(func(table, key string) string {
	return `(select * from ` + table + ` where ` + key + ` = $1)`
})

var withFeesRows = storage.NewMapper(func(t *TokenRow, into []any) []any {
	return FeesTargets(&t.FeesRow, TokenTargets(t, into))
}, func(t *TokenRow) error {
	if err := FinishToken(t); err != nil {
		return err
	}
	fees, err := t.CustomFees(t.EntityID, t.Type)
	t.Fees = ledger.Of(fees)
	return err
}, func(r *TokenRow) *ledger.Token { return &r.Token })

// Token reads a token with its custom fees: its current state, or that at the moment of ctx. If at is set, it is the
// newest matching version of each of its three rows, and t.At is set. It returns nil if the token does not exist.
func Token(
	ctx context.Context, db *storage.DB, id ledger.EntityID, at *ledger.TimestampFilter,
) (*ledger.Token, error) {
	w := storage.With(int64(id))
	sql := currentToken
	if at != nil {
		w.Versions("timestamp_range", at)
		sql = tokenWithFees(func(table, key string) string {
			version := func(table string) string {
				return `(select * from ` + table + ` where ` + key + ` = $1` + w.String() +
					` order by lower(timestamp_range) desc limit 1)`
			}
			return `(select * from (` + version(table) + ` union all ` + version(table+"_history") +
				`) v order by lower(timestamp_range) desc limit 1)`
		})
	}
	t, err := withFeesRows.One(ctx, db, "a token", sql, w.Args...)
	if t != nil {
		t.At = at
	}
	return t, err
}

// tokenFees are the custom fees of a token.
type tokenFees struct {
	FeesRow
	token ledger.EntityID
	fees  *ledger.TokenCustomFees
}

// QueueTokenFees queues a query for the current custom fees of tokens, whose types have to be set. The result has one
// value per token, nil if the database has none. It fails if the JSON of the fees of one token is invalid.
func QueueTokenFees(b *storage.Batch, of []*ledger.Token) storage.Result[[]*ledger.TokenCustomFees] {
	types := make(map[ledger.EntityID]ledger.TokenType, len(of))
	ids := make([]ledger.EntityID, len(of))
	for i, t := range of {
		types[t.EntityID], ids[i] = t.Type, t.EntityID
	}
	rows := storage.MapperOf(func(f *tokenFees, into []any) []any {
		return FeesTargets(&f.FeesRow, append(into, &f.token))
	}, func(f *tokenFees) (err error) {
		f.fees, err = f.CustomFees(f.token, types[f.token])
		return err
	})
	read := storage.QueueByKey(b, rows, feesByID, ids, func(f *tokenFees) ledger.EntityID { return f.token })
	return storage.Map(read, func(found []*tokenFees) []*ledger.TokenCustomFees {
		return list.Map(found, func(f *tokenFees) *ledger.TokenCustomFees {
			if f == nil {
				return nil
			}
			return f.fees
		})
	})
}

// CountTokens counts tokens.
const CountTokens storage.Countable = `select 1 from token`

// hasFees returns an SQL condition that is true if a JSON column of custom_fee contains fees. Null contains none.
func hasFees(column string) string { return `coalesce(` + column + `, '[]') not in ('[]', 'null')` }

// pricedToken holds the properties of a token on which transfer fees depend.
type pricedToken struct {
	id    ledger.EntityID
	facts ledger.TokenFeeFacts
}

var pricedTokenRows = storage.MapperOf(func(t *pricedToken, into []any) []any {
	return append(into, &t.id, &t.facts.NonFungible, &t.facts.HasCustomFees)
}, nil)

// FeeFacts reads the data on which the fee of a transaction depends, in one round trip, for [fees.Schedule.Estimate].
// It sends no query if no data is needed. Tokens that do not exist are missing from the map. With an error, the facts
// are not complete.
func FeeFacts(ctx context.Context, db *storage.DB, q *ledger.FeeQuestions) (*ledger.FeeFacts, error) {
	facts := &ledger.FeeFacts{Tokens: map[ledger.EntityID]ledger.TokenFeeFacts{}, Owned: map[string]bool{}}
	b := db.NewBatch()
	if q.Topic != 0 {
		got := storage.Values[ledger.EntityID]().Queue(b,
			`select t.id from topic t join custom_fee f on f.entity_id = t.id where t.id = $1 and `+
				hasFees("f.fixed_fees"), []any{int64(q.Topic)})
		storage.Use(b, got, func(got []*ledger.EntityID) { facts.TopicHasFees = len(got) > 0 })
	}
	if len(q.Tokens) > 0 {
		got := pricedTokenRows.Queue(b, factsByID.Arrays(db).SQL, []any{storage.Int64s(q.Tokens)})
		storage.Use(b, got, func(got []*pricedToken) {
			for _, t := range got {
				facts.Tokens[t.id] = t.facts
			}
		})
	}
	if len(q.Aliases) > 0 {
		aliases := list.Map(q.Aliases, func(a ledger.Alias) []byte { return a })
		got := storage.Values[[]byte]().Queue(b, `select alias from entity where alias = any($1) and deleted is not true
union all select evm_address from entity where evm_address = any($1) and deleted is not true`, []any{aliases})
		storage.Use(b, got, func(got []*[]byte) {
			for _, a := range got {
				facts.Owned[string(*a)] = true
			}
		})
	}
	err := b.Run(ctx)
	return facts, wrap.Error(err, "looking up what a fee depends on")
}
