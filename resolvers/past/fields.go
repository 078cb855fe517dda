// Package past reads the state of the ledger at a past moment, what transactions changed, and statistics and balances
// of periods. The context of functions that read a moment has it; see [ledger.Moment].
package past

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/ledgerstate"
	"heliograph/storage/transactions"
)

// Fields implements the functions of [graph.Fields] for the state of the ledger at a past moment.
type Fields struct {
	DB *storage.DB
	// Now is the clock.
	Now func() time.Time
	// Fees and ExchangeRate read the gas prices and the exchange rate at a time.
	Fees         func(context.Context, graph.NetworkFeesArgs) (*ledger.NetworkFees, error)
	ExchangeRate func(context.Context, graph.NetworkExchangeRateArgs) (*ledger.ExchangeRateSet, error)
}

// Ledger resolves Query.ledger. It reads the state of the ledger at a moment, or nil if the block or transaction does
// not exist. The context of everything below has the moment; see [ledger.Moment]. A moment after the newest block, and
// not exactly one way to select it, are BAD_USER_INPUT.
func (f Fields) Ledger(ctx context.Context, args graph.QueryLedgerArgs) (*ledger.LedgerState, error) {
	way, value, err := f.wayTo(ctx, &args.At)
	if err != nil || way == "" {
		return nil, err
	}
	m, bounds, err := ledgerstate.Moment(ctx, f.DB, way, value)
	if err != nil || m == nil {
		return nil, err
	}
	if m.At > bounds.Newest {
		return nil, fault.Input("the moment %s is after the newest block, which ends at %s", m.At, bounds.Newest)
	}
	known := &ledger.BalancesKnown{From: bounds.FirstSnapshot, To: bounds.Newest}
	if m.Balances.Valid {
		known.Snapshot = ledger.Of(m.Balances.V.At)
	}
	return &ledger.LedgerState{At: m.At, Moment: m, BalancesKnown: known}, nil
}

// wayTo returns the way to find a moment in the database and the value to find it by. It reads the transaction if one
// is given; way is empty if that does not exist. For a hash, the value is a pattern, so that its beginning is enough.
// Not exactly one way, and a block without exactly one of number and hash, are BAD_USER_INPUT.
func (f Fields) wayTo(ctx context.Context, at *ledger.LedgerMoment) (way string, value any, err error) {
	err = fault.OneOf("block, time and transaction", at.Block != nil, at.Time != nil, at.Transaction != nil)
	if err != nil {
		return "", nil, err
	}
	switch {
	case at.Time != nil:
		return ledgerstate.ByTime, int64(*at.Time), nil
	case at.Transaction != nil:
		at, err := f.timeOf(ctx, at.Transaction)
		if err != nil || at == 0 {
			return "", nil, err
		}
		return ledgerstate.ByTransaction, int64(at), nil
	}
	if err := fault.OneOf("number and hash", at.Block.Number != nil, at.Block.Hash != nil); err != nil {
		return "", nil, err
	}
	if at.Block.Number != nil {
		return ledgerstate.ByNumber, *at.Block.Number, nil
	}
	return ledgerstate.ByHash, strings.TrimPrefix(strings.ToLower(*at.Block.Hash), "0x") + "%", nil
}

// timeOf returns the consensus time of a transaction. A given time is returned without a lookup. With an id, it reads
// the transactions that have it, and returns the time of the first successful one, else of the last one, or 0 if there
// is none. Both or neither are BAD_USER_INPUT.
func (f Fields) timeOf(ctx context.Context, t *ledger.LedgerTransaction) (ledger.Timestamp, error) {
	if err := fault.OneOf("timestamp and id", t.Timestamp != nil, t.ID != nil); err != nil {
		return 0, err
	}
	if t.Timestamp != nil {
		return *t.Timestamp, nil
	}
	filter := transactions.TransactionFilterOfID{Nonce: &t.Nonce, Scheduled: &t.Scheduled}
	found, err := transactions.ByID(ctx, f.DB, *t.ID, filter, false)
	if err != nil {
		return 0, fmt.Errorf("looking for a transaction: %w", err)
	}
	var at ledger.Timestamp
	for _, one := range found { // the inner transactions of a batch have other IDs
		if one.PayerAccountID != t.ID.Payer || one.ValidStartTimestamp != t.ID.ValidStart {
			continue
		}
		if at = one.ConsensusTimestamp; slices.Contains(ledger.SuccessCodes(), one.Result) {
			break
		}
	}
	return at, nil
}

