package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// tokenRelations are the arrows from tokens and what accounts hold of them.
type tokenRelations struct {
	autoRenewAccount *rowplan.Relation[*ledger.Token, *ledger.Account]
	treasuryAccount  *rowplan.Relation[*ledger.Token, *ledger.Account]
	customFees       *rowplan.Relation[*ledger.Token, *ledger.TokenCustomFees]
	balances         *rowplan.Relation[*ledger.Token, *relay.TokenHolderConnection]
	nfts             *rowplan.Relation[*ledger.Token, *relay.NFTConnection]

	fixedCollector      *rowplan.Relation[*ledger.FixedFee, *ledger.Account]
	fixedToken          *rowplan.Relation[*ledger.FixedFee, *ledger.Token]
	fractionalCollector *rowplan.Relation[*ledger.FractionalFee, *ledger.Account]
	royaltyCollector    *rowplan.Relation[*ledger.RoyaltyFee, *ledger.Account]

	holder              *rowplan.Relation[*ledger.TokenHolder, *ledger.Account]
	heldToken           *rowplan.Relation[*ledger.TokenHolder, *ledger.Token]
	relationshipAccount *rowplan.Relation[*ledger.TokenRelationship, *ledger.Account]
	relationshipToken   *rowplan.Relation[*ledger.TokenRelationship, *ledger.Token]
	balanceToken        *rowplan.Relation[*ledger.TokenBalance, *ledger.Token]
	transferAccount     *rowplan.Relation[*ledger.TokenTransfer, *ledger.Account]
	transferToken       *rowplan.Relation[*ledger.TokenTransfer, *ledger.Token]
	relationships       *rowplan.Relation[*ledger.Account, *relay.TokenRelationshipConnection]
}

// newTokenRelations makes the relations. now is the clock.
func newTokenRelations(now func() ledger.Timestamp) tokenRelations {
	return tokenRelations{
		autoRenewAccount: accountOf(func(t *ledger.Token) ledger.EntityID { return t.AutoRenewAccountID }),
		treasuryAccount:  accountOf(func(t *ledger.Token) ledger.EntityID { return t.TreasuryAccountID }),
		customFees:       queued(queueTokenFees),
		balances: dated(listed(holderList, func(ctx context.Context, b *storage.Batch, parents []*ledger.Token, f *ledger.TokenHolderFilter, args rowplan.Args, p storage.Page, done func([][]*ledger.TokenHolder)) error {
			when, err := filterArg[ledger.TimestampFilter](ctx, args, "at")
			if err != nil {
				return err
			}
			at := keys(parents, func(t *ledger.Token) *ledger.TimestampFilter {
				if when != nil {
					return when
				}
				return t.At
			})
			return entities.QueueTokenHolders(ctx, b, keys(parents, tokenKeyID), at, f, now(), p, done)
		})),
		nfts: listed(nftList, nftsOf(entities.OfToken, tokenKeyID)),

		fixedCollector:      accountOf(func(f *ledger.FixedFee) ledger.EntityID { return f.CollectorAccountID }),
		fixedToken:          tokenOf(func(f *ledger.FixedFee) ledger.EntityID { return f.DenominatingTokenID }),
		fractionalCollector: accountOf(func(f *ledger.FractionalFee) ledger.EntityID { return f.CollectorAccountID }),
		royaltyCollector:    accountOf(func(f *ledger.RoyaltyFee) ledger.EntityID { return f.CollectorAccountID }),

		holder:              accountOf(func(h *ledger.TokenHolder) ledger.EntityID { return h.AccountID }),
		heldToken:           tokenOf(func(h *ledger.TokenHolder) ledger.EntityID { return h.TokenID }),
		relationshipAccount: accountOf(func(r *ledger.TokenRelationship) ledger.EntityID { return r.AccountID }),
		relationshipToken:   tokenOf(func(r *ledger.TokenRelationship) ledger.EntityID { return r.TokenID }),
		balanceToken:        tokenOf(func(b *ledger.TokenBalance) ledger.EntityID { return b.TokenID }),
		transferAccount:     accountOf(func(t *ledger.TokenTransfer) ledger.EntityID { return t.AccountID }),
		transferToken:       tokenOf(func(t *ledger.TokenTransfer) ledger.EntityID { return t.TokenID }),
		relationships: listed(relationshipList, func(_ context.Context, b *storage.Batch, parents []*ledger.Account, f *ledger.TokenRelationshipFilter, _ rowplan.Args, p storage.Page, done func([][]*ledger.TokenRelationship)) error {
			entities.QueueTokenRelationships(b, keys(parents, accountEntityID), f, p, done)
			return nil
		}),
	}
}

