package ledger

// EntityType is what kind of thing an entity is.
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

// Account is an account, or a contract seen as one: both hold hbar. It is a row of the tables entity and entity_history with the
// stake it has in entity_stake.
type Account struct {
	EntityID                      EntityID
	Type                          EntityType
	Alias                         Alias
	AutoRenewAccountID            EntityID
	AutoRenewPeriod               Null[int64] // seconds
	CreatedTimestamp              Null[Timestamp]
	DeclineReward                 bool
	DelegationAddress             []byte // empty when the account delegates to nobody
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
	StakePeriodStart              Null[Timestamp]
	Timestamp                     TimestampRange
	Balance                       Balance
}

// Balance is what an account holds at a moment.
type Balance struct {
	AccountID EntityID
	Balance   Null[int64]     // tinybars
	Timestamp Null[Timestamp] // when the balance was taken
	// Snapshot tells that the balance is of the past: tokens are those of the last balance files in this window, not today's.
	Snapshot Null[SnapshotWindow]
}

// SnapshotWindow is the time within which the rows of one balance snapshot lie, both ends included. Within a month only the first
// snapshot is complete; later ones hold what changed, so the last row of each account counts.
type SnapshotWindow struct {
	From Timestamp // the first instant of the snapshot's month, UTC
	At   Timestamp // the snapshot's own time
}

// TokenBalance is how much of a token an account holds.
type TokenBalance struct {
	TokenID EntityID
	Balance int64 // in the token's smallest unit; for a non-fungible token the number of serials
}

// IsNode marks what has a global id in the graph.
func (*Account) IsNode() {}

// IsEntity marks what has an entity id.
func (*Account) IsEntity() {}
