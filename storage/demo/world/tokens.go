package world

import (
	"encoding/json"
	"math"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// Token describes a token to create.
type Token struct {
	Name, Symbol, Memo       string
	NFT                      bool
	Decimals, Initial        int64
	Maximum                  int64 // 0 means no maximum
	Treasury                 int64
	Admin, Supply, Wipe      string // holders of the keys, or empty
	Freeze, KYC, Pause       string
	FeeSchedule, MetadataKey string
	FrozenByDefault          bool
	Metadata                 string
	RenewedBy                int64
	Fixed                    []FixedFee
	Fractional               []FractionalFee
	Royalty                  []RoyaltyFee
}

// nullableKey returns the protobuf form of the ED25519 key of a holder, or nil for the empty name.
func nullableKey(name string) []byte {
	if name == "" {
		return nil
	}
	return Ed25519Key(name)
}

// CreateToken creates a token with its initial supply and custom fees in a transaction that payer pays, associates the
// treasury, and returns its number. The freeze status is 0 without a freeze key, 1 for frozen and 2 for unfrozen; the
// KYC status is 0 without a KYC key, 1 for granted and 2 for not granted.
func (w *World) CreateToken(payer int64, c Token) int64 {
	id := w.takeID("token")
	t := w.tx(codes.TypeTokenCreate, payer, id)
	e := Row{"memo": c.Memo, "key": nullableKey(c.Admin), "auto_renew_account_id": nullIfZero(c.RenewedBy)}
	if id%2 == 0 {
		e["expiration_timestamp"] = t.ts + paidPeriods*RenewalPeriod*Second
	}
	w.newEntity("TOKEN", id, t.ts, e)
	kind, supplyType, maximum := "FUNGIBLE_COMMON", "INFINITE", int64(math.MaxInt64)
	if c.NFT {
		kind = "NON_FUNGIBLE_UNIQUE"
	}
	if c.Maximum > 0 {
		supplyType, maximum = "FINITE", c.Maximum
	}
	freeze, kyc, pause := 0, 0, "NOT_APPLICABLE"
	if c.Freeze != "" {
		freeze = 2
		if c.FrozenByDefault {
			freeze = 1
		}
	}
	if c.KYC != "" {
		kyc = 2
	}
	if c.Pause != "" {
		pause = "UNPAUSED"
	}
	var metadata any
	if c.Metadata != "" {
		metadata = []byte(c.Metadata)
	}
	w.tokens.save(t.ts, Row{
		"token_id": id, "created_timestamp": t.ts, "decimals": c.Decimals, "freeze_default": c.FrozenByDefault,
		"freeze_key": nullableKey(c.Freeze), "initial_supply": c.Initial, "kyc_key": nullableKey(c.KYC),
		"name":       c.Name,
		"supply_key": nullableKey(c.Supply), "symbol": c.Symbol, "total_supply": c.Initial,
		"treasury_account_id": c.Treasury,
		"wipe_key":            nullableKey(c.Wipe), "max_supply": maximum, "supply_type": supplyType, "type": kind,
		"fee_schedule_key": nullableKey(c.FeeSchedule), "pause_key": nullableKey(c.Pause), "pause_status": pause,
		"freeze_status": freeze, "kyc_status": kyc, "metadata": metadata, "metadata_key": nullableKey(c.MetadataKey),
	})
	w.setFees(id, t.ts, c.Fixed, c.Fractional, c.Royalty)
	w.addAssociation(t.ts, c.Treasury, id, false)
	r := w.associations.get(c.Treasury, id)
	if kyc != 0 {
		r["kyc_status"] = 1
	}
	if freeze != 0 {
		r["freeze_status"] = 2
	}
	if c.Initial > 0 {
		w.moveUnits(t, id, 0, c.Treasury, c.Initial, false)
	}
	w.commit(t)
	return id
}

// setFees sets the custom fees of a token or topic at ts, without a transaction. It replaces those of all three
// kinds.
func (w *World) setFees(id, ts int64, fixed []FixedFee, fractional []FractionalFee, royalty []RoyaltyFee) {
	w.fees.save(ts, Row{
		"entity_id": id, "fixed_fees": jsonOf(fixed), "fractional_fees": jsonOf(fractional),
		"royalty_fees": jsonOf(royalty),
	})
}

// addAssociation associates an account with a token at ts, without a transaction. auto marks an automatic association.
// The association has the default states of the token. If it exists already, addAssociation calls [World.Fail].
func (w *World) addAssociation(ts, account, token int64, auto bool) {
	if w.IsAssociated(account, token) {
		w.Fail("0.0.%d is already associated with 0.0.%d", account, token)
		return
	}
	tok := w.tokens.get(token)
	r := Row{
		"account_id": account, "token_id": token, "associated": true, "automatic_association": auto,
		"created_timestamp": ts,
		"freeze_status":     nil, "kyc_status": nil, "balance": int64(0), "balance_timestamp": ts,
	}
	if tok["freeze_status"] == 0 {
		r["freeze_status"] = 0
	}
	if tok["kyc_status"] == 0 {
		r["kyc_status"] = 0
	}
	w.associations.save(ts, r)
	w.snapshots.token[[2]int64{account, token}] = true
}

// IsAssociated reports whether an account is associated with a token.
func (w *World) IsAssociated(account, token int64) bool {
	r := w.associations.get(account, token)
	return r != nil && r["associated"] == true
}

// Associate associates an account with tokens in one transaction that the account pays. If an association exists
// already, it calls [World.Fail].
func (w *World) Associate(account int64, tokens ...int64) {
	t := w.tx(codes.TypeTokenAssociateToAccount, account, account)
	for _, token := range tokens {
		w.addAssociation(t.ts, account, token, false)
	}
	w.commit(t)
}

// Dissociate ends an association in a transaction that the account pays. The association must exist with a balance of
// 0; Dissociate checks neither.
func (w *World) Dissociate(account, token int64) {
	t := w.tx(codes.TypeTokenDissociateFromAccount, account, account)
	w.associations.save(t.ts, Row{"account_id": account, "token_id": token, "associated": false})
	w.snapshots.token[[2]int64{account, token}] = true
	w.commit(t)
}

// SetTokenStatus changes the freeze or KYC status of an association. The transaction type kind determines the column
// and value: 1 for frozen or granted, 2 for unfrozen or revoked. Other types than unfreeze, grant and revoke set
// frozen. The association must exist. Trent pays.
func (w *World) SetTokenStatus(kind ledger.TransactionType, account, token int64) {
	t := w.tx(kind, demo.Trent, token)
	column, value := "freeze_status", 1
	switch kind {
	case codes.TypeTokenUnfreezeAccount:
		value = 2
	case codes.TypeTokenGrantKycToAccount:
		column = "kyc_status"
	case codes.TypeTokenRevokeKycFromAccount:
		column, value = "kyc_status", 2
	}
	w.associations.save(t.ts, Row{"account_id": account, "token_id": token, column: value})
	t.parties = []int64{account}
	w.commit(t)
}

// ChangeSupply adds amount, which is negative for burns and wipes, to the units of a fungible token that an account
// holds and to the total supply, in the current row of the token without a new version. kind is the type of the
// transaction, which Trent pays.
func (w *World) ChangeSupply(kind ledger.TransactionType, token, account, amount int64) {
	t := w.tx(kind, demo.Trent, token)
	r := w.tokens.get(token)
	r["total_supply"] = r["total_supply"].(int64) + amount
	if amount > 0 {
		w.moveUnits(t, token, 0, account, amount, false)
	} else {
		w.moveUnits(t, token, account, 0, -amount, false)
	}
	w.commit(t)
}

// moveUnits adds a transfer of units of a fungible token, marked as approved if a spender sends them, and its log to t.
// The account 0 mints or burns them. It checks nothing and charges no custom fees; commit changes the balances.
func (w *World) moveUnits(t *Transaction, token, from, to, amount int64, approved bool) {
	if from != 0 {
		t.tokenMoves = append(t.tokenMoves, tokenMove{token, from, -amount, approved})
	}
	if to != 0 {
		t.tokenMoves = append(t.tokenMoves, tokenMove{token, to, amount, false})
	}
	w.addTransferLog(t, token, from, to, amount)
}

// TransferToken transfers units of a fungible token, with custom fees, in a transaction that the sender pays. If
// the transfer is impossible, the transaction has an error as result.
func (w *World) TransferToken(from, to, token, amount int64, memo string) {
	t := w.tx(codes.TypeCryptoTransfer, from, 0)
	t.memo = memo
	w.addTokenTransfer(t, from, to, token, amount)
	w.commit(t)
}

// addTokenTransfer adds a token transfer, its custom fees and its log to a transaction, or sets its result if the
// transfer fails. It creates an automatic association if necessary. That remains if the transfer then fails because
// the balance is too small. Transfers from or to the treasury have no custom fees.
func (w *World) addTokenTransfer(t *Transaction, from, to, token, amount int64) {
	if code := w.transferError(from, to, token); code != 0 {
		t.result = code
		return
	}
	if !w.IsAssociated(to, token) {
		w.addAssociation(t.ts, to, token, true)
	}
	if w.associations.get(from, token)["balance"].(int64) < amount {
		t.result = codes.InsufficientTokenBalance
		return
	}
	tok := w.tokens.get(token)
	treasury := tok["treasury_account_id"].(int64)
	received := amount
	fees := w.fees.get(token)
	if from != treasury && to != treasury {
		for _, f := range decodeFees[FixedFee](fees["fixed_fees"]) {
			w.assessFixed(t, from, f)
		}
		for _, f := range decodeFees[FractionalFee](fees["fractional_fees"]) {
			fee := max(amount*f.Numerator/f.Denominator, f.Minimum)
			if f.Maximum > 0 {
				fee = min(fee, int64(f.Maximum))
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
	t.tokenMoves = append(t.tokenMoves, tokenMove{token: token, account: from, amount: -amount},
		tokenMove{token: token, account: to, amount: received})
	t.tokenMoves = sumMoves(t.tokenMoves)
	w.addTransferLog(t, token, from, to, received)
}

// sumMoves returns one transfer for each account, token and approval, with the sum of the amounts, in order of
// first appearance.
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

// Optional is a number that is null in JSON if it is zero.
type Optional int64

// MarshalJSON implements [json.Marshaler]. It returns a number, or null for 0.
func (n Optional) MarshalJSON() ([]byte, error) {
	return json.Marshal(nullIfZero(int64(n))) //nolint:wrapcheck // the encoder adds the context
}

// The custom fees of a token or topic, in the format of the database.
type (
	// FixedFee is a fee for each transfer or message.
	FixedFee struct {
		FeePrice
		FeeCollector
	}
	// FractionalFee is a part of the transferred amount.
	FractionalFee struct {
		FeeCollector
		Numerator   int64    `json:"numerator"`
		Denominator int64    `json:"denominator"`
		Minimum     int64    `json:"minimum_amount"`
		Maximum     Optional `json:"maximum_amount"`
		Net         bool     `json:"net_of_transfers"`
	}
	// RoyaltyFee is a part of the price of an NFT. Fallback is the fee of a transfer without a price.
	RoyaltyFee struct {
		FeeCollector
		Numerator   int64     `json:"numerator"`
		Denominator int64     `json:"denominator"`
		Fallback    *FeePrice `json:"fallback_fee"`
	}
	// FeePrice is an amount of a token, or of tinybars if Token is 0.
	FeePrice struct {
		Amount int64    `json:"amount"`
		Token  Optional `json:"denominating_token_id"`
	}
	// FeeCollector is the account that receives a fee.
	FeeCollector struct {
		Collector int64 `json:"collector_account_id"`
		Exempt    bool  `json:"all_collectors_are_exempt"`
	}
)

// decodeFees returns the custom fees in a JSON column of custom_fee. Null has none. Errors are ignored because
// setFees has encoded the column.
func decodeFees[F any](column any) (fees []F) {
	if b, ok := column.([]byte); ok {
		_ = json.Unmarshal(b, &fees) // setFees has encoded them
	}
	return fees
}

// assessFixed adds the transfer of a fixed custom fee from payer to collector, and its assessed_custom_fee, to t. A
// collector that is the payer pays none. The balances change at commit.
func (w *World) assessFixed(t *Transaction, payer int64, f FixedFee) {
	if payer == f.Collector {
		return
	}
	if f.Token == 0 {
		t.hbars(payer, f.Collector, f.Amount)
	} else {
		t.tokenMoves = append(t.tokenMoves, tokenMove{token: int64(f.Token), account: payer, amount: -f.Amount},
			tokenMove{token: int64(f.Token), account: f.Collector, amount: f.Amount})
	}
	t.assessed = append(t.assessed, assessedFee{f.Amount, f.Collector, int64(f.Token), []int64{payer}})
}

// transferError returns the result code with which a token transfer fails, or 0. It checks deletion, pause,
// association, freeze and KYC, but no balances, and changes nothing. A receiver without an association passes if it
// allows automatic ones and the token has neither a KYC key nor is frozen by default.
func (w *World) transferError(from, to, token int64) ledger.ResponseCode {
	if w.entities.get(token)["deleted"] == true {
		return codes.TokenWasDeleted
	}
	tok := w.tokens.get(token)
	if tok["pause_status"] == "PAUSED" {
		return codes.TokenIsPaused
	}
	for _, account := range []int64{from, to} {
		if !w.IsAssociated(account, token) {
			if limit, _ := w.entities.get(account)["max_automatic_token_associations"].(int64); account == from ||
				limit == 0 || tok["kyc_status"] != 0 ||
				tok["freeze_default"] == true {
				return codes.TokenNotAssociatedToAccount
			}
			continue
		}
		r := w.associations.get(account, token)
		state := func(column string) any {
			if r[column] != nil {
				return r[column]
			}
			return tok[column]
		}
		if state("freeze_status") == 1 {
			return codes.AccountFrozenForToken
		}
		if state("kyc_status") == 2 {
			return codes.AccountKYCNotGrantedForToken
		}
	}
	return 0
}

// AutoAssociates reports whether an account allows automatic token associations.
func (w *World) AutoAssociates(id int64) bool {
	n, _ := w.entities.get(id)["max_automatic_token_associations"].(int64)
	return n != 0
}

// UpdateCustomFees replaces all custom fees of a token or topic by fixed ones, in a transaction that Trent pays.
func (w *World) UpdateCustomFees(id int64, fixed ...FixedFee) {
	t := w.tx(codes.TypeTokenFeeScheduleUpdate, demo.Trent, id)
	w.setFees(id, t.ts, fixed, nil, nil)
	w.commit(t)
}
