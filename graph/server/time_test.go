//go:build !race

package server_test

import "time"

// refusalTime is how long a hostile request may take.
const refusalTime = 5 * time.Millisecond
