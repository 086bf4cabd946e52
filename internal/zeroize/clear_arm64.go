package zeroize

// Registers zeroes this thread's vector registers. Otherwise the next signal or thread switch
// saves what was last computed in them to memory.
func Registers()
