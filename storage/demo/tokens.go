package demo

import (
	"encoding/json"
	"math"
)

// coin describes a token that is about to be created.
type coin struct {
	name, symbol, memo  string
	nft                 bool
	decimals, initial   int64
	maximum             int64 // zero: no maximum
	treasury            int64
	admin, supply, wipe string // holders of the keys, empty for none
	freeze, kyc, pause  string
	feeSchedule, meta   string
	frozenByDefault     bool
	metadata            string
	renewedBy           int64
	fixed, fractional   []map[string]any
	royalty             []map[string]any
}

func edKeyOrNil(name string) []byte {
	if name == "" {
		return nil
	}
	return edKey(name)
}

// createToken creates a token and gives its treasury the initial supply.
func (w *world) createToken(payer int64, c coin) int64 {
	t := w.tx(typeTokenCreate, payer)
	id := w.number("token")
	t.entity = id
	e := row{"memo": c.memo, "key": edKeyOrNil(c.admin), "auto_renew_account_id": orNil(c.renewedBy)}
	if id%2 == 0 {
		e["expiration_timestamp"] = t.ts + 3*renewal*second
	}
	w.newEntity("TOKEN", id, t.ts, e)
	kind, supplyType, maximum := "FUNGIBLE_COMMON", "INFINITE", int64(math.MaxInt64)
	if c.nft {
		kind = "NON_FUNGIBLE_UNIQUE"
	}
	if c.maximum > 0 {
		supplyType, maximum = "FINITE", c.maximum
	}
	freeze, kyc, pause := 0, 0, "NOT_APPLICABLE"
	if c.freeze != "" {
		freeze = 2
		if c.frozenByDefault {
			freeze = 1
		}
	}
	if c.kyc != "" {
		kyc = 2
	}
	if c.pause != "" {
		pause = "UNPAUSED"
	}
	var metadata any
	if c.metadata != "" {
		metadata = []byte(c.metadata)
	}
	w.tokens.put(key(id), t.ts, row{
		"token_id": id, "created_timestamp": t.ts, "decimals": c.decimals, "freeze_default": c.frozenByDefault,
		"freeze_key": edKeyOrNil(c.freeze), "initial_supply": c.initial, "kyc_key": edKeyOrNil(c.kyc), "name": c.name,
		"supply_key": edKeyOrNil(c.supply), "symbol": c.symbol, "total_supply": c.initial, "treasury_account_id": c.treasury,
		"wipe_key": edKeyOrNil(c.wipe), "max_supply": maximum, "supply_type": supplyType, "type": kind,
		"fee_schedule_key": edKeyOrNil(c.feeSchedule), "pause_key": edKeyOrNil(c.pause), "pause_status": pause,
		"freeze_status": freeze, "kyc_status": kyc, "metadata": metadata, "metadata_key": edKeyOrNil(c.meta),
	})
	w.setFees(id, t.ts, c.fixed, c.fractional, c.royalty)
	w.relate(t.ts, c.treasury, id, false)
	r := w.relations.get(key(c.treasury, "/", id))
	if kyc != 0 {
		r["kyc_status"] = 1
	}
	if freeze != 0 {
		r["freeze_status"] = 2
	}
	if c.initial > 0 {
		t.tokenMoves = append(t.tokenMoves, tokenMove{token: id, account: c.treasury, amount: c.initial})
		w.synthetic(t, id, 0, c.treasury, c.initial)
	}
	w.commit(t)
	return id
}

// setFees puts the custom fees of a token or topic in force.
func (w *world) setFees(id, ts int64, fixed, fractional, royalty []map[string]any) {
	list := func(v []map[string]any) any {
		if len(v) == 0 {
			return nil
		}
		b, _ := json.Marshal(v)
		return b
	}
	w.fees.put(key(id), ts, row{"entity_id": id, "fixed_fees": list(fixed), "fractional_fees": list(fractional), "royalty_fees": list(royalty)})
}

func fixedFee(amount, collector, token int64, exempt bool) map[string]any {
	return map[string]any{"all_collectors_are_exempt": exempt, "amount": amount, "collector_account_id": collector, "denominating_token_id": orNil(token)}
}

