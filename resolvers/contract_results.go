package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// resultRelations are the arrows from and to contract results.
type resultRelations struct {
	actions        *rowplan.Relation[*ledger.ContractResult, *relay.ContractActionConnection]
	block          *rowplan.Relation[*ledger.ContractResult, *ledger.Block]
	callData       *rowplan.Relation[*ledger.ContractResult, []byte]
	failedCallData *rowplan.Relation[*ledger.ContractResult, []byte]
	fromAccount    *rowplan.Relation[*ledger.ContractResult, *ledger.Account]
	gasPrice       *rowplan.Relation[*ledger.ContractResult, *ledger.Quantity]
	gasPriceWeibar *rowplan.Relation[*ledger.ContractResult, *ledger.Quantity]
	payer          *rowplan.Relation[*ledger.ContractResult, *ledger.Account]
	stateChanges   *rowplan.Relation[*ledger.ContractResult, []*ledger.ContractStateChange]
	toAccount      *rowplan.Relation[*ledger.ContractResult, *ledger.Account]
	transaction    *rowplan.Relation[*ledger.ContractResult, *ledger.Transaction]

	ofAccount     *rowplan.Relation[*ledger.Account, *relay.ContractResultConnection]
	ofBlock       *rowplan.Relation[*ledger.Block, *relay.ContractResultConnection]
	ofTransaction *rowplan.Relation[*ledger.Transaction, *ledger.ContractResult]
}

func newResultRelations(db *storage.DB) resultRelations {
	cached := entities.NewGasPrices(db)
	at := func(r *ledger.ContractResult) ledger.Timestamp { return r.ConsensusTimestamp }
	return resultRelations{
		actions: queued(queueActions),
		block: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractResult, _ rowplan.Args, done func([]*ledger.Block)) error {
			transactions.QueueBlocksAt(b, keys(parents, at), done)
			return nil
		}),
		callData:       queued(queueCallData),
		failedCallData: queued(queueFailedCallData),
		fromAccount:    accountOf(func(r *ledger.ContractResult) ledger.EntityID { return r.SenderID }),
		gasPrice:       gasPriceOf(db, cached, (*ledger.EthereumTransaction).GasPriceTinybar),
		gasPriceWeibar: gasPriceOf(db, cached, (*ledger.EthereumTransaction).GasPriceWeibar),
		payer:          accountOf(func(r *ledger.ContractResult) ledger.EntityID { return r.PayerAccountID }),
		stateChanges: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractResult, _ rowplan.Args, done func([][]*ledger.ContractStateChange)) error {
			transactions.QueueStateChanges(b, parents, done)
			return nil
		}),
		toAccount: accountOf(func(r *ledger.ContractResult) ledger.EntityID { return r.ContractID }),
		transaction: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractResult, _ rowplan.Args, done func([]*ledger.Transaction)) error {
			transactions.QueueTransactionsAt(b, keys(parents, at), done)
			return nil
		}),
		ofAccount: queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Account, args rowplan.Args, done func([]*relay.ContractResultConnection)) error {
			return queueResults(ctx, args, done, func(f *ledger.ContractResultFilter, p storage.Page, got func([][]*ledger.ContractResult)) {
				transactions.QueueResultsOfSenders(b, keys(parents, func(a *ledger.Account) ledger.EntityID { return a.EntityID }), f, p, got)
			})
		}),
		ofBlock: queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Block, args rowplan.Args, done func([]*relay.ContractResultConnection)) error {
			return queueResults(ctx, args, done, func(f *ledger.ContractResultFilter, p storage.Page, got func([][]*ledger.ContractResult)) {
				transactions.QueueResultsBetween(b, keys(parents, func(b *ledger.Block) ledger.TimestampRange { return b.Timestamp }), f, p, got)
			})
		}),
		ofTransaction: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Transaction, _ rowplan.Args, done func([]*ledger.ContractResult)) error {
			transactions.QueueContractResultsAt(b, keys(parents, func(t *ledger.Transaction) ledger.Timestamp { return t.ConsensusTimestamp }), done)
			return nil
		}),
	}
}

