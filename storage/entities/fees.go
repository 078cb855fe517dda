package entities

import (
	"context"
	"fmt"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// hasFees returns a condition that is true if a JSON column contains fees.
func hasFees(column string) string { return `coalesce(` + column + `, '[]') not in ('[]', 'null')` }

// pricedToken holds the properties of a token on which transfer fees depend.
type pricedToken struct {
	id    ledger.EntityID
	facts ledger.TokenFeeFacts
}

var pricedTokenRows = storage.MapperOf(func(t *pricedToken, into []any) []any {
	return append(into, &t.id, &t.facts.NonFungible, &t.facts.HasCustomFees)
}, nil)

// FeeFacts reads the data on which the fee of a transaction depends, in one round trip. It sends no query if no data is needed.
func FeeFacts(ctx context.Context, db *storage.DB, q *ledger.FeeQuestions) (*ledger.FeeFacts, error) {
	facts := &ledger.FeeFacts{Tokens: map[ledger.EntityID]ledger.TokenFeeFacts{}, Owned: map[string]bool{}}
	b := db.NewBatch()
	if q.Topic != 0 {
		storage.Values[ledger.EntityID]().Queue(b,
			`select t.id from topic t join custom_fee f on f.entity_id = t.id where t.id = $1 and `+hasFees("f.fixed_fees"), []any{int64(q.Topic)},
			func(got []*ledger.EntityID) { facts.TopicHasFees = len(got) > 0 })
	}
	if len(q.Tokens) > 0 {
		pricedTokenRows.Queue(b, `select t.token_id, t.type = 'NON_FUNGIBLE_UNIQUE', `+hasFees("f.fixed_fees")+` or `+hasFees("f.fractional_fees")+`
or `+hasFees("f.royalty_fees")+`
from token t left join custom_fee f on f.entity_id = t.token_id where t.token_id = `+storage.Any1, []any{storage.Int64s(q.Tokens)},
			func(got []*pricedToken) {
				for _, t := range got {
					facts.Tokens[t.id] = t.facts
				}
			})
	}
	if len(q.Aliases) > 0 {
		aliases := list.Map(q.Aliases, func(a ledger.Alias) []byte { return a })
		storage.Values[[]byte]().Queue(b, `select alias from entity where alias = any($1) and deleted is not true
union all select evm_address from entity where evm_address = any($1) and deleted is not true`, []any{aliases},
			func(got []*[]byte) {
				for _, a := range got {
					facts.Owned[string(*a)] = true
				}
			})
	}
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("looking up what a fee depends on: %w", err)
	}
	return facts, nil
}
