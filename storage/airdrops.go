package storage

import "heliograph/internal/domain/ledger"

func airdropTargets(a *ledger.Airdrop, into []any) []any {
	return append(into, &a.Amount, &a.ReceiverID, &a.SenderID, &a.SerialNumber, &a.TokenID, &a.Timestamp.From, &a.Timestamp.To)
}

// QueueAirdrops queues reading a page of the airdrops that each of some accounts has sent, or with received may claim, and that nobody has claimed or
// cancelled, by the other account, the token and the serial number; done gets one list for each account.
func (b *Batch) QueueAirdrops(accounts []ledger.EntityID, received bool, f *ledger.AirdropFilter, p Page, done func([][]*ledger.Airdrop)) {
	own, other := "sender_account_id", "receiver_account_id"
	if received {
		own, other = other, own
	}
	from, arg := ofParents(accounts)
	w := where{args: []any{arg}}
	if f != nil && f.Bounds == ledger.BoundsInOrder {
		filter(&w, other, withoutBounds(f.AccountID))
		filter(&w, "token_id", withoutBounds(f.TokenID))
		filter(&w, "serial_number", withoutBounds(f.SerialNumber))
		w.inOrder(airdropBounds(boundsOn(other, f.AccountID), boundsOn("token_id", f.TokenID), boundsOn("serial_number", f.SerialNumber))...)
	} else if f != nil {
		filter(&w, other, f.AccountID)
		filter(&w, "token_id", f.TokenID)
		filter(&w, "serial_number", f.SerialNumber)
	}
	w.keyset(p, other, "token_id", "serial_number")
	direction := p.direction()
	queueChildren(b, len(accounts), `select p.ord, a.amount, a.receiver_account_id, a.sender_account_id, nullif(a.serial_number, 0), a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from `+from+` cross join lateral (
  select * from token_airdrop where `+own+` = p.id and state = 'PENDING'`+w.String()+w.orderBy(p, other, "token_id", "serial_number")+`) a
order by p.ord, a.`+other+direction+`, a.token_id`+direction+`, a.serial_number`+direction, w.args, airdropTargets, nil, itself, done)
}

// airdropBounds are the bounds that count: where one is missing, the next takes its place.
func airdropBounds(account, token, serial columnBounds) []columnBounds {
	hasAccount, hasToken, hasSerial := account.given(), token.given(), serial.given()
	switch {
	case hasAccount && hasToken:
		return []columnBounds{account, token, serial}
	case hasAccount && hasSerial:
		return []columnBounds{account, serial, serial}
	case hasAccount:
		return []columnBounds{account}
	case hasToken:
		return []columnBounds{token, token, serial}
	default:
		return []columnBounds{serial}
	}
}

func (b columnBounds) given() bool { return b.lower != nil || b.upper != nil }