func (r *resultRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	page := func() *rowplan.Object[*relay.ContractResultConnection] { return t.ContractResultConnection }
	quantity := func(dst []byte, v *ledger.Quantity, style scalar.Style) []byte {
		return scalar.AppendPointer(dst, v, style, scalar.AppendQuantity)
	}
	t.ContractResult.Add("actions", rowplan.RelatedOne(r.actions, func() *rowplan.Object[*relay.ContractActionConnection] { return t.ContractActionConnection }))
	t.ContractResult.Add("block", rowplan.RelatedOne(r.block, func() *rowplan.Object[*ledger.Block] { return t.Block }))
	t.ContractResult.Add("callData", rowplan.RelatedScalar(r.callData, scalar.AppendHex))
	t.ContractResult.Add("failedCallData", rowplan.RelatedScalar(r.failedCallData, scalar.AppendHex))
	t.ContractResult.Add("fromAccount", rowplan.RelatedOne(r.fromAccount, account))
	t.ContractResult.Add("gasPrice", rowplan.RelatedScalar(r.gasPrice, quantity))
	t.ContractResult.Add("gasPriceWeibar", rowplan.RelatedScalar(r.gasPriceWeibar, quantity))
	t.ContractResult.Add("payer", rowplan.RelatedOne(r.payer, account))
	t.ContractResult.Add("stateChanges", rowplan.RelatedMany(r.stateChanges, func() *rowplan.Object[*ledger.ContractStateChange] { return t.ContractStateChange }))
	t.ContractResult.Add("toAccount", rowplan.RelatedOne(r.toAccount, account))
	t.ContractResult.Add("transaction", rowplan.RelatedOne(r.transaction, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))
	t.Account.Add("contractResults", rowplan.RelatedOne(r.ofAccount, page))
	t.Block.Add("contractResults", rowplan.RelatedOne(r.ofBlock, page))
	t.Transaction.Add("contractResult", rowplan.RelatedOne(r.ofTransaction, func() *rowplan.Object[*ledger.ContractResult] { return t.ContractResult }))
}

