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

// is reports whether the field has the number and the wire type. Callers ignore a known number with another wire type, like an unknown field.
func (f field) is(num protowire.Number, typ protowire.Type) bool { return f.num == num && f.typ == typ }

// eachField calls f for each field of a serialized message until the first error. It validates fixed-width fields and groups, but passes no value for them.
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

// entityParts are the fields of an AccountID, TokenID or the like.
type entityParts struct {
	shard, realm, num int64
	hasNum            bool
}

// read reads a serialized AccountID, TokenID or the like: field 1 shard, 2 realm, 3 number, 4 the alias that an AccountID may have instead
// of a number. A message field that occurs twice is read twice: later parts replace earlier ones.
func (p *entityParts) read(b []byte) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			p.shard = int64(f.varint)
		case f.is(2, protowire.VarintType):
			p.realm = int64(f.varint)
		case f.is(3, protowire.VarintType):
			p.num, p.hasNum = int64(f.varint), true
		case f.is(4, protowire.BytesType):
			// The last of number and alias is used.
			p.num, p.hasNum = 0, false
		}
		return nil
	})
}

// id returns the id of the parts, or an empty id if the number is missing.
func (p *entityParts) id() (EntityID, error) {
	if !p.hasNum {
		return 0, nil
	}
	return NewEntityID(p.shard, p.realm, p.num)
}

// DecodeTransactionID decodes a serialized TransactionID: field 1 valid start (1 seconds, 2 nanoseconds), 2 account, 3 scheduled, 4 nonce. Missing fields have
// the values 0 and false. Errors wrap [ErrSyntax], or [ErrRange] for an account that cannot exist.
func DecodeTransactionID(b []byte) (MessageTransactionID, error) {
	id, err := decodeTransactionID(b)
	if err != nil {
		return MessageTransactionID{}, fmt.Errorf("reading a transaction id: %w", err)
	}
	return id, nil
}

func decodeTransactionID(b []byte) (MessageTransactionID, error) {
	id := MessageTransactionID{Nonce: Of(int32(0)), Scheduled: Of(false)}
	var payer entityParts
	var seconds, nanos int64
	hasStart := false
	err := eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			hasStart = true
			if err := readTimestamp(f.bytes, &seconds, &nanos); err != nil {
				return fmt.Errorf("valid start: %w", err)
			}
		case f.is(2, protowire.BytesType):
			if err := payer.read(f.bytes); err != nil {
				return fmt.Errorf("account: %w", err)
			}
		case f.is(3, protowire.VarintType):
			id.Scheduled = Of(protowire.DecodeBool(f.varint))
		case f.is(4, protowire.VarintType):
			id.Nonce = Of(int32(f.varint))
		}
		return nil
	})
	if err != nil {
		return id, err
	}
	if id.AccountID, err = payer.id(); err != nil {
		return id, err
	}
	// The sender of a message chooses this time freely, so an invalid one must not make the message unreadable.
	if at, err := joinTimestamp(seconds, nanos); hasStart && err == nil {
		id.TransactionValidStart = Of(at)
	}
	return id, nil
}

// readTimestamp reads a serialized Timestamp: field 1 seconds, 2 nanoseconds.
func readTimestamp(b []byte, seconds, nanos *int64) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			*seconds = int64(f.varint)
		case f.is(2, protowire.VarintType):
			*nanos = int64(int32(f.varint))
		}
		return nil
	})
}

// DecodeCustomFeeLimit decodes a serialized CustomFeeLimit: field 1 account, 2 repeated FixedFee (1 amount, 2 token). It returns one limit per fee, in order.
// Errors wrap [ErrSyntax], or [ErrRange] for an account or token that cannot exist.
func DecodeCustomFeeLimit(b []byte) ([]*CustomFeeLimit, error) {
	limits, err := decodeCustomFeeLimit(b)
	if err != nil {
		return nil, fmt.Errorf("reading a custom fee limit: %w", err)
	}
	return limits, nil
}

func decodeCustomFeeLimit(b []byte) ([]*CustomFeeLimit, error) {
	var m services.CustomFeeLimit
	if err := proto.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	var account EntityID
	var err error
	if a := m.GetAccountId(); a != nil {
		if _, numbered := a.GetAccount().(*services.AccountID_AccountNum); numbered {
			if account, err = NewEntityID(a.GetShardNum(), a.GetRealmNum(), a.GetAccountNum()); err != nil {
				return nil, err
			}
		}
	}
	limits := make([]*CustomFeeLimit, len(m.GetFees()))
	for i, f := range m.GetFees() {
		limits[i] = &CustomFeeLimit{AccountID: account, Amount: f.GetAmount()}
		if t := f.GetDenominatingTokenId(); t.GetTokenNum() != 0 {
			if limits[i].DenominatingTokenID, err = NewEntityID(t.GetShardNum(), t.GetRealmNum(), t.GetTokenNum()); err != nil {
				return nil, err
			}
		}
	}
	return limits, nil
}
