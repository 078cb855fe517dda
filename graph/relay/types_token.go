package relay

import "heliograph/internal/domain/ledger"

// The lists of tokens, NFTs, allowances and staking rewards.
type (
	TokenConnection             = Connection[ledger.Token]
	TokenEdge                   = Edge[ledger.Token]
	TokenHolderConnection       = Connection[ledger.TokenHolder]
	TokenHolderEdge             = Edge[ledger.TokenHolder]
	TokenRelationshipConnection = Connection[ledger.TokenRelationship]
	TokenRelationshipEdge       = Edge[ledger.TokenRelationship]
	NFTConnection               = Connection[ledger.NFT]
	NFTEdge                     = Edge[ledger.NFT]
	NFTTransactionConnection    = Connection[ledger.NFTTransaction]
	NFTTransactionEdge          = Edge[ledger.NFTTransaction]
	CryptoAllowanceConnection   = Connection[ledger.CryptoAllowance]
	CryptoAllowanceEdge         = Edge[ledger.CryptoAllowance]
	TokenAllowanceConnection    = Connection[ledger.TokenAllowance]
	TokenAllowanceEdge          = Edge[ledger.TokenAllowance]
	StakingRewardConnection     = Connection[ledger.StakingReward]
	StakingRewardEdge           = Edge[ledger.StakingReward]
)
