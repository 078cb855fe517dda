package evm

// estimateRounds is how many times at most a message runs with gas that is tried out.
const estimateRounds = 20

// Estimate finds how much gas a message needs, by running it with less and less between what it used and what it was given. The estimate is
// above the need, by a tenth or so, because the search ends early. A message that fails with all its gas has no estimate: its failure is
// returned as Call would. Otherwise the result is that of the first run, with the estimate instead of the gas used.
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
