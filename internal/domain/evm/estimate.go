package evm

// estimateRounds is the maximum number of runs of the binary search.
const estimateRounds = 20

// Estimate estimates the gas that a message needs by a binary search between the gas that it used and its limit. The search stops early, so the estimate can be
// about 10 percent too high. If the message fails with its gas limit, Estimate returns the failed result. Otherwise it returns the result of the first run
// with the estimate as GasUsed.
func (s *Simulation) Estimate(m Message) (*Result, error) {
	result, err := s.run(m)
	if err != nil || result.Failed() || result.GasUsed >= m.Gas {
		return result, err
	}
	low, high, last := result.GasUsed, m.Gas, result.GasUsed
	threshold := result.GasUsed / 10
	for range estimateRounds {
		if low+1 >= high {
			break
		}
		try := m
		try.Gas = low + (high-low)/2
		r, err := s.run(try)
		if err != nil {
			return nil, err
		}
		if r.Failed() {
			low = try.Gas
		} else {
			high = try.Gas
			if max(last, try.Gas)-min(last, try.Gas) < threshold {
				break
			}
		}
		last = try.Gas
	}
	result.GasUsed = high
	return result, nil
}
