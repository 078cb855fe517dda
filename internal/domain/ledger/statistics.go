package ledger

import (
	"fmt"
	"time"
)

// StatisticsInterval is the length of the periods of statistics.
type StatisticsInterval string

// The intervals. Periods begin at full hours, midnight, midnight of a Monday or of the first day of a month, in UTC.
const (
	Hourly  StatisticsInterval = "HOUR"
	Daily   StatisticsInterval = "DAY"
	Weekly  StatisticsInterval = "WEEK"
	Monthly StatisticsInterval = "MONTH"
)

// StatisticsRange is a range of time. To is exclusive.
type StatisticsRange struct {
	From Timestamp
	To   *Timestamp
}

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
	case Hourly:
		return TimestampOf(at.Truncate(time.Hour).Add(time.Hour))
	case Daily:
		day++
	case Weekly:
		day += 7 - (int(at.Weekday())+6)%7
	case Monthly:
		month, day = month+1, 1
	}
	return TimestampOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// NetworkStatistics counts what the network did in a period.
type NetworkStatistics struct {
	From, To                      Timestamp
	Blocks, Transactions, GasUsed int64
}

// AccountStatistics counts what an account did in a period. Sums that exceed 64 bits are null.
type AccountStatistics struct {
	From, To       Timestamp
	Transactions   int64
	Received, Sent Null[int64]
	Rewards        int64
}

// TopicStatistics counts the messages of a topic in a period.
type TopicStatistics struct {
	From, To Timestamp
	Messages int64
}

// ContractStatistics counts the results of a contract in a period.
type ContractStatistics struct {
	From, To       Timestamp
	Calls, GasUsed int64
}

// TokenStatistics counts the transfers of a fungible token in a period. A sum that exceeds 64 bits is null.
type TokenStatistics struct {
	From, To  Timestamp
	Transfers int64
	Volume    Null[int64]
}
