package resolvers

import (
	"context"
	"strconv"
	"strings"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/entities"
)

// The types of this area that have global ids, as they stand in them.
const (
	tokenType = "Token"
	nftType   = "NFT"
)

// The names of this area's lists in their cursors.
const (
	tokenKind             = "tokens"
	holderKind            = "holders"
	relationshipKind      = "token relationships"
	nftKind               = "NFTs"
	nftTransactionKind    = "NFT transactions"
	grantedCryptoKind     = "crypto allowances by spender"
	receivedCryptoKind    = "crypto allowances by owner"
	grantedAllowanceKind  = "token allowances by spender"
	receivedAllowanceKind = "token allowances by owner"
	rewardKind            = "rewards"
)

func tokenID(t *ledger.Token) string { return relay.ID(tokenType, t.EntityID.String()) }

// nftSeparator stands between token and serial in the global id of an NFT.
const nftSeparator = "/"

func nftID(n *ledger.NFT) string {
	return relay.ID(nftType, n.TokenID.String()+nftSeparator+strconv.FormatInt(n.SerialNumber, 10))
}

func addTokenIDs(t *rowplan.Tables) {
	t.Token.Add("id", idField(tokenID))
	t.NFT.Add("id", idField(nftID))
}

// tokenNode reads a token or an NFT by the name in its global id.
func (r *Resolver) tokenNode(ctx context.Context, typ, name string) (relay.Node, error) {
	if typ == tokenType {
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Token, error) { return entities.Token(ctx, r.db, id, nil) })
	}
	token, number, _ := strings.Cut(name, nftSeparator)
	serial, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return nil, fault.Input("%q names no NFT", name)
	}
	return byEntityID(token, func(id ledger.EntityID) (*ledger.NFT, error) {
		return entities.NFT(ctx, r.db, ledger.NFTKey{TokenID: id, SerialNumber: serial})
	})
}