// alone returns the result of a field of [ledger.LedgerState] or [ledger.LedgerNetwork], of which a level has one
// parent only. The result has been read already: v, and err as [rowplan.ParentErrors]. The function that it returns
// reads nothing.
//
//nolint:unparam // batch functions return the error as it is
func alone[R any](v R, err error) (rowplan.Results[R], error) {
	return func() ([]R, error) {
		if err != nil {
			return []R{v}, rowplan.ParentErrors{err}
		}
		return []R{v}, nil
	}, nil
}

// withKeys queues reading the objects with keys, for the only parent, the state, in the batch of q: one object for
// each key, nil for those that do not exist at the moment of the context with which the batch runs. More than
// [loading.MaxKeys] are BAD_USER_INPUT.
func withKeys[K, R any](
	q rowplan.Request, keys []K, queue storage.QueueKeys[K, R],
) (rowplan.Results[[]R], error) {
	if err := loading.CheckKeys(len(keys)); err != nil {
		return nil, err
	}
	return storage.Map(queue(loading.BatchOf(q), keys), func(got []R) [][]R { return [][]R{got} }), nil
}

// withKey queues reading the object with a key, for the only parent, in the batch of q. The result is nil if it does
// not exist at the moment of the context with which the batch runs.
//
//nolint:unparam // as alone
func withKey[K, R any](
	q rowplan.Request, key K, queue storage.QueueKeys[K, R],
) (rowplan.Results[R], error) {
	return queue(loading.BatchOf(q), []K{key}), nil
}

type states = []*ledger.LedgerState

// LedgerStateBlock resolves LedgerState.block. It reads the newest block at the moment of ctx at once; nil if there is
// none.
func (f Fields) LedgerStateBlock(
	ctx context.Context, _ rowplan.Request, _ states,
) (rowplan.Results[*ledger.Block], error) {
	return alone(transactions.NewestBlock(ctx, f.DB))
}

// BlockOf reads the number of the block that ends at a moment, which ctx must have, for a contract call there. asked
// is the block argument of the call, which must be the default. Another one, and a moment inside of a block, are
// BAD_USER_INPUT.
func (f Fields) BlockOf(ctx context.Context, m *ledger.Moment, asked string) (string, error) {
	if asked != "latest" {
		return "", fault.Input("block cannot be given here: the call runs at the moment of the ledger")
	}
	newest, err := transactions.NewestBlock(ctx, f.DB)
	if err != nil {
		return "", err
	}
	if newest == nil || newest.Timestamp.To.V != m.At {
		return "", fault.Input("a call needs the moment after a block: select the ledger at a block")
	}
	return strconv.FormatInt(newest.Number, 10), nil
}

// LedgerStateAccount resolves LedgerState.account. It reads an account at the moment of ctx, null if it did not exist;
// one with an id is queued in the batch of q, one with an alias or address is read at once.
func (f Fields) LedgerStateAccount(
	ctx context.Context, q rowplan.Request, _ states, args graph.LedgerStateAccountArgs,
) (rowplan.Results[*ledger.Account], error) {
	if args.ID.Alias != nil || args.ID.Address.Valid {
		return alone(entities.Account(ctx, f.DB, args.ID))
	}
	return withKey(q, args.ID.ID, entities.QueueAccounts)
}

// LedgerStateAccounts resolves LedgerState.accounts. It queues a read in the batch of q: accounts at the moment of
// that batch, null for those that did not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (Fields) LedgerStateAccounts(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateAccountsArgs,
) (rowplan.Results[[]*ledger.Account], error) {
	return withKeys(q, args.Ids, entities.QueueAccounts)
}

