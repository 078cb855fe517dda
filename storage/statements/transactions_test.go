package statements

import (
	"context"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// transactionReads are the reads of package transactions.
func transactionReads() reads {
	of := []*ledger.Transaction{
		{
			ConsensusTimestamp: at, PayerAccountID: 1001,
			InnerTransactions: []ledger.TransactionID{{Payer: 7, ValidStart: at}},
		},
		{ConsensusTimestamp: at + 1, PayerAccountID: 1002},
	}
	spans := []ledger.TimestampRange{
		{From: ledger.Of(at), To: ledger.Of(at + 5)}, {From: ledger.Of(at), To: ledger.Of(at + 9)},
	}
	hash := ledger.Hash(make([]byte, 48))
	results := []*ledger.ContractResult{
		{ConsensusTimestamp: at, Party: 1001, Ethereum: &ledger.EthereumTransaction{PayerAccountID: 7}},
		{ConsensusTimestamp: at + 1, Party: 1002},
	}
	found := []*ledger.ContractResult{(&transactions.ResultRef{Hash: hash}).Key()}
	located := []transactions.Located{{At: at, Payer: 1001}, {At: at + 1, Payer: 1002}}
	logs := storage.Page{Limit: 25, Less: []any{int64(at), int64(7)}}
	one := &ledger.EntityIDFilter{Eq: &ids[0]}
	moves := []*ledger.Transfer{
		{AccountID: 1001, ConsensusTimestamp: at}, {AccountID: 1002, ConsensusTimestamp: at, TokenID: 5},
	}
	search := func(f ledger.TransactionFilter) func(context.Context, *storage.Batch) error {
		return func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.Transactions(ctx, b.DB(), f, page)
			return err
		}
	}
	return reads{
		"transactions of a type":     search(ledger.TransactionFilter{Types: []ledger.TransactionType{37}}),
		"transactions of an account": search(ledger.TransactionFilter{AccountID: one}),
		"transactions of accounts": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.QueueAccountTransactions(ctx, b, ids, ledger.TransactionFilter{}, page)
			return err
		},
		"transactions at times": queued(func(b *storage.Batch) {
			transactions.QueueTransactionsAt(b, []ledger.Timestamp{at, at + 1})
		}),
		"transactions between times": queued(func(b *storage.Batch) {
			transactions.QueueTransactionsBetween(b, spans, page)
		}),
		"transactions with a hash": queued(func(b *storage.Batch) {
			transactions.QueueByHash(b, hash)
		}),
		"transactions by hashes": queued(func(b *storage.Batch) {
			transactions.QueueByHashes(b, []ledger.Hash{hash, hash[:32]})
		}),
		"transactions of users": queued(func(b *storage.Batch) {
			transactions.QueueUserTransactions(b, []ledger.TransactionID{{Payer: 7, ValidStart: at}})
		}),
		"results by hashes": queued(func(b *storage.Batch) {
			transactions.QueueResultsByHashes(b, []ledger.Hash{hash, hash[:32]})
		}),
		"inner transactions": queued(func(b *storage.Batch) {
			transactions.QueueInnerTransactions(b, of)
		}),
		"transactions of topics": queued(func(b *storage.Batch) {
			transactions.QueueTopicTransactions(b, ids, page)
		}),
		"transfers of transactions": queued(func(b *storage.Batch) {
			transactions.QueueTransfers(b, of)
		}),
		"transfers of one transaction": queued(func(b *storage.Batch) {
			transactions.QueueTransfers(b, of[:1])
		}),
		"transaction by ID": func(ctx context.Context, b *storage.Batch) error {
			id := ledger.TransactionID{Payer: 1001, ValidStart: at}
			_, err := transactions.ByID(ctx, b.DB(), id, transactions.TransactionFilterOfID{Nonce: new(int32)}, true)
			return err
		},
		"staking rewards of transactions": queued(func(b *storage.Batch) {
			transactions.QueueStakingRewardTransfers(b, of)
		}),
		"custom fees of transactions": queued(func(b *storage.Batch) {
			transactions.QueueAssessedCustomFees(b, of)
		}),
		"transfers of tokens": queued(func(b *storage.Batch) {
			transactions.QueueTransfersOfTokens(b, ids, ledger.TransferFilter{}, logs)
		}),
		"transfers of accounts": queued(func(b *storage.Batch) {
			transactions.QueueAccountTransfers(b, ids, ledger.TransferFilter{}, logs, false)
		}),
		"counterparties": queued(func(b *storage.Batch) {
			transactions.QueueCounterparties(b, moves)
		}),
		"results by time": queued(func(b *storage.Batch) {
			transactions.QueueContractResultsAt(b, []ledger.Timestamp{at, at + 1})
		}),
		"results of contracts": queued(func(b *storage.Batch) {
			transactions.QueueResultsOfContracts(b, ids, ledger.ContractResultFilter{}, page)
		}),
		"results between times": queued(func(b *storage.Batch) {
			transactions.QueueResultsBetween(b, spans, ledger.ContractResultFilter{}, page)
		}),
		"call data": queued(func(b *storage.Batch) {
			transactions.QueueCallData(b, results)
		}),
		"state changes": queued(func(b *storage.Batch) {
			transactions.QueueStateChanges(b, results)
		}),
		"state changes by hash": queued(func(b *storage.Batch) {
			transactions.QueueStateChanges(b, found)
		}),
		"children by hash": queued(func(b *storage.Batch) {
			transactions.QueueChildFlags(b, found)
		}),
		"logs of results": queued(func(b *storage.Batch) {
			transactions.QueueLogsOfResults(b, results, true)
		}),
		"logs of a result by hash": queued(func(b *storage.Batch) {
			transactions.QueueLogsOfResults(b, found, false)
		}),
		"logs of contracts": queued(func(b *storage.Batch) {
			transactions.QueueLogsOfContracts(b, ids, ledger.ContractLogFilter{}, logs)
		}),
		"actions of transactions": queued(func(b *storage.Batch) {
			transactions.QueueContractActions(b, located, ledger.ContractActionFilter{}, page)
		}),
		"states of contracts": queued(func(b *storage.Batch) {
			transactions.QueueContractStates(b, ids, ledger.ContractStateFilter{}, nil, storage.Page{Limit: 25})
		}),
		"states of contracts at a time": queued(func(b *storage.Batch) {
			transactions.QueueContractStates(b, ids, ledger.ContractStateFilter{}, before, storage.Page{Limit: 25})
		}),
		"schedules by id": queued(func(b *storage.Batch) {
			transactions.QueueSchedules(b, ids)
		}),
		"schedules of accounts": queued(func(b *storage.Batch) {
			transactions.QueueAccountSchedules(b, ids, ledger.ScheduleFilter{}, at, page)
		}),
		"schedules of transactions": queued(func(b *storage.Batch) {
			transactions.QueueTransactionSchedules(b, of)
		}),
		"signatures of schedules": queued(func(b *storage.Batch) {
			transactions.QueueScheduleSignatures(b, ids)
		}),
		"blocks by number": queued(func(b *storage.Batch) {
			transactions.QueueBlocks(b, []int64{1, 2})
		}),
		"blocks at times": queued(func(b *storage.Batch) {
			transactions.QueueBlocksAt(b, []ledger.Timestamp{at, at + 1})
		}),
		"blocks in a range of two columns": func(ctx context.Context, b *storage.Batch) error {
			f := ledger.BlockFilter{Number: &ledger.LongFilter{Gt: ptr[int64](1)}, Timestamp: before}
			_, err := transactions.Blocks(ctx, b.DB(), f, true, page)
			return err
		},
		"results": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.ContractResults(ctx, b.DB(), ledger.ContractResultFilter{},
				transactions.ResultDetails, page)
			return err
		},
		"results of one contract": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.ContractResults(ctx, b.DB(), ledger.ContractResultFilter{ContractID: one}, 0,
				storage.Page{Limit: 26, Desc: true})
			return err
		},
		"logs with a topic": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.ContractLogs(ctx, b.DB(), ledger.ContractLogFilter{
				Topics: [][][]byte{nil, {{1}}}, Timestamp: before,
			}, logs)
			return err
		},
		"results with their files": queued(func(b *storage.Batch) {
			transactions.QueueContractResults(b, []transactions.ResultRef{
				{Hash: hash, CallData: true},
				{TransactionID: &ledger.TransactionID{Payer: 7, ValidStart: at}},
				{At: at, Named: true},
			})
		}),
		"synthetic result": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.SyntheticResult(ctx, b.DB(), transactions.ResultRef{Hash: hash})
			return err
		},
		"logs": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.ContractLogs(ctx, b.DB(), ledger.ContractLogFilter{
				TransactionHash: ptr(hash.String()), Timestamp: before,
			}, logs)
			return err
		},
		"parties": func(ctx context.Context, b *storage.Batch) error {
			_, err := transactions.Parties(ctx, b.DB(), of, ids)
			return err
		},
		"schedules": func(ctx context.Context, b *storage.Batch) error {
			f := ledger.ScheduleFilter{CreatorAccountID: &ledger.EntityIDFilter{Gt: &ids[0]}}
			_, err := transactions.Schedules(ctx, b.DB(), f, at, page)
			return err
		},
	}
}
