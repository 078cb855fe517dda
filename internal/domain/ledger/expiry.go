package ledger

import (
	"math"
	"math/big"
	"time"
)

// Expiry is when an entity expires, or null. Unlike a [Timestamp], it can be later than [MaxTimestamp].
type Expiry struct {
	// Null is the time, at most [MaxTimestamp].
	Null[Timestamp]

	late *big.Int // nanoseconds since 1970 if that is later than MaxTimestamp
}

// ExpiryAfter returns the expiry of an entity that is created at a time and never renewed. The period is in seconds.
// The expiry can be later than [MaxTimestamp].
func ExpiryAfter(created Timestamp, period int64) Expiry {
	if period <= (math.MaxInt64-int64(max(created, 0)))/second { // nearly always
		return Expiry{Null: Of(created + Timestamp(period*second))}
	}
	nanos := new(big.Int).Mul(big.NewInt(period), big.NewInt(second))
	return Expiry{Null: Of(MaxTimestamp), late: nanos.Add(nanos, big.NewInt(int64(created)))}
}

// Append appends "seconds.nanoseconds" with nine digits of nanoseconds. The expiry must not be null.
func (e Expiry) Append(dst []byte) []byte {
	if e.late == nil {
		return e.V.Append(dst)
	}
	seconds, nanos := new(big.Int).QuoRem(e.late, big.NewInt(second), new(big.Int))
	return appendNanos(append(seconds.Append(dst, 10), '.'), nanos.Int64())
}

// Nanoseconds returns the nanoseconds since 1970 as decimal text, or the empty text for null.
func (e Expiry) Nanoseconds() Integer {
	switch {
	case !e.Valid:
		return ""
	case e.late == nil:
		return Integer(big.NewInt(int64(e.V)).String())
	default:
		return Integer(e.late.String())
	}
}

// lastSecond is the last second of the year 9999, the last year that RFC 3339 can write.
const lastSecond = 253_402_300_799

// Time returns the expiry in UTC. ok is false if it is null or later than the year 9999.
func (e Expiry) Time() (t time.Time, ok bool) {
	if e.late == nil {
		return e.V.Time(), e.Valid
	}
	seconds, nanos := new(big.Int).QuoRem(e.late, big.NewInt(second), new(big.Int))
	if seconds.Cmp(big.NewInt(lastSecond)) > 0 {
		return time.Time{}, false
	}
	return time.Unix(seconds.Int64(), nanos.Int64()).UTC(), true
}