// LedgerStateToken resolves LedgerState.token. It queues a read in the batch of q: a token at the moment of ctx,
// null if it did not exist.
func (Fields) LedgerStateToken(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateTokenArgs,
) (rowplan.Results[*ledger.Token], error) {
	return withKey(q, args.ID, entities.QueueTokens)
}

// LedgerStateTokens resolves LedgerState.tokens. It queues a read in the batch of q: tokens at the moment of ctx, null
// for those that did not exist. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (Fields) LedgerStateTokens(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateTokensArgs,
) (rowplan.Results[[]*ledger.Token], error) {
	return withKeys(q, args.Ids, entities.QueueTokens)
}

// LedgerStateNft resolves LedgerState.nft. It queues a read in the batch of q: an NFT at the moment of ctx, null
// if it did not exist.
func (Fields) LedgerStateNft(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateNftArgs,
) (rowplan.Results[*ledger.NFT], error) {
	return withKey(q, ledger.NFTKey{TokenID: args.Token, SerialNumber: args.SerialNumber}, entities.QueueNFTsByKey)
}

// LedgerStateContract resolves LedgerState.contract. It reads a contract at the moment of ctx at once, null if it did
// not exist.
func (f Fields) LedgerStateContract(
	ctx context.Context, _ rowplan.Request, _ states, args graph.LedgerStateContractArgs,
) (rowplan.Results[*ledger.Contract], error) {
	return alone(entities.Contract(ctx, f.DB, args.ID, nil))
}

// LedgerStateTopic resolves LedgerState.topic. It queues a read in the batch of q: a topic at the moment of ctx,
// null if it did not exist.
func (Fields) LedgerStateTopic(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateTopicArgs,
) (rowplan.Results[*ledger.Topic], error) {
	return withKey(q, args.ID, entities.QueueTopics)
}

// LedgerStateSchedule resolves LedgerState.schedule. It queues a read in the batch of q: a schedule at the moment
// of ctx, null if it did not exist.
func (Fields) LedgerStateSchedule(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateScheduleArgs,
) (rowplan.Results[*ledger.Schedule], error) {
	return withKey(q, args.ID, transactions.QueueSchedules)
}

// LedgerStateFile resolves LedgerState.file. It queues a read in the batch of q: a file at the moment of ctx, null
// if it did not exist.
func (Fields) LedgerStateFile(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateFileArgs,
) (rowplan.Results[*ledger.File], error) {
	return withKey(q, args.ID, entities.QueueFiles)
}

// LedgerStateNetworkNode resolves LedgerState.networkNode. It queues a read in the batch of q: a node of the address
// book at the moment of ctx, null if it did not exist.
func (Fields) LedgerStateNetworkNode(
	_ context.Context, q rowplan.Request, _ states, args graph.LedgerStateNetworkNodeArgs,
) (rowplan.Results[*ledger.NetworkNode], error) {
	return withKey(q, args.NodeID, entities.QueueNetworkNodes)
}

// maxBook is the maximum number of nodes that are read from an address book.
const maxBook = 1000

// LedgerStateNetworkNodes resolves LedgerState.networkNodes. It reads the nodes of the address book at the moment of
// ctx at once, at most maxBook.
func (f Fields) LedgerStateNetworkNodes(
	ctx context.Context, _ rowplan.Request, _ states,
) (rowplan.Results[[]*ledger.NetworkNode], error) {
	return alone(entities.NetworkNodes(ctx, f.DB, 0, ledger.NetworkNodeFilter{}, storage.Page{Limit: maxBook}))
}

// LedgerStateNetwork resolves LedgerState.network. It returns the parent of the fields of the network at a moment
// and reads nothing.
func (Fields) LedgerStateNetwork(
	_ context.Context, _ rowplan.Request, of states,
) (rowplan.Results[*ledger.LedgerNetwork], error) {
	return alone(&ledger.LedgerNetwork{Moment: of[0].Moment}, nil)
}

