package resolvers

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// listOf describes a kind of list.
type listOf[C any] struct {
	kind    string // in cursors
	columns int    // number of columns of a position
	key     func(*C) relay.Key
}

// ofNumber returns a list of a kind whose positions are one number, which number returns for a row. The kind is part
// of the cursors.
func ofNumber[C any](kind string, number func(*C) int64) listOf[C] {
	return listOf[C]{kind, 1, func(c *C) relay.Key { return relay.Key{number(c)} }}
}

// queueRows queues reading one page of rows for each parent.
type queueRows[C any] func(b *storage.Batch, p storage.Page) (storage.Result[[][]*C], error)

// queueList is a function of storage that queues reading one page of the rows that match a filter for each of some
// parents.
type queueList[K, F, C any] func(b *storage.Batch, parents []K, f F, p storage.Page) storage.Result[[][]*C]

// rowsOf returns the reader of the rows of some parents that match f. The reader never fails before its batch has run.
func rowsOf[K, F, C any](parents []K, f F, queue queueList[K, F, C]) queueRows[C] {
	return func(b *storage.Batch, p storage.Page) (storage.Result[[][]*C], error) {
		return queue(b, parents, f, p), nil
	}
}

// page converts the arguments of the root list that ctx resolves: to a page of cursors and to a page of storage. The
// page of storage has one row more only if the selection has pageInfo. Its errors are BAD_USER_INPUT.
func (l listOf[C]) page(ctx context.Context, order relay.Order, args relay.Args) (relay.Page, storage.Page, error) {
	return l.pageOf(ctx, order, args, rowplan.SelectionOf(ctx).Has("pageInfo"))
}

// pageOf converts the arguments of a list: to a page of cursors and to a page of storage. more requests one row more
// than the page has, which shows whether the list continues. At a past moment the kind contains the moment, so that
// the cursors of other moments are refused. Its errors are BAD_USER_INPUT: a cursor of another list, or first or last
// out of bounds.
func (l listOf[C]) pageOf(
	ctx context.Context, order relay.Order, args relay.Args, more bool,
) (relay.Page, storage.Page, error) {
	kind := l.kind
	if m := ledger.MomentOf(ctx); m != nil { // the cursors of a past moment belong to it
		kind += " at " + m.At.String()
	}
	p, err := args.Page(kind, l.columns, order == relay.Desc, relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, storage.Page{}, fault.Input("%v", err)
	}
	sp := storage.NewPage(p.Range())
	if !more {
		sp.Limit = p.Limit
	}
	return p, sp, nil
}

// connection returns the connection of a page. rows are in the order in which they were read, and can have one row
// more than the page, which is dropped and shows that more follow in that direction. Those of a backward page are
// reversed in place.
func (l listOf[C]) connection(p relay.Page, rows []*C) *relay.Connection[C] {
	return relay.NewConnection(l.kind, p, rows, l.key)
}

// below queues reading a page of the list for each parent, with queue, in the batch of q, and returns one connection
// for each parent. countable reports whether totalCount counts the list, when it is selected: with most filters this
// could read many more rows than a page. queue is called again with a batch of its own to count. Errors of the
// arguments are BAD_USER_INPUT, those of queue are returned as they are.
func (l listOf[C]) below(
	ctx context.Context, q rowplan.Request, order relay.Order, args relay.Args, countable bool, queue queueRows[C],
) (
	rowplan.Results[*relay.Connection[C]], error,
) {
	p, sp, err := l.pageOf(ctx, order, args, true) // true: sp has one row more than p
	if err != nil {
		return nil, err
	}
	b := loading.BatchOf(q)
	read, err := queue(b, sp)
	if err != nil {
		return nil, err
	}
	return storage.Map(read, func(pages [][]*C) []*relay.Connection[C] {
		out := list.Map(pages, func(rows []*C) *relay.Connection[C] { return l.connection(p, rows) })
		if countable {
			withCounts(b.DB(), out, queue)
		}
		return out
	}), nil
}

// withCounts sets the count functions of lists, one for each parent for which queue reads. If an operation selects
// totalCount, the first of them counts for all parents in one statement of db, at most [storage.MaxCount] rows each.
// All lists have its result, also if it fails.
func withCounts[C any](db *storage.DB, lists []*relay.Connection[C], queue queueRows[C]) {
	relay.SetCounts(lists, func(ctx context.Context) ([]int64, error) {
		b := db.NewBatch()
		counts, err := b.Count(len(lists), func(p storage.Page) error {
			_, err := queue(b, p)
			return err
		})
		if err != nil {
			return nil, err
		}
		return storage.Run(ctx, b, counts)
	}, storage.MaxCount)
}

