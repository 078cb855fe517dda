package ledger

// HookType is what runs a hook.
type HookType string

// HookExtensionPoint is where the network calls a hook.
type HookExtensionPoint string

// The only type and extension point so far.
const (
	HookEVM                  HookType           = "EVM"
	HookAccountAllowanceHook HookExtensionPoint = "ACCOUNT_ALLOWANCE_HOOK"
)

// Hook is code that an account has the network call: a row of the table hook.
type Hook struct {
	AdminKey         *KeyInfo
	ContractID       EntityID
	CreatedTimestamp Null[Timestamp]
	Deleted          bool
	ExtensionPoint   HookExtensionPoint
	HookID           int64 // chosen by the owner
	OwnerID          EntityID
	Timestamp        *TimestampRange // nil when unknown
	Type             HookType
}

// IsNode marks what has a global id in the graph.
func (*Hook) IsNode() {}

// HookFilter selects hooks of an account.
type HookFilter struct {
	HookID *LongFilter
}

// HookSlotSize is the size of keys and values of a hook's storage in bytes.
const HookSlotSize = 32

// HookSlot is an entry of a hook's storage: a row of the table hook_storage, or of hook_storage_change when the storage is looked at as it was.
type HookSlot struct {
	OwnerID   EntityID
	HookID    int64
	Key       []byte // HookSlotSize bytes
	Value     []byte // HookSlotSize bytes, nil when unknown
	Timestamp Timestamp
}

// HookSlotFilter selects entries of a hook's storage.
type HookSlotFilter struct {
	Key *HookKeyFilter
}

// HookKeyFilter is a set of conditions on keys of up to HookSlotSize bytes, which are compared as unsigned numbers; a key must meet all that are given.
// A non-nil empty In meets nothing.
type HookKeyFilter struct {
	Eq  []byte
	Gt  []byte
	Gte []byte
	Lt  []byte
	Lte []byte
	In  [][]byte
}
