package status

import "time"

// Weights of a second in a state, as a share of a second down.
const (
	majorWeight   = 1.0
	partialWeight = 0.3
)

// Uptime is how much of some days a component was up.
type Uptime struct {
	Percent float64
	Days    []*UptimeDay
}

// UptimeDay is how a component was on one day in the zone of its page.
type UptimeDay struct {
	Date    Date
	Percent float64
	// Worst is the worst state of the day, and WorstShown in the vocabulary of the page.
	Worst      ComponentStatus
	WorstShown ComponentStatus
	// The seconds in which it was in a state. Of the other states, none counts as down.
	OutageSeconds      int32
	PartialSeconds     int32
	DegradedSeconds    int32
	MaintenanceSeconds int32

	length float64 // in seconds, of what is over
	down   float64
}

// UptimeOf is how much a component was up on the last days, today included, as far as it is over at now. Days before start are absent. changes are all of
// the component's, the oldest first; before the first one it was in that change's old state, or operational where that is not known. Without any change it
// was as it is now, which current says.
func UptimeOf(changes []*Change, current ComponentStatus, start Date, days int, now time.Time, v Vocabulary) *Uptime {
	zone := now.Location()
	first := DateOf(time.Date(now.Year(), now.Month(), now.Day()-days+1, 12, 0, 0, 0, zone))
	first = max(first, start) // the form of days sorts as they do
	u := &Uptime{Percent: 100}
	state := current
	if len(changes) > 0 {
		if state = changes[0].OldStatus; state == "" {
			state = Operational
		}
	}
	var length, down float64
	for day := first; day <= DateOf(now); day = day.Next() {
		d := &UptimeDay{Date: day, Percent: 100}
		state, changes = d.fill(state, changes, day.Start(zone), earlier(day.Next().Start(zone), now))
		d.WorstShown = d.Worst.Shown(v)
		if d.length > 0 {
			d.Percent = 100 * (1 - d.down/d.length)
		}
		length, down = length+d.length, down+d.down
		u.Days = append(u.Days, d)
	}
	if length > 0 {
		u.Percent = 100 * (1 - down/length)
	}
	return u
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// fill adds up a day from its start to its end, and returns the state at the end and the changes after it.
func (d *UptimeDay) fill(state ComponentStatus, changes []*Change, from, to time.Time) (ComponentStatus, []*Change) {
	seconds := map[ComponentStatus]float64{}
	for len(changes) > 0 && !changes[0].At.After(from) {
		state, changes = changes[0].NewStatus, changes[1:]
	}
	d.Worst = state
	for len(changes) > 0 && changes[0].At.Before(to) {
		seconds[state] += changes[0].At.Sub(from).Seconds()
		from, state, changes = changes[0].At, changes[0].NewStatus, changes[1:]
		d.Worst = Worst(d.Worst, state)
	}
	seconds[state] += max(0, to.Sub(from).Seconds())
	for _, s := range seconds {
		d.length += s
	}
	d.down = majorWeight*seconds[MajorOutage] + partialWeight*seconds[PartialOutage]
	d.OutageSeconds, d.PartialSeconds = int32(seconds[MajorOutage]), int32(seconds[PartialOutage])
	d.DegradedSeconds, d.MaintenanceSeconds = int32(seconds[DegradedPerformance]), int32(seconds[UnderMaintenance])
	return state, changes
}
