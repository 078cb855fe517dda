//go:build !slow

package statuspage_test

// editsOfHistories is the number of edits of a random history.
const editsOfHistories = 120
