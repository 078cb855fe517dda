// Package breadth sets how many generated cases tests try.
package breadth

import "os"

// Of returns how many cases a test runs: few, or all if the environment variable HELIOGRAPH_TEST_BREADTH is full,
// as in `make nightly`.
func Of(few, all int) int {
	if os.Getenv("HELIOGRAPH_TEST_BREADTH") == "full" {
		return all
	}
	return few
}
