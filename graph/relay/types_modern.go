package relay

import "heliograph/internal/domain/ledger"

// The lists of NFT allowances, airdrops and hooks.
type (
	NftAllowanceConnection = Connection[ledger.NftAllowance]
	NftAllowanceEdge       = Edge[ledger.NftAllowance]
	AirdropConnection      = Connection[ledger.Airdrop]
	AirdropEdge            = Edge[ledger.Airdrop]
	HookConnection         = Connection[ledger.Hook]
	HookEdge               = Edge[ledger.Hook]
	HookSlotEdge           = Edge[ledger.HookSlot]
)

// HookSlotConnection is a page of a hook's storage, with the hook's owner.
type HookSlotConnection struct {
	Connection[ledger.HookSlot]

	OwnerID ledger.EntityID
	HookID  int64
}