// relate makes an account and a token know each other. Relationships inherit the token's default states.
func (w *world) relate(ts, account, token int64, auto bool) {
	k := key(account, "/", token)
	if r := w.relations.get(k); r != nil && r["associated"] == true {
		w.fail("0.0.%d is already associated with 0.0.%d", account, token)
		return
	}
	tok := w.tokens.get(key(token))
	r := row{
		"account_id": account, "token_id": token, "associated": true, "automatic_association": auto, "created_timestamp": ts,
		"freeze_status": nil, "kyc_status": nil, "balance": int64(0), "balance_timestamp": ts,
	}
	if tok["freeze_status"] == 0 {
		r["freeze_status"] = 0
	}
	if tok["kyc_status"] == 0 {
		r["kyc_status"] = 0
	}
	w.relations.put(k, ts, r)
	w.snaps.token[[2]int64{account, token}] = true
}

func (w *world) related(account, token int64) bool {
	r := w.relations.get(key(account, "/", token))
	return r != nil && r["associated"] == true
}

// associate lets an account hold tokens.
func (w *world) associate(account int64, tokens ...int64) {
	t := w.tx(typeAssociate, account)
	t.entity = account
	for _, token := range tokens {
		w.relate(t.ts, account, token, false)
	}
	w.commit(t)
}

// dissociate ends a relationship whose balance is zero.
func (w *world) dissociate(account, token int64) {
	t := w.tx(typeDissociate, account)
	t.entity = account
	w.relations.change(key(account, "/", token), t.ts, row{"associated": false})
	w.snaps.token[[2]int64{account, token}] = true
	w.commit(t)
}

// status changes the freeze or KYC status of a relationship, by a transaction of the given type.
func (w *world) status(kind int, account, token int64) {
	t := w.tx(kind, Trent)
	t.entity = token
	column, value := "freeze_status", 1
	switch kind {
	case typeTokenUnfreeze:
		value = 2
	case typeTokenGrantKYC:
		column = "kyc_status"
	case typeTokenRevokeKYC:
		column, value = "kyc_status", 2
	}
	w.relations.change(key(account, "/", token), t.ts, row{column: value})
	t.parties = []int64{account}
	w.commit(t)
}

// administer is a transaction about a token that changes the token's own row.
func (w *world) administer(kind int, token int64, changed row) *transaction {
	t := w.tx(kind, Trent)
	t.entity = token
	if changed != nil {
		w.tokens.change(key(token), t.ts, changed)
	}
	return w.commit(t)
}

// supply mints or burns (a negative amount) units of a fungible token. Wiping takes them from another account.
func (w *world) supply(kind int, token, account, amount int64) {
	t := w.tx(kind, Trent)
	t.entity = token
	r := w.tokens.get(key(token))
	r["total_supply"] = r["total_supply"].(int64) + amount
	t.tokenMoves = append(t.tokenMoves, tokenMove{token: token, account: account, amount: amount})
	if amount > 0 {
		w.synthetic(t, token, 0, account, amount)
	} else {
		w.synthetic(t, token, account, 0, -amount)
	}
	w.commit(t)
}

// sendToken moves units of a fungible token in a transfer of its own, with the custom fees that apply.
func (w *world) sendToken(from, to, token, amount int64, memo string) {
	t := w.tx(typeCryptoTransfer, from)
	t.memo = memo
	w.moveToken(t, from, to, token, amount)
	w.commit(t)
}

