// Package loading reads the objects and relations of an operation: each object once, at however many places of the
// operation it stands.
package loading

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graph-gophers/dataloader/v7"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/list"
	"heliograph/internal/base/values"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
)

// Operation is what the resolvers keep during one operation.
type Operation struct {
	Plans     *rowplan.Plans
	Reads     statuspages.Reads
	Addresses atomic.Int32 // that were looked up

	loaders loaders
}

// OperationKey is the key of the operation in contexts.
var OperationKey = values.NewKey[*Operation]()

// loaders are the dataloaders of one operation: one for each type of object and kind of key. An object is read once,
// at however many places of the operation it stands.
type loaders struct {
	mu  sync.Mutex
	all map[any]any // loaderKey[K, V] → *loader[K, V]
}

type loaderKey[K comparable, V any] struct {
	typ string
	at  *ledger.Moment // of the state that is read; nil for the present
}

// loaderOf returns the dataloader of a type in the operation of ctx, for the moment of ctx. It returns nil if there is
// no operation, or only one place of the operation reads objects of the type: the library starts goroutines, which
// would take longer than they save. The first call for a type and moment adds the dataloader to the operation.
func loaderOf[K comparable, V any](ctx context.Context, typ string) *loader[K, V] {
	o, _ := OperationKey.Of(ctx)
	if o == nil {
		return nil
	}
	places := rowplan.PerOperation(ctx, o.Plans, func(op *ast.OperationDefinition) places {
		found := places{}
		found.add(op.SelectionSet, map[*ast.FragmentDefinition]int{})
		return found
	})
	if places[typ]+places[anyType] < 2 {
		return nil
	}
	l := &o.loaders
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[any]any{}
	}
	key := loaderKey[K, V]{typ, ledger.MomentOf(ctx)}
	if l.all[key] == nil {
		l.all[key] = newLoader[K, V]()
	}
	return l.all[key].(*loader[K, V])
}

// places counts the places of an operation that read an object of a type by its key.
type places map[string]int

// anyType stands for places that read objects of types which depend on the arguments.
const anyType = "Node"

// readByKey are the fields of the query type that read objects by their keys, with their types.
var readByKey = map[string]string{
	"account": "Account", "block": "Block", "contract": "Contract", "file": "File", "nft": "NFT",
	"schedule": "Schedule", "token": "Token", "topic": "Topic",
	"accountsByIds": "Account", "blocksByNumbers": "Block", "contractsByIds": "Contract", "nftsByKeys": "NFT",
	"tokensByIds": "Token", "topicsByIds": "Topic",
	"node": anyType, "nodes": anyType, "search": anyType, "_entities": anyType,
}

// add counts in p the places of a selection set that read objects of a type by key. It adds to fragments how often
// each fragment was met, and counts its places twice at most, because the number of spreads grows exponentially with
// their depth.
func (p places) add(set ast.SelectionSet, fragments map[*ast.FragmentDefinition]int) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Definition != nil && s.Definition.Directives.ForName("reference") != nil {
				p[s.Definition.Type.Name()]++
			} else if typ := readByKey[s.Name]; typ != "" && s.ObjectDefinition.Name == "Query" {
				p[typ]++
			}
			p.add(s.SelectionSet, fragments)
		case *ast.InlineFragment:
			p.add(s.SelectionSet, fragments)
		case *ast.FragmentSpread:
			fragments[s.Definition]++
			if fragments[s.Definition] <= 2 {
				p.add(s.Definition.SelectionSet, fragments)
			}
		}
	}
}

// loader is the dataloader of a type. Its batch function passes the keys to the level of a plan that has loaded them,
// and waits until the batch of that level has run.
type loader[K comparable, V any] struct {
	*dataloader.Loader[K, V]

	mu      sync.Mutex // locked while a level loads keys
	cache   *dataloader.InMemoryCache[K, V]
	batches chan keyBatch[K, V]
}

// keyBatch has keys that a level reads, and receives their objects.
type keyBatch[K comparable, V any] struct {
	keys []K
	rows chan []V
}

// newLoader returns a dataloader that collects keys until Flush, which each level of an operation calls.
func newLoader[K comparable, V any]() *loader[K, V] {
	l := &loader[K, V]{cache: dataloader.NewCache[K, V](), batches: make(chan keyBatch[K, V])}
	l.Loader = dataloader.NewBatchedLoader(l.pass, dataloader.WithCache[K, V](l.cache),
		dataloader.WithWait[K, V](time.Hour)) // each level calls Flush
	return l
}

// pass is the batch function of the dataloader: it passes keys to the level that called Flush and waits for their
// rows. ctx ends with the plan that has loaded the keys. If it ends first, each key has its error.
func (l *loader[K, V]) pass(ctx context.Context, keys []K) []*dataloader.Result[V] {
	b := keyBatch[K, V]{keys, make(chan []V, 1)}
	l.batches <- b
	select {
	case rows := <-b.rows:
		return list.Map(rows, func(v V) *dataloader.Result[V] { return &dataloader.Result[V]{Data: v} })
	case <-ctx.Done():
		return list.Map(keys, func(K) *dataloader.Result[V] { return &dataloader.Result[V]{Error: ctx.Err()} })
	}
}

// Load queues in b reading the objects of a type with keys, except for those that the operation has read at another
// place, or is reading. The result has one for each key, in their order. ctx must end if b is not run. If reading at
// that place fails, the result reads all keys again, with a batch of its own.
func Load[K comparable, V any](
	ctx context.Context, b *storage.Batch, typ string, keys []K, queue storage.QueueKeys[K, V],
) storage.Result[[]V] {
	return load(ctx, rowplan.Request{Batch: b}, typ, keys, queue)
}

