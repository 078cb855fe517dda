// Package many implements the fields of the query type that read the objects with several keys: one object for each
// key, in the order of the keys, and nil for those that do not exist.
package many

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// Queries has the fields.
type Queries struct {
	DB *storage.DB
	// SyntheticOff hides the contract results that are derived from logs of token transfers outside the EVM.
	SyntheticOff bool
}

// AccountsByIds resolves Query.accountsByIds. It reads accounts and contracts in one statement, except those that the
// operation has read; null for those that do not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (q Queries) AccountsByIds(ctx context.Context, args graph.QueryAccountsByIdsArgs) ([]*ledger.Account, error) {
	return loading.LoadMany(ctx, q.DB, "Account", args.Ids, entities.QueueAccounts)
}

// TokensByIds resolves Query.tokensByIds. It reads tokens in one statement, except those that the operation has read;
// null for those that do not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (q Queries) TokensByIds(ctx context.Context, args graph.QueryTokensByIdsArgs) ([]*ledger.Token, error) {
	return loading.LoadMany(ctx, q.DB, "Token", args.Ids, entities.QueueTokens)
}

// ContractsByIds resolves Query.contractsByIds. It reads contracts in one statement, except those that the operation
// has read; null for those that do not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (q Queries) ContractsByIds(ctx context.Context, args graph.QueryContractsByIdsArgs) ([]*ledger.Contract, error) {
	return loading.LoadMany(ctx, q.DB, "Contract", args.Ids, entities.QueueContracts)
}

// TopicsByIds resolves Query.topicsByIds. It reads topics in one statement, except those that the operation has read;
// null for those that do not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (q Queries) TopicsByIds(ctx context.Context, args graph.QueryTopicsByIdsArgs) ([]*ledger.Topic, error) {
	return loading.LoadMany(ctx, q.DB, "Topic", args.Ids, entities.QueueTopics)
}

// BlocksByNumbers resolves Query.blocksByNumbers. It reads blocks in one statement, except those that the operation
// has read; null for those that do not exist. More than [loading.MaxKeys] numbers are BAD_USER_INPUT.
func (q Queries) BlocksByNumbers(ctx context.Context, args graph.QueryBlocksByNumbersArgs) ([]*ledger.Block, error) {
	return loading.LoadMany(ctx, q.DB, "Block", args.Numbers, transactions.QueueBlocks)
}

// NftsByKeys resolves Query.nftsByKeys. It reads NFTs in one statement, except those that the operation has read; null
// for those that do not exist. More than [loading.MaxKeys] keys are BAD_USER_INPUT.
func (q Queries) NftsByKeys(ctx context.Context, args graph.QueryNftsByKeysArgs) ([]*ledger.NFT, error) {
	return loading.LoadMany(ctx, q.DB, "NFT", plain(args.Keys), entities.QueueNFTsByKey)
}

// TransactionsByIds resolves Query.transactionsByIds. It reads the transactions of users with ids, neither children
// nor executions by a schedule, in one statement, except those that the operation has read by these ids; null for
// those that do not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (q Queries) TransactionsByIds(
	ctx context.Context, args graph.QueryTransactionsByIdsArgs,
) ([]*ledger.Transaction, error) {
	return loading.LoadMany(ctx, q.DB, "Transaction", plain(args.Ids), transactions.QueueUserTransactions)
}

// TransactionsByTimestamps resolves Query.transactionsByTimestamps. It reads transactions by consensus time in one
// statement, except those that the operation has read; null for those that do not exist. More than [loading.MaxKeys]
// times are BAD_USER_INPUT.
func (q Queries) TransactionsByTimestamps(
	ctx context.Context, args graph.QueryTransactionsByTimestampsArgs,
) ([]*ledger.Transaction, error) {
	return loading.LoadMany(ctx, q.DB, "Transaction", args.Timestamps, transactions.QueueTransactionsAt)
}

// TransactionsByHashes resolves Query.transactionsByHashes. It reads transactions by hash in one statement, null for
// those that do not exist. An invalid hash, or more than [loading.MaxKeys] hashes, are BAD_USER_INPUT.
func (q Queries) TransactionsByHashes(
	ctx context.Context, args graph.QueryTransactionsByHashesArgs,
) ([]*ledger.Transaction, error) {
	_, found, err := byHashes(ctx, q.DB, args.Hashes, transactions.QueueByHashes)
	return found, err
}

// ContractResultsByHashes resolves Query.contractResultsByHashes. It reads contract results by hash, null for those
// that do not exist. If some are missing, their transactions may have synthetic logs: looking for these takes one or
// two more round trips, unless SyntheticOff is set. An invalid hash, or more than [loading.MaxKeys] hashes, are
// BAD_USER_INPUT.
func (q Queries) ContractResultsByHashes(
	ctx context.Context, args graph.QueryContractResultsByHashesArgs,
) ([]*ledger.ContractResult, error) {
	hashes, found, err := byHashes(ctx, q.DB, args.Hashes, transactions.QueueResultsByHashes)
	if err == nil && !q.SyntheticOff {
		err = transactions.AddSyntheticResults(ctx, q.DB, hashes, found)
	}
	return found, err
}

// plain returns the values that keys point to, in their order, for arguments that are lists. No key may be nil.
func plain[K any](keys []*K) []K { return list.Map(keys, func(key *K) K { return *key }) }

// byHashes parses hashes and reads the objects that have them with one statement. Both results have the order of
// texts; missing objects are nil. Without texts, both are nil. An invalid hash, or too many, are BAD_USER_INPUT.
func byHashes[V any](
	ctx context.Context, db *storage.DB, texts []string, queue storage.QueueKeys[ledger.Hash, V],
) (hashes []ledger.Hash, found []V, err error) {
	for _, text := range texts {
		hash, err := ledger.ParseHash(text)
		if err != nil {
			return nil, nil, fault.Input("%v", err)
		}
		hashes = append(hashes, hash)
	}
	if err := loading.CheckKeys(len(hashes)); err != nil || len(hashes) == 0 {
		return nil, nil, err
	}
	b := db.NewBatch()
	found, err = storage.Run(ctx, b, queue(b, hashes))
	return hashes, found, wrap.Error(err, "reading objects by hash")
}
