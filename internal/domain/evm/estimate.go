package evm

const (
	// estimateRuns is the maximum number of runs of a search.
	estimateRuns = 20
	// callStipend is the gas that a callee receives in addition with value.
	callStipend = 2300
)

// Estimate estimates the gas that a message needs: a limit with which it succeeds, usually a few percent above the
// minimum. If the message fails with its gas limit, Estimate returns the failed result. Otherwise it returns the
// result of the first run with the estimate as GasUsed. An error that the message did not cause ends the search; see
// [Simulation.Call].
//
// It is a binary search, which ends after estimateRuns further runs, or if the limit is at most 10 percent above a
// limit that is not sufficient. It begins with the limit that is usually sufficient: a caller keeps a 64th of its gas
// from the callee. The changes of each run are undone.
func (s *Simulation) Estimate(m Message) (*Result, error) {
	result, err := s.run(m)
	if err != nil || result.Failed() || result.GasUsed >= m.Gas {
		return result, err
	}
	failed, succeeded := max(result.GasUsed, 1)-1, m.Gas
	next := (result.GasUsed + callStipend) * 64 / 63
	for runs := range estimateRuns {
		if runs > 0 || next >= succeeded {
			if failed+1 >= succeeded || succeeded-failed <= (succeeded-1)/10 {
				break
			}
			next = min(failed+(succeeded-failed)/2, 2*failed)
		}
		m.Gas = next
		r, err := s.run(m)
		if err != nil {
			return nil, err
		}
		if r.Failed() {
			failed = next
		} else {
			succeeded = next
		}
	}
	result.GasUsed = succeeded
	return result, nil
}
