package past

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/ledgerstate"
	"heliograph/storage/transactions"
)

// TransactionEffects resolves Transaction.effects. It queues reads in the batch of q: the transfers of hbars and of
// tokens of transactions, unless they were read with them. What they changed is read by the fields below.
func (Fields) TransactionEffects(
	_ context.Context, q rowplan.Request, of []*ledger.Transaction,
) (rowplan.Results[*ledger.TransactionEffects], error) {
	hbars := transactions.QueueTransfers(loading.BatchOf(q), of)
	tokens := transactions.QueueTokenTransfers(loading.BatchOf(q), of)
	return func() ([]*ledger.TransactionEffects, error) {
		ofHbars, err := hbars()
		if err != nil {
			return nil, err
		}
		ofTokens, err := tokens()
		if err != nil {
			return nil, err
		}
		out := make([]*ledger.TransactionEffects, len(of))
		for i, t := range of {
			out[i] = effectsOf(t, ofHbars[i], ofTokens[i])
		}
		return out, nil
	}, nil
}

// effectsOf returns what a transaction with some transfers can have changed: balances, entities, relationships and
// NFTs, each once and in order, and what effects do not cover. An entity without an hbar transfer has no effect on a
// balance. It reads nothing: the fields of the results read the changes.
func effectsOf(
	t *ledger.Transaction, hbars []*ledger.CryptoTransfer, tokens []*ledger.TokenTransfer,
) *ledger.TransactionEffects {
	out, at := &ledger.TransactionEffects{NotCovered: t.Type.Uncovered()}, t.ConsensusTimestamp
	moved := map[ledger.EntityID]*ledger.BalanceEffect{t.EntityID: nil} // nil without an hbar transfer
	serials := map[ledgerstate.Holding]int64{}
	hold := func(account, token ledger.EntityID, n int64) {
		if _, found := moved[account]; !found {
			moved[account] = nil
		}
		serials[ledgerstate.Holding{Account: account, Token: token}] += n
	}
	spent := false
	for _, h := range hbars {
		moved[h.AccountID] = &ledger.BalanceEffect{AccountID: h.AccountID, ConsensusTimestamp: at}
		spent = spent || h.IsApproval
	}
	for _, h := range tokens {
		hold(h.AccountID, h.TokenID, 0)
		spent = spent || h.IsApproval
	}
	for _, n := range t.NFTTransfers {
		spent = spent || n.IsApproval
		if n.SerialNumber < 0 {
			out.NotCovered = append(out.NotCovered, ledger.UncoveredNFTs)
			continue
		}
		hold(n.SenderAccountID, n.TokenID, -1)
		hold(n.ReceiverAccountID, n.TokenID, 1)
		out.NFTs = append(out.NFTs, &ledger.NFTEffect{TokenID: n.TokenID, SerialNumber: n.SerialNumber, At: at})
	}
	if spent {
		out.NotCovered = append(out.NotCovered, ledger.UncoveredAllowances)
	}
	delete(moved, 0) // nobody: NFTs that were minted or burned
	for _, id := range slices.Sorted(maps.Keys(moved)) {
		out.Entities = append(out.Entities, &ledger.EntityEffect{EntityID: id, At: at, Moved: moved[id]})
	}
	for of, n := range serials {
		if !of.Account.IsNone() {
			m := &ledger.BalanceEffect{AccountID: of.Account, TokenID: of.Token, Amount: n, ConsensusTimestamp: at}
			out.Relationships = append(out.Relationships,
				&ledger.RelationshipEffect{AccountID: of.Account, TokenID: of.Token, At: at, Moved: m})
		}
	}
	slices.SortFunc(out.Relationships, func(a, b *ledger.RelationshipEffect) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.TokenID, b.TokenID))
	})
	slices.SortStableFunc(out.NFTs, func(a, b *ledger.NFTEffect) int {
		return cmp.Or(cmp.Compare(a.TokenID, b.TokenID), cmp.Compare(a.SerialNumber, b.SerialNumber))
	})
	out.NFTs = slices.CompactFunc(out.NFTs, func(a, b *ledger.NFTEffect) bool { return *a == *b })
	slices.Sort(out.NotCovered)
	out.NotCovered = slices.Compact(out.NotCovered)
	return out
}

