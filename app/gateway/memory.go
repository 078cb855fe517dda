package gateway

import (
	"context"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// heapFloor is how much garbage there may be, in bytes, before it is looked for, however little else the heap holds.
const heapFloor = 32 << 20

// Floor is memory that nobody uses, to be held as long as the gateway runs. The garbage collector begins when the heap has doubled: without it
// the few megabytes that a gateway lives on would be searched some hundred times a second under load. No page of it is ever
// touched, so it takes address space, and none of the machine's memory.
type Floor []byte

// NewFloor makes a floor. The sooner after the start, the surer that its pages are fresh.
func NewFloor() Floor { return make([]byte, heapFloor) }

const (
	restTick  = 2 * time.Second
	restBytes = 512 << 10 // allocated in a tick: what the pollers need, and a scrape of the metrics
)

// ReleaseWhenIdle gives memory back to the system each time the gateway comes to rest, its start included, until the context ends. Go's own
// way of doing so aims at a tenth more than the heap may grow to, and that is far above what is used, because of the Floor.
func ReleaseWhenIdle(ctx context.Context) {
	ticker := time.NewTicker(restTick)
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
		switch resting := allocated-before < restBytes; {
		case !resting:
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
