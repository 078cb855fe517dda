package world

import (
	"fmt"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// MintNFTs mints a serial for each metadata to the treasury of a collection, in a transaction that Trent pays, and
// increases the total supply, in the current row of the token without a new version. The collection must exist.
func (w *World) MintNFTs(token int64, metadata ...string) {
	t := w.tx(codes.TypeTokenMint, demo.Trent, token)
	tok := w.tokens.get(token)
	treasury := tok["treasury_account_id"].(int64)
	for _, text := range metadata {
		w.serialCounts[token]++
		serial := w.serialCounts[token]
		w.nfts.save(t.ts, Row{
			"account_id": treasury, "created_timestamp": t.ts, "deleted": false, "metadata": []byte(text),
			"serial_number": serial, "token_id": token, "delegating_spender": nil, "spender": nil,
		})
		w.addNFTCount(t, treasury, token, 1)
		t.nftMoves = append(t.nftMoves, nftMove{Token: token, Serial: serial, Receiver: Optional(treasury)})
		w.addNFTTransferLog(t, token, 0, treasury, serial)
	}
	tok["total_supply"] = tok["total_supply"].(int64) + int64(len(metadata))
	w.commit(t)
}

// addNFTCount adds by to the number of serials that an account holds, and the account to the parties of t. An account
// without an association, or with a negative number, fails the scenario as in [World.addTokenBalance].
func (w *World) addNFTCount(t *Transaction, account, token, by int64) {
	w.addTokenBalance(token, account, by, t.ts)
	t.parties = append(t.parties, account)
}

// addNFTTransfer adds the transfer of a serial to a transaction, marked as approved if a spender sends it, or sets its
// result if the transfer fails. The receiver becomes the owner in the world, without a check that the sender is it. It
// creates an automatic association if necessary. The receiver pays the price in tinybars. Royalties are a part of the
// price; without a price, the receiver pays the fallback fee. There is no royalty if the treasury sends, or if the
// collector sends or receives.
func (w *World) addNFTTransfer(t *Transaction, from, to, token, serial, price int64, approved bool) {
	if code := w.transferError(from, to, token); code != 0 {
		t.result = code
		return
	}
	if !w.IsAssociated(to, token) {
		w.addAssociation(t.ts, to, token, true)
	}
	if price > 0 {
		t.hbars(to, from, price)
	}
	treasury := w.tokens.get(token)["treasury_account_id"].(int64)
	if from != treasury {
		for _, f := range decodeFees[RoyaltyFee](w.fees.get(token)["royalty_fees"]) {
			switch {
			case from == f.Collector || to == f.Collector:
			case price > 0:
				fee := price * f.Numerator / f.Denominator
				t.hbars(from, f.Collector, fee)
				t.assessed = append(t.assessed, assessedFee{fee, f.Collector, 0, []int64{from}})
			case f.Fallback != nil:
				w.assessFixed(t, to, FixedFee{*f.Fallback, f.FeeCollector})
			}
		}
	}
	w.moveNFT(t, token, serial, from, to, approved)
}

// moveNFT changes the owner of a serial, clears its approval, and adds the transfer, marked as approved if a spender
// sends it, and its log to t. The receiver 0 removes the serial. It checks nothing and charges no royalties.
func (w *World) moveNFT(t *Transaction, token, serial, from, to int64, approved bool) {
	w.nfts.save(t.ts, Row{
		"token_id": token, "serial_number": serial, "account_id": nullIfZero(to), "deleted": to == 0, "spender": nil,
		"delegating_spender": nil,
	})
	w.addNFTCount(t, from, token, -1)
	if to != 0 {
		w.addNFTCount(t, to, token, 1)
	}
	t.nftMoves = append(t.nftMoves, nftMove{
		Token: token, Serial: serial, Sender: Optional(from), Receiver: Optional(to), Approval: approved,
	})
	w.addNFTTransferLog(t, token, from, to, serial)
}

// TransferNFT transfers a serial in a transaction that the sender pays. The receiver pays the price in tinybars.
// If the transfer is impossible, the transaction has an error as result.
func (w *World) TransferNFT(from, to, token, serial, price int64, memo string) {
	t := w.tx(codes.TypeCryptoTransfer, from, 0)
	t.memo = memo
	w.addNFTTransfer(t, from, to, token, serial, price, false)
	w.commit(t)
}

// RemoveNFTs burns serials of the treasury, or wipes serials of another account, and reduces the total supply, in the
// current row of the token without a new version. It does not check that owner holds them. kind is the type of the
// transaction, which Trent pays.
func (w *World) RemoveNFTs(kind ledger.TransactionType, token, owner int64, serials ...int64) {
	t := w.tx(kind, demo.Trent, token)
	for _, serial := range serials {
		w.moveNFT(t, token, serial, owner, 0, false)
	}
	r := w.tokens.get(token)
	r["total_supply"] = r["total_supply"].(int64) - int64(len(serials))
	w.commit(t)
}

// ChangeTreasury changes the treasury of a collection and transfers all serials of the old treasury, with a single
// transfer of serial -1, in a transaction that Trent pays. It associates the new treasury, unless it is associated
// already, and sets the memo of the token.
func (w *World) ChangeTreasury(token, to int64) {
	t := w.tx(codes.TypeTokenUpdate, demo.Trent, token)
	from := w.tokens.get(token)["treasury_account_id"].(int64)
	if !w.IsAssociated(to, token) {
		w.addAssociation(t.ts, to, token, true)
	}
	w.tokens.save(t.ts, Row{"token_id": token, "treasury_account_id": to})
	w.changeEntity(token, t.ts, Row{"memo": fmt.Sprintf("Treasury moved to 0.0.%d", to)})
	for serial := int64(1); serial <= w.serialCounts[token]; serial++ {
		if w.nfts.get(token, serial)["account_id"] == from {
			w.nfts.save(t.ts, Row{"token_id": token, "serial_number": serial, "account_id": to})
			w.addNFTCount(t, from, token, -1)
			w.addNFTCount(t, to, token, 1)
		}
	}
	t.nftMoves = append(t.nftMoves, nftMove{Token: token, Serial: -1, Sender: Optional(from), Receiver: Optional(to)})
	w.addTokenLog(t, token, topicTransfer, w.topicAddress(from), w.topicAddress(to), number(-1), []byte{})
	w.commit(t)
}

// RejectToken returns a serial, or all units if serial is 0, to the treasury in a transaction that the owner pays. The
// owner must be associated with the token.
func (w *World) RejectToken(owner, token, serial int64) {
	t := w.tx(codes.TypeTokenReject, owner, owner)
	treasury := w.tokens.get(token)["treasury_account_id"].(int64)
	if serial > 0 {
		w.moveNFT(t, token, serial, owner, treasury, false)
	} else {
		w.moveUnits(t, token, owner, treasury, w.associations.get(owner, token)["balance"].(int64), false)
	}
	w.commit(t)
}

// OwnerOf returns the account that holds a serial, or 0 if the serial does not exist or has been removed.
func (w *World) OwnerOf(token, serial int64) int64 {
	owner, _ := w.nfts.get(token, serial)["account_id"].(int64)
	return owner
}
