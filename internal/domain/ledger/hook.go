package ledger

// HookType is the runtime of a hook.
type HookType string

// HookExtensionPoint is the event for which the network calls a hook.
type HookExtensionPoint string

// The only type and extension point so far.
const (
	HookEVM                  HookType           = "EVM"
	HookAccountAllowanceHook HookExtensionPoint = "ACCOUNT_ALLOWANCE_HOOK"
)

// Hook is code of an account that the network calls: a row of the table hook.
type Hook struct {
	AdminKey         *KeyInfo
	ContractID       EntityID
	CreatedTimestamp Null[Timestamp]
	Deleted          bool
	ExtensionPoint   HookExtensionPoint
	HookID           int64 // chosen by the owner
	OwnerID          EntityID
	Timestamp        *TimestampRange // nil if unknown
	Type             HookType
}

// HookFilter selects hooks of an account.
type HookFilter struct {
	HookID *LongFilter
}

// HookSlotSize is the size of keys and values in a hook's storage, in bytes.
const HookSlotSize = 32

// HookSlot is an entry of a hook's storage: a row of the table hook_storage, or of hook_storage_change for historical storage.
type HookSlot struct {
	OwnerID   EntityID
	HookID    int64
	Key       []byte // HookSlotSize bytes
	Value     []byte // HookSlotSize bytes, nil if unknown
	Timestamp Timestamp
}

// HookSlotFilter selects entries of a hook's storage.
type HookSlotFilter struct {
	Key *HookKeyFilter
}
