package ledger

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

const second = int64(time.Second)

// MaxTimestamp is the latest representable instant.
const MaxTimestamp = Timestamp(math.MaxInt64)

// Timestamp is an instant in nanoseconds since the Unix epoch. Consensus timestamps are unique, so a timestamp
// identifies a transaction.
type Timestamp int64

// TimestampOf returns the instant of t, which must lie between the years 1678 and 2262. Other instants overflow.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixNano()) }

// Time returns the instant in UTC.
func (t Timestamp) Time() time.Time { return time.Unix(0, int64(t)).UTC() }

// Age returns how long ago the timestamp was, or 0 if it is in the future, which means that a clock is wrong.
func (t Timestamp) Age(now time.Time) time.Duration { return max(0, now.Sub(t.Time())) }

// Append appends "seconds.nanoseconds" with nine digits of nanoseconds. An instant before 1970 is the negative of one
// after it: half a second before is "-0.500000000".
func (t Timestamp) Append(dst []byte) []byte { return t.appendWith(dst, '.') }

// appendWith appends seconds, a separator and nine digits of nanoseconds.
func (t Timestamp) appendWith(dst []byte, separator byte) []byte {
	if int64(t) >= second { // the nanoseconds already have all digits
		dst = append(strconv.AppendInt(dst, int64(t), 10), 0)
		point := len(dst) - len(".000000000")
		copy(dst[point+1:], dst[point:])
		dst[point] = separator
		return dst
	}
	sec, nanos := int64(t)/second, int64(t)%second
	if t < 0 {
		// A valid ledger has no negative timestamp, but a column can have one.
		dst = append(dst, '-')
		sec, nanos = -sec, -nanos
	}
	dst = strconv.AppendInt(dst, sec, 10)
	return appendNanos(append(dst, separator), nanos)
}

// String returns "seconds.nanoseconds".
func (t Timestamp) String() string { return string(t.Append(make([]byte, 0, 24))) }

// appendNanos appends the nine digits of nanoseconds n, which lies between 0 and 999,999,999.
func appendNanos(dst []byte, n int64) []byte {
	var b [9]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, b[:]...)
}

// Day is the start of a day in days since the Unix epoch, or null. It may be later than [MaxTimestamp]. It is not a
// [Null], because the graph supports one nullable type per scalar.
type Day struct {
	Days  int64
	Valid bool
}

const secondsPerDay = 86400

// Append appends the start of the day as "seconds.nanoseconds" with nine digits of nanoseconds. The day must not be
// null.
func (d Day) Append(dst []byte) []byte {
	if seconds := d.Days * secondsPerDay; seconds/secondsPerDay == d.Days { // no overflow
		dst = strconv.AppendInt(dst, seconds, 10)
	} else {
		dst = new(big.Int).Mul(big.NewInt(d.Days), big.NewInt(secondsPerDay)).Append(dst, 10)
	}
	return append(dst, ".000000000"...)
}

// ParseTimestamp parses one to ten digits of seconds, optionally followed by a point and one to nine digits of a
// fraction: "1.5" is one and a half seconds. Errors wrap [ErrSyntax] for malformed text and [ErrRange] for an instant
// after the year 2262.
func ParseTimestamp(s string) (Timestamp, error) {
	sec, frac, point := strings.Cut(s, ".")
	seconds, err := parseDigits(sec, 10)
	if err != nil {
		return 0, fmt.Errorf("timestamp %q: seconds: %w", s, err)
	}
	var nanos int64
	if point {
		if nanos, err = parseDigits(frac, 9); err != nil {
			return 0, fmt.Errorf("timestamp %q: fraction: %w", s, err)
		}
		for range 9 - len(frac) {
			nanos *= 10
		}
	}
	return joinTimestamp(seconds, nanos)
}

// ParseAnyTimestamp parses seconds since 1970 with up to nine decimals, an ISO 8601 date, which is its start in UTC,
// or an RFC 3339 time. Errors wrap [ErrSyntax] for malformed text and [ErrRange] for an instant before 1970 or after
// the year 2262.
func ParseAnyTimestamp(s string) (Timestamp, error) {
	if strings.Trim(s, ".0123456789") == "" {
		return ParseTimestamp(s)
	}
	layout := time.RFC3339Nano
	if len(s) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return 0, fmt.Errorf("timestamp %q is neither seconds since 1970 nor a time such as 2026-01-31T12:00:00Z: %w",
			s, ErrSyntax)
	}
	return joinTimestamp(t.Unix(), int64(t.Nanosecond()))
}

// joinTimestamp returns the instant with the given seconds and nanoseconds since 1970. It fails with [ErrRange]
// for an instant before 1970, one that does not fit into 64 bits, and nanoseconds of a second or more.
func joinTimestamp(seconds, nanos int64) (Timestamp, error) {
	switch {
	case seconds < 0 || nanos < 0 || nanos >= second:
		return 0, fmt.Errorf("%d seconds and %d nanoseconds are no instant since 1970: %w", seconds, nanos, ErrRange)
	case seconds > int64(MaxTimestamp)/second || seconds == int64(MaxTimestamp)/second &&
		nanos > int64(MaxTimestamp)%second:
		return 0, fmt.Errorf("instant %d.%09d is after %s: %w", seconds, nanos, MaxTimestamp, ErrRange)
	}
	return Timestamp(seconds*second + nanos), nil
}

// TimestampRange is the time range of a version, from From inclusive to To exclusive. A null To is open.
type TimestampRange struct {
	From Null[Timestamp]
	To   Null[Timestamp]
}
