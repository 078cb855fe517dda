package resolvers

import (
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// The lists of allowances of collections and of airdrops; the first of each pair is the giver's.
func nftAllowanceLists() [2]*accountList[ledger.NftAllowance, ledger.NftAllowanceFilter] {
	list := func(kind string, received bool, other func(*ledger.NftAllowance) ledger.EntityID) *accountList[ledger.NftAllowance, ledger.NftAllowanceFilter] {
		return &accountList[ledger.NftAllowance, ledger.NftAllowanceFilter]{
			kind: kind, columns: 2,
			key: func(a *ledger.NftAllowance) relay.Key { return relay.Key{int64(other(a)), int64(a.TokenID)} },
			queue: func(b *storage.Batch, accounts []ledger.EntityID, f *ledger.NftAllowanceFilter, p storage.Page, done func([][]*ledger.NftAllowance)) {
				entities.QueueNftAllowances(b, accounts, received, f, p, done)
			},
		}
	}
	return [2]*accountList[ledger.NftAllowance, ledger.NftAllowanceFilter]{
		list("NFT allowances", false, nftSpender), list("received NFT allowances", true, nftOwner),
	}
}

func nftOwner(a *ledger.NftAllowance) ledger.EntityID   { return a.OwnerID }
func nftSpender(a *ledger.NftAllowance) ledger.EntityID { return a.SpenderID }

func airdropLists() [2]*accountList[ledger.Airdrop, ledger.AirdropFilter] {
	list := func(kind string, received bool, other func(*ledger.Airdrop) ledger.EntityID) *accountList[ledger.Airdrop, ledger.AirdropFilter] {
		return &accountList[ledger.Airdrop, ledger.AirdropFilter]{
			kind: kind, columns: 3,
			key: func(a *ledger.Airdrop) relay.Key {
				return relay.Key{int64(other(a)), int64(a.TokenID), a.SerialNumber.V}
			},
			queue: func(b *storage.Batch, accounts []ledger.EntityID, f *ledger.AirdropFilter, p storage.Page, done func([][]*ledger.Airdrop)) {
				entities.QueueAirdrops(b, accounts, received, f, p, done)
			},
		}
	}
	return [2]*accountList[ledger.Airdrop, ledger.AirdropFilter]{
		list("outstanding airdrops", false, airdropReceiver), list("pending airdrops", true, airdropSender),
	}
}

func airdropReceiver(a *ledger.Airdrop) ledger.EntityID { return a.ReceiverID }
func airdropSender(a *ledger.Airdrop) ledger.EntityID   { return a.SenderID }

// grantRelations are the arrows between accounts and what they let each other have.
type grantRelations struct {
	allowances    [2]*accountList[ledger.NftAllowance, ledger.NftAllowanceFilter]
	drops         [2]*accountList[ledger.Airdrop, ledger.AirdropFilter]
	nftAllowances [2]*rowplan.Relation[*ledger.Account, *relay.NftAllowanceConnection]
	airdrops      [2]*rowplan.Relation[*ledger.Account, *relay.AirdropConnection]
	owner         *rowplan.Relation[*ledger.NftAllowance, *ledger.Account]
	spender       *rowplan.Relation[*ledger.NftAllowance, *ledger.Account]
	collection    *rowplan.Relation[*ledger.NftAllowance, *ledger.Token]
	receiver      *rowplan.Relation[*ledger.Airdrop, *ledger.Account]
	sender        *rowplan.Relation[*ledger.Airdrop, *ledger.Account]
	token         *rowplan.Relation[*ledger.Airdrop, *ledger.Token]
	nft           *rowplan.Relation[*ledger.Airdrop, *ledger.NFT]
}

func newGrantRelations() grantRelations {
	r := grantRelations{
		allowances: nftAllowanceLists(), drops: airdropLists(),
		owner: accountOf(nftOwner), spender: accountOf(nftSpender), receiver: accountOf(airdropReceiver), sender: accountOf(airdropSender),
		collection: tokenOf(func(a *ledger.NftAllowance) ledger.EntityID { return a.TokenID }),
		token:      tokenOf(func(a *ledger.Airdrop) ledger.EntityID { return a.TokenID }),
		nft: nftOf(func(a *ledger.Airdrop) ledger.NFTKey {
			return ledger.NFTKey{TokenID: a.TokenID, SerialNumber: a.SerialNumber.V} // no serial has the number 0
		}),
	}
	for i := range r.allowances {
		r.nftAllowances[i], r.airdrops[i] = r.allowances[i].relation(), r.drops[i].relation()
	}
	return r
}

func (r *grantRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	token := func() *rowplan.Object[*ledger.Token] { return t.Token }
	allowances := func() *rowplan.Object[*relay.NftAllowanceConnection] { return t.NftAllowanceConnection }
	airdrops := func() *rowplan.Object[*relay.AirdropConnection] { return t.AirdropConnection }
	t.Account.Add("nftAllowances", rowplan.RelatedOne(r.nftAllowances[0], allowances))
	t.Account.Add("receivedNftAllowances", rowplan.RelatedOne(r.nftAllowances[1], allowances))
	t.Account.Add("outstandingAirdrops", rowplan.RelatedOne(r.airdrops[0], airdrops))
	t.Account.Add("pendingAirdrops", rowplan.RelatedOne(r.airdrops[1], airdrops))
	t.NftAllowance.Add("owner", rowplan.RelatedOne(r.owner, account))
	t.NftAllowance.Add("spender", rowplan.RelatedOne(r.spender, account))
	t.NftAllowance.Add("token", rowplan.RelatedOne(r.collection, token))
	t.Airdrop.Add("receiver", rowplan.RelatedOne(r.receiver, account))
	t.Airdrop.Add("sender", rowplan.RelatedOne(r.sender, account))
	t.Airdrop.Add("token", rowplan.RelatedOne(r.token, token))
	t.Airdrop.Add("nft", rowplan.RelatedOne(r.nft, func() *rowplan.Object[*ledger.NFT] { return t.NFT }))
}
