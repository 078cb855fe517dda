package storage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
)

const (
	// checkInterval is the interval at which servers are checked if there are several, and checkTimeout is the timeout
	// of a check.
	checkInterval = 250 * time.Millisecond
	checkTimeout  = 2 * time.Second
	// defaultMaxLag is the default of [Options.MaxLag].
	defaultMaxLag = 10 * time.Second
)

// server is one of the database servers: a primary or a standby.
type server struct {
	name      string // host:port
	pool      *pgxpool.Pool
	admission *admission.Pool

	// The result of the last check. Without other servers, there are no checks.
	up, primary atomic.Bool
	newest      atomic.Int64 // end of the newest block
}

type servers struct {
	list    []*server
	maxLag  time.Duration
	stop    context.CancelFunc
	checked chan struct{} // closed after the first check of all servers
	seen    atomic.Int64  // time of the newest row that subscriptions have read
	bounded atomic.Bool   // whether the database has a watermark
	next    atomic.Uint32 // rotates servers with the same load
}

// watch starts goroutines that check the servers until close is called. It sets s.checked, which is closed after the
// first check of all servers. With a single server it starts no goroutines, and closes it at once.
func (s *servers) watch() {
	s.checked = make(chan struct{})
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	if len(s.list) == 1 {
		close(s.checked)
		return
	}
	var first sync.WaitGroup
	for _, one := range s.list {
		first.Add(1)
		go func() {
			one.check(ctx, s)
			first.Done()
			for ctx.Err() == nil {
				time.Sleep(checkInterval)
				one.check(ctx, s)
			}
		}()
	}
	go func() {
		first.Wait()
		close(s.checked)
	}()
}

// check reads the newest block of a server and whether it is a standby, and stores the results in s. If the server
// responds with an error or not in time, it is down, and the former results remain. It lowers the time of the newest
// block if the server has lost blocks, but not below the rows that subscriptions read during the check. It reads no
// blocks beyond the watermark, if the database has one.
func (s *server) check(ctx context.Context, all *servers) {
	ctx, stop := context.WithTimeout(ctx, checkTimeout)
	defer stop()
	var newest int64
	var standby bool
	before := s.newest.Load()
	sql := `select coalesce((select consensus_end from ` + all.visible() +
		` order by consensus_end desc limit 1), 0), pg_is_in_recovery()`
	err := s.pool.QueryRow(ctx, sql).Scan(&newest, &standby)
	if err == nil {
		if !s.newest.CompareAndSwap(before, newest) { // a subscription has read a newer row meanwhile
			raise(&s.newest, newest)
		}
		s.primary.Store(!standby)
	}
	s.up.Store(err == nil)
}

// close stops the checks and closes all connections. It waits for connections in use. The goroutines of the checks end
// later, at their next interval.
func (s *servers) close() {
	s.stop()
	for _, one := range s.list {
		one.pool.Close()
	}
}

// freshest returns the end of the newest block of all servers that are up, or 0 if none is. It is also 0 with a single
// server, which is never checked. It is a consensus timestamp in nanoseconds, from the last checks of the servers. It
// sends no statement.
func (s *servers) freshest() (newest int64) {
	for _, one := range s.list {
		if one.up.Load() {
			newest = max(newest, one.newest.Load())
		}
	}
	return newest
}

// choose returns the least loaded of the servers that are up, fresh enough and have the rows up to from, a consensus
// time in nanoseconds, or nil if there is none. It never returns except. Servers with the same load take turns. It
// sends no statement.
func (s *servers) choose(from int64, except *server) (best *server) {
	from = max(from, s.freshest()-s.maxLag.Nanoseconds())
	least, start := 0, int(s.next.Add(1))
	for i := range s.list {
		one := s.list[(start+i)%len(s.list)]
		if one == except || !one.up.Load() || one.newest.Load() < from {
			continue
		}
		if load := one.admission.Load(); best == nil || load < least {
			best, least = one, load
		}
	}
	return best
}

// place is the server that a request keeps to, so that its statements agree: no statement reads older data than an
// earlier one.
type place struct {
	mu       sync.Mutex
	server   *server
	answered bool // a statement has read from the server
}

