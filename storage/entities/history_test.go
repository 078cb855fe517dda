package entities

import (
	"slices"
	"testing"
)

// TestForms checks that all columns of versions name a form that exists.
func TestForms(t *testing.T) {
	t.Parallel()
	columns := 0
	for _, v := range slices.Concat(accountVersions, tokenVersions, nftVersions, relationshipVersions, entityVersions) {
		for _, c := range v.columns {
			columns++
			if c.form == nil || c.field == "" || c.column == "" {
				t.Errorf("%s: field %q, column %q, without a form: %t", v.table, c.field, c.column, c.form == nil)
			}
		}
	}
	if columns < 50 {
		t.Errorf("only %d columns", columns)
	}
}
