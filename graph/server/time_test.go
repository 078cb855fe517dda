//go:build !race

package server_test

import "time"

// rejectionTime is the maximum time for rejecting a hostile request.
const rejectionTime = 5 * time.Millisecond