// atMoment returns the filter of times up to the moment of the state, with which the fields of the network return the
// last version: that of the moment.
func atMoment(of *ledger.LedgerNetwork) *ledger.TimestampFilter {
	return &ledger.TimestampFilter{Lte: &of.Moment.At}
}

// LedgerNetworkSupply resolves LedgerNetwork.supply. It queues a read in the batch of q: the supply of hbar in
// tinybars at the moment of the state. If its balances are not known, the returned function fails.
func (f Fields) LedgerNetworkSupply(
	ctx context.Context, q rowplan.Request, of []*ledger.LedgerNetwork,
) (rowplan.Results[*ledger.NetworkSupply], error) {
	m := of[0].Moment
	accounts, released := ledgerstate.SupplyOf(f.DB)
	read := f.balancesAt(ctx, q, m, accounts)
	return func() ([]*ledger.NetworkSupply, error) {
		held, err := read()
		if err != nil {
			return make([]*ledger.NetworkSupply, 1), rowplan.ParentErrors{err}
		}
		return []*ledger.NetworkSupply{{ReleasedSupply: released(held), Timestamp: m.At}}, nil
	}, nil
}

// LedgerNetworkFees resolves LedgerNetwork.fees. It reads the gas prices in tinybars at the moment of the state at
// once, null if they are missing.
func (f Fields) LedgerNetworkFees(
	ctx context.Context, _ rowplan.Request, of []*ledger.LedgerNetwork,
) (rowplan.Results[*ledger.NetworkFees], error) {
	return alone(relay.WithoutNote(f.Fees(ctx, graph.NetworkFeesArgs{At: atMoment(of[0]), Order: relay.Asc})))
}

// LedgerNetworkExchangeRate resolves LedgerNetwork.exchangeRate. It reads the exchange rate at the moment of the state
// at once, null if it is missing.
func (f Fields) LedgerNetworkExchangeRate(
	ctx context.Context, _ rowplan.Request, of []*ledger.LedgerNetwork,
) (rowplan.Results[*ledger.ExchangeRateSet], error) {
	return alone(relay.WithoutNote(f.ExchangeRate(ctx, graph.NetworkExchangeRateArgs{At: atMoment(of[0])})))
}

// LedgerNetworkStake resolves LedgerNetwork.stake. It reads the stake of the network at the moment of ctx at once,
// null if there was none.
func (f Fields) LedgerNetworkStake(
	ctx context.Context, _ rowplan.Request, _ []*ledger.LedgerNetwork,
) (rowplan.Results[*ledger.NetworkStake], error) {
	return alone(entities.NetworkStake(ctx, f.DB))
}

// tooMany returns the BAD_USER_INPUT error of a balance at the moment m that needs more than most rows, which what
// names. For the message it reads the times of the balance snapshots before and after m. If that fails, it returns
// that error instead.
func (f Fields) tooMany(ctx context.Context, m *ledger.Moment, what string, most int) error {
	times, err := ledgerstate.NearestSnapshots(ctx, f.DB, m)
	if err != nil {
		return err
	}
	near := ""
	if len(times) > 0 {
		near = ": read fewer at a time, or choose a moment right after a balance snapshot, " +
			strings.Join(list.Map(times, ledger.Timestamp.String), " or ")
	}
	return fault.Input("more than %d %s would have to be read%s", most, what, near)
}

// unknownBalances returns the BAD_USER_INPUT error of balances at a moment before the first balance snapshot.
func unknownBalances(m *ledger.Moment) error {
	return fault.Input("balances at %s are not known: the database has no balance snapshot before; see balancesKnown",
		m.At)
}

// balancesAt queues reading the hbar balances of accounts at a moment in the batch of q. The result is an error if one
// of them cannot be read. Without a balance snapshot before the moment it queues nothing, and the result fails.
func (f Fields) balancesAt(
	ctx context.Context, q rowplan.Request, m *ledger.Moment, accounts []ledger.EntityID,
) storage.Result[[]*ledgerstate.Held] {
	if !m.Balances.Valid {
		return storage.Failed[[]*ledgerstate.Held](unknownBalances(m))
	}
	return f.bounded(ctx, m, "transfers since the balance snapshot", ledgerstate.MaxTransfers,
		ledgerstate.QueueBalances(loading.BatchOf(q), m, accounts))
}