// place returns the record of the server that the operation uses. Operations of the same request share it, except
// for subscriptions and operations without a client.
func (w *work) place() *place {
	if w.Turn == nil || w.Turn.Client() == "" || w.latest {
		return &w.own
	}
	w.Turn.Kept.CompareAndSwap(nil, new(place))
	return w.Turn.Kept.Load().(*place) //nolint:forcetypeassert // nothing else is kept
}

// of returns the server of an operation, and chooses it on the first call. It waits for the first checks, and for a
// subscription until a server is fresh enough; it fails if ctx ends before. If no server is up, it returns any for an
// operation that is not of a subscription.
func (s *servers) of(ctx context.Context, w *work) (*server, error) {
	if len(s.list) == 1 {
		return s.list[0], nil
	}
	select {
	case <-s.checked:
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // the caller knows its context
	}
	var needed int64 // the time up to which the operation needs rows
	if w.latest {
		needed = s.seen.Load()
	}
	p := w.place()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.server == nil {
		p.server = s.choose(needed, nil)
		switch {
		case p.server != nil:
		case !w.latest: // no server is up: the error of any of them is the reason
			p.server = s.list[int(s.next.Add(1))%len(s.list)]
		default:
			select {
			case <-time.After(checkInterval / 10):
			case <-ctx.Done():
				return nil, ctx.Err() //nolint:wrapcheck // as above
			}
		}
	}
	return p.server, nil
}

// move reports whether to repeat a statement of an operation, which has failed on a server, on another one. It marks a
// lost server as down, and makes the request use the other one. If the request has read from the first, only the
// primary certainly has the same rows. It also returns true if another statement of the request has moved it already.
// For a subscription it returns true also if no other server has the rows: [servers.of] then waits for one. After
// other errors, after the end of ctx, and with a single server it changes nothing and returns false.
func (s *servers) move(ctx context.Context, w *work, from *server, err error) bool {
	lost := isLost(err)
	if len(s.list) == 1 || ctx.Err() != nil || !lost && !isConflict(err) {
		return false
	}
	if lost {
		from.up.Store(false) // until the next check
	}
	p := w.place()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != from { // another statement of the request has moved it
		return true
	}
	if w.latest {
		p.server = s.choose(s.seen.Load(), from)
		return true
	}
	to := s.choose(0, from)
	if i := slices.IndexFunc(s.list, func(one *server) bool {
		return one != from && one.up.Load() && one.primary.Load()
	}); i >= 0 && p.answered {
		to = s.list[i]
	} else if to == nil || p.answered {
		return false
	}
	p.server = to
	return true
}

// isConflict reports whether a standby canceled a statement because of a conflict with recovery, by the codes for
// serialization failures and deadlocks, or by the message.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" ||
		strings.Contains(pg.Message, "conflict with recovery"))
}

// isLost reports whether a statement failed because its server does not serve or the connection was lost.
func isLost(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) { // the server shuts down, has crashed, starts, or has no free connection
		return strings.HasPrefix(pg.Code, "57P") || pg.Code == "53300" || strings.HasPrefix(pg.Code, "08")
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || pgconn.SafeToRetry(err) || isClosed(err)
}

// run runs a trip with a connection to a server when the queue admits a statement, or lets the trip of another batch
// take it along. If the server cannot answer, it does so once more with another one. A connection of [DB.On] bypasses
// the queue. First it makes the other parts of the operation stop waiting for that of ctx ([RunAlone]).
func (db *DB) run(ctx context.Context, t *trip) error {
	if db.conn != nil {
		RunAlone(ctx)
		return t.run(ctx, db.conn, nil)
	}
	var shared admission.Trip
	if t.Most() > 1 {
		shared = t
	}
	return db.on(ctx, admission.Reads, shared, func(one *server, s *admission.Slot) error {
		if s.Taken() {
			return t.err
		}
		defer s.Leave()
		return t.run(ctx, one.pool, s.Along())
	})
}

