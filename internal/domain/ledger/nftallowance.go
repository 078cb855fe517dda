package ledger

// NftAllowance lets a spender take every serial of a collection that an owner has, or had let it: a row of the table nft_allowance.
type NftAllowance struct {
	ApprovedForAll bool
	OwnerID        EntityID
	SpenderID      EntityID
	TokenID        EntityID
	Timestamp      TimestampRange
}

// NftAllowanceFilter selects allowances among those that an account granted or got.
type NftAllowanceFilter struct {
	AccountID *EntityIDFilter // of the other account
	TokenID   *EntityIDFilter
	Bounds    BoundsMode
}

// BoundsMode tells how bounds on several values of a row hold together.
type BoundsMode string

// The modes. With BoundsInOrder they are places in the order of a list, so that a bound on the second value counts only where the first is at its own bound.
const (
	BoundsEach    BoundsMode = "EACH"
	BoundsInOrder BoundsMode = "IN_ORDER"
)
