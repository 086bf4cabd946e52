package registers

import "golang.org/x/sys/cpu"

func clearSSE()
func clearAVX()

// Clear zeroes the vector registers: what was computed last in them is
// saved with the next signal or change of threads.
func Clear() {
	if cpu.X86.HasAVX {
		clearAVX()
		return
	}
	clearSSE()
}
