//go:build !slow

package v2_test

// editsOfHistories is how many edits random histories have.
const editsOfHistories = 120
