//go:build !faults

package main

// strayPrint does nothing. In the faults build it prints like a careless library.
func strayPrint() {}
