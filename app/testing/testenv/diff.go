package testenv

import (
	"encoding/json"

	"github.com/google/go-cmp/cmp"
)

// Diff describes how a text differs from the wanted one: lines with - are missing, and lines with + are too many. If
// both are JSON, it compares their values, and texts of them that differ otherwise, such as in the order of members.
func Diff(want, got string) string {
	var wanted, gotten any
	if json.Unmarshal([]byte(want), &wanted) == nil && json.Unmarshal([]byte(got), &gotten) == nil {
		if diff := cmp.Diff(wanted, gotten); diff != "" {
			return diff
		}
	}
	return cmp.Diff(want, got)
}
