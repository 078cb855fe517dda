//go:build slow

package transactions_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/pgtest"
	"heliograph/storage/transactions"
)

// big returns the tables that no statement may scan as a whole.
func big() []string {
	return []string{
		"entity", "entity_history", "entity_stake", "token_account", "transaction", "crypto_transfer",
		"token_transfer", "entity_transaction", "topic_message", "record_file",
		"account_balance", "token_balance",
	}
}

func ptr[T any](v T) *T { return &v }

// TestPlans checks that frequent statements use indexes. Each is explained with its actual parameters and may scan a
// limited number of rows per table. The tables are large enough for the planner to have a choice.
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
	one := func(id ledger.EntityID) ledger.TransactionFilter {
		return ledger.TransactionFilter{AccountID: &ledger.EntityIDFilter{In: []ledger.EntityID{id}}}
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
	read := func(f func(ctx context.Context, db *storage.DB) error) func(context.Context, *storage.DB) error {
		return f
	}
	txs := func(f ledger.TransactionFilter, p storage.Page) func(context.Context, *storage.DB) error {
		return read(func(ctx context.Context, db *storage.DB) error {
			_, err := transactions.Transactions(ctx, db, f, p)
			return err
		})
	}
	ofAccounts := func(ids []ledger.EntityID) func(context.Context, *storage.DB) error {
		return func(ctx context.Context, db *storage.DB) error {
			b := db.NewBatch()
			_, err := transactions.QueueAccountTransactions(ctx, b, ids, ledger.TransactionFilter{}, desc)
			if err != nil {
				return err
			}
			return b.Run(ctx)
		}
	}
	transfers := func(f ledger.TransferFilter, p storage.Page, of ...ledger.EntityID) func(context.Context,
		*storage.DB) error {
		return batch(func(b *storage.Batch) {
			transactions.QueueAccountTransfers(b, of, f, p, false)
		})
	}
	accounts := func(f ledger.AccountFilter, p storage.Page) func(context.Context, *storage.DB) error {
		return read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.Accounts(ctx, db, f, true, false, p)
			return err
		})
	}
	// With many accounts, the planner expects few transactions per account. For an account with many, it reads all of
	// them: 20,000 in these tables.
	for name, c := range map[string]struct {
		most float64 // maximum number of rows scanned in one table
		run  func(ctx context.Context, db *storage.DB) error
	}{
		"accounts":            {100, accounts(ledger.AccountFilter{}, page)},
		"accounts, last page": {100, accounts(ledger.AccountFilter{}, desc)},
		"accounts, middle": {100, accounts(ledger.AccountFilter{},
			storage.Page{Limit: 26, Greater: []any{int64(25000)}})},
		"accounts by id": {100, accounts(ledger.AccountFilter{ID: &ledger.EntityIDFilter{In: ids}}, page)},
		"accounts by key": {
			100,
			accounts(ledger.AccountFilter{PublicKey: &ledger.StringFilter{In: []string{"d3d9446802a44259755d38e6d1" +
				"63e820c20ad4d76fe97759aa27a0c99bff6710"}}}, page),
		},
		"account": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.Account(ctx, db, ledger.AccountRef{ID: owner})
			return err
		})},
		"account then": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.AccountAt(ctx, db, owner, &ledger.TimestampFilter{Lte: ptr(at)}, later)
			return err
		})},
		"account by alias": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.ResolveAccount(ctx, db, ledger.AccountRef{Alias: []byte("x")})
			return err
		})},
		"account by address": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.ResolveAccount(ctx, db, ledger.AccountRef{Address: ledger.Of(ledger.EVMAddress{1, 2})})
			return err
		})},
		"accounts, related": {100, batch(func(b *storage.Batch) {
			entities.QueueAccounts(b, ids)
		})},
		"balances": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.Balances(ctx, db, ledger.BalanceFilter{}, desc)
			return err
		})},
		"snapshot": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.SnapshotWindow(ctx, db, &ledger.TimestampFilter{Lte: ptr(at)}, later)
			return err
		})},
		"balances then": {200, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.BalancesAt(ctx, db, ledger.BalanceFilter{},
				ledger.SnapshotWindow{From: 1698796800 * second, At: at}, desc)
			return err
		})},
		"tokens of balances": {200, batch(func(b *storage.Batch) {
			entities.QueueTokenBalances(b, []*ledger.Balance{{AccountID: owner}, {AccountID: 1002}}, 50, false)
		})},
		"transactions":         {100, txs(ledger.TransactionFilter{}, desc)},
		"transactions, middle": {100, txs(ledger.TransactionFilter{}, middle)},
		"transactions in a span": {
			100,
			txs(ledger.TransactionFilter{Timestamp: &ledger.TimestampFilter{Gte: ptr(at), Lte: ptr(at + second)}},
				page),
		},
		"transactions of a type":  {100, txs(ledger.TransactionFilter{Types: []ledger.TransactionType{37}}, desc)},
		"failed transactions":     {3000, txs(ledger.TransactionFilter{Outcome: ptr(ledger.OutcomeFailure)}, desc)},
		"transactions of one":     {300, txs(one(owner), desc)},
		"transactions of a quiet": {200, txs(one(40000), page)},
		"transactions of fees":    {200, txs(one(fees), desc)},
		"credits of one": {
			500,
			txs(ledger.TransactionFilter{AccountID: one(40000).AccountID, Direction: ptr(ledger.DirectionCredit)},
				desc),
		},
		"debits of one": {
			200,
			txs(ledger.TransactionFilter{AccountID: one(owner).AccountID, Direction: ptr(ledger.DirectionDebit)},
				desc),
		},
		"rare type of fees": {
			1000,
			txs(ledger.TransactionFilter{AccountID: one(fees).AccountID, Types: []ledger.TransactionType{37}}, desc),
		},
		"rare type of one": {
			1000,
			txs(ledger.TransactionFilter{AccountID: one(owner).AccountID, Types: []ledger.TransactionType{37}},
				desc),
		},
		"absent type of one": {
			1000,
			txs(ledger.TransactionFilter{AccountID: one(owner).AccountID, Types: []ledger.TransactionType{54}},
				page),
		},
		"credits of a rare type": {
			1000,
			txs(ledger.TransactionFilter{Direction: ptr(ledger.DirectionCredit), Types: []ledger.TransactionType{37}},
				desc),
		},
		"transactions of accounts": {25000, ofAccounts(ids)},
		"transactions of quiet":    {5000, ofAccounts(quiet)},
		"transactions of fees too": {25000, ofAccounts([]ledger.EntityID{fees, owner})},
		"transactions of blocks": {1000, batch(func(b *storage.Batch) {
			transactions.QueueTransactionsBetween(b, []ledger.TimestampRange{
				{From: ledger.Of(at), To: ledger.Of(at + second)},
				{From: ledger.Of(at + second), To: ledger.Of(at + 2*second)},
			}, page)
		})},
		"transactions at times": {100, batch(func(b *storage.Batch) {
			transactions.QueueTransactionsAt(b, times)
		})},
		"transaction by id": {100, func(ctx context.Context, db *storage.DB) error {
			id := ledger.TransactionID{Payer: owner, ValidStart: 1700000000100000000 - 1}
			_, err := transactions.ByID(ctx, db, id, transactions.TransactionFilterOfID{}, true)
			return err
		}},
		"transfers": {1000, func(ctx context.Context, db *storage.DB) error {
			found, err := transactions.Transactions(ctx, db, ledger.TransactionFilter{}, desc)
			if err != nil {
				return err
			}
			b := db.NewBatch()
			transactions.QueueTransfers(b, found)
			transactions.QueueTokenTransfers(b, found)
			transactions.QueueStakingRewardTransfers(b, found)
			transactions.QueueAssessedCustomFees(b, found)
			return b.Run(ctx)
		}},
		// Few submissions have a message in these tables, so most of them are skipped.
		"new messages": {6000, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.MessagesAfter(ctx, db, at, 25)
			return err
		})},
		"newest message": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := transactions.Newest(ctx, db, transactions.StreamMessages)
			return err
		})},
		"messages": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.TopicMessages(ctx, db, topic, ledger.TopicMessageFilter{}, page)
			return err
		})},
		"messages, middle": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.TopicMessages(ctx, db, topic, ledger.TopicMessageFilter{}, middle)
			return err
		})},
		"messages by number": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.TopicMessages(ctx, db, topic,
				ledger.TopicMessageFilter{SequenceNumber: &ledger.LongFilter{Gte: ptr(int64(1990))}}, page)
			return err
		})},
		"messages, joined": {700, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.TopicMessages(ctx, db, topic, ledger.TopicMessageFilter{JoinChunks: true}, page)
			return err
		})},
		"message": {100, batch(func(b *storage.Batch) {
			entities.QueueMessagesOf(b, []ledger.Element{{Entity: topic, Number: 7}})
		})},
		"what a fee depends on": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.FeeFacts(ctx, db, &ledger.FeeQuestions{
				Topic: topic, Tokens: ids,
				Aliases: []ledger.Alias{[]byte("x"), make([]byte, 20)},
			})
			return err
		})},
		"message at": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := entities.TopicMessageAt(ctx, db, at)
			return err
		})},
		"messages of topics": {1000, batch(func(b *storage.Batch) {
			entities.QueueTopicMessages(b, []ledger.EntityID{11, 21, 31}, ledger.TopicMessageFilter{}, desc)
		})},
		"blocks": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := transactions.Blocks(ctx, db, ledger.BlockFilter{}, false, desc)
			return err
		})},
		"blocks by number": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := transactions.Blocks(ctx, db, ledger.BlockFilter{}, true, page)
			return err
		})},
		"blocks, paged by number": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := transactions.Blocks(ctx, db,
				ledger.BlockFilter{Number: &ledger.LongFilter{Lt: ptr(int64(10000))}}, true, desc)
			return err
		})},
		"block": {100, batch(func(b *storage.Batch) {
			transactions.QueueBlocks(b, []int64{9999})
		})},
		"block by hash": {100, read(func(ctx context.Context, db *storage.DB) error {
			_, err := transactions.BlockByHash(ctx, db, "0x"+strings.Repeat("ab", 32))
			return err
		})},
		"search by hash": {100, batch(func(b *storage.Batch) {
			hash := ledger.Hash(make([]byte, 48))
			transactions.QueueByHash(b, hash)
			transactions.QueueBlocksByHash(b, hash)
		})},
		"search by name and key": {200, batch(func(b *storage.Batch) {
			for _, c := range []ledger.Candidates{
				{PublicKey: "d3d9446802a44259755d38e6d163e820c20ad4d76fe97759aa27a0c99bff6710"},
				{Alias: []byte("x")},
				{Address: ledger.Of(ledger.EVMAddress{1, 2})},
			} {
				entities.QueueNamedAccounts(b, c)
				entities.QueueNamedContracts(b, c)
			}
			entities.QueueTokensNamed(b, "no such name", 26)
		})},
		"transfers of one": {300, transfers(ledger.TransferFilter{}, desc, owner)},
		"transfers of one, middle": {300, transfers(ledger.TransferFilter{},
			storage.Page{Limit: 26, Desc: true, Less: []any{int64(at), int64(0)}}, owner)},
		"transfers of many": {25000, transfers(ledger.TransferFilter{}, desc, ids...)},
		"hbar debits of one": {
			300,
			transfers(ledger.TransferFilter{Token: ptr(ledger.EntityID(0)), Direction: ptr(ledger.DirectionDebit)},
				desc, owner),
		},
		"transfers of fees": {100, transfers(ledger.TransferFilter{Token: ptr(ledger.EntityID(0))}, desc,
			fees)},
		"transfers of a token": {1000, batch(func(b *storage.Batch) {
			f := ledger.TransferFilter{Timestamp: &ledger.TimestampFilter{Gte: ptr(at), Lte: ptr(at + second)}}
			transactions.QueueTransfersOfTokens(b, []ledger.EntityID{topic}, f, desc)
		})},
		"counterparties": {300, batch(func(b *storage.Batch) {
			of := []*ledger.Transfer{
				{AccountID: owner, ConsensusTimestamp: times[0]},
				{AccountID: owner, ConsensusTimestamp: times[1], TokenID: 5},
			}
			transactions.QueueCounterparties(b, of)
			transactions.QueueFees(b, of)
		})},
		"transactions of topics": {1000, batch(func(b *storage.Batch) {
			transactions.QueueTopicTransactions(b, []ledger.EntityID{topic, 21}, desc)
		})},
		"blocks of times": {200, batch(func(b *storage.Batch) {
			transactions.QueueBlocksAt(b, times)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rec pgtest.Recorder
			db, err := storage.Open(t.Context(),
				storage.Options{PoolOptions: storage.PoolOptions{URL: url, Tracer: &rec, MaxConnections: 1}})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			rec.Reset() // discard the pool's ping
			if err := c.run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			rec.CheckPlans(t, db.Pool(), big(), c.most)
		})
	}
}
