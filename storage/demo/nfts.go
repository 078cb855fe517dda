package demo

import "fmt"

func nftKey(token, serial int64) string { return key(token, "#", serial) }

// mintNfts mints serials with the given metadata to the treasury of a collection.
func (w *world) mintNfts(token int64, metadata ...string) {
	t := w.tx(typeTokenMint, Trent)
	t.entity = token
	tok := w.tokens.get(key(token))
	treasury := tok["treasury_account_id"].(int64)
	for _, text := range metadata {
		w.serials[token]++
		serial := w.serials[token]
		w.nfts.put(nftKey(token, serial), t.ts, row{
			"account_id": treasury, "created_timestamp": t.ts, "deleted": false, "metadata": []byte(text),
			"serial_number": serial, "token_id": token, "delegating_spender": nil, "spender": nil,
		})
		w.count(t, treasury, token, 1)
		t.nftMoves = append(t.nftMoves, nftMove{token: token, serial: serial, receiver: treasury})
		w.syntheticNft(t, token, 0, treasury, serial)
	}
	tok["total_supply"] = tok["total_supply"].(int64) + int64(len(metadata))
	w.commit(t)
}

// count changes the number of serials that an account holds.
func (w *world) count(t *transaction, account, token, by int64) {
	w.credit(token, account, by, t.ts)
	t.parties = append(t.parties, account)
}

// moveNft adds the movement of a serial to a transaction. What the new owner paid in the same transaction is the price,
// from which a royalty is taken; without a price the new owner pays the fallback fee if there is one.
func (w *world) moveNft(t *transaction, from, to, token, serial, price int64, approved bool) {
	if code := w.refusal(from, to, token); code != 0 {
		t.result = code
		return
	}
	if !w.related(to, token) {
		w.relate(t.ts, to, token, true)
	}
	if price > 0 {
		t.hbars(to, from, price)
	}
	treasury := w.tokens.get(key(token))["treasury_account_id"].(int64)
	if from != treasury {
		for _, f := range decodeFees(w.fees.get(key(token))["royalty_fees"]) {
			switch {
			case from == f.Collector || to == f.Collector:
			case price > 0:
				fee := price * f.Numerator / f.Denominator
				t.hbars(from, f.Collector, fee)
				t.assessed = append(t.assessed, assessedFee{fee, f.Collector, 0, []int64{from}})
			case f.Fallback != nil:
				w.assessFixed(t, to, storedFee{Amount: f.Fallback.Amount, Token: f.Fallback.Token, Collector: f.Collector})
			}
		}
	}
	w.nfts.change(nftKey(token, serial), t.ts, row{"account_id": to, "spender": nil, "delegating_spender": nil})
	w.count(t, from, token, -1)
	w.count(t, to, token, 1)
	t.nftMoves = append(t.nftMoves, nftMove{token: token, serial: serial, sender: from, receiver: to, approval: approved})
	w.syntheticNft(t, token, from, to, serial)
}

// sendNft moves one serial in a transfer of its own.
func (w *world) sendNft(from, to, token, serial, price int64, memo string) {
	t := w.tx(typeCryptoTransfer, from)
	t.memo = memo
	w.moveNft(t, from, to, token, serial, price, false)
	w.commit(t)
}

// endNfts burns serials of the treasury, or wipes those of another account.
func (w *world) endNfts(kind int, token, owner int64, serials ...int64) {
	t := w.tx(kind, Trent)
	t.entity = token
	for _, serial := range serials {
		w.nfts.change(nftKey(token, serial), t.ts, row{"account_id": nil, "deleted": true, "spender": nil, "delegating_spender": nil})
		w.count(t, owner, token, -1)
		t.nftMoves = append(t.nftMoves, nftMove{token: token, serial: serial, sender: owner})
		w.syntheticNft(t, token, owner, 0, serial)
	}
	r := w.tokens.get(key(token))
	r["total_supply"] = r["total_supply"].(int64) - int64(len(serials))
	w.commit(t)
}

// describeNfts changes the metadata of serials.
func (w *world) describeNfts(token int64, text string, serials ...int64) {
	t := w.tx(typeUpdateNfts, Trent)
	t.entity = token
	for _, serial := range serials {
		w.nfts.change(nftKey(token, serial), t.ts, row{"metadata": []byte(text)})
	}
	w.commit(t)
}

// changeTreasury gives a collection a new treasury, to which all serials of the old one go.
func (w *world) changeTreasury(token, to int64) {
	t := w.tx(typeTokenUpdate, Trent)
	t.entity = token
	from := w.tokens.get(key(token))["treasury_account_id"].(int64)
	if !w.related(to, token) {
		w.relate(t.ts, to, token, true)
	}
	w.tokens.change(key(token), t.ts, row{"treasury_account_id": to})
	w.changeEntity(token, t.ts, row{"memo": fmt.Sprintf("Treasury moved to 0.0.%d", to)})
	for serial := int64(1); serial <= w.serials[token]; serial++ {
		if w.nfts.get(nftKey(token, serial))["account_id"] == from {
			w.nfts.change(nftKey(token, serial), t.ts, row{"account_id": to})
			w.count(t, from, token, -1)
			w.count(t, to, token, 1)
		}
	}
	t.nftMoves = append(t.nftMoves, nftMove{token: token, serial: -1, sender: from, receiver: to})
	w.commit(t)
}

// reject returns units or a serial that somebody did not want to the treasury.
func (w *world) reject(owner, token, serial int64) {
	t := w.tx(typeTokenReject, owner)
	t.entity = owner
	treasury := w.tokens.get(key(token))["treasury_account_id"].(int64)
	if serial > 0 {
		w.nfts.change(nftKey(token, serial), t.ts, row{"account_id": treasury, "spender": nil, "delegating_spender": nil})
		w.count(t, owner, token, -1)
		w.count(t, treasury, token, 1)
		t.nftMoves = append(t.nftMoves, nftMove{token: token, serial: serial, sender: owner, receiver: treasury})
		w.syntheticNft(t, token, owner, treasury, serial)
	} else {
		amount := w.relations.get(key(owner, "/", token))["balance"].(int64)
		t.tokenMoves = append(t.tokenMoves, tokenMove{token: token, account: owner, amount: -amount}, tokenMove{token: token, account: treasury, amount: amount})
		w.synthetic(t, token, owner, treasury, amount)
	}
	w.commit(t)
}
