package ledger

import (
	"fmt"
	"strconv"
	"strings"
)

// Widths and maximum values of the parts of an entity id.
const (
	realmBits = 16
	numBits   = 38

	MaxShard = 1<<10 - 1
	MaxRealm = 1<<realmBits - 1
	MaxNum   = 1<<numBits - 1
)

// EntityID identifies an account, contract, file, schedule, token or topic. It is the signed 64-bit form of the
// database: 10 bits shard, 16 bits realm, 38 bits number. With shard and realm 0 it equals the number. An id with the
// number 0 is empty.
type EntityID int64

// NewEntityID returns the id of the given parts. It returns an [EntityIDError] if one of them is out of range.
func NewEntityID(shard, realm, num int64) (EntityID, error) {
	if reason := misfit(shard, realm, num); reason != "" {
		return 0, &EntityIDError{ID: fmt.Sprintf("%d.%d.%d", shard, realm, num), Reason: reason}
	}
	return EntityID(shard<<(realmBits+numBits) | realm<<numBits | num), nil
}

// misfit describes the part that does not fit into an id. It returns an empty string if all fit.
func misfit(shard, realm, num int64) string {
	switch {
	case shard < 0 || shard > MaxShard:
		return fmt.Sprintf("shard %d is not between 0 and %d", shard, MaxShard)
	case realm < 0 || realm > MaxRealm:
		return fmt.Sprintf("realm %d is not between 0 and %d", realm, MaxRealm)
	case num < 0 || num > MaxNum:
		return fmt.Sprintf("number %d is not between 0 and %d", num, MaxNum)
	}
	return ""
}

// Shard returns the shard, 0 to [MaxShard].
func (id EntityID) Shard() int64 { return int64(uint64(id) >> (realmBits + numBits)) }

// Realm returns the realm, 0 to [MaxRealm].
func (id EntityID) Realm() int64 { return int64(id) >> numBits & MaxRealm }

// Num returns the number, 0 to [MaxNum].
func (id EntityID) Num() int64 { return int64(id) & MaxNum }

// WithNum returns the id of another number in the same shard and realm. num must be between 0 and [MaxNum].
func (id EntityID) WithNum(num int64) EntityID { return id&^MaxNum | EntityID(num&MaxNum) }

// IsNone reports whether the id is empty: its number is 0.
func (id EntityID) IsNone() bool { return id.Num() == 0 }

// Append appends "shard.realm.num".
func (id EntityID) Append(dst []byte) []byte {
	if id >= 0 && id <= MaxNum { // the common case: shard and realm 0
		return strconv.AppendInt(append(dst, "0.0."...), int64(id), 10)
	}
	dst = strconv.AppendInt(dst, id.Shard(), 10)
	dst = append(dst, '.')
	dst = strconv.AppendInt(dst, id.Realm(), 10)
	dst = append(dst, '.')
	return strconv.AppendInt(dst, id.Num(), 10)
}

// String returns "shard.realm.num".
func (id EntityID) String() string { return string(id.Append(make([]byte, 0, 24))) }

// LongZero returns the EVM address of the id's number: 12 zero bytes and the big-endian number, without shard and
// realm.
func (id EntityID) LongZero() EVMAddress {
	var a EVMAddress
	num := uint64(id.Num())
	for i := range 8 {
		a[19-i] = byte(num >> (8 * i))
	}
	return a
}

// ParseEntityID parses "num", "realm.num" or "shard.realm.num", of at most 12, 5 and 4 digits. Missing parts are those
// of base. Errors wrap [ErrSyntax] for malformed text. An [EntityIDError], which wraps [ErrRange], reports an id that
// cannot exist: a part is out of range, or a number without shard and realm is negative or has 13 to 19 digits.
func ParseEntityID(s string, base EntityID) (EntityID, error) {
	n := strings.Count(s, ".")
	if n > 2 {
		return 0, fmt.Errorf("entity id %q has more than three parts: %w", s, ErrSyntax)
	}
	if n == 0 {
		if reason := loneMisfit(s); reason != "" {
			return 0, &EntityIDError{ID: fmt.Sprintf("%d.%d.%s", base.Shard(), base.Realm(), s), Reason: reason}
		}
	}
	parts := [3]int64{base.Shard(), base.Realm(), 0}
	names := [3]string{"shard", "realm", "number"}
	digits := [3]int{4, 5, 12}
	rest := s
	for i := 2 - n; i < 3; i++ {
		part, after, _ := strings.Cut(rest, ".")
		rest = after
		v, err := parseDigits(part, digits[i])
		if err != nil {
			return 0, fmt.Errorf("entity id %q: %s: %w", s, names[i], err)
		}
		parts[i] = v
	}
	return NewEntityID(parts[0], parts[1], parts[2])
}

// loneMisfit describes why a number without shard and realm is not a valid entity number although it is an integer of
// at most 19 digits. It returns an empty string for 1 to 12 digits and for all other text, which [ParseEntityID]
// checks then. Longer numbers are never parsed as the 64-bit form of an id.
func loneMisfit(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	switch {
	case !isDigits(digits) || len(digits) > 19:
		return ""
	case negative:
		return "the number has a sign"
	case len(digits) > 12:
		return "the number has more than 12 digits"
	}
	return ""
}

// parseDigits parses 1 to most decimal digits without a sign. most is at most 18. Errors wrap [ErrSyntax].
func parseDigits(s string, most int) (int64, error) {
	if s == "" {
		return 0, fmt.Errorf("digits are missing: %w", ErrSyntax)
	}
	if len(s) > most {
		return 0, fmt.Errorf("%q has more than %d digits: %w", s, most, ErrSyntax)
	}
	var v int64
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is not a number: %w", s, ErrSyntax)
		}
		v = v*10 + int64(c-'0')
	}
	return v, nil
}

// isDigits reports whether s consists of one or more decimal digits.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
