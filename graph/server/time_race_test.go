//go:build race

package server_test

import "time"

// rejectionTime is the maximum time for rejecting a hostile request with the race detector.
const rejectionTime = 60 * time.Millisecond
