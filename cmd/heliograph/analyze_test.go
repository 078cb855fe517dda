package main

import (
	"testing"

	"heliograph/internal/base/profile"
)

// TestPrintNoTime prints the plan of a request whose time rounds to 0.
func TestPrintNoTime(t *testing.T) {
	t.Parallel()
	printPlan(&profile.Profile{Statements: []*profile.Statement{{}}})
}
