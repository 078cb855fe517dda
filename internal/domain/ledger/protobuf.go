package ledger

import (
	"fmt"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

type field struct {
	num    protowire.Number
	typ    protowire.Type
	varint uint64 // of a varint
	bytes  []byte // of a length-delimited field: never nil, and part of the message
}

// is reports whether the field has the number and the wire type. Callers ignore a known number with another wire type,
// like an unknown field.
func (f field) is(num protowire.Number, typ protowire.Type) bool { return f.num == num && f.typ == typ }

// eachField calls f for each field of a serialized message until the first error, which it returns. It validates
// fixed-width fields and groups, but passes no value for them. The bytes of fields are slices of b. Its own errors
// wrap [ErrSyntax].
func eachField(b []byte, f func(field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("protobuf tag: %w: %w", ErrSyntax, protowire.ParseError(n))
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("protobuf field number %d is too great: %w", num, ErrSyntax)
		}
		b = b[n:]
		one := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			one.varint, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			one.bytes, n = protowire.ConsumeBytes(b)
			if one.bytes == nil {
				one.bytes = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("protobuf field %d: %w: %w", num, ErrSyntax, protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// readEntityID returns the id in a message AccountID, TokenID or the like, or an empty id if it is nil or has no
// number: an AccountID may have an alias instead. It fails with an [EntityIDError] if the id cannot exist.
func readEntityID(m proto.Message) (EntityID, error) {
	message := m.ProtoReflect()
	fields := message.Descriptor().Fields()
	if !message.Has(fields.ByNumber(3)) {
		return 0, nil
	}
	part := func(num protowire.Number) int64 { return message.Get(fields.ByNumber(num)).Int() }
	return NewEntityID(part(1), part(2), part(3))
}

// DecodeTransactionID decodes a serialized TransactionID, the initial transaction of a chunked topic message: field 1
// valid start (1 seconds, 2 nanoseconds), 2 account, 3 scheduled, 4 nonce. Missing fields have the values 0 and
// false, but a missing or invalid valid start is null. Errors wrap [ErrSyntax], or [ErrRange] for an account that
// cannot exist.
func DecodeTransactionID(b []byte) (MessageTransactionID, error) {
	id, err := decodeTransactionID(b)
	if err != nil {
		return MessageTransactionID{}, fmt.Errorf("reading a transaction id: %w", err)
	}
	return id, nil
}

// decodeTransactionID decodes a serialized TransactionID, without the context that [DecodeTransactionID] adds to
// errors. An invalid valid start is null.
func decodeTransactionID(b []byte) (id MessageTransactionID, err error) {
	var m services.TransactionID
	if err := proto.Unmarshal(b, &m); err != nil {
		return id, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	id.Nonce, id.Scheduled = Of(m.GetNonce()), Of(m.GetScheduled())
	if id.AccountID, err = readEntityID(m.GetAccountID()); err != nil {
		return id, err
	}
	// The sender of a message chooses this time freely, so an invalid one must not make the message unreadable.
	start := m.GetTransactionValidStart()
	if at, err := joinTimestamp(start.GetSeconds(), int64(start.GetNanos())); start != nil && err == nil {
		id.TransactionValidStart = Of(at)
	}
	return id, nil
}

// DecodeCustomFeeLimit decodes a serialized CustomFeeLimit, a maximum of custom fees that a transaction accepts:
// field 1 account, 2 repeated FixedFee (1 amount, 2 token). It returns one limit per fee, in order. Errors wrap
// [ErrSyntax], or [ErrRange] for an account or token that cannot exist.
func DecodeCustomFeeLimit(b []byte) ([]*CustomFeeLimit, error) {
	limits, err := decodeCustomFeeLimit(b)
	if err != nil {
		return nil, fmt.Errorf("reading a custom fee limit: %w", err)
	}
	return limits, nil
}

// decodeCustomFeeLimit decodes a serialized CustomFeeLimit, without the context that [DecodeCustomFeeLimit] adds to
// errors. They wrap [ErrSyntax] or [ErrRange].
func decodeCustomFeeLimit(b []byte) ([]*CustomFeeLimit, error) {
	var m services.CustomFeeLimit
	if err := proto.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	account, err := readEntityID(m.GetAccountId())
	if err != nil {
		return nil, err
	}
	limits := make([]*CustomFeeLimit, len(m.GetFees()))
	for i, f := range m.GetFees() {
		limits[i] = &CustomFeeLimit{AccountID: account, Amount: f.GetAmount()}
		if limits[i].DenominatingTokenID, err = readEntityID(f.GetDenominatingTokenId()); err != nil {
			return nil, err
		}
	}
	return limits, nil
}
