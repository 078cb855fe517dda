package world

// AdvanceTo moves the clock forward. On the way, it adds the automatic transactions: the end of each staking period at midnight, followed by a balance
// snapshot, and exchange rates, hourly in the last day.
func (w *World) AdvanceTo(t int64) {
	for ; w.nextHour <= t-3*Second; w.nextHour += Hour {
		midnight := w.nextHour%Day == 0
		if !midnight && w.end-w.nextHour > 26*Hour {
			continue
		}
		w.automatic = true
		if midnight {
			w.clock = max(w.clock, w.nextHour)
			w.endStakingPeriod(w.nextHour)
		}
		w.clock = max(w.clock, w.nextHour+600_000_000)
		w.updateRates()
		if midnight && w.end-w.clock > 20*Minute {
			w.snapshot()
			w.clock += BlockTime + 100_000_000
		}
		w.automatic = false
	}
	w.clock = max(w.clock, t)
}

// AdvanceToAge moves the clock to a time before the end.
func (w *World) AdvanceToAge(d int64) { w.AdvanceTo(w.end - d) }
