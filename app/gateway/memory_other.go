//go:build !linux

package gateway

import runtimemetrics "runtime/metrics"

// residentMemory returns the memory that the runtime has from the operating system, in bytes, and 0 for the
// executable, whose part is known on Linux only.
func residentMemory() (all, program int64) {
	sample := []runtimemetrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	runtimemetrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64()), 0
}

// releaseProgram does nothing. On Linux it unmaps pages of the executable, which count as memory of the process
// there.
func releaseProgram() {}

// systemMemory returns zeros: the sizes are read on Linux only.
func systemMemory() (group, machine int64) { return 0, 0 }
