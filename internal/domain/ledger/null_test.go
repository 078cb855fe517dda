package ledger_test

import (
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestNull(t *testing.T) {
	var unknown ledger.Null[int64]
	if unknown.Valid || unknown.Or(5) != 5 {
		t.Errorf("the zero value is known: %+v", unknown)
	}
	if zero := ledger.Of(int64(0)); !zero.Valid || zero.Or(5) != 0 {
		t.Errorf("a known 0 is not known: %+v", zero)
	}
}

func TestNullIsFilledInPlace(t *testing.T) {
	n := ledger.Of(int64(1))
	target, ok := n.ScanTarget().(*int64)
	if !ok {
		t.Fatalf("a driver would write to a %T", n.ScanTarget())
	}
	*target = 7
	n.SetValid(true)
	if n != ledger.Of(int64(7)) {
		t.Errorf("known: %+v", n)
	}
	n.SetValid(false)
	if n != (ledger.Null[int64]{}) {
		t.Errorf("unknown after a known one: %+v", n)
	}
}