// bounded returns a result with the balances of read, or an error if one of them needs too many rows. most is the
// maximum number of rows, which what names. For the message it can read the nearest snapshots.
func (f Fields) bounded(
	ctx context.Context, m *ledger.Moment, what string, most int, read storage.Result[[]*ledgerstate.Held],
) storage.Result[[]*ledgerstate.Held] {
	return func() ([]*ledgerstate.Held, error) {
		held, err := read()
		for _, h := range held {
			if h.TooMany {
				return nil, f.tooMany(ctx, m, what, most)
			}
		}
		return held, err
	}
}

// written returns the results of a field that only changes rows: it calls set for each row with its balance in the
// result of read, which has the order of rows. If the balances cannot be read, each row has the error, and none
// changes.
func written[T any](
	rows []T, read storage.Result[[]*ledgerstate.Held], set func(row T, balance int64),
) (rowplan.Results[struct{}], error) {
	return func() ([]struct{}, error) {
		out := make([]struct{}, len(rows))
		held, err := read()
		if err != nil {
			return out, rowplan.ParentErrors(list.Map(rows, func(T) error { return err }))
		}
		for i, row := range rows {
			set(row, held[i].Balance)
		}
		return out, nil
	}, nil
}

// FillAccounts queues reading the hbar balances of accounts at the moment of ctx, in tinybars, and writes them into
// the rows, for the fields balance, balanceValue and holdings of Account. If one balance is unknown or needs too many
// rows, all rows have the BAD_USER_INPUT error.
func (f Fields) FillAccounts(
	ctx context.Context, q rowplan.Request, of []*ledger.Account,
) (rowplan.Results[struct{}], error) {
	m := ledger.MomentOf(ctx)
	read := f.balancesAt(ctx, q, m, list.Map(of, func(a *ledger.Account) ledger.EntityID { return a.EntityID }))
	return written(of, read, func(a *ledger.Account, balance int64) {
		a.Balance.Balance, a.Balance.Timestamp = ledger.Of(balance), ledger.Of(m.At)
		a.Balance.Snapshot = ledger.Of(ledger.SnapshotWindow{At: m.At}) // for its value in US dollars
	})
}

// FillRelationships queues reading the balances of token relationships at the moment of ctx and writes them into the
// rows, for the fields balance and balanceValue of TokenRelationship. If one balance is unknown or needs too many
// rows, all rows have the BAD_USER_INPUT error.
func (f Fields) FillRelationships(
	ctx context.Context, q rowplan.Request, of []*ledger.TokenRelationship,
) (rowplan.Results[struct{}], error) {
	read := f.holdingsAt(ctx, q, list.Map(of, func(r *ledger.TokenRelationship) ledgerstate.Holding {
		return ledgerstate.Holding{Account: r.AccountID, Token: r.TokenID}
	}))
	return written(of, read, func(r *ledger.TokenRelationship, balance int64) { r.Balance = balance })
}

// FillTokenBalances queues reading the balances of tokens in accounts at the moment of ctx and writes them into the
// rows, for the fields balance and balanceValue of TokenBalance. If one balance is unknown or needs too many rows, all
// rows have the BAD_USER_INPUT error.
func (f Fields) FillTokenBalances(
	ctx context.Context, q rowplan.Request, of []*ledger.TokenBalance,
) (rowplan.Results[struct{}], error) {
	read := f.holdingsAt(ctx, q, list.Map(of, func(b *ledger.TokenBalance) ledgerstate.Holding {
		return ledgerstate.Holding{Account: b.AccountID, Token: b.TokenID}
	}))
	return written(of, read, func(b *ledger.TokenBalance, balance int64) { b.Balance = balance })
}

