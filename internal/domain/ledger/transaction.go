package ledger

import "slices"

// TransactionID returns the transaction id.
func (t *Transaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// Fee returns the part of the change that is the transaction fee, in tinybars.
func (t *Transfer) Fee() int64 {
	if !t.TokenID.IsNone() || t.AccountID != t.PayerAccountID {
		return 0
	}
	return t.ChargedFee.V
}

// TransferFilter selects transfers.
type TransferFilter struct {
	Token     *EntityID // 0 for hbars
	Direction *TransferDirection
	Timestamp *TimestampFilter
}

// successCodes are the results that count as success.
var successCodes = []ResponseCode{22, 104, 220}

// SuccessCodes returns the results that count as success.
func SuccessCodes() []ResponseCode { return slices.Clone(successCodes) }

// MemoText returns the memo as text, or null if it is not valid UTF-8.
func (t *Transaction) MemoText() Null[string] { return textOf(t.Memo) }
