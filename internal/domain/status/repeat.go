package status

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostRepeats is how often something is repeated at most: each time is announced to readers as a notice of its own.
const mostRepeats = 60

// weekdays are the days of the week by the names that rules have.
func weekdays() map[string]time.Weekday {
	return map[string]time.Weekday{
		"SU": time.Sunday, "MO": time.Monday, "TU": time.Tuesday, "WE": time.Wednesday, "TH": time.Thursday, "FR": time.Friday, "SA": time.Saturday,
	}
}

// placedDay is a day of the week, in a month the place-th of its kind: 1 is the first one, -1 the last one, 0 every one.
type placedDay struct {
	place int
	day   time.Weekday
}

// rule is a rule of repetition: a part of RFC 5545.
type rule struct {
	unit     string // DAILY, WEEKLY or MONTHLY
	interval int
	count    int       // 0 where until bounds it
	until    time.Time // the last instant at which something may begin
	days     []placedDay
	monthDay []int // negative ones count from the end
}

// Repetitions are the instants at which something begins that begins first at start and is repeated as a rule says, such as FREQ=WEEKLY;BYDAY=TU;COUNT=8. The clock of
// start's zone shows the same time at all of them: a time that the clock skips is as much later as it skips, and of one that it shows twice it is the first. Rules
// have FREQ (DAILY, WEEKLY, MONTHLY), INTERVAL, BYDAY, BYMONTHDAY, and COUNT or UNTIL. The first one is start, whatever the rule says.
func Repetitions(text string, start time.Time) ([]time.Time, error) {
	r, err := parseRule(text, start.Location())
	if err != nil {
		return nil, err
	}
	out := []time.Time{start}
	year, month, day := start.Date()
	// Periods are looked at one after the other; none is longer than a month, so that this ends.
	const mostPeriods = 2000
	for period := range mostPeriods {
		for _, d := range r.daysOf(year, month, day, period*r.interval) {
			next := wallTime(d, start)
			switch {
			case !next.After(start):
				continue
			case !r.until.IsZero() && next.After(r.until):
				return out, nil
			}
			if out = append(out, next); len(out) > mostRepeats {
				return nil, Refuse(BadInput, "%q gives more than %d times: say COUNT or an earlier UNTIL", text, mostRepeats)
			}
			if len(out) == r.count {
				return out, nil
			}
		}
		if r.count == 1 {
			return out, nil
		}
	}
	if r.count > 0 {
		return nil, Refuse(BadInput, "%q gives only %d times", text, len(out))
	}
	return out, nil
}

// daysOf are the days of the n-th period after that of a day, at noon UTC, in order.
func (r *rule) daysOf(year int, month time.Month, day, n int) []time.Time {
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 12, 0, 0, 0, time.UTC) }
	first := at(year, month, day)
	var out []time.Time
	switch r.unit {
	case "DAILY":
		d := first.AddDate(0, 0, n)
		if len(r.days) == 0 || slices.ContainsFunc(r.days, func(p placedDay) bool { return p.day == d.Weekday() }) {
			out = append(out, d)
		}
	case "WEEKLY":
		if len(r.days) == 0 {
			return []time.Time{first.AddDate(0, 0, 7*n)}
		}
		monday := first.AddDate(0, 0, 7*n-(int(first.Weekday())+6)%7)
		for i := range 7 {
			d := monday.AddDate(0, 0, i)
			if slices.ContainsFunc(r.days, func(p placedDay) bool { return p.day == d.Weekday() }) {
				out = append(out, d)
			}
		}
	default:
		begin := at(year, month+time.Month(n), 1)
		last := begin.AddDate(0, 1, -1).Day()
		for i := 1; i <= last; i++ {
			d := begin.AddDate(0, 0, i-1)
			if r.inMonth(d, i, last, day) {
				out = append(out, d)
			}
		}
	}
	return out
}

