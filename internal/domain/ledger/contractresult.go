package ledger

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// EthereumTransaction is an Ethereum transaction without its call data. Amounts are big-endian bytes in weibars.
type EthereumTransaction struct {
	PayerAccountID       EntityID
	AccessList           []*AccessListItem
	AuthorizationList    []*Authorization
	ChainID              []byte
	GasLimit             int64
	GasPrice             []byte
	MaxFeePerGas         []byte
	MaxPriorityFeePerGas []byte
	Nonce                int64
	RecoveryID           Null[int16]
	SignatureR           []byte
	SignatureS           []byte
	SignatureV           []byte
	ToAddress            []byte
	Type                 int16
	Value                []byte
}

// CallData is the call data of an Ethereum transaction: in the transaction, or in a file if it did not fit.
type CallData struct{ Own, File []byte }

// Integer is an integer of any size in decimal digits. The empty Integer is null.
type Integer string

// Quantity is an unsigned integer as "0x" and hex digits, or "0x" alone for empty bytes. The empty Quantity is null.
type Quantity string

// QuantityOf formats a big-endian number as "0x" and hex digits. It removes one leading zero digit only, so b
// should have no leading zero bytes. No bytes are "0x".
func QuantityOf(b []byte) Quantity {
	if len(b) == 0 {
		return "0x"
	}
	digits := string(AppendHex(nil, b))[2:]
	if digits[0] == '0' {
		digits = digits[1:]
	}
	return Quantity("0x" + digits)
}

// QuantityOfInt formats a non-negative number as "0x" and hex digits without leading zeros. 0 is "0x".
func QuantityOfInt(v int64) Quantity { return QuantityOf(new(big.Int).SetInt64(v).Bytes()) }

// weibarsPerTinybar is the number of weibars in a tinybar.
const weibarsPerTinybar = 10_000_000_000

// tinybarQuantity converts a big-endian number of weibars to tinybars, rounded down, as "0x" and hex digits. No
// bytes are "0x".
func tinybarQuantity(b []byte) Quantity {
	if len(b) == 0 {
		return "0x"
	}
	v := new(big.Int).SetBytes(b)
	return Quantity("0x" + v.Quo(v, big.NewInt(weibarsPerTinybar)).Text(16))
}

