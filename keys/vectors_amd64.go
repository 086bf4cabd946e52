package keys

import "golang.org/x/sys/cpu"

func clearSSE()
func clearAVX()

// clearVectors zeroes the vector registers: what was computed last in them is
// saved with the next signal or change of threads.
func clearVectors() {
	if cpu.X86.HasAVX {
		clearAVX()
		return
	}
	clearSSE()
}
