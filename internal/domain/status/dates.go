package status

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// Date is a calendar date, YYYY-MM-DD.
type Date string

const dateLayout = "2006-01-02"

// DateOf returns the date of an instant in its zone.
func DateOf(t time.Time) Date { return Date(t.Format(dateLayout)) }

// ParseDate parses a date.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(dateLayout, s)
	if err != nil || t.Year() < 1 {
		return "", fmt.Errorf("%q is not a date such as 2026-01-31", s)
	}
	return DateOf(t), nil
}

// Start returns the first instant of the day in a zone, which is later than midnight if the clock skips midnight.
func (d Date) Start(zone *time.Location) time.Time {
	t, err := time.Parse(dateLayout, string(d))
	if err != nil {
		return time.Time{}
	}
	start := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, zone)
	if start.Day() != t.Day() { // time.Date returned an instant of the previous day for the skipped hour
		_, end := start.ZoneBounds()
		return end
	}
	return start
}

// Next returns the next day.
func (d Date) Next() Date {
	t, err := time.Parse(dateLayout, string(d))
	if err != nil {
		return d
	}
	return DateOf(t.AddDate(0, 0, 1))
}

// Milliseconds truncates an instant to the precision of the database.
func Milliseconds(t time.Time) time.Time { return t.Truncate(time.Millisecond) }

// LoadZone returns the time zone with an IANA name.
func LoadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is not a time zone such as Europe/Berlin", name)
	}
	return zone, nil
}

// AppendTime appends an instant in the format of documents: in the instant's zone, with three decimals. UTC has Z
// instead of an offset; other zones with an offset of zero have +00:00.
func AppendTime(dst []byte, t time.Time) []byte {
	switch t.Location().String() {
	case "UTC", "Etc/UTC":
		return t.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	default:
		return t.AppendFormat(dst, "2006-01-02T15:04:05.000-07:00")
	}
}

// localLayouts are the layouts of local times.
var localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// ParseTime parses an instant in RFC 3339, or a local time in a zone. It fails if the clock of the zone skips the
// local time, or shows it twice: then an offset is necessary.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return Milliseconds(t).In(zone), nil
	}
	for _, layout := range localLayouts {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch found := instants(wall, zone); len(found) {
		case 1:
			return found[0], nil
		case 0:
			return time.Time{},
				Errorf(BadInput,
					"%s does not exist in %s, where the clock skips it: use another time, or give the offset",
					text, zone)
		default:
			return time.Time{}, Errorf(BadInput, "%s occurs twice in %s: use %s or %s", text, zone, found[0].Format(
				time.RFC3339,
			), found[1].Format(time.RFC3339))
		}
	}
	return time.Time{}, Errorf(
		BadInput, "%q is not a time such as 2026-01-31T12:00, in the zone of the page, or 2026-01-31T12:00:00Z", text,
	)
}

