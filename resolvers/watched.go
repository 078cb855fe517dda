package resolvers

import (
	"context"
	"slices"
	"sync"

	"heliograph/internal/domain/ledger"
	"heliograph/storage/transactions"
)

// watchedAccounts counts the subscribers per account. New transactions are matched against these accounts only, because accounts that a transaction
// merely mentions cannot be found by its time.
type watchedAccounts struct {
	mu        sync.Mutex
	listeners map[ledger.EntityID]int
}

// add adds n to the number of subscribers of accounts.
func (w *watchedAccounts) add(accounts []ledger.EntityID, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range accounts {
		if w.listeners[id] += n; w.listeners[id] == 0 {
			delete(w.listeners, id)
		}
	}
}

// all returns the watched accounts, sorted.
func (w *watchedAccounts) all() []ledger.EntityID {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]ledger.EntityID, 0, len(w.listeners))
	for id := range w.listeners {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// namedBy returns the accounts that a filter lists.
func namedBy(f *ledger.TransactionFilter) []ledger.EntityID {
	if f == nil || f.AccountID == nil {
		return nil
	}
	if f.AccountID.Eq != nil {
		return []ledger.EntityID{*f.AccountID.Eq}
	}
	return f.AccountID.In
}

// completed returns new transactions with the involved accounts that a subscriber needs. For rows that were read before the subscriber's accounts were
// watched, it reads them now.
func (r *Resolver) completed(ctx context.Context, rows []*transactionEvent, accounts []ledger.EntityID) ([]*transactionEvent, error) {
	unasked := func(t *transactionEvent) bool {
		return slices.ContainsFunc(accounts, func(id ledger.EntityID) bool {
			_, known := slices.BinarySearch(t.asked, id)
			return !known
		})
	}
	var missing []*ledger.Transaction
	for _, t := range rows {
		if unasked(t) {
			missing = append(missing, t.Transaction)
		}
	}
	if missing == nil {
		return rows, nil
	}
	parties, err := transactions.Parties(ctx, r.db, missing, accounts)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(rows) // other subscribers share these rows
	next := 0
	for i, t := range rows {
		if unasked(t) {
			out[i] = &transactionEvent{Transaction: t.Transaction, parties: parties[next]}
			next++
		}
	}
	return out, nil
}
