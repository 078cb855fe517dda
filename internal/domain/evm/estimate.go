package evm

// Estimate estimates the gas that a message needs: a limit with which it succeeds, usually a few percent above the
// minimum. If the message fails with its gas limit, Estimate returns the failed result. Otherwise it returns the
// result of the first run with the estimate as GasUsed.
func (s *Simulation) Estimate(m Message) (*Result, error) {
	result, err := s.run(m)
	if err != nil || result.Failed() || result.GasUsed >= m.Gas {
		return result, err
	}
	search := gasSearch{low: max(result.GasUsed, 1) - 1, high: m.Gas, next: withReserve(result.GasUsed)}
	for search.continues() {
		try := m
		try.Gas = search.next
		r, err := s.run(try)
		if err != nil {
			return nil, err
		}
		search.record(!r.Failed())
	}
	result.GasUsed = search.high
	return result, nil
}

const (
	// estimateRuns is the maximum number of runs of a search.
	estimateRuns = 20
	// callStipend is the gas that a callee receives in addition with value.
	callStipend = 2300
)

// withReserve returns the gas limit that is usually sufficient for a message that used some gas: a caller keeps a
// 64th of its gas from the callee.
func withReserve(used uint64) uint64 { return (used + callStipend) * 64 / 63 }

// gasSearch is a binary search of a sufficient gas limit. It ends if the limit is at most 10 percent above a limit
// that is not sufficient.
type gasSearch struct {
	low, high uint64 // the highest limit that failed, and the lowest that succeeded
	next      uint64 // the limit to try
	runs      int
}

// continues reports whether the next limit must be tried.
func (g *gasSearch) continues() bool {
	if g.runs == 0 && g.next < g.high {
		return true
	}
	if g.low+1 >= g.high || g.runs >= estimateRuns || (g.high-g.low)*10 < g.high {
		return false
	}
	g.next = min(g.low+(g.high-g.low)/2, 2*g.low)
	return true
}

// record narrows the search by the outcome of a run with the next limit.
func (g *gasSearch) record(succeeded bool) {
	g.runs++
	if succeeded {
		g.high = g.next
	} else {
		g.low = g.next
	}
}