// on calls f with a server and a slot of the queue, which f must leave unless it is taken. It waits until the queue
// admits the statement, or until it has run with others, if it has a trip, which can be nil. It notes in the operation
// that the server has answered. If it cannot, [servers.move] can mark it as down and give the operation another one,
// with which f is called once more. If ctx has no operation ([Work]), the call is one of its own, in the given share.
// First it makes the other parts of the operation stop waiting for that of ctx ([RunAlone]).
func (db *DB) on(
	ctx context.Context, share admission.Share, trip admission.Trip, f func(*server, *admission.Slot) error,
) error {
	RunAlone(ctx)
	w, ok := workKey.Of(ctx)
	if !ok {
		w = newWork(ctx, share)
		ctx = values.Context(ctx, workKey.Is(w))
	}
	for again := true; ; again = false {
		one, err := db.servers.of(ctx, w)
		if err != nil {
			return err
		}
		entered := w.Turn.Recorded().Begin()
		s, err := one.admission.Enter(ctx, &w.Operation, share, trip)
		entered()
		if err != nil {
			return err
		}
		err = f(one, s)
		if err == nil && len(db.servers.list) > 1 {
			p := w.place()
			p.mu.Lock()
			p.answered = p.answered || p.server == one
			p.mu.Unlock()
		}
		if err == nil || !again || !db.servers.move(ctx, w, one, err) {
			return err
		}
	}
}

// Elsewhere reports whether to repeat statements on a connection from [DB.Acquire], of which one has failed, on
// another server. It changes the server of the operation: the next connection for ctx leads there. It is false if err
// is nil, with a single server, if the operation has used no server yet, and if another server would not help; see
// [servers.move].
func (db *DB) Elsewhere(ctx context.Context, err error) bool {
	if w, ok := workKey.Of(ctx); ok && err != nil && len(db.servers.list) > 1 {
		p := w.place()
		p.mu.Lock()
		from := p.server
		p.mu.Unlock()
		return from != nil && db.servers.move(ctx, w, from, err)
	}
	return false
}

// Follow returns a context for reads of a subscription, which only servers answer that have all rows that such reads
// have returned. The caller must call report with the time of the newest row that it has read. report raises this time
// for all subscriptions of db, and the newest time of the server that was read. It sends no statement and does not
// block.
func (db *DB) Follow(ctx context.Context) (_ context.Context, report func(ledger.Timestamp)) {
	share := admission.Reads
	if of, ok := workKey.Of(ctx); ok {
		share = of.Share
	}
	w := newWork(ctx, share)
	w.latest = true
	return values.Context(ctx, workKey.Is(w)), func(at ledger.Timestamp) {
		raise(&db.servers.seen, int64(at))
		w.own.mu.Lock()
		defer w.own.mu.Unlock()
		if w.own.server != nil {
			raise(&w.own.server.newest, int64(at))
		}
	}
}

// Followed returns the consensus time, in nanoseconds, of the newest row that subscriptions have read, or 0 if they
// have read none.
func (db *DB) Followed() int64 { return db.servers.seen.Load() }

// raise sets *v to a number if that is larger than the present one. It is safe for concurrent use.
func raise(v *atomic.Int64, to int64) {
	for old := v.Load(); old < to; old = v.Load() {
		if v.CompareAndSwap(old, to) {
			return
		}
	}
}

// ServerState is the state of a server.
type ServerState struct {
	Name string // host:port
	// Lag is the time by which its newest block is behind that of the freshest server, or -1 s if it cannot be
	// reached. It is 0 if there is one server.
	Lag  time.Duration
	Stat *pgxpool.Stat
}

// Servers returns the states of the servers, always in the same order, from the last checks. The lag of a server
// that is down is -1 s.
func (db *DB) Servers() []ServerState {
	newest := db.servers.freshest()
	out := make([]ServerState, len(db.servers.list))
	for i, one := range db.servers.list {
		out[i] = ServerState{Name: one.name, Stat: one.pool.Stat()}
		switch {
		case len(out) == 1:
		case one.up.Load():
			out[i].Lag = time.Duration(max(0, newest-one.newest.Load()))
		default:
			out[i].Lag = -time.Second
		}
	}
	return out
}

