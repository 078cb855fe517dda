package status

import "time"

// Weights of outages: a second in a partial outage counts as 0.3 seconds of downtime.
const (
	majorWeight   = 1.0
	partialWeight = 0.3
)

// Uptime is the uptime of a component over a number of days.
type Uptime struct {
	Percent float64
	Days    []*UptimeDay
}

// UptimeDay is the uptime of a component on one day in the zone of its page.
type UptimeDay struct {
	Date    Date
	Percent float64
	// Worst is the worst status of the day. WorstShown is that status in the vocabulary of the page.
	Worst      ComponentStatus
	WorstShown ComponentStatus
	// The seconds in each status other than operational. Degraded performance and maintenance do not count as downtime.
	OutageSeconds      int32
	PartialSeconds     int32
	DegradedSeconds    int32
	MaintenanceSeconds int32

	length float64 // elapsed seconds
	down   float64
}

// UptimeOf returns the uptime of a component over the last days, including today until now. Days before start and days without a known status are omitted,
// and times without one are not counted.
func UptimeOf(history []HistoryPoint, start Date, days int, now time.Time, v Vocabulary) *Uptime {
	zone := now.Location()
	first := DateOf(time.Date(now.Year(), now.Month(), now.Day()-days+1, 12, 0, 0, 0, zone))
	first = max(first, start) // dates sort as strings
	u := &Uptime{Percent: 100}
	var state ComponentStatus
	var length, down float64
	for day := first; day <= DateOf(now); day = day.Next() {
		d := &UptimeDay{Date: day, Percent: 100}
		state, history = d.fill(state, history, day.Start(zone), earlier(day.Next().Start(zone), now))
		if d.Worst == "" {
			continue
		}
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

// fill adds up a day from its start to its end. It returns the status at the end and the remaining history.
func (d *UptimeDay) fill(state ComponentStatus, history []HistoryPoint, from, to time.Time) (ComponentStatus, []HistoryPoint) {
	seconds := map[ComponentStatus]float64{}
	for len(history) > 0 && !history[0].At.After(from) {
		state, history = history[0].Status, history[1:]
	}
	d.Worst = state
	for len(history) > 0 && history[0].At.Before(to) {
		seconds[state] += history[0].At.Sub(from).Seconds()
		from, state, history = history[0].At, history[0].Status, history[1:]
		d.Worst = Worst(d.Worst, state)
	}
	seconds[state] += max(0, to.Sub(from).Seconds())
	for s, n := range seconds {
		if s != "" {
			d.length += n
		}
	}
	d.down = majorWeight*seconds[MajorOutage] + partialWeight*seconds[PartialOutage]
	d.OutageSeconds, d.PartialSeconds = int32(seconds[MajorOutage]), int32(seconds[PartialOutage])
	d.DegradedSeconds, d.MaintenanceSeconds = int32(seconds[DegradedPerformance]), int32(seconds[UnderMaintenance])
	return state, history
}
