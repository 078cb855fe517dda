package rest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/ledger"
)

// Kind tells whether a parameter takes a value.
type Kind func(c *Config, v Value) bool

var (
	entityIDSyntax   = regexp.MustCompile(`^((\d{1,4}\.)?\d{1,5}\.\d{1,12}|-?\d{1,19})$`)
	evmAddressSyntax = regexp.MustCompile(`^((0x)?|(\d{1,4}\.)?(\d{1,5}\.)?)([A-Fa-f0-9]{40})$`)
	publicKeySyntax  = regexp.MustCompile(`^(0x)?([0-9a-fA-F]{64}|[0-9a-fA-F]{66}|[0-9a-fA-F]{88})$`)
	timestampSyntax  = regexp.MustCompile(`^\d{1,10}(\.\d{1,9})?$`)
	longSyntax       = regexp.MustCompile(`^\d{1,19}$`)
	hexNumberSyntax  = regexp.MustCompile(`^0x[0-9A-Fa-f]+$`)
	intSyntax        = regexp.MustCompile(`^\d{1,10}$`)
)

// Only makes a kind that takes no operator but the given ones.
func (k Kind) Only(ops ...Op) Kind {
	return func(c *Config, v Value) bool {
		if slices.Contains(ops, v.Op) {
			return k(c, v)
		}
		return false
	}
}

// Except makes a kind that does not take an operator.
func (k Kind) Except(op Op) Kind {
	return func(c *Config, v Value) bool { return v.Op != op && k(c, v) }
}

// EntityID takes entity ids and EVM addresses.
func EntityID(c *Config, v Value) bool {
	return entityIDSyntax.MatchString(v.Text) || isEVMAddress(c, v.Text)
}

// EntityIDOrLongZero takes entity ids and the EVM addresses that are made of one.
func EntityIDOrLongZero(c *Config, v Value) bool {
	if entityIDSyntax.MatchString(v.Text) {
		return true
	}
	if !isEVMAddress(c, v.Text) {
		return false
	}
	ref, err := ledger.ParseAccountRef(v.Text, c.Base)
	return err == nil && !ref.Address.Valid
}

// isEVMAddress tells whether s is an EVM address, of this ledger when it names shard or realm.
func isEVMAddress(c *Config, s string) bool {
	m := evmAddressSyntax.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	_, err := ledger.ParseAccountRef(s, c.Base)
	return err == nil
}

// Long takes 64-bit integers from least on.
func Long(least int64) Kind {
	return func(_ *Config, v Value) bool {
		if !longSyntax.MatchString(v.Text) {
			return false
		}
		n, err := strconv.ParseInt(v.Text, 10, 64)
		return err == nil && n >= least
	}
}

// Int takes 32-bit integers from 0 on.
func Int(_ *Config, v Value) bool {
	if !intSyntax.MatchString(v.Text) {
		return false
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	return err == nil && n <= math.MaxInt32
}

// BlockNumber takes decimal numbers from 0 on, and hex ones.
func BlockNumber(_ *Config, v Value) bool {
	_, err := parseBlockNumber(v.Text)
	return err == nil
}

func parseBlockNumber(s string) (int64, error) {
	if hexNumberSyntax.MatchString(s) {
		return strconv.ParseInt(s[2:], 16, 64) //nolint:wrapcheck // the caller says what was wrong
	}
	if !longSyntax.MatchString(s) {
		return 0, ledger.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64) //nolint:wrapcheck // as above
}

// Timestamp takes instants that fit into 64 bits.
func Timestamp(_ *Config, v Value) bool {
	if !timestampSyntax.MatchString(v.Text) {
		return false
	}
	_, err := ledger.ParseTimestamp(v.Text)
	return err == nil
}

// PublicKey takes public keys in hex, raw or in DER.
func PublicKey(_ *Config, v Value) bool { return publicKeySyntax.MatchString(v.Text) }

// Boolean takes true and false in any case.
func Boolean(_ *Config, v Value) bool {
	return v.Op == Eq && (strings.EqualFold(v.Text, "true") || strings.EqualFold(v.Text, "false"))
}

// OneOf takes some words in any case.
func OneOf(words ...string) Kind {
	return func(_ *Config, v Value) bool {
		for _, w := range words {
			if strings.EqualFold(v.Text, w) {
				return true
			}
		}
		return false
	}
}

// TransactionType takes the names of transaction types in any case.
func TransactionType(_ *Config, v Value) bool {
	_, err := ledger.ParseTransactionType(v.Text)
	return err == nil
}

// derEd25519 is what stands in front of an Ed25519 key in DER.
const derEd25519 = "302a300506032b6570032100"

// rawPublicKey is a public key as the database holds it: lower-case hex of the raw key.
func rawPublicKey(s string) string {
	return strings.TrimPrefix(strings.ToLower(ledger.TrimHexPrefix(s)), derEd25519)
}

// IsEntityID tells whether text has the form of an entity id.
func IsEntityID(text string) bool { return entityIDSyntax.MatchString(text) }

// IsDigits tells whether text is 1 to 19 decimal digits.
func IsDigits(text string) bool { return longSyntax.MatchString(text) }