// inMonth tells whether a monthly rule has a day, the i-th of a month with so many days. Without days of its own a rule has the day of the first time.
func (r *rule) inMonth(d time.Time, i, last, first int) bool {
	if len(r.days) == 0 && len(r.monthDay) == 0 {
		return i == first
	}
	for _, m := range r.monthDay {
		if m == i || m == i-last-1 {
			return true
		}
	}
	for _, p := range r.days {
		if p.day == d.Weekday() && (p.place == 0 || p.place == (i+6)/7 || p.place == -((last-i)/7+1)) {
			return true
		}
	}
	return false
}

// wallTime is the instant of a day at which the clock shows what it shows at start.
func wallTime(day, start time.Time) time.Time {
	h, m, s := start.Clock()
	wall := time.Date(day.Year(), day.Month(), day.Day(), h, m, s, start.Nanosecond(), time.UTC)
	if found := instants(wall, start.Location()); len(found) > 0 {
		return found[0]
	}
	_, before := wall.Add(-36 * time.Hour).In(start.Location()).Zone() // the clock skips it
	return wall.Add(-time.Duration(before) * time.Second).In(start.Location())
}

// parseRule reads a rule.
func parseRule(text string, zone *time.Location) (*rule, error) {
	r := &rule{interval: 1}
	no := func() error {
		return Refuse(BadInput, "%q is no rule such as FREQ=WEEKLY;BYDAY=TU;COUNT=8: there are FREQ (DAILY, WEEKLY, MONTHLY), INTERVAL, BYDAY, BYMONTHDAY, and COUNT or UNTIL", text)
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "RRULE:"), ";") {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] || !r.set(key, value, zone) {
			return nil, no()
		}
		seen[key] = true
	}
	placed := slices.ContainsFunc(r.days, func(p placedDay) bool { return p.place != 0 })
	switch {
	case r.unit == "", len(r.monthDay) > 0 && r.unit != "MONTHLY", placed && r.unit != "MONTHLY", len(r.days) > 0 && len(r.monthDay) > 0:
		return nil, no()
	case (r.count > 0) == !r.until.IsZero():
		return nil, Refuse(BadInput, "%q needs either COUNT or UNTIL: all times are announced ahead", text)
	}
	return r, nil
}

// set reads a part of a rule and tells whether it could.
func (r *rule) set(key, value string, zone *time.Location) bool {
	var err error
	switch key {
	case "FREQ":
		r.unit = value
		return slices.Contains([]string{"DAILY", "WEEKLY", "MONTHLY"}, value)
	case "INTERVAL":
		r.interval, err = strconv.Atoi(value)
		return err == nil && r.interval >= 1 && r.interval <= 365
	case "COUNT":
		r.count, err = strconv.Atoi(value)
		return err == nil && r.count >= 1 && r.count <= mostRepeats
	case "UNTIL":
		for _, layout := range []string{"20060102T150405Z", "20060102T150405", "20060102", "2006-01-02"} {
			in := zone
			if strings.HasSuffix(layout, "Z") {
				in = time.UTC
			}
			if r.until, err = time.ParseInLocation(layout, value, in); err != nil {
				continue
			}
			if len(layout) <= len("2006-01-02") { // the whole day
				r.until = r.until.AddDate(0, 0, 1).Add(-time.Nanosecond)
			}
			return true
		}
		return false
	case "BYDAY":
		for item := range strings.SplitSeq(value, ",") {
			if len(item) < 2 {
				return false
			}
			day, known := weekdays()[item[len(item)-2:]]
			p := placedDay{day: day}
			if place := item[:len(item)-2]; place != "" {
				p.place, err = strconv.Atoi(place)
			}
			if !known || err != nil || p.place < -5 || p.place > 5 {
				return false
			}
			r.days = append(r.days, p)
		}
		return true
	case "BYMONTHDAY":
		for item := range strings.SplitSeq(value, ",") {
			n, err := strconv.Atoi(item)
			if err != nil || n == 0 || n < -31 || n > 31 {
				return false
			}
			r.monthDay = append(r.monthDay, n)
		}
		return true
	default:
		return false
	}
}