func (r *tokenRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	token := func() *rowplan.Object[*ledger.Token] { return t.Token }
	t.Token.Add("autoRenewAccount", rowplan.RelatedOne(r.autoRenewAccount, account))
	t.Token.Add("treasuryAccount", rowplan.RelatedOne(r.treasuryAccount, account))
	t.Token.Add("customFees", rowplan.RelatedOne(r.customFees, func() *rowplan.Object[*ledger.TokenCustomFees] { return t.TokenCustomFees }))
	connect(t.Token, "balances", r.balances, func() *rowplan.Object[*relay.TokenHolderConnection] { return t.TokenHolderConnection })
	connect(t.Token, "nfts", r.nfts, func() *rowplan.Object[*relay.NFTConnection] { return t.NFTConnection })

	t.FixedFee.Add("collectorAccount", rowplan.RelatedOne(r.fixedCollector, account))
	t.FixedFee.Add("denominatingToken", rowplan.RelatedOne(r.fixedToken, token))
	t.FractionalFee.Add("collectorAccount", rowplan.RelatedOne(r.fractionalCollector, account))
	t.RoyaltyFee.Add("collectorAccount", rowplan.RelatedOne(r.royaltyCollector, account))

	t.TokenHolder.Add("account", rowplan.RelatedOne(r.holder, account))
	t.TokenHolder.Add("token", rowplan.RelatedOne(r.heldToken, token))
	t.TokenRelationship.Add("account", rowplan.RelatedOne(r.relationshipAccount, account))
	t.TokenRelationship.Add("token", rowplan.RelatedOne(r.relationshipToken, token))
	t.TokenBalance.Add("token", rowplan.RelatedOne(r.balanceToken, token))
	t.TokenTransfer.Add("account", rowplan.RelatedOne(r.transferAccount, account))
	t.TokenTransfer.Add("token", rowplan.RelatedOne(r.transferToken, token))
	connect(t.Account, "tokens", r.relationships, func() *rowplan.Object[*relay.TokenRelationshipConnection] { return t.TokenRelationshipConnection })
}

// queueTokenFees gives tokens' custom fees; some rows know them already.
func queueTokenFees(_ context.Context, b *storage.Batch, parents []*ledger.Token, _ rowplan.Args, done func([]*ledger.TokenCustomFees)) error {
	out := make([]*ledger.TokenCustomFees, len(parents))
	var unknown []*ledger.Token
	var places []int
	for i, t := range parents {
		if t.Fees.Valid {
			out[i] = t.Fees.V
			continue
		}
		unknown, places = append(unknown, t), append(places, i)
	}
	if unknown == nil {
		done(out)
		return nil
	}
	entities.QueueTokenFees(b, unknown, func(fees []*ledger.TokenCustomFees) {
		for i, f := range fees {
			out[places[i]] = f
		}
		done(out)
	})
	return nil
}

var (
	tokenList        = listOf[ledger.Token]{tokenKind, 1, func(t *ledger.Token) relay.Key { return relay.Key{int64(t.EntityID)} }}
	holderList       = listOf[ledger.TokenHolder]{holderKind, 1, func(h *ledger.TokenHolder) relay.Key { return relay.Key{int64(h.AccountID)} }}
	relationshipList = listOf[ledger.TokenRelationship]{relationshipKind, 1, func(r *ledger.TokenRelationship) relay.Key { return relay.Key{int64(r.TokenID)} }}
)

func tokenKeyID(t *ledger.Token) ledger.EntityID { return t.EntityID }

