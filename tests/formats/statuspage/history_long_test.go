//go:build slow

package statuspage_test

// editsOfHistories is how many edits random histories have.
const editsOfHistories = 1000
