package status

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// Role is what somebody may do.
type Role string

// The roles. Each may do what those before it may.
const (
	Viewer   Role = "viewer"   // sees drafts
	Reporter Role = "reporter" // states of components, and updates of incidents that others opened
	Operator Role = "operator" // all notices
	Admin    Role = "admin"    // pages, their structure, tokens
)

// Roles returns the roles, the least first.
func Roles() []Role { return []Role{Viewer, Reporter, Operator, Admin} }

// Valid tells whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }

// May tells whether the role is needed or more.
func (r Role) May(needed Role) bool {
	return r.Valid() && slices.Index(Roles(), r) >= slices.Index(Roles(), needed)
}

// TokenHash is what is kept of a token.
type TokenHash = [sha256.Size]byte

// HashToken is what is kept of a token. Tokens are random, so that nobody finds them by their hashes.
func HashToken(token string) TokenHash { return sha256.Sum256([]byte(token)) }

// tokenBytes is how many random bytes a token has.
const tokenBytes = 32

// tokenPrefix lets people and programs see what the text is for.
const tokenPrefix = "hgs_"

// NewToken makes a token from random, which is [rand.Reader] where it is nil. It fails only when random does.
func NewToken(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, tokenBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b), nil
}

// Token is somebody who may write. The token itself is not kept.
type Token struct {
	ID   int64 // 0 for those of the configuration
	Name string
	Hash TokenHash
	Role Role
	// PageCode is the only page that it is for, unknown where it is for all.
	PageCode   ledger.Null[string]
	CreatedAt  time.Time
	ExpiresAt  ledger.Null[time.Time]
	LastUsedAt ledger.Null[time.Time]
}

// Valid tells whether the token can be used at an instant.
func (t *Token) Valid(now time.Time) bool { return !t.ExpiresAt.Valid || now.Before(t.ExpiresAt.V) }

// For tells whether the token is for a page.
func (t *Token) For(page string) bool { return !t.PageCode.Valid || t.PageCode.V == page }

// FindToken finds the token that a text is, nil where it is none. It takes the same time for every text: all tokens are compared, and whole.
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

// minTokenLength is how long a token is at least that somebody made up.
const minTokenLength = 16

// ParseTokens reads a list of tokens as configuration has it: name:role:token, separated by commas. The text is a secret: no error repeats a token.
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
			return nil, fmt.Errorf("entry %d is not of the form name:role:token", n)
		case !Role(parts[1]).Valid():
			return nil, fmt.Errorf("entry %d has a role that is none of viewer, reporter, operator, admin", n)
		case len(parts[2]) < minTokenLength:
			return nil, fmt.Errorf("the token of entry %d is shorter than %d characters", n, minTokenLength)
		}
		t := &Token{Name: parts[0], Role: Role(parts[1]), Hash: HashToken(parts[2])}
		if slices.ContainsFunc(out, func(o *Token) bool { return o.Name == t.Name || o.Hash == t.Hash }) {
			return nil, fmt.Errorf("entry %d has the name or the token of another", n)
		}
		out = append(out, t)
	}
	return out, nil
}
