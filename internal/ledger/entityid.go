package ledger

import (
	"fmt"
	"strconv"
	"strings"
)

// Widths and greatest values of the parts of an entity id.
const (
	realmBits = 16
	numBits   = 38

	MaxShard = 1<<10 - 1
	MaxRealm = 1<<realmBits - 1
	MaxNum   = 1<<numBits - 1
)

// EntityID names an account, contract, file, schedule, token or topic. It is the 64-bit form that the database stores: 10 bits
// shard, 16 bits realm, 38 bits number, read as a signed integer. With shard and realm 0 it equals the number. An id whose number is 0 names nothing.
type EntityID int64

// NewEntityID returns the id of the given parts; it fails when one of them does not fit.
func NewEntityID(shard, realm, num int64) (EntityID, error) {
	if shard < 0 || shard > MaxShard || realm < 0 || realm > MaxRealm || num < 0 || num > MaxNum {
		return 0, fmt.Errorf("entity id %d.%d.%d: %w", shard, realm, num, ErrRange)
	}
	return EntityID(shard<<(realmBits+numBits) | realm<<numBits | num), nil
}

// Shard is the id's shard, 0 to [MaxShard].
func (id EntityID) Shard() int64 { return int64(uint64(id) >> (realmBits + numBits)) }

// Realm is the id's realm, 0 to [MaxRealm].
func (id EntityID) Realm() int64 { return int64(id) >> numBits & MaxRealm }

// Num is the id's number, 0 to [MaxNum].
func (id EntityID) Num() int64 { return int64(id) & MaxNum }

// WithNum is the id of another number in the same shard and realm.
func (id EntityID) WithNum(num int64) EntityID { return id&^MaxNum | EntityID(num&MaxNum) }

// IsNone tells whether the id names nothing: its number is 0.
func (id EntityID) IsNone() bool { return id.Num() == 0 }

// Append appends "shard.realm.num".
func (id EntityID) Append(dst []byte) []byte {
	dst = strconv.AppendInt(dst, id.Shard(), 10)
	dst = append(dst, '.')
	dst = strconv.AppendInt(dst, id.Realm(), 10)
	dst = append(dst, '.')
	return strconv.AppendInt(dst, id.Num(), 10)
}

// String is "shard.realm.num".
func (id EntityID) String() string { return string(id.Append(make([]byte, 0, 24))) }

// LongZero is the EVM address made of the id's number: 12 zero bytes and the number, big endian. Shard and realm are not in it.
func (id EntityID) LongZero() EVMAddress {
	var a EVMAddress
	num := uint64(id.Num())
	for i := range 8 {
		a[19-i] = byte(num >> (8 * i))
	}
	return a
}

// ParseEntityID reads "num", "realm.num" or "shard.realm.num"; parts left out are those of base. Syntax errors wrap [ErrSyntax], parts
// above their greatest value wrap [ErrRange].
func ParseEntityID(s string, base EntityID) (EntityID, error) {
	parts := [3]int64{base.Shard(), base.Realm(), 0}
	digits := [3]int{4, 5, 12}
	n := strings.Count(s, ".")
	if n > 2 {
		return 0, fmt.Errorf("entity id %q has more than three parts: %w", s, ErrSyntax)
	}
	rest := s
	for i := 2 - n; i < 3; i++ {
		part, after, _ := strings.Cut(rest, ".")
		rest = after
		v, err := parseDigits(part, digits[i])
		if err != nil {
			return 0, fmt.Errorf("entity id %q: %w", s, err)
		}
		parts[i] = v
	}
	return NewEntityID(parts[0], parts[1], parts[2])
}

// parseDigits reads 1 to most decimal digits, no sign, most at most 18.
func parseDigits(s string, most int) (int64, error) {
	if s == "" {
		return 0, fmt.Errorf("a number is missing: %w", ErrSyntax)
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
