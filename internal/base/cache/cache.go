// Package cache holds what is worth keeping in memory, within a bound. A cache is an interface, so that a package which merely sees a type that
// has one does not compile the cache's code once more for its types: generic code is compiled wherever its types are reached.
package cache

import (
	"time"

	"github.com/maypok86/otter/v2"
)

// Cache keeps values by their keys until others need the room. It is safe for concurrent use.
type Cache[K comparable, V any] interface {
	// Get returns the value of a key, if there is one.
	Get(key K) (V, bool)
	// Set keeps a value.
	Set(key K, v V)
	// SetIfAbsent keeps a value unless its key has one, and returns the one that is kept.
	SetIfAbsent(key K, v V) V
}

// Sized makes a cache of at most so many entries.
func Sized[K comparable, V any](entries int) Cache[K, V] {
	return store[K, V]{otter.Must(&otter.Options[K, V]{MaximumSize: entries})}
}

// Weighed makes a cache whose entries weigh at most limit together. Entries are dropped maxAge after they were set; 0 keeps them as long as
// there is room.
func Weighed[K comparable, V any](limit uint64, weight func(K, V) int, maxAge time.Duration) Cache[K, V] {
	o := &otter.Options[K, V]{MaximumWeight: limit, Weigher: func(k K, v V) uint32 { return uint32(max(0, weight(k, v))) }}
	if maxAge > 0 {
		o.ExpiryCalculator = otter.ExpiryWriting[K, V](maxAge)
	}
	return store[K, V]{otter.Must(o)}
}

type store[K comparable, V any] struct{ entries *otter.Cache[K, V] }

func (s store[K, V]) Get(key K) (V, bool) { return s.entries.GetIfPresent(key) }

func (s store[K, V]) Set(key K, v V) { s.entries.Set(key, v) }

func (s store[K, V]) SetIfAbsent(key K, v V) V {
	kept, _ := s.entries.SetIfAbsent(key, v)
	return kept
}
