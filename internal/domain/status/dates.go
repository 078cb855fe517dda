package status

import (
	"fmt"
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
