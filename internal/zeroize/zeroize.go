// Package zeroize erases what secrets leave behind in a thread's vector registers. Go
// copies memory through them, and a value stays there until a copy of the same length
// overwrites it. The next signal saves the registers to memory that no Go slice can
// reach.
package zeroize
