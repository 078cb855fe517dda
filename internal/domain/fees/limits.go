package fees

import (
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// The limits of the network for transactions.
const (
	maxTransactionBytes = 6144
	maxEthereumBytes    = 133_120
	maxSignatures       = 100
	// maxTransfers applies to a list of hbar transfers, to lists of token transfers, NFT transfers and pending
	// airdrops.
	maxTransfers = 10
)

// LimitError is the reason why the network would refuse a transaction: it exceeds a limit.
type LimitError struct {
	// Code is the response code of the network.
	Code ledger.ResponseCode
}

// Error implements error. It names the response code with which the network would reject the transaction.
func (e *LimitError) Error() string {
	return "the network would refuse the transaction with " + e.Code.String()
}

// CheckLimits returns a [LimitError] for the first limit of the network that the transaction exceeds, or nil: bytes,
// of which an Ethereum transaction may have more, signatures, transfers or airdrops. It reads nothing.
func (t *Transaction) CheckLimits() error {
	maxBytes := maxTransactionBytes
	if t.body.GetEthereumTransaction() != nil {
		maxBytes = maxEthereumBytes
	}
	moved := transfersOf(t.body)
	claimed, canceled := t.body.GetTokenClaimAirdrop(), t.body.GetTokenCancelAirdrop()
	pending := max(len(claimed.GetPendingAirdrops()), len(canceled.GetPendingAirdrops()))
	for _, limit := range []struct {
		n, most int
		code    ledger.ResponseCode
	}{
		{t.size, maxBytes, codes.TransactionOversize},
		{int(t.signatures), maxSignatures, codes.TransactionOversize},
		{len(moved.hbar), maxTransfers, codes.TransferListSizeLimitExceeded},
		{len(moved.tokens), maxTransfers, codes.TokenTransferListSizeLimitExceeded},
		{len(moved.nfts()), maxTransfers, codes.BatchSizeLimitExceeded},
		{pending, maxTransfers, codes.PendingAirdropIDListTooLong},
	} {
		if limit.n > limit.most {
			return &LimitError{limit.code}
		}
	}
	return nil
}