// below queues in the batch of q reading a page of the rows that match the filter of args, for each parent; see
// [listOf.below]. Only unfiltered lists are countable. Invalid page arguments are BAD_USER_INPUT.
func below[K, F, C any](
	ctx context.Context, q rowplan.Request, l listOf[C], args graph.ListArgs[F], parents []K, queue queueList[K, F, C],
) (
	rowplan.Results[*relay.Connection[C]], error,
) {
	return l.below(ctx, q, args.Order, args.Args, unfiltered(args.Filter), rowsOf(parents, args.Filter, queue))
}

// root reads a page of a list of the query type: it converts the arguments, calls read once with the page, and returns
// its rows as a connection. Errors of the arguments are BAD_USER_INPUT, those of read are returned as they are.
func (l listOf[C]) root(
	ctx context.Context, order relay.Order, args relay.Args, read func(storage.Page) ([]*C, error),
) (*relay.Connection[C], error) {
	p, sp, err := l.page(ctx, order, args)
	if err != nil {
		return nil, err
	}
	rows, err := read(sp)
	if err != nil {
		return nil, err
	}
	return l.connection(p, rows), nil
}

// rootList reads a page of a list of the query type with a batch of its own, and returns it as a connection. queue
// reads for one parent. It is called again with another batch if totalCount is selected. countable is that of
// [listOf.below]. Invalid page arguments are BAD_USER_INPUT.
func rootList[C any](
	ctx context.Context, r *Resolver, l listOf[C], order relay.Order, args relay.Args, countable bool,
	queue queueRows[C],
) (*relay.Connection[C], error) {
	c, err := l.root(ctx, order, args, func(p storage.Page) ([]*C, error) {
		b := r.db.NewBatch()
		read, err := queue(b, p)
		if err != nil {
			return nil, err
		}
		rows, err := storage.Run(ctx, b, read)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", l.kind, err)
		}
		return rows[0], nil
	})
	if err == nil && countable {
		withCounts(r.db, []*relay.Connection[C]{c}, queue)
	}
	return c, err
}

// listOfAccount reads a page of the list of an account, with a batch of its own, for fields of the query type. It
// looks up the account first if it is given by alias or address. If the account does not exist, the list is empty, and
// the error beside it is a [relay.Note] that says so. For an account that is given by id, mustExist checks that in the
// same round trip; otherwise such a list is only empty.
func listOfAccount[F, C any](
	ctx context.Context, r *Resolver, l listOf[C], account ledger.AccountRef, mustExist bool, order relay.Order,
	args relay.Args,
	f F, queue queueList[ledger.EntityID, F, C],
) (*relay.Connection[C], error) {
	id, err := entities.ResolveAccount(ctx, r.db, account)
	if err != nil {
		return nil, err
	}
	exists := storage.Known(id.Valid)
	named := account.Alias != nil || account.Address.Valid
	c, err := rootList(ctx, r, l, order, args, unfiltered(f),
		func(b *storage.Batch, p storage.Page) (storage.Result[[][]*C], error) {
			if !id.Valid {
				return storage.Known(make([][]*C, 1)), nil
			}
			if mustExist && !named {
				exists = entities.QueueEntityExists(b, id.V)
			}
			return queue(b, []ledger.EntityID{id.V}, f, p), nil
		})
	if err != nil {
		return nil, err
	}
	found, err := exists()
	if err == nil && !found {
		return c, relay.Lacking(relay.Missing{Kind: relay.MissingAccount})
	}
	return c, err
}

// directedLists are the lists of what accounts gave (false), and of what they received (true).
type directedLists[C any] map[bool]listOf[C]

// queueDirected is a [queueList] for what accounts gave or received.
type queueDirected[F, C any] func(
	b *storage.Batch, accounts []ledger.EntityID, received bool, f F, p storage.Page,
) storage.Result[[][]*C]

// directed returns queue for one direction: what accounts received, or what they gave if received is false.
func directed[F, C any](received bool, queue queueDirected[F, C]) queueList[ledger.EntityID, F, C] {
	return func(b *storage.Batch, accounts []ledger.EntityID, f F, p storage.Page) storage.Result[[][]*C] {
		return queue(b, accounts, received, f, p)
	}
}

