package ledger

import "time"

// Schedule is a transaction that waits for signatures or for its time: a row of the table schedule with what the table entity knows of it.
type Schedule struct {
	EntityID            EntityID
	AdminKey            *KeyInfo
	CreatedTimestamp    Timestamp
	CreatorAccountID    EntityID
	Deleted             Null[bool]
	ExecutedTimestamp   Null[Timestamp]
	ExpirationTimestamp Null[Timestamp] // as it was set; without one it expires half an hour after its creation
	StoredMemo          Null[string]    // unknown where the table entity lacks the schedule
	PayerAccountID      EntityID
	Timestamp           TimestampRange
	TransactionBody     []byte
	WaitForExpiry       bool
}

// Memo is the text that its creator gave it, empty when unknown.
func (s *Schedule) Memo() string { return s.StoredMemo.V }

// ScheduleState tells what became of a schedule.
type ScheduleState string

// The states of schedules.
const (
	ScheduleDeleted  ScheduleState = "DELETED"
	ScheduleExecuted ScheduleState = "EXECUTED"
	ScheduleExpired  ScheduleState = "EXPIRED"
	SchedulePending  ScheduleState = "PENDING"
)

// A schedule counts as expired only when its expiration can be in the ledger: so long after the time that was set for it, or, when none was set,
// after its creation.
const (
	expirationDelay = Timestamp(time.Minute)
	defaultLifetime = Timestamp(31 * time.Minute)
)

// StateAt is the schedule's state at an instant, by what is known of it.
func (s *Schedule) StateAt(now Timestamp) ScheduleState {
	switch {
	case s.ExecutedTimestamp.Valid:
		return ScheduleExecuted
	case s.Deleted.V:
		return ScheduleDeleted
	case s.ExpirationTimestamp.Valid && now-expirationDelay >= s.ExpirationTimestamp.V,
		!s.ExpirationTimestamp.Valid && now-defaultLifetime >= s.CreatedTimestamp:
		return ScheduleExpired
	default:
		return SchedulePending
	}
}

// ScheduleSignature is a signature that was given for a schedule.
type ScheduleSignature struct {
	ConsensusTimestamp Timestamp
	PublicKeyPrefix    LineBytes // as much of the public key as tells it from others
	Signature          LineBytes
	Type               SignatureType
}

// LineBytes are bytes that REST prints as base64 in lines of 76 characters.
type LineBytes []byte

// SignatureType tells how a signature was made.
type SignatureType string

// The types of signatures.
const (
	SignatureContract       SignatureType = "CONTRACT"
	SignatureECDSA384       SignatureType = "ECDSA_384"
	SignatureECDSASecp256k1 SignatureType = "ECDSA_SECP256K1"
	SignatureED25519        SignatureType = "ED25519"
	SignatureRSA3072        SignatureType = "RSA_3072"
	SignatureUnknown        SignatureType = "UNKNOWN"
)

// SignatureTypeOf is the type that a number in the database stands for.
func SignatureTypeOf(code Null[int16]) SignatureType {
	switch code.V {
	case 2:
		return SignatureContract
	case 3:
		return SignatureED25519
	case 4:
		return SignatureRSA3072
	case 5:
		return SignatureECDSA384
	case 6:
		return SignatureECDSASecp256k1
	default:
		return SignatureUnknown
	}
}

// ScheduleFilter selects schedules.
type ScheduleFilter struct {
	ID               *EntityIDFilter
	CreatorAccountID *EntityIDFilter
}

// IsNode marks what has a global id in the graph.
func (*Schedule) IsNode() {}

// IsEntity marks what has an entity id.
func (*Schedule) IsEntity() {}
