package ledger

import "time"

// Schedule is a scheduled transaction: a row of the table schedule with columns of the table entity.
type Schedule struct {
	EntityID            EntityID
	AdminKey            *KeyInfo
	CreatedTimestamp    Timestamp
	CreatorAccountID    EntityID
	Deleted             Null[bool]
	ExecutedTimestamp   Null[Timestamp]
	ExpirationTimestamp Null[Timestamp] // the explicit expiration; without one the schedule expires half an hour after its creation
	StoredMemo          Null[string]    // null if the table entity does not have the schedule
	PayerAccountID      EntityID
	Timestamp           TimestampRange
	TransactionBody     []byte
	WaitForExpiry       bool
}

// Memo returns the memo, empty if it is unknown.
func (s *Schedule) Memo() string { return s.StoredMemo.V }

// ScheduleState is the state of a schedule.
type ScheduleState string

// The states of schedules.
const (
	ScheduleDeleted  ScheduleState = "DELETED"
	ScheduleExecuted ScheduleState = "EXECUTED"
	ScheduleExpired  ScheduleState = "EXPIRED"
	SchedulePending  ScheduleState = "PENDING"
)

// A schedule counts as expired only after a delay, so that the ledger can have recorded its execution or expiration. expirationDelay starts at the explicit
// expiration. Without one, defaultLifetime starts at the creation.
const (
	expirationDelay = Timestamp(time.Minute)
	defaultLifetime = Timestamp(31 * time.Minute)
)

// StateAt returns the schedule's state at an instant.
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

// ScheduleSignature is a signature of a schedule.
type ScheduleSignature struct {
	ConsensusTimestamp Timestamp
	PublicKeyPrefix    LineBytes // a prefix of the public key that is unique among the signers
	Signature          LineBytes
	Type               SignatureType
}

// LineBytes are bytes that REST prints as base64 in lines of 76 characters.
type LineBytes []byte

// SignatureType is the algorithm of a signature.
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

// SignatureTypeOf returns the type of a database value.
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

// IsNode marks types that have a global id in the graph.
func (*Schedule) IsNode() {}

// IsEntity marks types that have an entity id.
func (*Schedule) IsEntity() {}
