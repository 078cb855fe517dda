package gateway

import (
	"context"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync/atomic"
	"time"

	"heliograph/internal/base/repeat"
	"heliograph/resolvers/contractcalls"
)

// collectorPercent is the default of GOGC. A heap of a few megabytes would otherwise be collected so often that the
// collector takes 7 to 12 % of the processor time of a request, instead of 0 to 4 %.
const collectorPercent = 360

// memoryAge is how long a measurement of the memory is used.
const memoryAge = 20 * time.Millisecond

// charged is the size of a response in bytes from which it counts for its client while it is sent.
const charged = 64 << 10

// memoryBudget measures the memory of the process.
type memoryBudget struct {
	limit int64 // in bytes; 0 for none
	at    atomic.Int64
	full  atomic.Bool
}

// exhausted reports whether the process uses nearly all memory of the limit: responses in progress need the rest.
// Memory that the collector can free counts as long as it is not freed; with [LimitMemory] the collector frees it
// before. It measures at most once in memoryAge and otherwise returns the last result. Without a limit it returns
// false. The result is false too if the memory cannot be read.
func (m *memoryBudget) exhausted() bool {
	if m.limit <= 0 {
		return false
	}
	now := time.Now().UnixNano() //nolint:forbidigo // measures a duration, and the injected clock may be fixed
	if last := m.at.Load(); now-last > memoryAge.Nanoseconds() && m.at.CompareAndSwap(last, now) {
		used, _ := residentMemory()
		m.full.Store(used > m.limit-m.limit/32)
	}
	return m.full.Load()
}

// SetCollector sets for the whole process at which growth of the heap the garbage collector runs:
// collectorPercent, unless the environment variable GOGC is set.
func SetCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
}

// LimitMemory lowers settings in graph and evm to fit a memory limit in bytes: a cache can take an eighth of it, and a
// response a 64th. It replaces the limit of documents by a 256th, at most documentBytes (their plans take about ten
// times as much). It makes the collector keep the memory of the process 10 % below the limit. With 0 or a negative
// limit it does nothing.
func LimitMemory(limit int64, graph *GraphOptions, evm *contractcalls.Options) {
	if limit <= 0 {
		return
	}
	graph.MaxResponse = min(graph.MaxResponse, int(limit/64))
	graph.DocumentBytes = min(documentBytes, int(limit/256))
	graph.CacheBytes = min(graph.CacheBytes, limit/8)
	evm.CacheBytes = min(evm.CacheBytes, uint64(limit/8))
	_, program := residentMemory()
	debug.SetMemoryLimit(limit - limit/10 - program)
}

// embeddedMemory is what the embedded PostgreSQL uses of the memory of the machine, in bytes.
const embeddedMemory = 512 << 20

// DefaultMemoryLimit returns a memory limit in bytes: 80 % of the limit of the control group of the process, less the
// memory of an embedded PostgreSQL but at least a fifth of that limit, or half of the memory of the machine if that
// limit is unknown or larger than this memory. It returns 0 if neither is known. It sets nothing.
func DefaultMemoryLimit(embedded bool) int64 {
	group, machine := systemMemory()
	switch {
	case group <= 0 || machine > 0 && group > machine:
		return machine / 2
	case embedded:
		return max(group/5, group*4/5-embeddedMemory)
	default:
		return group * 4 / 5
	}
}

const (
	idleTick  = 2 * time.Second
	idleBytes = 512 << 10 // maximum allocations per tick while idle: pollers and a scrape of the metrics
	// idleProgram is the memory of the executable, in bytes, that an idle gateway keeps.
	idleProgram = 14 << 20
)

// ReleaseWhenIdle returns memory to the operating system whenever the gateway becomes idle, also after startup, until
// the context ends; it blocks until then. Without it, the runtime keeps the memory of the last load: 116 MB instead of
// 44 MB in a test. While the gateway stays idle, pages of the executable are released again when background tasks have
// used more than idleProgram of them. Most are not needed again.
func ReleaseWhenIdle(ctx context.Context) {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var before uint64
	released := false
	for repeat.Sleep(ctx, idleTick) {
		runtimemetrics.Read(sample)
		allocated := sample[0].Value.Uint64()
		switch idle := allocated-before < idleBytes; {
		case !idle:
			released = false
		case !released:
			debug.FreeOSMemory()
			released = true
			runtimemetrics.Read(sample)
			allocated = sample[0].Value.Uint64()
		}
		if _, program := residentMemory(); released && program > idleProgram {
			releaseProgram()
		}
		before = allocated
	}
}
