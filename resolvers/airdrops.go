package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/entities"
)

// The lists of airdrops: those that an account sent by the receiver, and those that it received by the sender.
var airdropLists = directedLists[ledger.Airdrop]{
	false: {"outstanding airdrops", 3, func(a *ledger.Airdrop) relay.Key {
		return relay.Key{int64(a.ReceiverID), int64(a.TokenID), a.SerialNumber.V}
	}},
	true: {"pending airdrops", 3, func(a *ledger.Airdrop) relay.Key {
		return relay.Key{int64(a.SenderID), int64(a.TokenID), a.SerialNumber.V}
	}},
}

// AirdropNft reads the NFTs of airdrops. Airdrops of fungible tokens have none: no serial has the number 0.
func (fields) AirdropNft(_ context.Context, q rowplan.Request, of []*ledger.Airdrop) (rowplan.Results[*ledger.NFT], error) {
	key := func(a *ledger.Airdrop) ledger.NFTKey {
		return ledger.NFTKey{TokenID: a.TokenID, SerialNumber: a.SerialNumber.V}
	}
	return read(q, of, key, entities.QueueNFTsByKey)
}