// holdingsAt queues reading the balances of tokens at the moment of ctx, one for each account and token of of. If the
// moment has no balance snapshot before it, or one balance needs too many rows, the result is an error.
func (f Fields) holdingsAt(
	ctx context.Context, q rowplan.Request, of []ledgerstate.Holding,
) storage.Result[[]*ledgerstate.Held] {
	m := ledger.MomentOf(ctx)
	if !m.Balances.Valid {
		return storage.Failed[[]*ledgerstate.Held](unknownBalances(m))
	}
	return f.bounded(ctx, m, "transfers since the balance snapshot, or NFTs", ledgerstate.MaxTransfers,
		ledgerstate.QueueTokenBalances(loading.BatchOf(q), m, of))
}

// FillSupplies queues reading the supplies of tokens at the moment of ctx, in the smallest unit, and writes them into
// the rows, for the fields totalSupply and totalSupplyValue of Token. If one supply is unknown or needs too many rows,
// all rows have the BAD_USER_INPUT error.
func (f Fields) FillSupplies(
	ctx context.Context, q rowplan.Request, of []*ledger.Token,
) (rowplan.Results[struct{}], error) {
	m := ledger.MomentOf(ctx)
	read := storage.Failed[[]*ledgerstate.Held](unknownBalances(m))
	if m.Balances.Valid {
		tokens := list.Map(of, func(t *ledger.Token) ledger.EntityID { return t.EntityID })
		read = f.bounded(ctx, m, "relationships or transfers of all tokens since the balance snapshot",
			ledgerstate.MaxHolders, ledgerstate.QueueSupplies(loading.BatchOf(q), m, tokens))
	}
	return written(of, read, func(t *ledger.Token, supply int64) { t.TotalSupply = supply })
}

// FillPendingRewards queues in the batch of q checking that the results of staking periods are known at the moment of
// the context with which the batch runs, for the fields pendingReward and pendingRewardValue of Account. It writes
// nothing: the rewards are in the rows. If the results are not known, the accounts that stake to a node and do not
// decline rewards get a BAD_USER_INPUT error.
func (f Fields) FillPendingRewards(
	_ context.Context, q rowplan.Request, of []*ledger.Account,
) (rowplan.Results[struct{}], error) {
	read := ledgerstate.QueueStakesKnown(loading.BatchOf(q))
	return func() ([]struct{}, error) {
		known, err := read()
		if err != nil {
			return nil, err
		}
		failed := make(rowplan.ParentErrors, len(of))
		for i, a := range of {
			if !known && a.StakedNodeID.Valid && !a.DeclineReward {
				failed[i] = fault.Input("the rewards of account %s are not known: the results of staking periods "+
					"begin later",
					a.EntityID)
			}
		}
		return make([]struct{}, len(of)), failed.OrNil()
	}, nil
}

// FillAirdrops queues checking that the airdrops of accounts at a moment can be read, for the fields
// outstandingAirdrops and pendingAirdrops of Account. It writes nothing: all accounts get a BAD_USER_INPUT error if
// there are too many rows.
func (Fields) FillAirdrops(
	_ context.Context, q rowplan.Request, of []*ledger.Account,
) (rowplan.Results[struct{}], error) {
	return fits(q, len(of), ledgerstate.AirdropHistory, "airdrops that were pending then and are not now")
}

// FillHooks queues checking that the hooks of accounts at a moment can be read, for the field hooks of Account. It
// writes nothing: all accounts get a BAD_USER_INPUT error if there are too many rows.
func (Fields) FillHooks(
	_ context.Context, q rowplan.Request, of []*ledger.Account,
) (rowplan.Results[struct{}], error) {
	return fits(q, len(of), ledgerstate.HookHistory, "former versions of hooks")
}

