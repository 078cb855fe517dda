//go:build !race

// The race detector makes sync.Pool drop objects at random, so that the same request allocates more or less with it.

package bench

import "testing"

// TestAllocations fails if a list allocates more than the hand-written handler, or an object more than that plus a
// constant for each request. The bounds are wide, so that only an additional allocation for each row, or many for each
// request, exceed them.
func TestAllocations(t *testing.T) {
	const perRequest = 110 // of an object with up to six statements; over GraphQL twice
	r := newRig(t)
	for _, q := range r.requests {
		t.Run(q.name, func(t *testing.T) {
			ways := r.ways(t, q.path)
			allocations := make([]float64, len(ways))
			for i, w := range ways {
				allocations[i] = testing.AllocsPerRun(20, w.clients[0].ask)
			}
			hand := allocations[0]
			for i, most := range []float64{1, 1, 1.1} {
				bound := most * hand
				if !q.list {
					bound = hand + float64(i)*perRequest
				}
				if got := allocations[i]; got > bound {
					t.Errorf("%s: %s allocates %.0f times, %.0f by hand; the bound is %.0f", q.path, ways[i].name,
						got, hand, bound)
				}
			}
		})
	}
}

// TestBytes fails if an object allocates much more memory than the hand-written handler, for example for unused rows
// or copies of the body.
func TestBytes(t *testing.T) {
	r := newRig(t)
	for _, q := range r.requests {
		if q.list {
			continue
		}
		ways := r.ways(t, q.path)
		var kib [2]float64
		for i := range kib {
			new(cost).measure(t, nil, ways[i], perRound)
			var c cost
			c.measure(t, nil, ways[i], 5*perRound)
			kib[i] = c.per(float64(c.bytes)) / 1024
		}
		if bound := 1.3*kib[0] + 12; kib[1] > bound {
			t.Errorf("%s: REST allocates %.0f KiB, %.0f by hand; the bound is %.0f", q.name, kib[1], kib[0], bound)
		}
	}
}
