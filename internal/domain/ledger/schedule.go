package ledger

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Memo returns the memo, empty if it is unknown.
func (s *Schedule) Memo() string { return s.StoredMemo.V }

// A schedule counts as expired only after a delay, so that the ledger can have recorded its execution or expiration.
// ExpirationDelay starts at the explicit expiration. Without one, DefaultLifetime starts at the creation.
const (
	ExpirationDelay = Timestamp(time.Minute)
	DefaultLifetime = Timestamp(31 * time.Minute)
)

// StateAt returns the schedule's state: executed, deleted, expired or pending. now is the present, or the past moment
// whose row s is; it only decides between the last two. A schedule is expired [ExpirationDelay] after its expiration
// time, or without one [DefaultLifetime] after its creation.
func (s *Schedule) StateAt(now Timestamp) ScheduleState {
	switch {
	case s.ExecutedTimestamp.Valid:
		return ScheduleExecuted
	case s.Deleted.V:
		return ScheduleDeleted
	case s.ExpirationTimestamp.Valid && now-ExpirationDelay >= s.ExpirationTimestamp.V,
		!s.ExpirationTimestamp.Valid && now-DefaultLifetime >= s.CreatedTimestamp:
		return ScheduleExpired
	default:
		return SchedulePending
	}
}

// LineBytes are bytes that REST prints as base64 in lines of 76 characters.
type LineBytes []byte

// SignatureTypeOf returns the type of a signature with a number in transaction_signature, where the first type is 2,
// or [Unknown] for null and other numbers.
func SignatureTypeOf(code Null[int16]) SignatureType { return nameOf(signatureTypes, int32(code.V)-2) }

// transactionFields are the fields of a transaction. The numbers of those of its types are the codes of the types.
var transactionFields = (&services.TransactionBody{}).ProtoReflect().Descriptor().Fields()

// Transaction decodes the scheduled transaction from its protobuf body. It returns nil if the body is malformed or
// empty. Entities whose ID cannot exist are 0. EntityID is 0 for creations and for changes of nodes, and Type for a
// body that no transaction has. s does not change.
func (s *Schedule) Transaction() *ScheduledTransaction {
	var b services.SchedulableTransactionBody
	if proto.Unmarshal(s.TransactionBody, &b) != nil {
		return nil
	}
	m := b.ProtoReflect()
	data := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if data == nil {
		return nil
	}
	t := &ScheduledTransaction{MaxFee: int64(b.GetTransactionFee()), Memo: b.GetMemo(), Schedule: s}
	if f := transactionFields.ByName(data.Name()); f != nil {
		t.Type = TransactionType(f.Number())
	}
	if name := strings.ToLower(string(data.Name())); !strings.Contains(name, "creat") &&
		!strings.Contains(name, "node") {
		t.EntityID = target(m.Get(data).Message())
	}
	transfer := b.GetCryptoTransfer()
	for _, a := range transfer.GetTransfers().GetAccountAmounts() {
		account := t.party(a.GetAccountID(), a.GetAmount(), a.GetIsApproval())
		t.Transfers = append(t.Transfers, &CryptoTransfer{
			AccountID: account, Amount: a.GetAmount(),
			IsApproval: a.GetIsApproval(),
		})
	}
	for _, list := range transfer.GetTokenTransfers() {
		token := idOf(list.GetToken())
		for _, a := range list.GetTransfers() {
			account := t.party(a.GetAccountID(), a.GetAmount(), a.GetIsApproval())
			t.TokenTransfers = append(t.TokenTransfers,
				&TokenTransfer{
					TokenID: token, AccountID: account, Amount: a.GetAmount(),
					IsApproval: a.GetIsApproval(),
				})
		}
		for _, n := range list.GetNftTransfers() {
			from, to := t.party(n.GetSenderAccountID(), -1, n.GetIsApproval()),
				t.party(n.GetReceiverAccountID(), 1, false)
			t.NFTTransfers = append(t.NFTTransfers, &NFTTransfer{
				IsApproval: n.GetIsApproval(), ReceiverAccountID: to, SenderAccountID: from,
				SerialNumber: n.GetSerialNumber(), TokenID: token,
			})
		}
	}
	return t
}

// party returns the account of a transfer, and appends it to t.Senders or t.Receivers. An amount of 0 counts as sent.
// With isApproval it adds no sender, because the payer signs for an allowance. An account without a number, such as
// one with an alias, is 0 and in neither list.
func (t *ScheduledTransaction) party(account *services.AccountID, amount int64, isApproval bool) EntityID {
	id := idOf(account)
	switch {
	case id.IsNone():
	case amount > 0:
		t.Receivers = append(t.Receivers, id)
	case !isApproval:
		t.Senders = append(t.Senders, id)
	}
	return id
}

// idOf returns the id in a message AccountID, TokenID or the like, or 0 if it has no number or cannot exist.
func idOf(m proto.Message) EntityID {
	id, err := readEntityID(m)
	if err != nil {
		return 0
	}
	return id
}

// target returns the entity that the message of a transaction type names first, or 0 if there is none. For the
// deletion of an account it is the deleted one.
func target(m protoreflect.Message) EntityID {
	fields := m.Descriptor().Fields()
	if f := fields.ByName("deleteAccountID"); f != nil {
		return idOf(m.Get(f).Message().Interface())
	}
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Message() == nil || f.IsList() || !m.Has(f) {
			continue
		}
		switch f.Message().Name() {
		case "AccountID", "ContractID", "FileID", "ScheduleID", "TokenID", "TopicID":
			return idOf(m.Get(f).Message().Interface())
		}
	}
	return 0
}

// maxKeyDepth is the maximum nesting of key lists and threshold keys.
const maxKeyDepth = 15

// Missing returns the keys that are not lists and have not signed, or nil if the key, that of a signer of a schedule,
// is satisfied. It compares prefixes of public keys; it verifies no signatures.
func (k *KeyInfo) Missing(signatures []*ScheduleSignature) []*KeyInfo {
	return k.missing(signatures, maxKeyDepth)
}

// missing returns the keys in a key, with at most depth levels of lists, that have not signed and of which signatures
// are still required. A list below these levels, and one without keys, counts as a key of its own.
func (k *KeyInfo) missing(signatures []*ScheduleSignature, depth int) (out []*KeyInfo) {
	var keys []*KeyInfo
	required := 0
	switch d := k.Decoded().(type) {
	case *KeyList:
		keys, required = d.Keys, len(d.Keys)
	case *ThresholdKey:
		keys, required = d.Keys, int(d.Threshold)
	}
	if len(keys) == 0 || depth == 0 {
		signed := func(s *ScheduleSignature) bool {
			// after the tag and the length
			return len(s.PublicKeyPrefix) > 0 && len(k.Bytes) > 2 && bytes.HasPrefix(k.Bytes[2:], s.PublicKeyPrefix)
		}
		if slices.ContainsFunc(signatures, signed) {
			return nil
		}
		return []*KeyInfo{k}
	}
	for _, member := range keys {
		rest := member.missing(signatures, depth-1)
		if len(rest) == 0 {
			required--
		}
		out = append(out, rest...)
	}
	if required <= 0 {
		return nil
	}
	return out
}