// fits queues in the batch of q checking that a history table without an index is short enough to be read for n
// parents: what matters of it at the moment of the context with which the batch runs. history is one of those of the
// package ledgerstate, such as [ledgerstate.HookHistory]. If it is too long, each parent has a BAD_USER_INPUT error,
// in which what names the rows.
func fits(q rowplan.Request, n int, history, what string) (rowplan.Results[struct{}], error) {
	read := ledgerstate.QueueFits(loading.BatchOf(q), history)
	return func() ([]struct{}, error) {
		out := make([]struct{}, n)
		if short, err := read(); short || err != nil {
			return out, err
		}
		err := fault.Input("the database has more than %d %s, and no index finds those of an account",
			storage.MaxUnindexed, what)
		return out, rowplan.ParentErrors(list.Map(out, func(struct{}) error { return err }))
	}, nil
}

// FillSchedules writes the moment of ctx, which it must have, into schedules at once, so that Schedule.state is that
// at the moment. It reads nothing and cannot fail.
func (Fields) FillSchedules(
	ctx context.Context, _ rowplan.Request, of []*ledger.Schedule,
) (rowplan.Results[struct{}], error) {
	for _, s := range of {
		s.At = ledger.MomentOf(ctx).At
	}
	return func() ([]struct{}, error) { return make([]struct{}, len(of)), nil }, nil
}

// TokenBalances queues in the batch of q reading the first tokens of balances at the moment of the context with which
// the batch runs, for Balance.tokens. The caller has checked their number. The rows have no amounts, which
// [Fields.FillTokenBalances] adds.
func TokenBalances(
	q rowplan.Request, of []*ledger.Balance, args graph.BalanceTokensArgs,
) (rowplan.Results[[]*ledger.TokenBalance], error) {
	related := list.Map(of, func(b *ledger.Balance) *ledger.Balance { return &ledger.Balance{AccountID: b.AccountID} })
	read := entities.QueueTokenBalances(loading.BatchOf(q), related, int(args.First), args.Order == relay.Desc)
	return storage.Map(read, func(got [][]*ledger.TokenBalance) [][]*ledger.TokenBalance {
		for i, tokens := range got {
			for _, t := range tokens {
				t.AccountID = of[i].AccountID
			}
		}
		return got
	}), nil
}

// Holders is a page of the holders of tokens.
type Holders struct {
	Page       storage.Page
	Filter     ledger.TokenHolderFilter
	ByBalance  bool // sorted by balance
	Zero       bool // include those with a balance of 0
	Countable  bool // there is no filter
	Connection func([]*ledger.TokenHolder) *relay.TokenHolderConnection
}

// Holders queues reading the page l of the holders of each token at the moment of ctx, for Token.balances and
// Token.holders. A token with too many rows has a BAD_USER_INPUT error, and each token if there is no balance snapshot
// before the moment.
func (f Fields) Holders(
	ctx context.Context, q rowplan.Request, of []*ledger.Token, l Holders,
) (rowplan.Results[*relay.TokenHolderConnection], error) {
	m := ledger.MomentOf(ctx)
	read := f.queueHolders(q, m, of, l)
	return func() ([]*relay.TokenHolderConnection, error) {
		found, err := read()
		if err != nil {
			return nil, err
		}
		out, failed := make([]*relay.TokenHolderConnection, len(of)), make(rowplan.ParentErrors, len(of))
		for i, h := range found {
			if failed[i] = f.checkHolders(ctx, m, of[i], h); failed[i] != nil {
				continue
			}
			out[i] = l.Connection(h.Page)
			out[i].Timestamp = ledger.Of(m.At)
			if l.Countable {
				out[i].WithCount(func(context.Context) (*relay.Count, error) {
					return &relay.Count{Value: h.Count, Exact: true}, nil
				})
			}
		}
		return out, failed.OrNil()
	}, nil
}

// queueHolders queues reading a page of the holders of each token in the batch of q. Without a balance snapshot before
// the moment it queues nothing, and the result has nil for each token.
func (f Fields) queueHolders(
	q rowplan.Request, m *ledger.Moment, of []*ledger.Token, l Holders,
) storage.Result[[]*ledgerstate.Holders] {
	if !m.Balances.Valid {
		return storage.Known(make([]*ledgerstate.Holders, len(of)))
	}
	return storage.All(list.Map(of, func(t *ledger.Token) storage.Result[*ledgerstate.Holders] {
		return ledgerstate.QueueHolders(
			loading.BatchOf(q), m, t.EntityID, l.Filter, l.ByBalance, l.Zero, l.Page)
	}))
}

