package status

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// Date is a calendar date, YYYY-MM-DD.
type Date string

const dateLayout = "2006-01-02"

// DateOf returns the date of an instant in its zone.
func DateOf(t time.Time) Date { return Date(t.Format(dateLayout)) }

// ParseDate parses a date such as 2026-01-31. It fails for other text and for years before 1. The error is not an
// [*Error]: callers add the reason.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(dateLayout, s)
	if err != nil || t.Year() < 1 {
		return "", fmt.Errorf("%q is not a date such as 2026-01-31", s)
	}
	return DateOf(t), nil
}

// Start returns the first instant of the day in a zone, which is later than midnight if the clock skips midnight.
// An invalid date gives the zero time.
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

// Next returns the next day, or d itself if d is not a valid date.
func (d Date) Next() Date {
	t, err := time.Parse(dateLayout, string(d))
	if err != nil {
		return d
	}
	return DateOf(t.AddDate(0, 0, 1))
}

// Milliseconds truncates an instant to the precision of the database. The zone stays.
func Milliseconds(t time.Time) time.Time { return t.Truncate(time.Millisecond) }

// LoadZone returns the time zone with an IANA name. It fails for unknown and empty names and for "Local". The error
// is not an [*Error]: callers add the reason. It reads the time zone database of the system, or else of the program.
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

// ParseTime parses an instant in RFC 3339, or a local time in a zone, and returns it in that zone, truncated to
// milliseconds. It fails with [BadInput] for other text, and if the clock of the zone skips the local time, or shows
// it twice: then an offset is necessary.
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
			return Milliseconds(found[0]), nil
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

// instants returns the instants, at most two, at which the clock of a zone shows a wall time, which is given in UTC;
// earliest first. There are none if the clock skips it.
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