// ofEither reads a page of the list of the one account that is given: what the giver gave, or what the receiver
// received. It returns nil if an alias or address belongs to no account. Both or neither, in which names lists the
// arguments, and invalid page arguments are BAD_USER_INPUT.
func ofEither[F, C any](
	ctx context.Context, r *Resolver, names string, giver, receiver *ledger.AccountRef, lists directedLists[C],
	order relay.Order, args relay.Args,
	f F, queue queueDirected[F, C],
) (*relay.Connection[C], error) {
	if err := fault.OneOf(names, giver != nil, receiver != nil); err != nil {
		return nil, err
	}
	given, received := giver, giver == nil
	if received {
		given = receiver
	}
	id, err := entities.ResolveAccount(ctx, r.db, *given)
	if err != nil || !id.Valid {
		return nil, err
	}
	return rootList(ctx, r, lists[received], order, args, unfiltered(f),
		rowsOf([]ledger.EntityID{id.V}, f, directed(received, queue)))
}

// MaxAlternatives is the maximum number of alternatives of a filter.
const MaxAlternatives = 10

// checkAlternatives fails with BAD_USER_INPUT if n, the number of alternatives of a filter, is above
// [MaxAlternatives].
func checkAlternatives(n int) error {
	if n > MaxAlternatives {
		return fault.Input("anyOf takes at most %d alternatives", MaxAlternatives)
	}
	return nil
}

// selects reports whether a filter selects single ids: with eq or in.
func selects(f *ledger.EntityIDFilter) bool { return f != nil && (f.Eq != nil || f.In != nil) }

// estimated sets an estimated totalCount in a list if whole, which means that it has no filter, and returns the list,
// which may be nil. The estimate is the planner's, read with EXPLAIN when totalCount is selected. Filtered lists have
// none, because they can only be counted by reading them.
func estimated[T any](r *Resolver, c *relay.Connection[T], whole bool, what storage.Countable) *relay.Connection[T] {
	return withCount(c, whole, false, func(ctx context.Context) (int64, error) { return r.db.Estimate(ctx, what) })
}

// counted sets an exact totalCount in a list if whole, which means that it has no filter, and returns the list, which
// may be nil. count reads it when totalCount is selected.
func counted[T any](
	c *relay.Connection[T], whole bool, count func(context.Context) (int64, error),
) *relay.Connection[T] {
	return withCount(c, whole, true, count)
}

// withCount sets totalCount in a connection if whole, which means that the list has no filter, and returns the
// connection, which may be nil. exact tells clients whether the number is counted or estimated. count runs only if the
// operation selects totalCount.
func withCount[T any](
	c *relay.Connection[T], whole, exact bool, count func(context.Context) (int64, error),
) *relay.Connection[T] {
	if c == nil || !whole {
		return c
	}
	return c.WithCount(func(ctx context.Context) (*relay.Count, error) {
		n, err := count(ctx)
		if err != nil {
			return nil, err
		}
		return &relay.Count{Value: n, Exact: exact}, nil
	})
}

// unfiltered reports whether a filter has no conditions: it is the zero value of its type. A condition that is set but
// empty counts as a condition.
func unfiltered[F any](f F) bool { return reflect.ValueOf(f).IsZero() }

var versionList = ofNumber("versions", func(v *ledger.Version) int64 { return int64(v.Timestamp) })

// versionsOf queues reading a page of the versions of the rows with keys, ordered by time, in the batch of q, and
// returns one connection for each key. queue adds the statement. At a past moment, values that are unknown then are
// removed from the changes. Invalid page arguments are BAD_USER_INPUT.
func versionsOf[K any](ctx context.Context, q rowplan.Request, order relay.Order, args relay.Args, keys []K,
	queue func(*storage.Batch, []K, storage.Page) storage.Result[[][]*ledger.Version],
) (rowplan.Results[*relay.VersionConnection], error) {
	return versionList.below(ctx, q, order, args, true, // countable
		func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Version], error) {
			read := queue(b, keys, p)
			if ledger.MomentOf(ctx) != nil {
				read = storage.Map(read, withoutUnknown)
			}
			return read, nil
		})
}

// withoutUnknown removes the changes of values that are overwritten without a version: at a past moment they are
// unknown. It changes the versions in rows, and returns rows.
func withoutUnknown(rows [][]*ledger.Version) [][]*ledger.Version {
	for _, versions := range rows {
		for _, v := range versions {
			v.Changes = slices.DeleteFunc(v.Changes, func(c *ledger.Change) bool {
				return c.Field == "ethereumNonce" || c.Field == "totalSupply"
			})
		}
	}
	return rows
}
