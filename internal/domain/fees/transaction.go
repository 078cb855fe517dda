package fees

import (
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// MaxBytes is the maximum size of a transaction. The network accepts 6 KiB, and 130 KiB from privileged accounts.
const MaxBytes = 256 << 10

// maxDepth is the maximum nesting of messages.
const maxDepth = 1000

// InputError is the reason why a transaction cannot be estimated. The transaction caused it, not the service.
type InputError struct{ text string }

// Error implements error. The text says what is wrong with the transaction.
func (e *InputError) Error() string { return e.text }

// The errors of transactions without an estimate. [UndefinedExtraError] is another one.
var (
	ErrUnreadable  = &InputError{"the transaction is malformed"}
	ErrEmpty       = &InputError{"the transaction has no bodyBytes and no signedTransactionBytes"}
	ErrUnknownType = &InputError{"the type of the transaction has no fee"}
)

// UndefinedExtraError is an extra that a transaction uses and the fee schedule does not define.
type UndefinedExtraError struct{ Extra Extra }

// Error implements error. It names the extra that the fee schedule does not define.
func (e *UndefinedExtraError) Error() string {
	return "the fee schedule does not define the extra " + e.Extra.String()
}

// Transaction is a decoded transaction.
type Transaction struct {
	body       *services.TransactionBody
	signatures int64
	bytes      int64 // its length in the shortest encoding
	size       int   // its length
}

// Parse decodes a serialized Transaction. It fails for unknown fields, and for known fields with another wire type. If
// it has both signedTransactionBytes and bodyBytes, the latter are ignored. Errors are an [InputError]. It does not
// check the size: callers reject transactions of more than [MaxBytes] before.
func Parse(b []byte) (*Transaction, error) {
	var tx services.Transaction
	if !unmarshal(b, &tx) {
		return nil, ErrUnreadable
	}
	t := &Transaction{body: &services.TransactionBody{}, bytes: int64(proto.Size(&tx)), size: len(b)}
	body, signatures := tx.GetBodyBytes(), tx.GetSigMap() //nolint:staticcheck // older clients still use these fields
	if signed := tx.GetSignedTransactionBytes(); len(signed) > 0 {
		var s services.SignedTransaction
		if !unmarshal(signed, &s) {
			return nil, ErrUnreadable
		}
		body, signatures = s.GetBodyBytes(), s.GetSigMap()
	} else if len(body) == 0 {
		return nil, ErrEmpty
	}
	if hasUnpriced(body) {
		return nil, ErrUnknownType
	}
	if !unmarshal(body, t.body) {
		return nil, ErrUnreadable
	}
	t.signatures = int64(len(signatures.GetSigPair()))
	return t, nil
}

// ParseAny decodes a serialized Transaction as [Parse] does, with the same errors, or the first transaction of a list
// (see [IsList]).
func ParseAny(b []byte) (*Transaction, error) {
	if t := firstOfList(b); t != nil {
		return t, nil
	}
	return Parse(b)
}

// IsList reports whether b is a serialized TransactionList, which the method toBytes of SDKs returns: the same
// transaction for several nodes, or the chunks of a message.
func IsList(b []byte) bool { return firstOfList(b) != nil }

// firstOfList returns the first transaction of a list, or nil if b is not a list or that transaction cannot be
// decoded. A list has only the field 1. In a Transaction that field is a body without signatures, which nothing is
// estimated from, and whose content is not a Transaction.
func firstOfList(b []byte) *Transaction {
	num, typ, n := protowire.ConsumeTag(b)
	if num != 1 || typ != protowire.BytesType {
		return nil
	}
	first, m := protowire.ConsumeBytes(b[n:])
	if m < 0 {
		return nil
	}
	t, err := Parse(first)
	if err != nil {
		return nil // not a list
	}
	return t
}

// The first and last field of the transaction types in a TransactionBody that newer networks have, and that have no
// fee.
const (
	firstUnpriced = 82
	lastUnpriced  = 91
)

// hasUnpriced reports whether a serialized TransactionBody has a transaction of a type whose fee cannot be estimated:
// a field from firstUnpriced to lastUnpriced, both included. It reports false at the first malformed field, which
// decoding rejects afterwards.
func hasUnpriced(body []byte) bool {
	for len(body) > 0 {
		num, _, n := protowire.ConsumeField(body)
		if n < 0 {
			return false
		}
		if num >= firstUnpriced && num <= lastUnpriced {
			return true
		}
		body = body[n:]
	}
	return false
}

// Function returns the network's name of the transaction type, such as CryptoTransfer, or NONE if it is unknown.
func (t *Transaction) Function() string { return functionOf(t.body).String() }

// unmarshal decodes a message into m. It reports whether the message is valid and all its fields are known. If not, m
// can be filled in part.
func unmarshal(b []byte, m proto.Message) bool {
	options := proto.UnmarshalOptions{RecursionLimit: maxDepth + 1}
	return options.Unmarshal(b, m) == nil && checkKnown(m) == nil
}

// keys returns the number of keys that can sign, including nested ones. Thresholds are ignored: every key of a list
// counts. Contract IDs do not count.
func keys(list ...*services.Key) int64 {
	var n int64
	for _, k := range list {
		switch key := k.GetKey().(type) {
		case *services.Key_Ed25519, *services.Key_ECDSASecp256K1, *services.Key_ECDSA_384:
			n++
		case *services.Key_ThresholdKey:
			n += keys(key.ThresholdKey.GetKeys().GetKeys()...)
		case *services.Key_KeyList:
			n += keys(key.KeyList.GetKeys()...)
		}
	}
	return n
}
