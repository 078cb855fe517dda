package status

import (
	"maps"
	"slices"
	"time"

	"heliograph/internal/domain/ledger"
)

// Weights of outages: a second in a partial outage counts as 0.3 seconds of downtime.
const (
	majorWeight   = 1.0
	partialWeight = 0.3
)

// UptimeOf returns the uptime of a component in percent, in total and by day, over a number of days of which today
// until now is the last. The zone of now determines the days, and v the statuses that are shown. Days before start and
// days without a known status are omitted, and times without one are not counted. If nothing is known, it is 100.
// history is in ascending order.
func UptimeOf(history []HistoryPoint, start Date, days int, now time.Time, v Vocabulary) *Uptime {
	zone := now.Location()
	first := DateOf(time.Date(now.Year(), now.Month(), now.Day()-days+1, 12, 0, 0, 0, zone))
	first = max(first, start) // dates sort as strings
	u := &Uptime{Percent: 100}
	var state ComponentStatus
	var length, down float64
	for day := first; day <= DateOf(now); day = day.Next() {
		d := &UptimeDay{Date: day, Percent: 100}
		end := slices.MinFunc([]time.Time{day.Next().Start(zone), now}, time.Time.Compare)
		state, history = d.fill(state, history, day.Start(zone), end)
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

// fill sets the seconds and the worst status of the day from its start to its end. state is the status before
// history, which is in ascending order, or empty if it is unknown: such times are not counted. It returns the status
// at the end and the remaining history. d must be new.
func (d *UptimeDay) fill(
	state ComponentStatus, history []HistoryPoint, from, to time.Time,
) (ComponentStatus, []HistoryPoint) {
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

// HistoryEvent is what an update of a published notice states of a component, or a change of a component's status
// without an update.
type HistoryEvent struct {
	Component string // code
	Notice    string // code; empty for a change without an update
	Update    string // code; empty for a change without an update
	State     State  // of the notice; empty for a change without an update
	CreatedAt time.Time
	DisplayAt ledger.Null[time.Time]
	// Old and New are the statuses before and after, or empty if the update ends the notice without mentioning the
	// component.
	Old, New ComponentStatus

	at time.Time
}

// HistoryPoint is the status of a component from an instant on, or empty if it is not known.
type HistoryPoint struct {
	At     time.Time
	Status ComponentStatus
}

// HistoryOf returns the known statuses of a component, oldest first, at least one. events are in the order of their
// creation; they apply from the time that is displayed, which it writes into them. The component was operational since
// an instant, except where events state another status. Before that instant, only notices are known. now is the
// current status with the time of its last change, for changes that no event states; its status may be empty.
//
// Updates state the status that results from all notices that were open when they were written. Notices that were
// written afterwards, and those that they overlap, state other statuses: then the worst counts.
func HistoryOf(events []*HistoryEvent, since time.Time, now HistoryPoint) []HistoryPoint {
	last := map[string]time.Time{}
	for _, e := range events {
		e.at = e.DisplayAt.Or(e.CreatedAt)
		if e.Notice != "" && e.at.Before(last[e.Notice]) { // displayed before the previous update
			e.at = last[e.Notice]
		}
		last[e.Notice] = e.at
	}
	events = slices.SortedStableFunc(slices.Values(append(slices.Clone(events), &HistoryEvent{at: since})),
		func(a, b *HistoryEvent) int { return a.at.Compare(b.at) })
	h := history{base: Operational, held: map[string]ComponentStatus{}}
	var out []HistoryPoint
	for _, e := range events {
		if e.New != "" || e.State != "" {
			h.apply(e)
		}
		s := h.status()
		if e.at.Before(since) && len(h.held) == 0 {
			s = ""
		}
		if n := len(out); n > 0 && out[n-1].At.Equal(e.at) {
			out[n-1].Status = s
		} else if n == 0 || out[n-1].Status != s {
			out = append(out, HistoryPoint{e.at, s})
		}
	}
	if last := out[len(out)-1]; now.Status != "" && now.Status != last.Status {
		out = append(out, HistoryPoint{later(now.At, last.At.Add(time.Millisecond)), now.Status})
	}
	return out
}

// later returns the later of two instants.
func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// history is the status of a component at an instant.
type history struct {
	base ComponentStatus
	held map[string]ComponentStatus // statuses that notices gave to the component, by notice
}

// status returns the status of the component: the worst of the base status and the statuses that notices hold.
func (h *history) status() ComponentStatus {
	return Worst(append(slices.Collect(maps.Values(h.held)), h.base)...)
}

// apply applies an event to the base status and the statuses that notices hold. Events of imported pages do not say
// which of them they change, so it is derived from the old status: an event whose old status is not the known one was
// written later or overlaps with others, and only changes what its own notice holds, or the base status if it has no
// notice.
func (h *history) apply(e *HistoryEvent) {
	// current reports whether the event is about the known status
	current, own := e.Old == h.status(), h.held[e.Notice]
	switch {
	case e.Notice == "":
		h.base = e.New
	case !e.State.Open():
		delete(h.held, e.Notice)
	case e.New.WorseThan(e.Old):
		h.held[e.Notice] = e.New
	case current && own != e.Old, e.New == Operational:
		delete(h.held, e.Notice)
	case own.WorseThan(e.New):
		h.held[e.Notice] = e.New
	}
	if !current || e.New == "" {
		return
	}
	if own != e.Old && e.Old.WorseThan(e.New) { // a status that this notice did not give is over
		maps.DeleteFunc(h.held, func(_ string, s ComponentStatus) bool { return s.WorseThan(e.New) })
		if h.base.WorseThan(e.New) {
			h.base = e.New
		}
	}
	if e.New.WorseThan(h.status()) {
		h.base = e.New
	}
}
