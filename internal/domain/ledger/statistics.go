package ledger

import (
	"fmt"
	"time"
)

// MaxPeriods is the maximum number of periods of statistics.
const MaxPeriods = 1000

// Periods returns the bounds of the periods in a range, in ascending order: the start of the range, the starts of all periods in it, and its end, which is
// until if the range has none. It fails for empty ranges and more than [MaxPeriods] periods.
func (r StatisticsRange) Periods(by StatisticsInterval, until Timestamp) ([]Timestamp, error) {
	if r.To != nil {
		until = *r.To
	}
	if r.From < 0 || r.From >= until {
		return nil, fmt.Errorf("the range from %s to %s is empty", r.From, until)
	}
	bounds := []Timestamp{r.From}
	for next := r.From; len(bounds) <= MaxPeriods; bounds = append(bounds, next) {
		if next = by.after(next); next >= until || next < r.From { // or after the latest timestamp
			return append(bounds, until), nil
		}
	}
	return nil, fmt.Errorf("the range has more than %d periods: use a shorter range or longer periods", MaxPeriods)
}

// after returns the start of the next period.
func (i StatisticsInterval) after(t Timestamp) Timestamp {
	at := t.Time()
	year, month, day := at.Date()
	switch i {
	case IntervalHour:
		return TimestampOf(at.Truncate(time.Hour).Add(time.Hour))
	case IntervalDay:
		day++
	case IntervalWeek:
		day += 7 - (int(at.Weekday())+6)%7
	case IntervalMonth:
		month, day = month+1, 1
	}
	return TimestampOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}