// moveToken adds a token movement to a transaction, or the reason why it was refused. Accounts that still have automatic
// associations left get related on the way.
func (w *world) moveToken(t *transaction, from, to, token, amount int64) {
	if code := w.refusal(from, to, token); code != 0 {
		t.result = code
		return
	}
	if !w.related(to, token) {
		w.relate(t.ts, to, token, true)
	}
	if w.relations.get(key(from, "/", token))["balance"].(int64) < amount {
		t.result = resultInsufficientToken
		return
	}
	tok := w.tokens.get(key(token))
	treasury := tok["treasury_account_id"].(int64)
	received := amount
	fees := w.fees.get(key(token))
	if from != treasury && to != treasury {
		for _, f := range decodeFees(fees["fixed_fees"]) {
			w.assessFixed(t, from, f)
		}
		for _, f := range decodeFees(fees["fractional_fees"]) {
			fee := max(amount*f.Numerator/f.Denominator, f.Minimum)
			if f.Maximum > 0 {
				fee = min(fee, f.Maximum)
			}
			if from == f.Collector || to == f.Collector || fee == 0 {
				continue
			}
			payer := to
			if f.Net {
				payer = from
				t.tokenMoves = append(t.tokenMoves, tokenMove{token: token, account: from, amount: -fee})
			} else {
				received -= fee
			}
			t.tokenMoves = append(t.tokenMoves, tokenMove{token: token, account: f.Collector, amount: fee})
			t.assessed = append(t.assessed, assessedFee{fee, f.Collector, token, []int64{payer}})
		}
	}
	t.tokenMoves = append(t.tokenMoves, tokenMove{token: token, account: from, amount: -amount}, tokenMove{token: token, account: to, amount: received})
	t.tokenMoves = sumMoves(t.tokenMoves)
	w.synthetic(t, token, from, to, received)
}

// sumMoves adds up the movements of each account and token.
func sumMoves(moves []tokenMove) []tokenMove {
	var sums []tokenMove
next:
	for _, m := range moves {
		for i, s := range sums {
			if s.token == m.token && s.account == m.account && s.approval == m.approval {
				sums[i].amount += m.amount
				continue next
			}
		}
		sums = append(sums, m)
	}
	return sums
}

// storedFee is a custom fee as the database keeps it.
type storedFee struct {
	Amount      int64 `json:"amount"`
	Collector   int64 `json:"collector_account_id"`
	Token       int64 `json:"denominating_token_id"`
	Numerator   int64 `json:"numerator"`
	Denominator int64 `json:"denominator"`
	Minimum     int64 `json:"minimum_amount"`
	Maximum     int64 `json:"maximum_amount"`
	Net         bool  `json:"net_of_transfers"`
	Fallback    *struct {
		Amount int64 `json:"amount"`
		Token  int64 `json:"denominating_token_id"`
	} `json:"fallback_fee"`
}

func decodeFees(v any) []storedFee {
	b, ok := v.([]byte)
	if !ok {
		return nil
	}
	var fees []storedFee
	if err := json.Unmarshal(b, &fees); err != nil {
		return nil
	}
	return fees
}

// assessFixed charges a fixed fee in hbars or in a token.
func (w *world) assessFixed(t *transaction, payer int64, f storedFee) {
	if payer == f.Collector {
		return
	}
	if f.Token == 0 {
		t.hbars(payer, f.Collector, f.Amount)
	} else {
		t.tokenMoves = append(t.tokenMoves, tokenMove{token: f.Token, account: payer, amount: -f.Amount}, tokenMove{token: f.Token, account: f.Collector, amount: f.Amount})
	}
	t.assessed = append(t.assessed, assessedFee{f.Amount, f.Collector, f.Token, []int64{payer}})
}

// refusal is the result code of a token transfer that cannot happen, 0 when it can.
func (w *world) refusal(from, to, token int64) int {
	if w.entities.get(key(token))["deleted"] == true {
		return resultTokenDeleted
	}
	tok := w.tokens.get(key(token))
	if tok["pause_status"] == "PAUSED" {
		return resultPaused
	}
	for _, account := range []int64{from, to} {
		if !w.related(account, token) {
			if limit, _ := w.entities.get(key(account))["max_automatic_token_associations"].(int); account == from || limit == 0 || tok["kyc_status"] != 0 || tok["freeze_default"] == true {
				return resultNotAssociated
			}
			continue
		}
		r := w.relations.get(key(account, "/", token))
		state := func(column string) any {
			if r[column] != nil {
				return r[column]
			}
			return tok[column]
		}
		if state("freeze_status") == 1 {
			return resultFrozen
		}
		if state("kyc_status") == 2 {
			return resultKYCNotGranted
		}
	}
	return 0
}