// balancesAfter queues with queue reading the balances before and after transactions in the batch of q, for the fields
// balance of effects. It returns copies of the rows, since a field can be selected several times. Nil rows stay nil.
func balancesAfter(
	q rowplan.Request, of []*ledger.BalanceEffect,
	queue func(*storage.Batch, []*ledger.BalanceEffect) storage.Result[[]*ledgerstate.MovedBalance],
) (rowplan.Results[*ledger.BalanceEffect], error) {
	moved := slices.DeleteFunc(slices.Clone(of), func(e *ledger.BalanceEffect) bool { return e == nil })
	return storage.Map(queue(loading.BatchOf(q), moved),
		func(found []*ledgerstate.MovedBalance) []*ledger.BalanceEffect {
			return list.Map(of, func(e *ledger.BalanceEffect) *ledger.BalanceEffect {
				if e == nil {
					return nil
				}
				m := found[0]
				found = found[1:]
				return withBalances(*e, m)
			})
		}), nil
}

// withBalances returns the effect on a balance with a movement added, and the balances before and after it, in
// tinybars, in the smallest unit of the token, or in serials. If they are unknown, Unknown has the reason.
func withBalances(e ledger.BalanceEffect, m *ledgerstate.MovedBalance) *ledger.BalanceEffect {
	e.Amount += m.Amount
	switch {
	case m.After.Valid:
		e.Before, e.After = ledger.Of(m.After.V-e.Amount), m.After
	case m.TooMany:
		e.Unknown = ledger.Of(fmt.Sprintf("more than %d rows would have to be read since the balance snapshot before",
			ledgerstate.MaxMoved))
	default:
		e.Unknown = ledger.Of("there is no balance snapshot before")
	}
	return &e
}

// EntityEffectBalance resolves EntityEffect.balance. It queues a read in the batch of q: the hbar balances before and
// after transactions, nil for entities without an hbar transfer.
func (Fields) EntityEffectBalance(
	_ context.Context, q rowplan.Request, of []*ledger.EntityEffect,
) (rowplan.Results[*ledger.BalanceEffect], error) {
	moved := list.Map(of, func(e *ledger.EntityEffect) *ledger.BalanceEffect { return e.Moved })
	return balancesAfter(q, moved, ledgerstate.QueueHbarsAfter)
}

// RelationshipEffectBalance resolves RelationshipEffect.balance. It queues a read in the batch of q: the balances
// of tokens before and after transactions.
func (Fields) RelationshipEffectBalance(
	_ context.Context, q rowplan.Request, of []*ledger.RelationshipEffect,
) (rowplan.Results[*ledger.BalanceEffect], error) {
	moved := list.Map(of, func(e *ledger.RelationshipEffect) *ledger.BalanceEffect { return e.Moved })
	return balancesAfter(q, moved, ledgerstate.QueueTokensAfter)
}

// EntityEffectChanges resolves EntityEffect.changes. It queues a read in the batch of q: what transactions changed
// in the versions of entities.
func (Fields) EntityEffectChanges(
	_ context.Context, q rowplan.Request, of []*ledger.EntityEffect,
) (rowplan.Results[[]*ledger.Change], error) {
	return entities.QueueEntityChanges(loading.BatchOf(q), of), nil
}

// RelationshipEffectChanges resolves RelationshipEffect.changes. It queues a read in the batch of q: what
// transactions changed in the versions of token relationships.
func (Fields) RelationshipEffectChanges(
	_ context.Context, q rowplan.Request, of []*ledger.RelationshipEffect,
) (rowplan.Results[[]*ledger.Change], error) {
	return entities.QueueRelationshipChanges(loading.BatchOf(q), of), nil
}

// NFTEffectChanges resolves NFTEffect.changes. It queues a read in the batch of q: what transactions changed in
// the versions of NFTs.
func (Fields) NFTEffectChanges(
	_ context.Context, q rowplan.Request, of []*ledger.NFTEffect,
) (rowplan.Results[[]*ledger.Change], error) {
	return entities.QueueNFTChanges(loading.BatchOf(q), of), nil
}

// NFTEffectNft resolves NFTEffect.nft. It queues a read in the batch of q: the NFT of each effect, nil if it does not
// exist.
func (Fields) NFTEffectNft(
	_ context.Context, q rowplan.Request, of []*ledger.NFTEffect,
) (rowplan.Results[*ledger.NFT], error) {
	return entities.QueueNFTsByKey(loading.BatchOf(q), list.Map(of, (*ledger.NFTEffect).Key)), nil
}
