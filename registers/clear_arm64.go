package registers

// Clear zeroes the vector registers: what was computed last in them is
// saved with the next signal or change of threads.
func Clear()
