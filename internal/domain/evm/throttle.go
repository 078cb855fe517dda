package evm

import (
	"sync"
	"time"
)

// Bucket bounds how much is done in a second. It is full at first and fills up steadily. It may be used by several goroutines at the same time.
type Bucket struct {
	mu    sync.Mutex
	now   func() time.Time
	rate  float64 // a second, and what it holds
	level float64
	since time.Time
}

// NewBucket makes a bucket for so much in a second; one for 0 gives nothing.
func NewBucket(perSecond int64, now func() time.Time) *Bucket {
	return &Bucket{now: now, rate: float64(perSecond), level: float64(perSecond), since: now()}
}

// Take takes n, or nothing when there is less.
func (b *Bucket) Take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if passed := now.Sub(b.since); passed > 0 {
		b.level, b.since = min(b.rate, b.level+b.rate*passed.Seconds()), now
	}
	if float64(n) > b.level {
		return false
	}
	b.level -= float64(n)
	return true
}

// Give puts n back.
func (b *Bucket) Give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.level = min(b.rate, b.level+float64(n))
}
