package zeroize

import "golang.org/x/sys/cpu"

func clearSSE()
func clearAVX()

// Registers zeroes this thread's vector registers. Otherwise the next signal or thread switch
// saves what was last computed in them to memory.
func Registers() {
	if cpu.X86.HasAVX {
		clearAVX()
		return
	}
	clearSSE()
}
