package relay

import (
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// The connections and edges of the graph, one pair per list. gqlgen binds the schema's types to these names.
type (
	AccountConnection           = Connection[ledger.Account]
	AccountEdge                 = Edge[ledger.Account]
	BalanceConnection           = Connection[ledger.Balance]
	BalanceEdge                 = Edge[ledger.Balance]
	BlockConnection             = Connection[ledger.Block]
	BlockEdge                   = Edge[ledger.Block]
	TransactionConnection       = Connection[ledger.Transaction]
	TransactionEdge             = Edge[ledger.Transaction]
	TopicMessageConnection      = Connection[ledger.TopicMessage]
	TopicMessageEdge            = Edge[ledger.TopicMessage]
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
	NftAllowanceConnection      = Connection[ledger.NftAllowance]
	NftAllowanceEdge            = Edge[ledger.NftAllowance]
	AirdropConnection           = Connection[ledger.Airdrop]
	AirdropEdge                 = Edge[ledger.Airdrop]
	HookConnection              = Connection[ledger.Hook]
	HookEdge                    = Edge[ledger.Hook]
	HookSlotEdge                = Edge[ledger.HookSlot]
	ContractConnection          = Connection[ledger.Contract]
	ContractEdge                = Edge[ledger.Contract]
	ContractStateConnection     = Connection[ledger.ContractState]
	ContractStateEdge           = Edge[ledger.ContractState]
	ContractLogConnection       = Connection[ledger.ContractLog]
	ContractLogEdge             = Edge[ledger.ContractLog]
	ContractResultConnection    = Connection[ledger.ContractResult]
	ContractResultEdge          = Edge[ledger.ContractResult]
	ContractActionConnection    = Connection[ledger.ContractAction]
	ContractActionEdge          = Edge[ledger.ContractAction]
	ScheduleConnection          = Connection[ledger.Schedule]
	ScheduleEdge                = Edge[ledger.Schedule]
	NetworkNodeConnection       = Connection[ledger.NetworkNode]
	NetworkNodeEdge             = Edge[ledger.NetworkNode]
	RegisteredNodeConnection    = Connection[ledger.RegisteredNode]
	RegisteredNodeEdge          = Edge[ledger.RegisteredNode]
	StatusComponentConnection   = Connection[status.Component]
	StatusComponentEdge         = Edge[status.Component]
	StatusIncidentConnection    = Connection[status.Incident]
	StatusIncidentEdge          = Edge[status.Incident]
	StatusMaintenanceConnection = Connection[status.Maintenance]
	StatusMaintenanceEdge       = Edge[status.Maintenance]
)

// HookSlotConnection is a page of a hook's storage, with the hook's owner.
type HookSlotConnection struct {
	Connection[ledger.HookSlot]
	OwnerID ledger.EntityID
	HookID  int64
}

// StatusNotice is an incident or a maintenance.
type StatusNotice interface{ IsStatusNotice() }
