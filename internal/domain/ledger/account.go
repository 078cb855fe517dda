package ledger

// EntityType is the type of an entity.
type EntityType string

// The types of entities.
const (
	EntityUnknown  EntityType = "UNKNOWN"
	EntityAccount  EntityType = "ACCOUNT"
	EntityContract EntityType = "CONTRACT"
	EntityFile     EntityType = "FILE"
	EntityTopic    EntityType = "TOPIC"
	EntityToken    EntityType = "TOKEN"
	EntitySchedule EntityType = "SCHEDULE"
)

// Account is an account or a contract. Both hold hbars. It is a row of the table entity or entity_history with its row of entity_stake.
type Account struct {
	EntityID                      EntityID
	Type                          EntityType
	Alias                         Alias
	AutoRenewAccountID            EntityID
	AutoRenewPeriod               Null[int64] // seconds
	CreatedTimestamp              Null[Timestamp]
	DeclineReward                 bool
	DelegationAddress             []byte // empty without a delegation
	Deleted                       Null[bool]
	EthereumNonce                 Null[int64]
	EVMAddress                    Null[EVMAddress] // the stored one, else a 20-byte alias, else the long-zero one
	ExpirationTimestamp           Null[Timestamp]  // the stored one, else created plus the auto-renew period
	Key                           *KeyInfo
	MaxAutomaticTokenAssociations Null[int32]
	Memo                          string
	ObtainerID                    EntityID
	PendingReward                 int64 // tinybars
	ReceiverSigRequired           Null[bool]
	StakedAccountID               EntityID
	StakedNodeID                  Null[int64]
	StakePeriodStart              Day
	Timestamp                     TimestampRange
	Balance                       Balance
}

// File is a file of the file service. It has the columns of accounts, because both are rows of the table entity.
type File Account

// Balance is the balance of an account, now or at a historical instant.
type Balance struct {
	AccountID EntityID
	Balance   Null[int64]     // tinybars
	Timestamp Null[Timestamp] // the time of the balance
	// Snapshot is set for a historical balance. Its tokens are those of the last balance files in this window.
	Snapshot Null[SnapshotWindow]
}

// SnapshotWindow is the time range of the rows of a balance snapshot, inclusive. Only the first snapshot of a month is complete. Later ones have changes
// only, so the last row of each account is its balance.
type SnapshotWindow struct {
	From Timestamp // the start of the snapshot's month, UTC
	At   Timestamp // the time of the snapshot
}

// TokenBalance is the balance of a token in an account.
type TokenBalance struct {
	TokenID EntityID
	Balance int64 // in the token's smallest unit; for a non-fungible token the number of serials
}

// Version is a version of an account, a token or an NFT.
type Version struct {
	Timestamp Timestamp // its first instant
	Changes   []*Change
}

// Change is the change of a field between two versions.
type Change struct {
	Field         string // of the graph
	Before, After Null[string]
}
