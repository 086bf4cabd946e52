// Package registers removes what secrets leave in a thread's vector registers, by
// which Go copies memory: there it stays until something else is copied as long, and
// the next signal saves it in memory, where no slice reaches it.
package registers