// signed decodes big-endian two's complement, as [ContractResult.Value] reads the value of an Ethereum transaction.
// No bytes are 0. The result is new.
func signed(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// Succeeded reports whether the response code of the result is a success.
func (r *ContractResult) Succeeded() bool { return slices.Contains(successCodes, r.Result) }

// Status returns the status in the form of an Ethereum receipt: "0x1" for success, else "0x0".
func (r *ContractResult) Status() Quantity {
	if r.Succeeded() {
		return "0x1"
	}
	return "0x0"
}

// ContractLongZero returns the long-zero address of the called contract, or nil if the result has no contract.
func (r *ContractResult) ContractLongZero() []byte { return longZero(r.ContractID) }

// longZero returns the 20 bytes of the long-zero address of an entity, or nil if the id is empty.
func longZero(id EntityID) []byte {
	if id.IsNone() {
		return nil
	}
	a := id.LongZero()
	return a[:]
}

// To returns the called address: that of the Ethereum transaction, else the long-zero address of the contract, or nil.
func (r *ContractResult) To() []byte {
	if r.Ethereum != nil && len(r.Ethereum.ToAddress) > 0 {
		return r.Ethereum.ToAddress
	}
	return r.ContractLongZero()
}

// FailureReason returns the error message of the result, or null. For a failed Ethereum transaction without a
// message it returns the name of the response code.
func (r *ContractResult) FailureReason() Null[string] {
	if r.Ethereum != nil && !r.ErrorMessage.Valid && !r.Succeeded() {
		return Of(r.Result.String())
	}
	return r.ErrorMessage
}

// Value returns the value in tinybars as decimal text: that of the Ethereum transaction, rounded towards zero, or
// else the amount. The bytes of the former are two's complement, unlike in [ContractResult.ValueWeibar]. It is empty,
// which is null in the graph, if the value is missing.
func (r *ContractResult) Value() Integer {
	if r.Ethereum == nil {
		return decimal(r.Amount)
	}
	if len(r.Ethereum.Value) == 0 {
		return ""
	}
	v := signed(r.Ethereum.Value)
	return Integer(v.Quo(v, big.NewInt(weibarsPerTinybar)).String())
}

// ValueWeibar returns the value in weibars as decimal text: that of the Ethereum transaction, whose bytes are an
// unsigned number, or else the amount. It is empty, which is null in the graph, if the value is missing.
func (r *ContractResult) ValueWeibar() Integer {
	if r.Ethereum == nil {
		if !r.Amount.Valid {
			return ""
		}
		return Integer(new(big.Int).Mul(big.NewInt(r.Amount.V), big.NewInt(weibarsPerTinybar)).String())
	}
	if len(r.Ethereum.Value) == 0 {
		return ""
	}
	return Integer(new(big.Int).SetBytes(r.Ethereum.Value).String())
}

// decimal returns a number as decimal text, or the empty text for null.
func decimal(n Null[int64]) Integer {
	if !n.Valid {
		return ""
	}
	return Integer(strconv.FormatInt(n.V, 10))
}

// TransactionGasLimit returns the gas limit of the sender: that of the Ethereum transaction, or else that of the
// result.
func (r *ContractResult) TransactionGasLimit() int64 {
	if r.Ethereum != nil {
		return r.Ethereum.GasLimit
	}
	return r.GasLimit
}

// ChainID returns the chain ID of the Ethereum transaction, "0x" if that has none. Without an Ethereum transaction it
// is the configured one of the network, which storage has set in NetworkChainID.
func (r *ContractResult) ChainID() Quantity {
	if r.Ethereum != nil {
		return QuantityOf(r.Ethereum.ChainID)
	}
	return r.NetworkChainID
}

// ofEthereum returns what get returns for the Ethereum transaction of r, or the zero value if there is none.
func ofEthereum[T any](r *ContractResult, get func(*EthereumTransaction) T) T {
	if r.Ethereum == nil {
		var none T
		return none
	}
	return get(r.Ethereum)
}

// MaxFeePerGas returns the maximum fee per gas in tinybars, "0x" if the Ethereum transaction has none, or null
// without an Ethereum transaction.
func (r *ContractResult) MaxFeePerGas() Quantity {
	return ofEthereum(r, func(e *EthereumTransaction) Quantity { return tinybarQuantity(e.MaxFeePerGas) })
}

// MaxFeePerGasWeibar returns the maximum fee per gas in weibars, "0x" if the Ethereum transaction has none, or null
// without an Ethereum transaction.
func (r *ContractResult) MaxFeePerGasWeibar() Quantity {
	return ofEthereum(r, func(e *EthereumTransaction) Quantity { return QuantityOf(e.MaxFeePerGas) })
}

// MaxPriorityFeePerGas returns the tip in tinybars, "0x" if the Ethereum transaction has none, or null without an
// Ethereum transaction.
func (r *ContractResult) MaxPriorityFeePerGas() Quantity {
	return ofEthereum(r, func(e *EthereumTransaction) Quantity { return tinybarQuantity(e.MaxPriorityFeePerGas) })
}

// MaxPriorityFeePerGasWeibar returns the tip in weibars, "0x" if the Ethereum transaction has none, or null without
// an Ethereum transaction.
func (r *ContractResult) MaxPriorityFeePerGasWeibar() Quantity {
	return ofEthereum(r, func(e *EthereumTransaction) Quantity { return QuantityOf(e.MaxPriorityFeePerGas) })
}

// GasPriceTinybar returns the gas price that the sender of an Ethereum transaction offered, in tinybars and rounded
// down, or "0x" if it offered none.
func (e *EthereumTransaction) GasPriceTinybar() Quantity { return tinybarQuantity(e.GasPrice) }

// GasPriceWeibar returns the gas price that the sender of an Ethereum transaction offered, in weibars, or "0x" if it
// offered none.
func (e *EthereumTransaction) GasPriceWeibar() Quantity { return QuantityOf(e.GasPrice) }

// Type returns the type of the Ethereum transaction, 0 for native transactions.
func (r *ContractResult) Type() int32 {
	return ofEthereum(r, func(e *EthereumTransaction) int32 { return int32(e.Type) })
}

// R returns the R value of the signature, empty if it is unknown, or null without an Ethereum transaction.
func (r *ContractResult) R() []byte {
	return ofEthereum(r, func(e *EthereumTransaction) []byte { return known(e.SignatureR) })
}

// S returns the S value of the signature, empty if it is unknown, or null without an Ethereum transaction.
func (r *ContractResult) S() []byte {
	return ofEthereum(r, func(e *EthereumTransaction) []byte { return known(e.SignatureS) })
}

// known returns R or S of an Ethereum transaction, or empty bytes if it is nil, which is unknown: null would mean that
// there is no Ethereum transaction.
func known(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// firstV is V of the signature of a legacy transaction without its recovery identifier and twice its chain ID
// (EIP-155).
const firstV = 35

// V returns the V value of a legacy transaction's signature, derived from the chain ID if it is missing. For other
// transactions, and without a chain ID, it returns the recovery identifier. It is null if that is missing too, and
// without an Ethereum transaction.
func (r *ContractResult) V() Integer {
	return ofEthereum(r, func(e *EthereumTransaction) Integer {
		switch {
		case e.Type == 0 && len(e.SignatureV) > 0:
			return Integer(new(big.Int).SetBytes(e.SignatureV).String())
		case e.Type == 0 && e.RecoveryID.Valid && len(e.ChainID) > 0:
			v := new(big.Int).SetBytes(e.ChainID)
			v.Lsh(v, 1).Add(v, big.NewInt(firstV+int64(e.RecoveryID.V)))
			return Integer(v.String())
		case e.RecoveryID.Valid:
			return Integer(strconv.Itoa(int(e.RecoveryID.V)))
		default:
			return ""
		}
	})
}

// Nonce returns the sender's nonce, or null without an Ethereum transaction.
func (r *ContractResult) Nonce() Null[int64] {
	return ofEthereum(r, func(e *EthereumTransaction) Null[int64] { return Of(e.Nonce) })
}

// AccessList returns the access list of the Ethereum transaction, or nil without one.
func (r *ContractResult) AccessList() []*AccessListItem {
	return ofEthereum(r, func(e *EthereumTransaction) []*AccessListItem { return e.AccessList })
}

// AuthorizationList returns the authorization list of the Ethereum transaction, or nil without one.
func (r *ContractResult) AuthorizationList() []*Authorization {
	return ofEthereum(r, func(e *EthereumTransaction) []*Authorization { return e.AuthorizationList })
}

// DecodeSenderAlias returns the alias of the sender in a serialized ContractFunctionResult, whose field 13 is an
// AccountID, or nil if it has no alias. The alias is part of b. Errors wrap [ErrSyntax].
func DecodeSenderAlias(b []byte) ([]byte, error) {
	var alias []byte
	err := eachField(b, func(f field) error {
		if !f.is(13, protowire.BytesType) {
			return nil
		}
		return eachField(f.bytes, func(f field) error {
			switch {
			case f.is(3, protowire.VarintType):
				alias = nil // the last of number and alias is used
			case f.is(4, protowire.BytesType):
				alias = f.bytes
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading a contract function result: %w", err)
	}
	return alias, nil
}
