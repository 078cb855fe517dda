package server

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/maypok86/otter/v2"

	"heliograph/graph/limits"
	"heliograph/internal/base/respond"
)

// headAge is how long the newest consensus timestamp is used before it is read again.
const headAge = 500 * time.Millisecond

// staticAge is how long responses that do not change are kept. Others replace them if they are used more often.
const staticAge = 24 * time.Hour

// maxKey is the maximum size of a request whose response is cached, in bytes.
const maxKey = 64 << 10

// maxShare is the inverse of the maximum share of the cache that one response can take.
const maxShare = 64

type cachedResponse struct {
	body []byte
	cost string
	tag  string
	age  int // in seconds
	// static reports whether the response is the same as long as the process runs.
	static bool
	// operation is the name of the operation, for the observer.
	operation string
}

// responseCache caches responses by request and newest consensus timestamp, so that new data of the importer
// invalidates all earlier responses. Other changes are visible after at most [limits.ShortAge], as with every HTTP
// cache.
type responseCache struct {
	responses   *otter.Cache[string, *cachedResponse]
	maxResponse int // in bytes
	head        func(context.Context) (int64, error)
	followed    func() int64 // optional

	mu       sync.Mutex
	newest   int64
	newestAt time.Time
	reading  bool
}

// newResponseCache returns a cache with a capacity in bytes. head reads the timestamp of the newest block, and
// followed, which can be nil, returns the one that feeds have reached. Responses expire after limits.ShortAge seconds;
// those that cannot change, after staticAge.
func newResponseCache(size int64, head func(context.Context) (int64, error), followed func() int64) *responseCache {
	return &responseCache{
		responses: otter.Must(&otter.Options[string, *cachedResponse]{
			MaximumWeight: uint64(size),
			Weigher:       func(key string, c *cachedResponse) uint32 { return uint32(len(key) + len(c.body) + 200) },
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, *cachedResponse]) time.Duration {
				if e.Value.static {
					return staticAge
				}
				return limits.ShortAge * time.Second
			}),
		}),
		maxResponse: int(size / maxShare), head: head, followed: followed,
	}
}

// key returns the cache key of a request: the newest timestamp of the ledger, which it may read from the database,
// the method and the body. It is empty if the response cannot be cached. c can be nil.
func (c *responseCache) key(ctx context.Context, method string, raw []byte) string {
	if c == nil || len(raw) > maxKey {
		return ""
	}
	head, ok := c.newestTimestamp(ctx)
	if !ok {
		return ""
	}
	if c.followed != nil { // a client that queries after an event must see its data
		head = max(head, c.followed())
	}
	return strconv.FormatInt(head, 10) + method[:1] + string(raw) // the first letters of GET, HEAD and POST differ
}

// newestTimestamp returns the newest consensus timestamp in nanoseconds, at most headAge old. While one request reads
// it from the database, others use the last one until that is twice as old, and then read it too. c.mu is not held
// meanwhile. Of reads at the same time, the one that ends last counts, so the timestamp can go back; its age counts
// from the start of that read. It returns false if it cannot be read; the next request then reads it again.
func (c *responseCache) newestTimestamp(ctx context.Context) (int64, bool) {
	now := time.Now() //nolint:forbidigo // measures a duration, and the injected clock may be fixed
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := now.Sub(c.newestAt); age < headAge || age < 2*headAge && c.reading {
		return c.newest, true
	}
	c.reading = true
	c.mu.Unlock()
	head, err := c.head(ctx)
	c.mu.Lock()
	c.reading = false
	if err != nil { // the resolvers will fail with the same error, and report it
		return 0, false
	}
	c.newest, c.newestAt = head, now
	return head, true
}

// get returns the cached response, or nil. The empty key stands for a request that is not cached. For it, c can be
// nil.
func (c *responseCache) get(key string) *cachedResponse {
	if key == "" {
		return nil
	}
	r, _ := c.responses.GetIfPresent(key)
	return r
}

// put caches a response under a key of [responseCache.key], unless the key is empty or the response is larger than
// a share of the cache. c can be nil.
func (c *responseCache) put(key string, r *cachedResponse) {
	if c != nil && key != "" && len(r.body)+len(key) <= c.maxResponse {
		c.responses.Set(key, r)
	}
}

// write writes the cached response with the headers of its cost. Responses to GET and HEAD also have the headers for
// HTTP caches, and can be 304.
func (c *cachedResponse) write(w http.ResponseWriter, r *http.Request, costLimit string) {
	h, tag := w.Header(), ""
	h.Set(costHeader, c.cost)
	h.Set(costLimitHeader, costLimit)
	if r.Method != http.MethodPost {
		lifetime := "public, max-age=" + strconv.Itoa(c.age)
		if c.age == limits.PastAge {
			lifetime += ", immutable"
		}
		h.Set("Cache-Control", lifetime)
		tag = c.tag
	}
	respond.Write(w, r, http.StatusOK, tag, c.body)
}

// hasNullField reports whether a root field, or the data as a whole, is null: an object that does not exist now may
// exist soon, even if it never changes afterwards. Data that cannot be read counts as null.
func hasNullField(data []byte) bool {
	// the server wrote it
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return true
	}
	for d.PeekKind() == '"' {
		if d.SkipValue() != nil || d.PeekKind() == 'n' || d.SkipValue() != nil {
			return true
		}
	}
	return d.PeekKind() != '}'
}
