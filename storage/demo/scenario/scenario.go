// Package scenario is what happens in the demo network: the accounts, what they do, and when. It adds transactions to
// a [world.World] in memory. The embedded script calls the exported methods of [Scenario] by name. Its random choices
// are the same in each run. Steps that fail are reported by [world.World.Err].
package scenario

import (
	"math/rand/v2"
	"slices"

	"heliograph/storage/demo/world"
)

// Scenario is the demo network with the accounts that have no constants.
type Scenario struct {
	*world.World
	residents []int64
	holders   map[int64][]int64 // of fungible tokens
	due       []int64           // times of everyday transactions to come
	yearRand  *rand.Rand
	results   map[string]int64 // by their names in the story
}

// New plays the story of the demo network in memory, for package demodb, which stores the rows in the database. The
// last transaction is at end, a consensus time in nanoseconds. If a step fails, New returns the first error and no
// scenario.
func New(end int64) (*Scenario, error) {
	l, err := world.New(end)
	if err != nil {
		return nil, err
	}
	w := &Scenario{World: l, holders: map[int64][]int64{}, results: map[string]int64{}}
	w.planYear()
	w.play(section("history"))
	w.lastTenMinutes()
	w.Finish()
	if err := w.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// Continue adds a live block that ends at a consensus time, in memory. It contains at least a payment, a contract call
// with logs and a message. The rows of earlier blocks must have been discarded. Errors are in [world.World.Err].
func (w *Scenario) Continue(end int64) {
	w.AddBlock(end, func() {
		w.grant()
		w.play("Pay <2 residents>")
		w.results["from"], w.results["to"] = w.pickTwo(coinHolders)
		w.playOne(emitLog)
		for range w.Pick(3) {
			w.Everyday()
		}
	}, func() { w.play(`SubmitText KeepersChat <Walter|Alice|Bob|Heidi|Erin|Frank> "<chat>"`) })
}

// Everyday life has a rhythm of hours and weekdays, by the clock and calendar of the town: the scenario ends at noon.
// The rhythm does not depend on the time of the load, so that the transactions do not either.
var (
	busyHours = [24]int64{1, 1, 1, 1, 2, 4, 7, 10, 9, 7, 6, 8, 11, 9, 7, 6, 7, 9, 13, 14, 10, 6, 3, 2}
	busyDays  = [7]int64{10, 9, 10, 11, 14, 7, 4}
)

const (
	yearAge       = 365 * world.Day
	quietEnd      = 3 * world.Hour // age of the last everyday transaction of the year
	activityOfOne = 400            // activity that makes one transaction
)

// planYear sets w.due, the times of the everyday transactions of the year, and w.yearRand, the random numbers that
// they use. Each hour has an activity, by its hour and weekday, which grows with the town, is higher in regattas and
// lower in storms, and varies by 30 %. Each [activityOfOne] of it makes one transaction, and the rest counts for the
// next hour.
func (w *Scenario) planYear() {
	w.yearRand = rand.New(rand.NewPCG(20_26, 11_22))
	activity := int64(0)
	for age := yearAge; age > quietEnd; age -= world.Hour {
		day := age / world.Day
		level := busyHours[(36-age/world.Hour%24)%24] * busyDays[day%7] * (505 - day) / 100 // the town grows
		switch {
		case day%91 < 3: // regatta
			level *= 4
		case day%37 < 2: // storm: the harbour is closed
			level /= 5
		}
		for activity += level * (70 +
			w.yearRand.Int64N(60)) / 100; activity > activityOfOne; activity -= activityOfOne {
			w.due = append(w.due, w.End()-age+w.yearRand.Int64N(world.Hour))
		}
	}
	slices.Sort(w.due)
}

// liveUntil moves the clock forward to t, never backward. On the way, it adds the everyday transactions of the year
// that are due, and removes them from w.due. These use the random numbers of the year, so that they do not affect
// those of other transactions.
func (w *Scenario) liveUntil(t int64) {
	for ; len(w.due) > 0 && w.due[0] < t; w.due = w.due[1:] {
		w.AdvanceTo(w.due[0])
		w.PickFrom(w.yearRand, w.addOrdinaryEvent)
	}
	w.AdvanceTo(t)
}

// busy returns a random member of a list, which must not be empty. The first ones are picked most often.
func (w *Scenario) busy(list []int64) int64 {
	n := int64(len(list))
	a := w.Pick(n)
	return list[a*a/n*w.Pick(n)/n]
}

// addOrdinaryEvent adds one of the most common transactions, between two residents, who can be the same. It sets the
// results from and to, which the lines of the script use.
func (w *Scenario) addOrdinaryEvent() {
	w.results["from"], w.results["to"] = w.busy(w.residents), w.residents[w.Pick(int64(len(w.residents)))]
	w.playOne(ordinary)
}
