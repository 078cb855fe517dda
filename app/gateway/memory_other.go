//go:build !linux

package gateway

// releaseProgram does nothing. On Linux, touched pages of the executable count as memory of the process.
func releaseProgram() {}

// systemMemory returns zeros: the sizes are read on Linux only.
func systemMemory() (group, machine int64) { return 0, 0 }
