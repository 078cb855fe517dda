package entities

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var airdropRows = storage.MapperOf(func(a *ledger.Airdrop, into []any) []any {
	return append(into, &a.Amount, &a.ReceiverID, &a.SenderID, &a.SerialNumber, &a.TokenID, &a.Timestamp.From, &a.Timestamp.To)
}, nil)

// QueueAirdrops queues a query for pending airdrops that each of the given accounts sent, or with received may claim. They are ordered by the other account,
// the token and the serial number. done receives one page per account.
func QueueAirdrops(b *storage.Batch, accounts []ledger.EntityID, received bool, f *ledger.AirdropFilter, p storage.Page, done func([][]*ledger.Airdrop)) {
	own, other := "sender_account_id", "receiver_account_id"
	if received {
		own, other = other, own
	}
	from, arg := storage.OfParents(accounts)
	w := storage.Where{Args: []any{arg}}
	if f != nil && f.Bounds == ledger.BoundsInOrder {
		storage.Filter(&w, other, storage.WithoutBounds(f.AccountID))
		storage.Filter(&w, "token_id", storage.WithoutBounds(f.TokenID))
		storage.Filter(&w, "serial_number", storage.WithoutBounds(f.SerialNumber))
		w.InOrder(airdropBounds(storage.BoundsOn(other, f.AccountID), storage.BoundsOn("token_id", f.TokenID), storage.BoundsOn("serial_number", f.SerialNumber))...)
	} else if f != nil {
		storage.Filter(&w, other, f.AccountID)
		storage.Filter(&w, "token_id", f.TokenID)
		storage.Filter(&w, "serial_number", f.SerialNumber)
	}
	w.Keyset(p, other, "token_id", "serial_number")
	airdropRows.QueueChildren(b, len(accounts), `select p.ord, a.amount, a.receiver_account_id, a.sender_account_id, nullif(a.serial_number, 0), a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from `+from+` cross join lateral (
  select * from token_airdrop where `+own+` = p.id and state = 'PENDING'`+w.String()+w.OrderBy(p, other, "token_id", "serial_number")+`) a
order by p.ord, `+p.Order("a."+other, "a.token_id", "a.serial_number"), w.Args, done)
}

// airdropBounds returns the bounds of the sort key. If one is not set, the next one replaces it.
func airdropBounds(account, token, serial storage.ColumnBounds) []storage.ColumnBounds {
	hasAccount, hasToken, hasSerial := account.Given(), token.Given(), serial.Given()
	switch {
	case hasAccount && hasToken:
		return []storage.ColumnBounds{account, token, serial}
	case hasAccount && hasSerial:
		return []storage.ColumnBounds{account, serial, serial}
	case hasAccount:
		return []storage.ColumnBounds{account}
	case hasToken:
		return []storage.ColumnBounds{token, token, serial}
	default:
		return []storage.ColumnBounds{serial}
	}
}