// load queues in the batch of q, for a level of a plan, reading the objects of a type with keys; see [Load]. If
// another place reads one of the keys, the result waits for it, and first makes the other root fields not wait for
// this one; see [storage.RunAlone]. Goroutines of the loader that wait for the batch end with the run of the plan.
// Without a loader, because only this place reads objects of the type, all keys are queued.
func load[K comparable, V any](
	ctx context.Context, q rowplan.Request, typ string, keys []K, queue storage.QueueKeys[K, V],
) storage.Result[[]V] {
	l, b := loaderOf[K, V](ctx, typ), BatchOf(q)
	if l == nil {
		return queue(b, keys)
	}
	ctx = q.Ending(ctx)
	known, thunks := l.loadAll(ctx, b, keys, queue)
	return func() ([]V, error) {
		if known { // and another root field may be reading it, which must not wait for the batches of this one
			storage.RunAlone(ctx)
		}
		out := make([]V, len(keys))
		for i, thunk := range thunks {
			var err error
			if out[i], err = thunk(); err != nil { // the root field that was to read it has failed
				again := b.DB().NewBatch()
				out, err = storage.Run(ctx, again, queue(again, keys))
				return out, wrap.Error(err, "reading %s again", typ)
			}
		}
		return out, nil
	}
}

// loadAll returns a thunk for each key, in their order, and queues reading those that are new in b. known reports
// whether some are not new. If b does not run, the thunks wait until ctx ends. It locks l meanwhile, and counts hits
// in the profile of the request.
func (l *loader[K, V]) loadAll(
	ctx context.Context, b *storage.Batch, keys []K, queue storage.QueueKeys[K, V],
) (known bool, thunks []dataloader.Thunk[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hits := 0
	for _, key := range keys {
		_, found := l.cache.Get(ctx, key)
		if found {
			hits++
		}
		thunks = append(thunks, l.Load(ctx, key))
	}
	admission.Of(ctx).Recorded().Hit(hits)
	if hits < len(keys) {
		l.Flush()
		batch := <-l.batches
		storage.Use(b, queue(b, batch.keys), func(rows []V) {
			select {
			case batch.rows <- rows:
			default: // the batch was sent again
			}
		})
	}
	return hits > 0, thunks
}

// LoadOne returns the object of a type with a key: it reads it with a statement of its own, unless the operation
// has read it. The result is zero if it does not exist.
func LoadOne[K comparable, V any](
	ctx context.Context, db *storage.DB, typ string, key K, queue storage.QueueKeys[K, V],
) (found V, err error) {
	if loaderOf[K, V](ctx, typ) == nil {
		return storage.ReadOne(ctx, db, typ, key, queue)
	}
	rows, err := loadNow(ctx, db, typ, []K{key}, queue)
	if err == nil {
		found = rows[0]
	}
	return found, wrap.Error(err, "reading %s %v", typ, key)
}

// loadNow returns the objects of a type with keys, one for each in their order, zero for those that do not exist. It
// reads those that the operation has not read with a batch of its own, which it sends at once; see [Load].
func loadNow[K comparable, V any](
	ctx context.Context, db *storage.DB, typ string, keys []K, queue storage.QueueKeys[K, V],
) ([]V, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := db.NewBatch()
	return storage.Run(ctx, b, Load(ctx, b, typ, keys, queue))
}

// LoadMany returns the objects of a type with keys, one for each key, nil for those that do not exist. It reads in one
// statement those that the operation has not read. Without keys it returns nil. More than [MaxKeys] keys are
// BAD_USER_INPUT.
func LoadMany[K comparable, V any](
	ctx context.Context, db *storage.DB, typ string, keys []K, queue storage.QueueKeys[K, V],
) (found []V, err error) {
	if err = CheckKeys(len(keys)); err != nil || len(keys) == 0 {
		return nil, err
	}
	found, err = loadNow(ctx, db, typ, keys, queue)
	return found, wrap.Error(err, "reading objects of type %s", typ)
}

// Prime makes other places of the operation use an object that has been read, or is known not to exist. It does
// nothing if no other place reads the type. An object that the operation has read or queued with this key stays.
func Prime[K comparable, V any](ctx context.Context, typ string, key K, v V) {
	if l := loaderOf[K, V](ctx, typ); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Prime(ctx, key, v)
	}
}

// Refer queues reading the objects of a type that rows refer to by a key, in the batch of q, unless the operation has
// read them. The result has one for each row, nil for keys without an object. The error beside it is always nil.
func Refer[T any, K comparable, V any](
	ctx context.Context, q rowplan.Request, of []T, typ string, key func(T) K, queue storage.QueueKeys[K, V],
) (rowplan.Results[V], error) {
	return load(ctx, q, typ, list.Map(of, key), queue), nil
}

// ReferMany queues in the batch of q reading the objects of a type that rows refer to by lists of keys, like [Refer].
// The result has one list for each row, in the order of its keys, without keys that have no object. The error beside
// it is always nil.
func ReferMany[T any, K comparable, R any](
	ctx context.Context, q rowplan.Request, of []T, typ string, keys func(T) []K, queue storage.QueueKeys[K, *R],
) (rowplan.Results[[]*R], error) {
	lists := list.Map(of, keys)
	all := slices.Concat(lists...)
	if len(all) == 0 {
		return storage.Known(make([][]*R, len(of))), nil
	}
	return storage.Map(load(ctx, q, typ, all, queue), func(rows []*R) [][]*R {
		out := make([][]*R, len(of))
		for i, keys := range lists {
			out[i] = slices.DeleteFunc(rows[:len(keys):len(keys)], func(r *R) bool { return r == nil })
			rows = rows[len(keys):]
		}
		return out
	}), nil
}
