package ledger

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const second = int64(time.Second)

// MaxTimestamp is the latest instant that fits.
const MaxTimestamp = Timestamp(math.MaxInt64)

// Timestamp is an instant in nanoseconds since the Unix epoch. Consensus timestamps are unique over the whole network: one names a transaction.
type Timestamp int64

// TimestampOf returns the instant of t.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixNano()) }

// Time is the same instant in UTC.
func (t Timestamp) Time() time.Time { return time.Unix(0, int64(t)).UTC() }

// Append appends "seconds.nanoseconds" with nine digits of nanoseconds.
func (t Timestamp) Append(dst []byte) []byte {
	if t < 0 {
		// Only an instant before 1970 comes here; no valid ledger has one, but a column can.
		return fmt.Appendf(dst, "-%d.%09d", -(int64(t) / second), -(int64(t) % second))
	}
	dst = strconv.AppendInt(dst, int64(t)/second, 10)
	return appendNanos(append(dst, '.'), int64(t)%second)
}

// String is "seconds.nanoseconds".
func (t Timestamp) String() string { return string(t.Append(make([]byte, 0, 24))) }

// appendNanos appends nine digits.
func appendNanos(dst []byte, n int64) []byte {
	var b [9]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, b[:]...)
}

// ParseTimestamp reads seconds, optionally followed by a point and one to nine digits of a fraction: "1.5" is one and a half seconds.
// Ten digits of seconds are accepted; an instant after the year 2262 is [ErrRange].
func ParseTimestamp(s string) (Timestamp, error) {
	sec, frac, point := strings.Cut(s, ".")
	seconds, err := parseDigits(sec, 10)
	if err != nil {
		return 0, fmt.Errorf("timestamp %q: %w", s, err)
	}
	var nanos int64
	if point {
		if nanos, err = parseDigits(frac, 9); err != nil {
			return 0, fmt.Errorf("timestamp %q: %w", s, err)
		}
		for range 9 - len(frac) {
			nanos *= 10
		}
	}
	return joinTimestamp(seconds, nanos)
}

// joinTimestamp refuses what does not fit into 64 bits.
func joinTimestamp(seconds, nanos int64) (Timestamp, error) {
	if seconds > math.MaxInt64/second || seconds == math.MaxInt64/second && nanos > math.MaxInt64%second {
		return 0, fmt.Errorf("timestamp %d.%09d: %w", seconds, nanos, ErrRange)
	}
	return Timestamp(seconds*second + nanos), nil
}

// TimestampRange is the time during which a version of a thing was in force: from From inclusive to To exclusive, open when To is unknown.
type TimestampRange struct {
	From Null[Timestamp]
	To   Null[Timestamp]
}
