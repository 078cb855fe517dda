package storage

import (
	"sync"
	"time"

	"heliograph/internal/domain/ledger"
)

// maxHours is the maximum number of cached hours, more than two years.
const maxHours = 20_000

// Hour is the length of an hour of the ledger.
const Hour = ledger.Timestamp(time.Hour)

// Hours caches one value for each hour. A nil *Hours does not cache.
type Hours[V any] struct {
	mu     sync.RWMutex
	byHour map[ledger.Timestamp]V
}

// NewHours returns an empty cache, or nil if db is nil or forbids caching.
func NewHours[V any](db *DB) *Hours[V] {
	if db == nil || !db.Cache() {
		return nil
	}
	return &Hours[V]{byHour: map[ledger.Timestamp]V{}}
}

// Get returns the cached value for the hour of a time. ok is false if there is none or h is nil.
func (h *Hours[V]) Get(at ledger.Timestamp) (v V, ok bool) {
	if h == nil {
		return v, false
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	v, ok = h.byHour[at/Hour]
	return v, ok
}

// Put caches a value for the hour of a time. If the cache is full, it removes all others first. h may be nil.
func (h *Hours[V]) Put(at ledger.Timestamp, v V) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byHour) >= maxHours {
		clear(h.byHour)
	}
	h.byHour[at/Hour] = v
}
