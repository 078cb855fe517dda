package ledger

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// eachField calls f for every field of a serialized message: with its number for varints, with its bytes (never nil) for
// length-delimited ones. Fixed-width fields and groups are skipped: no message read here has any.
func eachField(b []byte, f func(num protowire.Number, varint uint64, value []byte)) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("protobuf tag: %w", ErrSyntax)
		}
		b = b[n:]
		switch typ {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return fmt.Errorf("protobuf field %d: %w", num, ErrSyntax)
			}
			f(num, v, nil)
			b = b[n:]
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return fmt.Errorf("protobuf field %d: %w", num, ErrSyntax)
			}
			if v == nil {
				v = []byte{}
			}
			f(num, 0, v)
			b = b[n:]
		default:
			n := protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return fmt.Errorf("protobuf field %d: %w", num, ErrSyntax)
			}
			b = b[n:]
		}
	}
	return nil
}

// decodeEntity reads a serialized AccountID, TokenID or the like: field 1 shard, 2 realm, 3 number. hasNum is false when the message
// names the entity in another way, by an alias.
func decodeEntity(b []byte) (id EntityID, hasNum bool, err error) {
	var shard, realm, num int64
	err = eachField(b, func(n protowire.Number, v uint64, value []byte) {
		switch {
		case value != nil:
		case n == 1:
			shard = int64(v)
		case n == 2:
			realm = int64(v)
		case n == 3:
			num, hasNum = int64(v), true
		}
	})
	if err != nil {
		return 0, false, err
	}
	id, err = NewEntityID(shard, realm, num)
	return id, hasNum, err
}

// MessageTransactionID is the transaction id that a message of several chunks carries in each of them.
type MessageTransactionID struct {
	AccountID             EntityID
	TransactionValidStart Null[Timestamp]
	Nonce                 Null[int32]
	Scheduled             Null[bool]
}

// DecodeTransactionID reads a serialized TransactionID: field 1 valid start (1 seconds, 2 nanoseconds), 2 account, 3 scheduled, 4 nonce.
func DecodeTransactionID(b []byte) (MessageTransactionID, error) {
	id := MessageTransactionID{Nonce: Of(int32(0)), Scheduled: Of(false)}
	var inner error
	err := eachField(b, func(num protowire.Number, v uint64, value []byte) {
		switch {
		case num == 1 && value != nil:
			var sec, nanos int64
			inner = eachField(value, func(n protowire.Number, v uint64, _ []byte) {
				switch n {
				case 1:
					sec = int64(v)
				case 2:
					nanos = int64(int32(v))
				}
			})
			id.TransactionValidStart = Of(Timestamp(sec*second + nanos))
		case num == 2 && value != nil && inner == nil:
			id.AccountID, _, inner = decodeEntity(value)
		case num == 3:
			id.Scheduled = Of(v != 0)
		case num == 4:
			id.Nonce = Of(int32(v))
		}
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return MessageTransactionID{}, fmt.Errorf("reading a transaction id: %w", err)
	}
	return id, nil
}

// CustomFeeLimit is the most that a payer will pay of one custom fee.
type CustomFeeLimit struct {
	AccountID           EntityID // none when the message names the payer by an alias
	Amount              int64
	DenominatingTokenID EntityID // none means hbar
}

// DecodeCustomFeeLimit reads a serialized CustomFeeLimit (field 1 account, field 2 repeated FixedFee of 1 amount, 2 token) and returns
// one limit for each of its fees.
func DecodeCustomFeeLimit(b []byte) ([]*CustomFeeLimit, error) {
	var account EntityID
	var limits []*CustomFeeLimit
	var inner error
	err := eachField(b, func(num protowire.Number, _ uint64, value []byte) {
		if value == nil || inner != nil {
			return
		}
		switch num {
		case 1:
			var hasNum bool
			if account, hasNum, inner = decodeEntity(value); !hasNum {
				account = 0
			}
		case 2:
			limit := &CustomFeeLimit{}
			inner = eachField(value, func(n protowire.Number, v uint64, token []byte) {
				switch {
				case n == 1 && token == nil:
					limit.Amount = int64(v)
				case n == 2 && token != nil && inner == nil:
					limit.DenominatingTokenID, _, inner = decodeEntity(token)
				}
			})
			limits = append(limits, limit)
		}
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return nil, fmt.Errorf("reading a custom fee limit: %w", err)
	}
	for _, l := range limits {
		l.AccountID = account
	}
	return limits, nil
}