// Occurrences returns start and the times at which a recurrence rule (RFC 5545) repeats it, such as
// FREQ=WEEKLY;BYDAY=TU;COUNT=8. start is always the first, and COUNT includes it. Rules have FREQ (DAILY, WEEKLY or
// MONTHLY), INTERVAL, BYDAY, BYMONTHDAY, WKST, and either COUNT or UNTIL. It fails with [BadInput] for other rules, if
// UNTIL is before start, for more than maxOccurrences times, and if there are fewer than COUNT.
//
// All occurrences have the wall time of start in its zone. If a change of the clock skips that time, the occurrence is
// as much later as the clock skips. If the time occurs twice, the first is used.
func Occurrences(rule string, start time.Time) ([]time.Time, error) {
	o, err := parseRule(rule, start.Location())
	if err != nil {
		return nil, err
	}
	count, until := o.Count, o.Until
	// The library only finds the days, in UTC. It leaves it to time.Date which of two offsets applies when the clock
	// changes.
	y, m, d := start.Date()
	h, minute, s := start.Clock()
	o.Count, o.Until, o.Dtstart = 0, time.Time{}, time.Date(y, m, d, h, minute, s, 0, time.UTC)
	r, err := rrule.NewRRule(*o)
	if err != nil {
		return nil, invalidRule(true, rule, "%v", err)
	}
	err = invalidRule(!until.IsZero() && until.Before(start), rule,
		"UNTIL is before the first occurrence, which starts at %s", start.Format(time.RFC3339))
	if err != nil {
		return nil, err
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
	return out, badIf(len(out) < count, "%q has only %d occurrences", rule, len(out))
}

// wallTime returns the instant on a day at which the clock in start's zone shows the same time as at start: the first
// of two. If the clock skips that time, the instant is as much later as the clock skips.
func wallTime(day, start time.Time) time.Time {
	h, m, s := start.Clock()
	wall := time.Date(day.Year(), day.Month(), day.Day(), h, m, s, start.Nanosecond(), time.UTC)
	if found := instants(wall, start.Location()); len(found) > 0 {
		return found[0]
	}
	_, before := wall.Add(-36 * time.Hour).In(start.Location()).Zone() // the clock skips this time
	return wall.Add(-time.Duration(before) * time.Second).In(start.Location())
}

// ruleParts are the supported parts of a recurrence rule: the forms of their values, and what is wrong with others.
var ruleParts = map[string]struct{ form, problem string }{
	"FREQ":     {`DAILY|WEEKLY|MONTHLY`, "it must be DAILY, WEEKLY or MONTHLY"},
	"WKST":     {aDay, "it must be a day such as MO"},
	"INTERVAL": {`0*([1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])`, "it must be a number from 1 to 365"},
	"COUNT":    {`0*([1-9]|[1-5]\d|60)`, "it must be a number from 1 to 60"},
	"BYMONTHDAY": {
		listOf(`[+-]?0*([1-9]|[12]\d|3[01])`),
		"numbers are 1 to 31, or -1 to -31 from the end of the month",
	},
	"BYDAY": {
		listOf(`([+-]?0*[1-5])?` + aDay),
		"days are MO, TU, WE, TH, FR, SA and SU; their numbers are 1 to 5, or -1 to -5 from the end of the month",
	},
	"UNTIL": {
		`\d{8}(T\d{6}Z?)?|\d{4}-\d\d-\d\d`,
		"it must be a date such as 20260131, or a time such as 20260131T120000 or 20260131T110000Z",
	},
}

const aDay = `(MO|TU|WE|TH|FR|SA|SU)`

// listOf returns a regular expression, for [ruleParts], of one or more values separated by commas. form is the regular
// expression of one value.
func listOf(form string) string { return form + `(,` + form + `)*` }

// invalidRule returns a [BadInput] error for a rule with the reason why it is invalid, or nil unless condition
// holds.
func invalidRule(condition bool, rule, format string, args ...any) error {
	return badIf(condition, "the rule %q is invalid: "+format, append([]any{rule}, args...)...)
}

// parseRule parses a recurrence rule and checks it against [ruleParts]. UNTIL may be a local time in zone, and a date
// includes the whole day. All errors are [BadInput].
func parseRule(text string, zone *time.Location) (*rrule.ROption, error) {
	rule := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "RRULE:")
	if strings.Trim(rule, ";") == "" {
		rule = "FREQ="
	}
	given := map[string]string{}
	var parts []string
	for part := range strings.SplitSeq(strings.TrimSuffix(rule, ";"), ";") {
		key, value, _ := strings.Cut(part, "=")
		known, supported := ruleParts[key]
		if !supported {
			known.problem = "rules have FREQ, INTERVAL, BYDAY, BYMONTHDAY, WKST, and COUNT or UNTIL"
		}
		err := cmp.Or(invalidRule(given[key] != "", text, "%s is given twice", key),
			invalidRule(!supported || !regexp.MustCompile(`^(`+known.form+`)$`).MatchString(value), text, "%.40s: %s",
				part, known.problem))
		if err != nil {
			return nil, err
		}
		if given[key] = value; key == "UNTIL" {
			value = strings.ReplaceAll(value, "-", "")
		}
		parts = append(parts, key+"="+value)
	}
	numbered := given["BYMONTHDAY"] != "" || strings.ContainsAny(given["BYDAY"], "12345")
	err := cmp.Or(
		invalidRule(given["FREQ"] == "", text, "FREQ is missing, such as in FREQ=WEEKLY;BYDAY=TU;COUNT=8"),
		invalidRule(given["FREQ"] != "MONTHLY" && numbered, text,
			"BYMONTHDAY and numbers in BYDAY require FREQ=MONTHLY"),
		invalidRule(given["BYDAY"] != "" && given["BYMONTHDAY"] != "", text, "it has both BYDAY and BYMONTHDAY"),
		invalidRule((given["COUNT"] == "") == (given["UNTIL"] == ""), text,
			"it needs either COUNT or UNTIL: all occurrences are published in advance"),
	)
	if err != nil {
		return nil, err
	}
	o, err := rrule.StrToROptionInLocation(strings.Join(parts, ";"), zone)
	if err != nil {
		return nil, invalidRule(true, text, "%v", err)
	}
	if given["UNTIL"] != "" && !strings.Contains(given["UNTIL"], "T") {
		o.Until = o.Until.AddDate(0, 0, 1).Add(-time.Nanosecond)
	}
	return o, nil
}
