package world

import (
	"heliograph/internal/domain/ledger/codes"
)

// ApproveHbars sets the allowance of a spender in tinybars, in a transaction that the owner pays. 0 revokes it.
func (w *World) ApproveHbars(owner, spender, amount int64) {
	t := w.tx(codes.TypeCryptoApproveAllowance, owner, 0)
	w.cryptoAllowances.save(t.ts, Row{
		"amount_granted": amount, "owner": owner, "payer_account_id": owner, "spender": spender, "amount": amount,
	})
	w.commit(t)
}

// ApproveTokens sets the allowance of a spender for a fungible token, in a transaction that the owner pays, and
// adds the synthetic approval log. 0 revokes the allowance.
func (w *World) ApproveTokens(owner, spender, token, amount int64) {
	t := w.tx(codes.TypeCryptoApproveAllowance, owner, 0)
	w.tokenAllowances.save(t.ts, Row{
		"amount_granted": amount, "owner": owner, "payer_account_id": owner, "spender": spender, "token_id": token,
		"amount": amount,
	})
	w.addTokenLog(t, token, topicApproval, w.topicAddress(owner), w.topicAddress(spender), nil, trim(number(amount)))
	w.commit(t)
}

// ApproveNFT approves a spender for one serial. delegate is the account that delegates its own approval and pays, or
// 0 for the owner. It does not check that owner holds the serial. It replaces an earlier approval.
func (w *World) ApproveNFT(owner, delegate, spender, token, serial int64) {
	payer := owner
	if delegate != 0 {
		payer = delegate
	}
	t := w.tx(codes.TypeCryptoApproveAllowance, payer, 0)
	w.nfts.save(t.ts, Row{
		"token_id": token, "serial_number": serial, "spender": spender, "delegating_spender": nullIfZero(delegate),
	})
	t.parties = []int64{owner, spender}
	w.commit(t)
}

// SpendHbars transfers tinybars of the owner in a transaction that the spender pays, and reduces the allowance in its
// current row, without a new version. If the allowance is missing or too small, the transaction fails with
// SPENDER_DOES_NOT_HAVE_ALLOWANCE.
func (w *World) SpendHbars(owner, spender, to, amount int64, memo string) {
	t := w.tx(codes.TypeCryptoTransfer, spender, 0)
	t.memo = memo
	a := w.cryptoAllowances.get(owner, spender)
	if a == nil || a["amount"].(int64) < amount {
		t.result = codes.SpenderDoesNotHaveAllowance
		w.commit(t)
		return
	}
	a["amount"] = a["amount"].(int64) - amount
	t.transfers = append(t.transfers, transfer{owner, -amount, true}, transfer{to, amount, false})
	w.commit(t)
}

// SpendTokens transfers units of a fungible token of the owner in a transaction that the spender pays, and reduces
// the allowance in its current row, without a new version. It panics if there is no allowance, and does not check
// that it suffices. The token must not have custom fees.
func (w *World) SpendTokens(owner, spender, to, token, amount int64) {
	t := w.tx(codes.TypeCryptoTransfer, spender, 0)
	a := w.tokenAllowances.get(owner, spender, token)
	a["amount"] = a["amount"].(int64) - amount
	w.moveUnits(t, token, owner, to, amount, true)
	w.commit(t)
}

// SpendNFT transfers a serial by approval in a transaction that the spender pays. The transfer clears the approval.
// SpendNFT does not check that there is one. If the transfer is impossible, the transaction has an error as result.
func (w *World) SpendNFT(owner, spender, to, token, serial int64) {
	t := w.tx(codes.TypeCryptoTransfer, spender, 0)
	w.addNFTTransfer(t, owner, to, token, serial, 0, true)
	w.commit(t)
}

// Airdrop offers units of a fungible token (serial 0) or a serial to an account, which has to claim them. It adds the
// units to a pending offer of the same token and moves none. The sender pays the fee. It does not check what the
// sender holds.
func (w *World) Airdrop(sender, receiver, token, serial, amount int64) {
	t := w.tx(codes.TypeTokenAirdrop, sender, 0)
	if d := w.airdrops.get(sender, receiver, token, serial); d != nil && d["state"] == "PENDING" &&
		serial == 0 {
		amount += d["amount"].(int64) // offers of the same token add up
	}
	w.airdrops.save(t.ts, Row{
		"amount": nullIfZero(amount), "receiver_account_id": receiver, "sender_account_id": sender,
		"serial_number": serial,
		"state":         "PENDING", "token_id": token,
	})
	t.parties = []int64{receiver}
	w.commit(t)
}

// CancelAirdrop marks an airdrop as cancelled in a transaction that the sender pays. It moves no tokens. It does not
// check that the airdrop exists or is pending.
func (w *World) CancelAirdrop(sender, receiver, token, serial int64) {
	t := w.tx(codes.TypeTokenCancelAirdrop, sender, 0)
	w.airdrops.save(t.ts, Row{
		"sender_account_id": sender, "receiver_account_id": receiver, "token_id": token, "serial_number": serial,
		"state": "CANCELLED",
	})
	t.parties = []int64{receiver}
	w.commit(t)
}

// ClaimAirdrop marks an airdrop as claimed and transfers its tokens, in a transaction that the receiver pays. It
// associates the receiver with the token if necessary. The airdrop must exist; its state is not checked. If a serial
// cannot be transferred, the transaction has an error as result, and the airdrop is marked nevertheless.
func (w *World) ClaimAirdrop(sender, receiver, token, serial int64) {
	t := w.tx(codes.TypeTokenClaimAirdrop, receiver, 0)
	d := w.airdrops.save(t.ts, Row{
		"sender_account_id": sender, "receiver_account_id": receiver, "token_id": token, "serial_number": serial,
		"state": "CLAIMED",
	})
	if !w.IsAssociated(receiver, token) {
		w.addAssociation(t.ts, receiver, token, true)
	}
	if serial > 0 {
		w.addNFTTransfer(t, sender, receiver, token, serial, 0, false)
	} else {
		w.moveUnits(t, token, sender, receiver, d["amount"].(int64), false)
	}
	w.commit(t)
}