// hosts returns a copy of a configuration for each host in it, or the configuration itself if it has
// target_session_attrs. Further entries of the same host, for example without TLS, stay fallbacks in its copy. It does
// not connect.
func hosts(cfg *pgxpool.Config) (list []*pgxpool.Config) {
	c := cfg.ConnConfig
	if c.ValidateConnect != nil {
		return []*pgxpool.Config{cfg}
	}
	for _, f := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}},
		c.Fallbacks...) {
		// the same without TLS
		if n := len(list) - 1; n >= 0 && list[n].ConnConfig.Host == f.Host && list[n].ConnConfig.Port == f.Port {
			list[n].ConnConfig.Fallbacks = append(list[n].ConnConfig.Fallbacks, f)
			continue
		}
		one := cfg.Copy()
		one.ConnConfig.Host, one.ConnConfig.Port, one.ConnConfig.TLSConfig, one.ConnConfig.Fallbacks = f.Host,
			f.Port, f.TLSConfig, nil
		list = append(list, one)
	}
	return list
}

// ofPrimary changes c so that connections lead to the primary if the URL has several hosts and no
// target_session_attrs. It is for pools that write and for sessions of their own, and connects to nothing.
func ofPrimary(c *pgconn.Config) {
	if c.ValidateConnect == nil && severalHosts(c) {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
}

// severalHosts reports whether connections of c can lead to several servers, which have other hosts or other ports.
func severalHosts(c *pgconn.Config) bool {
	return slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != c.Host || f.Port != c.Port
	})
}

// LedgerHealth describes the newest blocks and the activity of nodes.
type LedgerHealth struct {
	// Block is the number of the newest block, and At is its end. Both are 0 if there are no blocks.
	Block int64
	At    ledger.Timestamp
	// Missing is the number of gaps among the newest 100 blocks.
	Missing int64
	// Transactions is the number of newest transactions that were examined.
	Transactions int64
	// Nodes contains the nodes of the newest address book by their IDs.
	Nodes map[int64]*NodeHealth
}

// NodeHealth describes the activity of a consensus node.
type NodeHealth struct {
	ID           int64
	Deleted      bool
	Stake        ledger.Null[int64] // in tinybars; null if no stakes are published
	MinStake     ledger.Null[int64] // the minimum stake for a weight above 0
	Transactions int64              // of the examined transactions, those submitted to this node
}

// Limits of the examined rows.
const (
	healthBlocks       = 100
	healthTransactions = 5000
	healthWindow       = 10 * time.Minute // before the end of the newest block
)

// LedgerHealth reads the health of the ledger. The number of rows it reads does not depend on the size of the ledger.
// It takes two statements, one after the other. Without an address book there are no nodes, and with an error the
// result is nil.
func (db *DB) LedgerHealth(ctx context.Context) (*LedgerHealth, error) {
	blocks := MapperOf(func(h *LedgerHealth, into []any) []any {
		return append(into, &h.Block, &h.At, &h.Missing)
	}, nil)
	h, err := blocks.One(ctx, db, "the newest blocks",
		`select coalesce(max(index), 0), coalesce(max(consensus_end), 0), coalesce(max(index) - min(index) + 1 - count(*), 0)
from (select index, consensus_end from record_file order by consensus_end desc limit $1) b`, healthBlocks)
	if err != nil {
		return nil, err
	}
	activity := MapperOf(func(n *NodeHealth, into []any) []any {
		return append(into, &n.ID, &n.Deleted, &n.Stake, &n.MinStake, &n.Transactions, &h.Transactions)
	}, nil)
	nodes, err := activity.List(ctx, db, "the nodes", `with sent as (
  select node_account_id, count(*) as n from (
    select node_account_id from transaction where consensus_timestamp > $1 order by consensus_timestamp desc limit $2) t
  group by node_account_id)
select e.node_id, coalesce(n.deleted, false), s.stake, nullif(s.min_stake, -1), coalesce(sent.n, 0),
(select coalesce(sum(n), 0)::bigint from sent where node_account_id is not null)
from address_book_entry e
left join node n on n.node_id = e.node_id
left join node_stake s on s.node_id = e.node_id and s.consensus_timestamp = (select max(consensus_timestamp) from node_stake)
left join sent on sent.node_account_id = coalesce(n.account_id, e.node_account_id)
where e.consensus_timestamp = (select max(start_consensus_timestamp) from address_book)`, int64(h.At)-healthWindow.Nanoseconds(), healthTransactions)
	if err != nil {
		return nil, err
	}
	h.Nodes = make(map[int64]*NodeHealth, len(nodes))
	for _, n := range nodes {
		h.Nodes[n.ID] = n
	}
	return h, nil
}
