package status

import (
	"fmt"
	"strings"
	"time"
)

// Date is a calendar date, YYYY-MM-DD.
type Date string

// dateLayout is the layout of dates.
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
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is not a time zone such as Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is not a time zone such as Europe/Berlin", name)
	}
	return zone, nil
}

// AppendTime appends an instant in the format of documents: in the instant's zone, with three decimals. UTC has Z instead of an offset; other zones with an
// offset of zero have +00:00.
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

// ParseTime parses an instant in RFC 3339, or a local time in a zone. It fails if the clock of the zone skips the local time, or shows it twice: then an
// offset is necessary.
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
			return time.Time{}, Errorf(BadInput, "%s does not exist in %s, where the clock skips it: use another time, or give the offset", text, zone)
		default:
			return time.Time{}, Errorf(BadInput, "%s occurs twice in %s: use %s or %s", text, zone, found[0].Format(time.RFC3339), found[1].Format(time.RFC3339))
		}
	}
	return time.Time{}, Errorf(BadInput, "%q is not a time such as 2026-01-31T12:00, in the zone of the page, or 2026-01-31T12:00:00Z", text)
}

// instants returns the instants at which the clock of a zone shows a wall time, which is given in UTC; earliest first. There are none if the clock skips it.
func instants(wall time.Time, zone *time.Location) []time.Time {
	var found []time.Time
	for _, around := range []time.Time{wall.Add(-36 * time.Hour), wall.Add(36 * time.Hour)} { // before and after a change of the clock
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