// instants returns the instants at which the clock of a zone shows a wall time, which is given in UTC; earliest first.
// There are none if the clock skips it.
func instants(wall time.Time, zone *time.Location) []time.Time {
	var found []time.Time
	// before and after a change of the clock
	for _, around := range []time.Time{wall.Add(-36 * time.Hour), wall.Add(36 * time.Hour)} {
		_, offset := around.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		_, there := t.Zone()
		if there == offset && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	if len(found) == 2 && found[1].Before(found[0]) {
		found[0], found[1] = found[1], found[0]
	}
	return found
}

// maxOccurrences is the maximum number of times that a recurrence rule may produce. Each is published as a maintenance
// of its own.
const maxOccurrences = 60

// maxInterval is the maximum INTERVAL of a recurrence rule.
const maxInterval = 365

// Occurrences returns start and the times at which a recurrence rule (RFC 5545) repeats it, such as
// FREQ=WEEKLY;BYDAY=TU;COUNT=8. start is always the first, and COUNT includes it. Rules have FREQ (DAILY, WEEKLY or
// MONTHLY), INTERVAL, BYDAY, BYMONTHDAY, WKST, and either COUNT or UNTIL.
//
// All occurrences have the wall time of start in its zone. If a change of the clock skips that time, the occurrence is
// as much later as the clock skips. If the time occurs twice, the first is used.
func Occurrences(rule string, start time.Time) ([]time.Time, error) {
	o, until, err := parseRule(rule, start.Location())
	if err != nil {
		return nil, err
	}
	count := o.Count
	// The library only finds the days, in UTC. It leaves it to time.Date which of two offsets applies when the clock
	// changes.
	y, m, d := start.Date()
	h, minute, s := start.Clock()
	o.Count, o.Dtstart = 0, time.Date(y, m, d, h, minute, s, 0, time.UTC)
	r, err := rrule.NewRRule(*o)
	if err != nil {
		return nil, invalidRule(rule, "%v", err)
	}
	if !until.IsZero() && until.Before(start) {
		return nil, invalidRule(
			rule, "UNTIL is before the first occurrence, which starts at %s", start.Format(time.RFC3339),
		)
	}
	out := []time.Time{start}
	for next := r.Iterator(); len(out) != count; {
		day, ok := next()
		if !ok {
			break
		}
		at := wallTime(day, start)
		if !at.After(out[len(out)-1]) { // a day that a zone skips repeats the next one
			continue
		}
		if !until.IsZero() && at.After(until) {
			return out, nil
		}
		if len(out) == maxOccurrences {
			return nil, Errorf(
				BadInput, "%q has more than %d occurrences: give COUNT or an earlier UNTIL", rule, maxOccurrences,
			)
		}
		out = append(out, at)
	}
	if len(out) < count {
		return nil, Errorf(BadInput, "%q has only %d occurrences", rule, len(out))
	}
	return out, nil
}

// wallTime returns the instant on a day at which the clock in start's zone shows the same time as at start.
func wallTime(day, start time.Time) time.Time {
	h, m, s := start.Clock()
	wall := time.Date(day.Year(), day.Month(), day.Day(), h, m, s, start.Nanosecond(), time.UTC)
	if found := instants(wall, start.Location()); len(found) > 0 {
		return found[0]
	}
	_, before := wall.Add(-36 * time.Hour).In(start.Location()).Zone() // the clock skips this time
	return wall.Add(-time.Duration(before) * time.Second).In(start.Location())
}

// Values of the parts of a recurrence rule.
var (
	frequencies = map[string]rrule.Frequency{"DAILY": rrule.DAILY, "WEEKLY": rrule.WEEKLY, "MONTHLY": rrule.MONTHLY}
	weekdays    = map[string]rrule.Weekday{
		"MO": rrule.MO, "TU": rrule.TU, "WE": rrule.WE, "TH": rrule.TH, "FR": rrule.FR, "SA": rrule.SA, "SU": rrule.SU,
	}
)

// invalidRule returns the error for a rule with the reason why it is invalid.
func invalidRule(rule, format string, args ...any) error {
	return Errorf(BadInput, "the rule %q is invalid: "+format, append([]any{rule}, args...)...)
}

// parseRule parses a recurrence rule and checks it against the supported part of RFC 5545. UNTIL may be a local date.
func parseRule(text string, zone *time.Location) (o *rrule.ROption, until time.Time, err error) {
	o = &rrule.ROption{Freq: rrule.YEARLY}
	given := map[string]bool{}
	rule := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "RRULE:")
	if strings.Trim(rule, ";") == "" {
		rule = "FREQ="
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(rule, ";"), ";") {
		key, value, _ := strings.Cut(part, "=")
		if given[key] {
			return nil, time.Time{}, invalidRule(text, "%s is given twice", key)
		}
		given[key] = true
		if key == "UNTIL" {
			until, err = parseUntil(value, zone)
		} else {
			err = readPart(o, key, value)
		}
		if err != nil {
			return nil, time.Time{}, invalidRule(text, "%.40s: %v", part, err)
		}
	}
	numbered := slices.ContainsFunc(o.Byweekday, func(d rrule.Weekday) bool { return d.N() != 0 })
	switch {
	case !given["FREQ"]:
		return nil, time.Time{}, invalidRule(text, "FREQ is missing, such as in FREQ=WEEKLY;BYDAY=TU;COUNT=8")
	case o.Freq != rrule.MONTHLY && (given["BYMONTHDAY"] || numbered):
		return nil, time.Time{}, invalidRule(text, "BYMONTHDAY and numbers in BYDAY require FREQ=MONTHLY")
	case given["BYDAY"] && given["BYMONTHDAY"]:
		return nil, time.Time{}, invalidRule(text, "it has both BYDAY and BYMONTHDAY")
	case given["COUNT"] == given["UNTIL"]:
		return nil, time.Time{}, invalidRule(
			text, "it needs either COUNT or UNTIL: all occurrences are published in advance",
		)
	}
	return o, until, nil
}

