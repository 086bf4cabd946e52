//go:build !faults

package main

// strayPrint is where a fault test prints as a careless library would.
func strayPrint() {}
