//go:build !race

package server_test

import "time"

// refusalTime is the maximum time for rejecting a hostile request.
const refusalTime = 5 * time.Millisecond
