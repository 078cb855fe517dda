package status

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"time"

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

// May reports whether the role has the permissions of needed, which must be a defined role. An undefined role has
// none.
func (r Role) May(needed Role) bool {
	return r.Valid() && slices.Index(Roles(), r) >= slices.Index(Roles(), needed)
}

// HashToken returns the SHA-256 of a token, which is stored in place of the token. Tokens are random, so a fast
// hash without a salt is sufficient.
func HashToken(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

// tokenBytes is the number of random bytes of a token.
const tokenBytes = 32

// tokenPrefix identifies tokens, for people and for secret scanners.
const tokenPrefix = "hgs_"

// NewToken returns a new secret token: a prefix and random bytes in base64. It does not store it.
func NewToken() string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(randomBytes(tokenBytes))
}

// Token is an access token for writes, without its secret. The tags for the command line describe the fields.
type Token struct {
	ID   int64  `kong:"-"` // 0 for tokens of the configuration
	Name string `arg:"" help:"Name of the token."`
	Hash []byte `kong:"-"` // see [HashToken]
	Role Role   `arg:"" enum:"viewer,reporter,operator,admin" help:"Role: viewer (reads drafts), reporter (sets component statuses, updates incidents), operator (edits all incidents and maintenances) or admin (edits pages and components)."`
	// PageCode is the code of the only page that the token permits, or null for all pages.
	PageCode   ledger.Null[string]    `kong:"-"`
	CreatedAt  time.Time              `kong:"-"`
	ExpiresAt  ledger.Null[time.Time] `kong:"-"`
	LastUsedAt ledger.Null[time.Time] `kong:"-"`
}

// Check fails with [BadInput] if the token cannot be created: its name or role is invalid, or it has expired.
func (t *Token) Check(now time.Time) error {
	return cmp.Or(CheckName("the token", t.Name),
		badIf(!t.Role.Valid(), "%q is not a role: use viewer, reporter, operator or admin", t.Role),
		badIf(t.ExpiresAt.Valid && !t.ExpiresAt.V.After(now), "the expiry date is in the past"))
}

// For reports whether the token is valid for the page with the code page. It does not check the role and the expiry.
func (t *Token) For(page string) bool { return !t.PageCode.Valid || t.PageCode.V == page }

// FindToken returns the token whose secret matches text, or nil. It compares all tokens in constant time. It does not
// check whether the token has expired: list must not have such tokens.
func FindToken(list []*Token, text string) *Token {
	hash := HashToken(text)
	var found *Token
	for _, t := range list {
		if subtle.ConstantTimeCompare(t.Hash, hash) == 1 {
			found = t
		}
	}
	return found
}

// minTokenLength is the minimum length of tokens in the configuration.
const minTokenLength = 16

// ParseTokens parses the tokens of the configuration: name:role:token, separated by commas. Empty entries are ignored.
// The tokens do not expire, and permit all pages. Errors are [BadInput] and do not contain tokens.
func ParseTokens(text string) ([]*Token, error) {
	var out []*Token
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		n := len(out) + 1
		name, rest, _ := strings.Cut(item, ":")
		role, token, complete := strings.Cut(rest, ":")
		t := &Token{Name: name, Role: Role(role), Hash: HashToken(token)}
		same := slices.ContainsFunc(out, func(o *Token) bool { return o.Name == t.Name || bytes.Equal(o.Hash, t.Hash) })
		err := cmp.Or(badIf(!complete || name == "", "entry %d does not have the form name:role:token", n),
			badIf(!t.Role.Valid(), "the role of entry %d is not viewer, reporter, operator or admin", n),
			badIf(len(token) < minTokenLength, "the token of entry %d is shorter than %d characters", n,
				minTokenLength),
			badIf(same, "entry %d has the same name or token as another entry", n))
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// codeAlphabet are the characters of new codes: digits and consonants, so that codes do not form words.
const codeAlphabet = "0123456789bcdfghjklmnpqrstvwxyz"

// codeLength is the length of new codes, in characters.
const codeLength = 12

// NewCode returns a new random code of a page, component, notice, update or webhook. It does not check whether the
// code is in use.
func NewCode() string {
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		// larger bytes would favour the first characters
		if v := int(randomBytes(1)[0]); v < 256-256%len(codeAlphabet) {
			code = append(code, codeAlphabet[v%len(codeAlphabet)])
		}
	}
	return string(code)
}

// randomBytes returns n bytes of the system's secure random numbers.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

var validCode = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// ValidCode reports whether s can be stored as a code. Codes of other status pages may differ from those of [NewCode].
func ValidCode(s string) bool { return validCode.MatchString(s) }
