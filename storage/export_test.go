package storage

import "time"

// ForgetPaces forgets how long batches take and which are sent alone.
func ForgetPaces() { paces.Clear() }

// MostShared returns how many batches with the same texts share a round trip after single ones have taken some time,
// when the network takes a time.
func MostShared(network time.Duration, trips ...time.Duration) int {
	before := nearest.Swap(int64(network))
	defer nearest.Store(before)
	t := trip{pace: new(pace)}
	for _, took := range trips {
		t.pace.add(took, 1, false)
	}
	return t.Most()
}

// SentAlone reports whether some batches are sent alone for a pause, because a shared round trip has failed.
func SentAlone() (alone bool) {
	paces.Range(func(_, p any) bool {
		alone = alone || p.(*pace).alone.Load() > 0
		return true
	})
	return alone
}
