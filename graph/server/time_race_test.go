//go:build race

package server_test

import "time"

// refusalTime is how long a hostile request may take where the race detector watches, which is several times as long.
const refusalTime = 60 * time.Millisecond