// checkHolders returns the BAD_USER_INPUT error if h, what was read of the holders of a token, is not complete, or
// nil. A nil h stands for a moment before all balance snapshots. It can read the nearest snapshots for the message; if
// that fails, it returns that error.
func (f Fields) checkHolders(
	ctx context.Context, m *ledger.Moment, t *ledger.Token, h *ledgerstate.Holders,
) error {
	switch {
	case h == nil:
		return unknownBalances(m)
	case h.TooManyHolders:
		return fault.Input("token %s had more than %d relationships, so its holders are not read", t.EntityID,
			ledgerstate.MaxHolders)
	case h.TooManyRows:
		return f.tooMany(ctx, m, "transfers of all tokens since the balance snapshot, or NFTs of the token",
			ledgerstate.MaxTokenTransfers)
	default:
		return nil
	}
}

// HolderCounts queues counting the accounts that hold more than 0 of each token at the moment of ctx, for
// Token.holderCount. The counts are exact. A token with too many rows has a BAD_USER_INPUT error, and each token if
// there is no balance snapshot before the moment.
func (f Fields) HolderCounts(
	ctx context.Context, q rowplan.Request, of []*ledger.Token,
) (rowplan.Results[*relay.Count], error) {
	m := ledger.MomentOf(ctx)
	read := f.queueHolders(q, m, of, Holders{Page: storage.Page{Limit: 1}, ByBalance: true})
	return func() ([]*relay.Count, error) {
		found, err := read()
		if err != nil {
			return nil, err
		}
		out, failed := make([]*relay.Count, len(of)), make(rowplan.ParentErrors, len(of))
		for i, h := range found {
			if failed[i] = f.checkHolders(ctx, m, of[i], h); failed[i] == nil {
				out[i] = &relay.Count{Value: h.Count, Exact: true}
			}
		}
		return out, failed.OrNil()
	}, nil
}

// AccountBalanceHistory resolves Account.balanceHistory. It queues a read in the batch of q: the balances of accounts
// in tinybars at the ends of periods, null before the first balance snapshot. An account with too many transfers has a
// BAD_USER_INPUT error, as has the fee account, whose transfers have no index. An invalid range is BAD_USER_INPUT for
// all.
func (f Fields) AccountBalanceHistory(
	_ context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountBalanceHistoryArgs,
) (rowplan.Results[[]*ledger.AccountBalance], error) {
	bounds, err := args.Range.Periods(args.By, ledger.TimestampOf(f.Now()))
	if err != nil {
		return nil, fault.Of(fault.BadUserInput, err)
	}
	ends := bounds[1:]
	read := storage.All(list.Map(of, func(a *ledger.Account) storage.Result[[]*ledgerstate.EndBalance] {
		if a.EntityID == transactions.FeeAccount {
			return storage.Known[[]*ledgerstate.EndBalance](nil)
		}
		return ledgerstate.QueueBalanceHistory(loading.BatchOf(q), a.EntityID, ends)
	}))
	return func() ([][]*ledger.AccountBalance, error) {
		found, err := read()
		if err != nil {
			return nil, err
		}
		out, failed := make([][]*ledger.AccountBalance, len(of)), make(rowplan.ParentErrors, len(of))
		for i, balances := range found {
			if balances == nil {
				failed[i] = fault.Input("the transfers of account %s have no index", of[i].EntityID)
			}
			for n, end := range balances {
				if end.TooMany {
					failed[i] = fault.Input("more than %d transfers of account %s lie between %s and the balance "+
						"snapshot before",
						ledgerstate.MaxHistoryTransfers, of[i].EntityID, ends[n])
				}
				out[i] = append(out[i], &ledger.AccountBalance{To: ends[n], Balance: end.Balance})
			}
		}
		return out, failed.OrNil()
	}, nil
}
