package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"heliograph/graph/limits"
	"heliograph/internal/base/cache"
	"heliograph/internal/base/etag"
)

// headAge is for how long the newest consensus timestamp is believed before the database is asked again.
const headAge = 500 * time.Millisecond

// largestShare is the part of the cache that one answer may take.
const largestShare = 64

// answer is an answer that may be given again.
type answer struct {
	body []byte
	cost string
	tag  string
	age  int
	// operation is the name of the operation, for the observer alone.
	operation string
}

// responses keep whole answers by what was asked and by the newest consensus timestamp: whatever the importer adds makes all that was kept before be asked for again.
// What changes without it is told at most [limits.ShortAge] late, as it is through any other cache.
type responses struct {
	cache cache.Cache[string, *answer]
	most  int // bytes of one answer
	head  func(context.Context) (int64, error)

	mu    sync.Mutex
	value int64
	at    time.Time
}

func newResponses(size int64, head func(context.Context) (int64, error)) *responses {
	weight := func(key string, a *answer) int { return len(key) + len(a.body) + 200 }
	return &responses{cache: cache.Weighed(uint64(size), weight, limits.ShortAge*time.Second), most: int(size / largestShare), head: head}
}

// key is what an answer to a request is kept under; empty when nothing may be.
func (c *responses) key(ctx context.Context, method string, raw []byte) string {
	if c == nil {
		return ""
	}
	head, ok := c.newest(ctx)
	if !ok {
		return ""
	}
	b := make([]byte, 0, len(raw)+24)
	b = append(strconv.AppendInt(b, head, 10), method[0]) // HEAD is not GET, which does no harm
	return string(append(b, raw...))
}

// newest is the newest consensus timestamp.
func (c *responses) newest(ctx context.Context) (int64, bool) {
	now := time.Now() //nolint:forbidigo // how old something is, is measured, and the injected clock may stand still
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.at) < headAge {
		return c.value, true
	}
	head, err := c.head(ctx)
	if err != nil { // whoever reads will meet the same, and tell
		return 0, false
	}
	c.value, c.at = head, now
	return head, true
}

func (c *responses) get(key string) *answer {
	if key == "" {
		return nil
	}
	a, _ := c.cache.Get(key)
	return a
}

func (c *responses) put(key string, a *answer) {
	if c != nil && key != "" && len(a.body)+len(key) <= c.most {
		c.cache.Set(key, a)
	}
}

// write sends an answer; to GET with what caches need to know.
func (a *answer) write(w http.ResponseWriter, r *http.Request, costLimit string) {
	h := w.Header()
	h[costHeader], h[costLimitHeader] = []string{a.cost}, []string{costLimit}
	if r.Method != http.MethodPost {
		h.Set("Cache-Control", "public, max-age="+strconv.Itoa(a.age))
		h.Set("ETag", a.tag)
		if etag.Matches(r.Header.Get("If-None-Match"), a.tag) {
			h.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(a.body) // a client that has gone is no concern of ours
}

// incomplete tells whether a root field is null: what does not exist yet may exist soon, however long it is kept then.
func incomplete(data []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString:
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == 'n' && depth == 1: // of numbers, true, false and null only this one begins so
			return true
		}
	}
	return false
}