// readPart reads a part of a recurrence rule other than UNTIL.
func readPart(o *rrule.ROption, key, value string) (err error) {
	var known bool
	switch key {
	case "FREQ":
		if o.Freq, known = frequencies[value]; !known {
			err = errors.New("it must be DAILY, WEEKLY or MONTHLY")
		}
	case "WKST":
		if o.Wkst, known = weekdays[value]; !known {
			err = errors.New("it must be a day such as MO")
		}
	case "INTERVAL":
		o.Interval, err = ruleNumber(value, 1, maxInterval)
	case "COUNT":
		o.Count, err = ruleNumber(value, 1, maxOccurrences)
	case "BYMONTHDAY":
		for day := range strings.SplitSeq(value, ",") {
			n, invalid := signedNumber(day, 31)
			o.Bymonthday, err = append(o.Bymonthday, n), errors.Join(err, invalid)
		}
	case "BYDAY":
		for day := range strings.SplitSeq(value, ",") {
			d, invalid := parseWeekday(day)
			o.Byweekday, err = append(o.Byweekday, d), errors.Join(err, invalid)
		}
	default:
		err = errors.New("rules have FREQ, INTERVAL, BYDAY, BYMONTHDAY, WKST, and COUNT or UNTIL")
	}
	return err
}

// parseWeekday parses a day such as TU, 1TU or -1FR. The number counts the days in the month, from the end if it is
// negative.
func parseWeekday(text string) (rrule.Weekday, error) {
	name := text[max(len(text)-2, 0):]
	day, known := weekdays[name]
	if !known {
		return day, errors.New("days are MO, TU, WE, TH, FR, SA and SU")
	}
	digits := strings.TrimSuffix(text, name)
	if digits == "" {
		return day, nil
	}
	n, err := signedNumber(digits, 5)
	return day.Nth(n), err
}

// signedNumber parses a number from -most to most except 0.
func signedNumber(text string, most int) (int, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
	n, err := ruleNumber(digits, 1, most)
	if err != nil || len(text)-len(digits) > 1 {
		return 0, fmt.Errorf("numbers are 1 to %d, or -1 to -%d from the end of the month", most, most)
	}
	if text[0] == '-' {
		return -n, nil
	}
	return n, nil
}

// ruleNumber parses a number without sign.
func ruleNumber(text string, least, most int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || int(n) < least || int(n) > most {
		return 0, fmt.Errorf("it must be a number from %d to %d", least, most)
	}
	return int(n), nil
}

// parseUntil parses the last instant at which an occurrence may start. A date includes the whole day.
func parseUntil(value string, zone *time.Location) (until time.Time, err error) {
	if until, err = time.Parse("20060102T150405Z", value); err == nil {
		return until, nil
	}
	if until, err = time.ParseInLocation("20060102T150405", value, zone); err == nil {
		return until, nil
	}
	if until, err = time.ParseInLocation("20060102", strings.ReplaceAll(value, "-", ""), zone); err != nil {
		return time.Time{}, errors.New(
			"it must be a date such as 20260131, or a time such as 20260131T120000 or 20260131T110000Z",
		)
	}
	return until.AddDate(0, 0, 1).Add(-time.Nanosecond), nil
}