// queueActions queues the actions of results.
func queueActions(ctx context.Context, b *storage.Batch, parents []*ledger.ContractResult, args rowplan.Args, done func([]*relay.ContractActionConnection)) error {
	p, err := pageArgs(ctx, args, actionKind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.ContractActionFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	of := keys(parents, func(r *ledger.ContractResult) transactions.Located {
		return transactions.Located{At: r.ConsensusTimestamp, Payer: r.PayerAccountID}
	})
	transactions.QueueContractActions(b, of, f, storagePage(p), func(rows [][]*ledger.ContractAction) {
		done(connections(actionKind, p, rows, actionKey))
	})
	return nil
}

// queueCallData queues what was sent to contracts.
func queueCallData(_ context.Context, b *storage.Batch, parents []*ledger.ContractResult, _ rowplan.Args, done func([][]byte)) error {
	transactions.QueueCallData(b, parents, func(got [][]byte) {
		for i, r := range parents {
			if len(got[i]) == 0 {
				got[i] = r.FunctionParameters
			}
		}
		done(got)
	})
	return nil
}

// queueFailedCallData queues the init code that failed, or what was sent in its place. Only failed results have to be looked at.
func queueFailedCallData(_ context.Context, b *storage.Batch, parents []*ledger.ContractResult, _ rowplan.Args, done func([][]byte)) error {
	out := make([][]byte, len(parents))
	var failed []*ledger.ContractResult
	var places []int
	for i, r := range parents {
		out[i] = r.FailedInitcode
		if r.FailedInitcode == nil && !r.Succeeded() {
			failed, places = append(failed, r), append(places, i)
		}
	}
	transactions.QueueTransactionCallData(b, failed, func(got [][]byte) {
		for i, data := range got {
			if len(data) > 0 {
				out[places[i]] = data
			}
		}
		done(out)
	})
	return nil
}

// gasPriceOf is the relation to the price of gas: as an Ethereum transaction offers, else what the network charged.
func gasPriceOf(db *storage.DB, cached *entities.GasPrices, offered func(*ledger.EthereumTransaction) ledger.Quantity) *rowplan.Relation[*ledger.ContractResult, *ledger.Quantity] {
	return &rowplan.Relation[*ledger.ContractResult, *ledger.Quantity]{
		Load: func(ctx context.Context, _ rowplan.Batch, parents []*ledger.ContractResult, _ rowplan.Args) (func() ([]*ledger.Quantity, error), error) {
			return func() ([]*ledger.Quantity, error) { return gasPrices(ctx, db, cached, parents, offered) }, nil
		},
	}
}

func gasPrices(ctx context.Context, db *storage.DB, cached *entities.GasPrices, results []*ledger.ContractResult, offered func(*ledger.EthereumTransaction) ledger.Quantity) ([]*ledger.Quantity, error) {
	out := make([]*ledger.Quantity, len(results))
	var times []ledger.Timestamp
	var places []int
	for i, r := range results {
		if r.Ethereum != nil {
			q := offered(r.Ethereum)
			out[i] = &q
			continue
		}
		times, places = append(times, r.ConsensusTimestamp), append(places, i)
	}
	prices, err := cached.Read(ctx, db, times)
	if err != nil {
		return nil, err
	}
	for i, p := range prices {
		if p.Valid {
			q := ledger.QuantityOfInt(p.V)
			out[places[i]] = &q
		}
	}
	return out, nil
}

// queueResults queues a page of results for each of some parents.
func queueResults(ctx context.Context, args rowplan.Args, done func([]*relay.ContractResultConnection), queue func(*ledger.ContractResultFilter, storage.Page, func([][]*ledger.ContractResult))) error {
	p, err := pageArgs(ctx, args, resultKind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.ContractResultFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	if f != nil && (f.Contract != nil || f.BlockHash != nil || f.BlockNumber != nil) {
		return fault.Input("below other things contract results cannot be chosen by contract, blockHash and blockNumber; use contractId and timestamp")
	}
	queue(f, storagePage(p), func(rows [][]*ledger.ContractResult) { done(connections(resultKind, p, rows, resultKey)) })
	return nil
}

func resultKey(r *ledger.ContractResult) relay.Key { return relay.Key{int64(r.ConsensusTimestamp)} }

func actionKey(a *ledger.ContractAction) relay.Key { return relay.Key{int64(a.Index)} }

// contractResults reads a page of contract results.
func (r *Resolver) contractResults(ctx context.Context, f *ledger.ContractResultFilter, p relay.Page, sp storage.Page) (*relay.ContractResultConnection, error) {
	f, none, err := r.withContractAndBlock(ctx, f)
	if err != nil {
		return nil, err
	}
	var rows []*ledger.ContractResult
	if !none {
		if rows, err = transactions.ContractResults(ctx, r.db, f, resultParts(ctx), sp); err != nil {
			return nil, err
		}
	}
	return relay.NewConnection(resultKind, p, rows, resultKey), nil
}

// withContractAndBlock turns the conditions on a contract's name and on a block into those on ids and times; none tells that nothing can match.
func (r *Resolver) withContractAndBlock(ctx context.Context, f *ledger.ContractResultFilter) (changed *ledger.ContractResultFilter, none bool, err error) {
	if f == nil {
		return nil, false, nil
	}
	copied := *f
	if f.Contract != nil {
		ids := ledger.EntityIDFilter{}
		if f.ContractID != nil {
			ids = *f.ContractID
		}
		ids.In = append([]ledger.EntityID{}, ids.In...)
		id, err := r.callee(ctx, *f.Contract)
		if err != nil {
			return nil, false, err
		}
		if id.Valid {
			ids.In = append(ids.In, id.V)
		}
		copied.ContractID = &ids
	}
	if f.BlockHash == nil && f.BlockNumber == nil {
		return &copied, false, nil
	}
	if f.BlockHash != nil && f.BlockNumber != nil {
		return nil, false, fault.Input("give either blockHash or blockNumber, not both")
	}
	span, err := r.blockSpan(ctx, f)
	if err != nil || !span.Valid {
		return nil, true, err
	}
	at := ledger.TimestampFilter{}
	if f.Timestamp != nil {
		at = *f.Timestamp
	}
	from, to := span.V.From.V, span.V.To.V
	if at.Gte == nil || *at.Gte < from {
		at.Gte = &from
	}
	if at.Lte == nil || *at.Lte > to {
		at.Lte = &to
	}
	copied.Timestamp = &at
	return &copied, false, nil
}

// blockSpan is the time of the block that a filter names, unknown when there is none.
func (r *Resolver) blockSpan(ctx context.Context, f *ledger.ContractResultFilter) (ledger.Null[ledger.TimestampRange], error) {
	var b *ledger.Block
	var err error
	if f.BlockHash != nil {
		b, err = transactions.BlockByHash(ctx, r.db, *f.BlockHash)
	} else {
		b, err = transactions.BlockByNumber(ctx, r.db, *f.BlockNumber)
	}
	if err != nil || b == nil {
		return ledger.Null[ledger.TimestampRange]{}, err
	}
	return ledger.Of(b.Timestamp), nil
}

// callee is the id of what can be called by an id or an EVM address; unknown when nothing live has the address.
func (r *Resolver) callee(ctx context.Context, ref ledger.AccountRef) (ledger.Null[ledger.EntityID], error) {
	if ref.Alias != nil {
		return ledger.Null[ledger.EntityID]{}, fault.Input("a contract is named by its id or its EVM address, not by an alias")
	}
	return entities.ResolveCallee(ctx, r.db, ref)
}

// resultParts tells what of contract results the field's selection needs.
func resultParts(ctx context.Context) transactions.ResultParts {
	if rowplan.InParts(ctx) || needsDetails(graphql.GetFieldContext(ctx).Field.Selections) {
		return transactions.ResultDetails
	}
	return transactions.ResultRecord
}

func needsDetails(set ast.SelectionSet) bool {
	for f := range selected(set) {
		if f.ObjectDefinition != nil && f.ObjectDefinition.Name == resultType && !isRecorded(f.Name) || needsDetails(f.SelectionSet) {
			return true
		}
	}
	return false
}

// isRecorded tells whether a field of a contract result is known without its block and its Ethereum transaction.
func isRecorded(field string) bool {
	switch field {
	case "__typename", "id", "address", "amount", "bloom", "callResult", "consensusTimestamp", "contractId", "contractLongZero", "createdContractIds",
		"errorMessage", "failedInitcode", "from", "functionParameters", "gasConsumed", "gasLimit", "gasUsed", "hash", "partial", "payerAccountId", "result",
		"senderId", "status", "synthetic", "transactionIndex", "transactionNonce":
		return true
	default:
		return false
	}
}

// contractResult reads one contract result.
func (r *Resolver) contractResult(ctx context.Context, hash *string, id *ledger.TransactionID, nonce int32, at *ledger.Timestamp, contract *ledger.AccountRef) (*ledger.ContractResult, error) {
	if err := oneOf("hash, transactionId and at", hash != nil, id != nil, at != nil); err != nil {
		return nil, err
	}
	if contract != nil && at == nil {
		return nil, fault.Input("contract goes with at")
	}
	ref, err := resultRef(hash, id, nonce)
	if err != nil {
		return nil, err
	}
	if at != nil {
		ref.At = *at
	}
	if contract != nil {
		callee, err := r.callee(ctx, *contract)
		if err != nil || !callee.Valid {
			return nil, err
		}
		ref.Contract, ref.Named = callee.V, true
	}
	found, err := transactions.ContractResult(ctx, r.db, ref)
	if found != nil {
		relay.OutcomeOf(ctx).Partial = found.Partial
	}
	return found, err
}

// resultRef names a transaction.
func resultRef(hash *string, id *ledger.TransactionID, nonce int32) (transactions.ResultRef, error) {
	ref := transactions.ResultRef{TransactionID: id, Nonce: nonce}
	if hash == nil {
		return ref, nil
	}
	h, err := ledger.ParseHash(*hash)
	if err != nil {
		return ref, fault.Input("%v", err)
	}
	ref.Hash = h
	return ref, nil
}

// contractActions reads a page of what ran in a transaction, nil when there is no such transaction.
func (r *Resolver) contractActions(ctx context.Context, hash *string, id *ledger.TransactionID, nonce int32, f *ledger.ContractActionFilter, p relay.Page, sp storage.Page) (*relay.ContractActionConnection, error) {
	if err := oneOf("hash and transactionId", hash != nil, id != nil); err != nil {
		return nil, err
	}
	ref, err := resultRef(hash, id, nonce)
	if err != nil {
		return nil, err
	}
	found, err := transactions.LocateTransaction(ctx, r.db, ref)
	if err != nil || !found.Valid {
		return nil, err
	}
	rows, err := transactions.ContractActions(ctx, r.db, found.V, f, sp)
	if err != nil {
		return nil, err
	}
	return relay.NewConnection(actionKind, p, rows, actionKey), nil
}

// resultAt reads what a global id names: the result of a call, or what is made of synthetic logs.
func (r *Resolver) resultAt(ctx context.Context, at ledger.Timestamp) (*ledger.ContractResult, error) {
	var found *ledger.ContractResult
	b := r.db.NewBatch()
	transactions.QueueContractResultsAt(b, []ledger.Timestamp{at}, func(got []*ledger.ContractResult) { found = got[0] })
	if err := b.Run(ctx); err != nil || found != nil {
		return found, err
	}
	rows, err := transactions.ContractResults(ctx, r.db, &ledger.ContractResultFilter{Timestamp: &ledger.TimestampFilter{Eq: &at}}, transactions.ResultDetails, storage.Page{Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}
