package relay

import "heliograph/internal/domain/ledger"

// HookSlotConnection is a page of a hook's storage, with the hook's owner.
type HookSlotConnection struct {
	Connection[ledger.HookSlot]
	OwnerID ledger.EntityID
	HookID  int64
}

// StatusNotice is an incident or a maintenance.
type StatusNotice interface{ IsStatusNotice() }
