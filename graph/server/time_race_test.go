//go:build race

package server_test

import "time"

// refusalTime is the maximum time for rejecting a hostile request with the race detector.
const refusalTime = 60 * time.Millisecond
