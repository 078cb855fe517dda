//go:build slow

package storage_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/pgtest"
)

// big are the tables that no statement may read as a whole.
func big() []string {
	return []string{
		"entity", "entity_history", "entity_stake", "token_account", "transaction", "crypto_transfer", "token_transfer", "entity_transaction", "topic_message", "record_file",
		"account_balance", "token_balance",
	}
}

func ptr[T any](v T) *T { return &v }

// TestPlans says that the hot statements read by indexes: each is explained with the values that it was sent with, and may look at so many rows
// of a table. Tables are large enough for the planner to have a choice.
func TestPlans(t *testing.T) {
	t.Parallel()
	url := loaded.Shared(t)
	const (
		at     = ledger.Timestamp(1700001000000000000)
		later  = ledger.Timestamp(1700001900000000000)
		owner  = ledger.EntityID(1001)
		topic  = ledger.EntityID(111)
		fees   = ledger.EntityID(98)
		second = ledger.Timestamp(time.Second)
	)
	page, desc := storage.Page{Limit: 26}, storage.Page{Limit: 26, Desc: true}
	middle := storage.Page{Limit: 26, Desc: true, Less: []any{int64(at)}}
	one := func(id ledger.EntityID) *ledger.TransactionFilter {
		return &ledger.TransactionFilter{AccountID: &ledger.EntityIDFilter{In: []ledger.EntityID{id}}}
	}
	var ids, quiet []ledger.EntityID
	var times []ledger.Timestamp
	for i := range 50 {
		ids, quiet = append(ids, ledger.EntityID(1000+i)), append(quiet, ledger.EntityID(40000+i))
		times = append(times, 1700000000000000000+ledger.Timestamp(i*1000+10)*10_000_000)
	}
	batch := func(queue func(b *storage.Batch)) func(context.Context, *storage.DB) error {
		return func(ctx context.Context, db *storage.DB) error {
			b := db.NewBatch()
			queue(b)
			return b.Run(ctx)
		}
	}
	ignore := func([][]*ledger.Transaction) {}
	read := func(f func(ctx context.Context, db *storage.DB) error) func(context.Context, *storage.DB) error {
		return f
	}
	transactions := func(f *ledger.TransactionFilter, p storage.Page) func(context.Context, *storage.DB) error {
		return read(func(ctx context.Context, db *storage.DB) error { _, err := db.Transactions(ctx, f, p); return err })
	}
	accounts := func(f *ledger.AccountFilter, p storage.Page) func(context.Context, *storage.DB) error {
		return read(func(ctx context.Context, db *storage.DB) error { _, err := db.Accounts(ctx, f, true, p); return err })
	}
	// Among many accounts the planner expects each to have few transactions, and reads all of one that has many: 20,000 in these tables.
	for name, c := range map[string]struct {
		most float64 // rows of one table
		run  func(ctx context.Context, db *storage.DB) error
	}{
		"accounts":            {100, accounts(nil, page)},
		"accounts, last page": {100, accounts(nil, desc)},
		"accounts, middle":    {100, accounts(nil, storage.Page{Limit: 26, Greater: []any{int64(25000)}})},
		"accounts by id":      {100, accounts(&ledger.AccountFilter{ID: &ledger.EntityIDFilter{In: ids}}, page)},
		"accounts by key":     {100, accounts(&ledger.AccountFilter{PublicKey: &ledger.StringFilter{In: []string{"d3d9446802a44259755d38e6d163e820c20ad4d76fe97759aa27a0c99bff6710"}}}, page)},
		"account":             {100, read(func(ctx context.Context, db *storage.DB) error { _, err := db.Account(ctx, owner); return err })},
		"account then": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.AccountAt(ctx, owner, &ledger.TimestampFilter{Lte: ptr(at)}, later)
			return err
		})},
		"account by alias": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.ResolveAccount(ctx, ledger.AccountRef{Alias: []byte("x")})
			return err
		})},
		"account by address": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.ResolveAccount(ctx, ledger.AccountRef{Address: ledger.Of(ledger.EVMAddress{1, 2})})
			return err
		})},
		"accounts, related": {100, batch(func(b *storage.Batch) { b.QueueAccounts(ids, func([]*ledger.Account) {}) })},
		"balances":          {100, read(func(ctx context.Context, db *storage.DB) error { _, err := db.Balances(ctx, nil, desc); return err })},
		"snapshot": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.SnapshotWindow(ctx, &ledger.TimestampFilter{Lte: ptr(at)}, later)
			return err
		})},
		"balances then": {200, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.BalancesAt(ctx, nil, ledger.SnapshotWindow{From: 1698796800 * second, At: at}, desc)
			return err
		})},
		"tokens of balances": {200, batch(func(b *storage.Batch) {
			b.QueueTokenBalances([]*ledger.Balance{{AccountID: owner}, {AccountID: 1002}}, 50, false, func([][]*ledger.TokenBalance) {})
		})},
		"transactions":             {100, transactions(nil, desc)},
		"transactions, middle":     {100, transactions(nil, middle)},
		"transactions in a span":   {100, transactions(&ledger.TransactionFilter{Timestamp: &ledger.TimestampFilter{Gte: ptr(at), Lte: ptr(at + second)}}, page)},
		"transactions of a type":   {100, transactions(&ledger.TransactionFilter{Types: []ledger.TransactionType{37}}, desc)},
		"failed transactions":      {3000, transactions(&ledger.TransactionFilter{Outcome: ptr(ledger.OutcomeFailure)}, desc)},
		"transactions of one":      {300, transactions(one(owner), desc)},
		"transactions of a quiet":  {200, transactions(one(40000), page)},
		"transactions of fees":     {200, transactions(one(fees), desc)},
		"credits of one":           {500, transactions(&ledger.TransactionFilter{AccountID: one(40000).AccountID, Direction: ptr(ledger.DirectionCredit)}, desc)},
		"debits of one":            {200, transactions(&ledger.TransactionFilter{AccountID: one(owner).AccountID, Direction: ptr(ledger.DirectionDebit)}, desc)},
		"transactions of accounts": {25000, batch(func(b *storage.Batch) { b.QueueAccountTransactions(ids, nil, desc, ignore) })},
		"transactions of quiet":    {5000, batch(func(b *storage.Batch) { b.QueueAccountTransactions(quiet, nil, desc, ignore) })},
		"transactions of fees too": {25000, batch(func(b *storage.Batch) { b.QueueAccountTransactions([]ledger.EntityID{fees, owner}, nil, desc, ignore) })},
		"transactions of blocks": {1000, batch(func(b *storage.Batch) {
			b.QueueTransactionsBetween([]ledger.TimestampRange{{From: ledger.Of(at), To: ledger.Of(at + second)}, {From: ledger.Of(at + second), To: ledger.Of(at + 2*second)}}, page, ignore)
		})},
		"transactions at times": {100, batch(func(b *storage.Batch) { b.QueueTransactionsAt(times, func([]*ledger.Transaction) {}) })},
		"transaction by id": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.TransactionsByID(ctx, ledger.TransactionID{Payer: owner, ValidStart: 1700000000100000000 - 1}, storage.TransactionFilterOfID{})
			return err
		})},
		"transfers": {1000, func(ctx context.Context, db *storage.DB) error {
			found, err := db.Transactions(ctx, nil, desc)
			if err != nil {
				return err
			}
			b := db.NewBatch()
			b.QueueTransfers(found, func([][]*ledger.CryptoTransfer) {})
			b.QueueTokenTransfers(found, func([][]*ledger.TokenTransfer) {})
			b.QueueStakingRewardTransfers(found, func([][]*ledger.StakingReward) {})
			b.QueueAssessedCustomFees(found, func([][]*ledger.AssessedCustomFee) {})
			return b.Run(ctx)
		}},
		// Few submissions have a message in these tables, so most of them are passed by.
		"new messages": {6000, read(func(ctx context.Context, db *storage.DB) error { _, err := db.MessagesAfter(ctx, at, 25); return err })},
		"newest message": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.NewestOf(ctx, storage.StreamMessages)
			return err
		})},
		"messages": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.TopicMessages(ctx, topic, nil, page)
			return err
		})},
		"messages, middle": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.TopicMessages(ctx, topic, nil, middle)
			return err
		})},
		"messages by number": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.TopicMessages(ctx, topic, &ledger.TopicMessageFilter{SequenceNumber: &ledger.LongFilter{Gte: ptr(int64(1990))}}, page)
			return err
		})},
		"message": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.TopicMessageByNumber(ctx, topic, 7)
			return err
		})},
		"what a fee depends on": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.FeeFacts(ctx, &ledger.FeeQuestions{Topic: topic, Tokens: ids, Aliases: []ledger.Alias{[]byte("x"), make([]byte, 20)}})
			return err
		})},
		"message at": {100, read(func(ctx context.Context, db *storage.DB) error { _, err := db.TopicMessageAt(ctx, at); return err })},
		"messages of topics": {1000, batch(func(b *storage.Batch) {
			b.QueueTopicMessages([]ledger.EntityID{11, 21, 31}, nil, desc, func([][]*ledger.TopicMessage) {})
		})},
		"blocks": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.Blocks(ctx, nil, false, desc)
			return err
		})},
		"blocks by number": {100, read(func(ctx context.Context, db *storage.DB) error { _, err := db.Blocks(ctx, nil, true, page); return err })},
		"blocks, paged by number": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.Blocks(ctx, &ledger.BlockFilter{Number: &ledger.LongFilter{Lt: ptr(int64(10000))}}, true, desc)
			return err
		})},
		"block": {100, read(func(ctx context.Context, db *storage.DB) error { _, err := db.BlockByNumber(ctx, 9999); return err })},
		"block by hash": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := db.BlockByHash(ctx, "0x"+strings.Repeat("ab", 32))
			return err
		})},
		"blocks of times": {200, batch(func(b *storage.Batch) { b.QueueBlocksAt(times, func([]*ledger.Block) {}) })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rec pgtest.Recorder
			db, err := storage.Open(t.Context(), storage.Options{PoolOptions: storage.PoolOptions{URL: url, Tracer: &rec, MaxConnections: 1}})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			rec.Reset() // the pool's ping
			if err := c.run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			rec.CheckPlans(t, db.Pool(), big(), c.most)
		})
	}
}