func accountEntityID(a *ledger.Account) ledger.EntityID { return a.EntityID }

// token reads a token, as it is or as it was. The outcome reports a missing custom fee row.
func (r *Resolver) token(ctx context.Context, id ledger.EntityID, at *ledger.TimestampFilter) (*ledger.Token, error) {
	t, err := entities.Token(ctx, r.db, id, at)
	if err == nil && t != nil && t.Fees.V == nil {
		relay.OutcomeOf(ctx).Missing = &relay.Missing{Kind: relay.MissingTokenFees}
	}
	return t, err
}

// tokens reads a page of tokens.
func (r *Resolver) tokens(ctx context.Context, f *ledger.TokenFilter, order relay.Order, args relay.Args) (*relay.TokenConnection, error) {
	p, sp, err := r.page(ctx, tokenKind, tokenList.columns, order, args)
	if err != nil {
		return nil, err
	}
	var associated ledger.Null[ledger.EntityID]
	if f != nil && f.AssociatedTo != nil {
		if associated, err = entities.ResolveAccount(ctx, r.db, *f.AssociatedTo); err != nil {
			return nil, err
		}
		if !associated.Valid {
			return relay.NewConnection(tokenKind, p, nil, tokenList.key), nil
		}
	}
	rows, err := entities.Tokens(ctx, r.db, f, associated, sp)
	if err != nil {
		return nil, err
	}
	return estimated(r, relay.NewConnection(tokenKind, p, rows, tokenList.key), unfiltered(f), entities.CountTokens), nil
}

// tokenBalances reads a page of the holders of a token.
func (r *Resolver) tokenBalances(ctx context.Context, token ledger.EntityID, f *ledger.TokenHolderFilter, at *ledger.TimestampFilter, order relay.Order, args relay.Args) (*relay.TokenHolderConnection, error) {
	c, err := rootList(ctx, r, holderList, order, args, func(b *storage.Batch, p storage.Page, done func([][]*ledger.TokenHolder)) error {
		return entities.QueueTokenHolders(ctx, b, []ledger.EntityID{token}, []*ledger.TimestampFilter{at}, f, r.timestamp(), p, done)
	})
	if err != nil {
		return nil, err
	}
	c.Timestamp = newest(c.Nodes)
	return c, nil
}

// dated is a relation to pages of holders that say when their balances were taken.
func dated(rel *rowplan.Relation[*ledger.Token, *relay.TokenHolderConnection]) *rowplan.Relation[*ledger.Token, *relay.TokenHolderConnection] {
	return &rowplan.Relation[*ledger.Token, *relay.TokenHolderConnection]{
		Load: func(ctx context.Context, b rowplan.Batch, parents []*ledger.Token, args rowplan.Args) (func() ([]*relay.TokenHolderConnection, error), error) {
			fetch, err := rel.Load(ctx, b, parents, args)
			if err != nil {
				return nil, err
			}
			return func() ([]*relay.TokenHolderConnection, error) {
				pages, err := fetch()
				for _, c := range pages {
					c.Timestamp = newest(c.Nodes)
				}
				return pages, err
			}, nil
		},
	}
}

// newest is the newest time at which a holder of a page got its balance.
func newest(holders []*ledger.TokenHolder) ledger.Null[ledger.Timestamp] {
	var t ledger.Null[ledger.Timestamp]
	for _, h := range holders {
		if h.Timestamp.Valid && (!t.Valid || h.Timestamp.V > t.V) {
			t = h.Timestamp
		}
	}
	return t
}

// tokenRelationships reads a page of the token relationships of an account.
func (r *Resolver) tokenRelationships(ctx context.Context, account ledger.AccountRef, f *ledger.TokenRelationshipFilter, order relay.Order, args relay.Args) (*relay.TokenRelationshipConnection, error) {
	return listOfAccount(ctx, r, relationshipList, account, true, order, args, func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.TokenRelationship)) error {
		entities.QueueTokenRelationships(b, []ledger.EntityID{id}, f, p, done)
		return nil
	})
}
