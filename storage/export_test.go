package storage

// ForgetPaces forgets how long batches take and which are sent alone.
func ForgetPaces() { paces.Clear() }

// SentAlone reports whether some batches are sent alone for a pause, because a shared round trip has failed.
func SentAlone() (alone bool) {
	paces.Range(func(_, p any) bool {
		alone = alone || p.(*pace).alone.Load() > 0
		return true
	})
	return alone
}
