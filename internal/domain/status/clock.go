package status

import (
	"fmt"
	"time"
)

// Date is a day of the calendar, YYYY-MM-DD.
type Date string

// dateLayout is how days are written.
const dateLayout = "2006-01-02"

// DateOf is the day of an instant in the instant's zone.
func DateOf(t time.Time) Date { return Date(t.Format(dateLayout)) }

// ParseDate reads a day.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(dateLayout, s)
	if err != nil || t.Year() < 1 {
		return "", fmt.Errorf("%q is no day such as 2026-01-31", s)
	}
	return DateOf(t), nil
}

// Start is the first instant of the day in a zone. Where the clock skips midnight, it is the first after that.
func (d Date) Start(zone *time.Location) time.Time {
	t, err := time.Parse(dateLayout, string(d))
	if err != nil {
		return time.Time{}
	}
	start := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, zone)
	if start.Day() != t.Day() { // time.Date went to the day before, on which the skipped hour would be
		_, end := start.ZoneBounds()
		return end
	}
	return start
}

// Next is the day after.
func (d Date) Next() Date {
	t, err := time.Parse(dateLayout, string(d))
	if err != nil {
		return d
	}
	return DateOf(t.AddDate(0, 0, 1))
}

// Milliseconds cuts an instant to what the database keeps of it.
func Milliseconds(t time.Time) time.Time { return t.Truncate(time.Millisecond) }

// LoadZone returns the zone of an IANA name.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone such as Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone such as Europe/Berlin", name)
	}
	return zone, nil
}

// AppendTime writes an instant as documents do: in the instant's own zone, with three decimals. UTC by name has Z in place of an offset; a zone
// that happens to have none at the moment has +00:00.
func AppendTime(dst []byte, t time.Time) []byte {
	switch t.Location().String() {
	case "UTC", "Etc/UTC":
		return t.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	default:
		return t.AppendFormat(dst, "2006-01-02T15:04:05.000-07:00")
	}
}
