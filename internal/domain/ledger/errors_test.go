package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

// wantError checks that err wraps exactly one kind of error and that its text contains words.
func wantError(t *testing.T, err, kind error, words string) {
	t.Helper()
	other := ledger.ErrRange
	if errors.Is(kind, ledger.ErrRange) {
		other = ledger.ErrSyntax
	}
	switch {
	case err == nil:
		t.Fatalf("accepted; want an error that is %v", kind)
	case !errors.Is(err, kind):
		t.Fatalf("error %q is not %v", err, kind)
	case errors.Is(err, other):
		t.Fatalf("error %q is also %v", err, other)
	case !strings.Contains(err.Error(), words):
		t.Fatalf("error %q does not say %q", err, words)
	}
}

// entity returns the id of valid parts.
func entity(tb testing.TB, shard, realm, num int64) ledger.EntityID {
	tb.Helper()
	id, err := ledger.NewEntityID(shard, realm, num)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

func TestEntityIDErrorNamesTheIDTheReasonAndItsKind(t *testing.T) {
	err := error(&ledger.EntityIDError{ID: "0.65536.1", Reason: "realm 65536 is not between 0 and 65535"})
	wantError(t, err, ledger.ErrRange,
		`invalid entity id "0.65536.1": realm 65536 is not between 0 and 65535: out of range`)
}
