package status

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
)

// Role is a set of permissions.
type Role string

// The roles. Each includes the permissions of those before it.
const (
	Viewer   Role = "viewer"   // reads drafts
	Reporter Role = "reporter" // sets statuses of components, and updates incidents
	Operator Role = "operator" // writes all notices
	Admin    Role = "admin"    // writes pages, components and tokens
)

// Roles returns the roles, least permissions first.
func Roles() []Role { return []Role{Viewer, Reporter, Operator, Admin} }

// Valid reports whether r is a defined role.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }

// May reports whether the role has the permissions of needed.
func (r Role) May(needed Role) bool {
	return r.Valid() && slices.Index(Roles(), r) >= slices.Index(Roles(), needed)
}

// TokenHash is the hash of a token. Tokens themselves are not stored.
type TokenHash = [sha256.Size]byte

// HashToken returns the hash of a token. Tokens are random, so a fast hash without a salt is sufficient.
func HashToken(token string) TokenHash { return sha256.Sum256([]byte(token)) }

// tokenBytes is the number of random bytes of a token.
const tokenBytes = 32

// tokenPrefix identifies tokens, for people and for secret scanners.
const tokenPrefix = "hgs_"

// NewToken returns a new token. random defaults to [rand.Reader]. It fails only if random does.
func NewToken(random io.Reader) (string, error) {
	b, err := randomBytes(random, tokenBytes)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b), err
}

// Token is an access token for writes, without its secret.
type Token struct {
	ID   int64 // 0 for tokens of the configuration
	Name string
	Hash TokenHash
	Role Role
	// PageCode is the code of the only page that the token permits, or null for all pages.
	PageCode   ledger.Null[string]
	CreatedAt  time.Time
	ExpiresAt  ledger.Null[time.Time]
	LastUsedAt ledger.Null[time.Time]
}

// TokenInput describes an access token to create.
type TokenInput struct {
	Name string
	Role Role
	// Page is the code of the only page that the token permits; empty for all pages.
	Page      string
	ExpiresAt ledger.Null[time.Time]
}

// Check fails if the token cannot be created.
func (in *TokenInput) Check(now time.Time) error {
	if err := CheckName("the token", in.Name); err != nil {
		return err
	}
	if !in.Role.Valid() {
		return Errorf(BadInput, "%q is not a role: use viewer, reporter, operator or admin", in.Role)
	}
	if in.ExpiresAt.Valid && !in.ExpiresAt.V.After(now) {
		return Errorf(BadInput, "the expiry date is in the past")
	}
	return nil
}

// Valid reports whether the token has not expired.
func (t *Token) Valid(now time.Time) bool { return !t.ExpiresAt.Valid || now.Before(t.ExpiresAt.V) }

// For reports whether the token permits writes to a page.
func (t *Token) For(page string) bool { return !t.PageCode.Valid || t.PageCode.V == page }

// FindToken returns the token whose secret matches text, or nil. It compares all tokens in constant time.
func FindToken(list []*Token, text string) *Token {
	hash := HashToken(text)
	var found *Token
	for _, t := range list {
		if subtle.ConstantTimeCompare(t.Hash[:], hash[:]) == 1 {
			found = t
		}
	}
	return found
}

// minTokenLength is the minimum length of tokens in the configuration.
const minTokenLength = 16

// ParseTokens parses the tokens of the configuration: name:role:token, separated by commas. Errors do not contain
// tokens.
func ParseTokens(text string) ([]*Token, error) {
	var out []*Token
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		n := len(out) + 1
		parts := strings.SplitN(item, ":", 3)
		switch {
		case len(parts) != 3 || parts[0] == "":
			return nil, fmt.Errorf("entry %d does not have the form name:role:token", n)
		case !Role(parts[1]).Valid():
			return nil, fmt.Errorf("the role of entry %d is not viewer, reporter, operator or admin", n)
		case len(parts[2]) < minTokenLength:
			return nil, fmt.Errorf("the token of entry %d is shorter than %d characters", n, minTokenLength)
		}
		t := &Token{Name: parts[0], Role: Role(parts[1]), Hash: HashToken(parts[2])}
		if slices.ContainsFunc(out, func(o *Token) bool { return o.Name == t.Name || o.Hash == t.Hash }) {
			return nil, fmt.Errorf("entry %d has the same name or token as another entry", n)
		}
		out = append(out, t)
	}
	return out, nil
}

// codeAlphabet are the characters of new codes: digits and consonants, so that codes do not form words.
const codeAlphabet = "0123456789bcdfghjklmnpqrstvwxyz"

// codeLength is the length of new codes, in characters.
const codeLength = 12

// NewCode returns a new code. random defaults to [rand.Reader]. It fails only if random does.
func NewCode(random io.Reader) (string, error) {
	const fair = 256 - 256%len(codeAlphabet) // larger bytes would favour the first characters
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		b, err := randomBytes(random, codeLength)
		if err != nil {
			return "", err
		}
		for _, v := range b {
			if int(v) < fair && len(code) < codeLength {
				code = append(code, codeAlphabet[int(v)%len(codeAlphabet)])
			}
		}
	}
	return string(code), nil
}

// randomBytes reads random bytes. random defaults to [rand.Reader].
func randomBytes(random io.Reader, n int) ([]byte, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, n)
	_, err := io.ReadFull(random, b)
	return b, wrap.Error(err, "reading random bytes")
}

var validCode = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// ValidCode reports whether s can be stored as a code. Codes of other status pages may differ from those of [NewCode].
func ValidCode(s string) bool { return validCode.MatchString(s) }
