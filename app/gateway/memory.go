package gateway

import (
	"context"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// ballastSize is the minimum amount of garbage, in bytes, that triggers a collection.
const ballastSize = 32 << 20

// Ballast is unused memory to hold while the gateway runs. The garbage collector starts when the heap has doubled: without ballast, the heap of a
// few megabytes would be collected more than a hundred times per second under load. Its pages are never touched, so it uses address space but no
// physical memory.
type Ballast []byte

// NewBallast returns new ballast. Call it early, so that the runtime takes fresh pages for it.
func NewBallast() Ballast { return make([]byte, ballastSize) }

const (
	idleTick  = 2 * time.Second
	idleBytes = 512 << 10 // maximum allocations per tick while idle: pollers and a scrape of the metrics
)

// ReleaseWhenIdle returns memory to the operating system whenever the gateway becomes idle, also after startup, until the context ends. The runtime
// retains 10 % more than the heap goal, which is far above the memory in use because of the ballast.
func ReleaseWhenIdle(ctx context.Context) {
	ticker := time.NewTicker(idleTick)
	defer ticker.Stop()
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var before uint64
	released := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		runtimemetrics.Read(sample)
		allocated := sample[0].Value.Uint64()
		switch idle := allocated-before < idleBytes; {
		case !idle:
			released = false
		case !released:
			debug.FreeOSMemory()
			releaseProgram()
			released = true
			runtimemetrics.Read(sample)
			allocated = sample[0].Value.Uint64()
		}
		before = allocated
	}
}
