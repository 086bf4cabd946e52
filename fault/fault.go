//go:build !faults

// Package fault names the places where a test may stop the process, and is the
// clock, which a test may shift or hurry. Built without the tag faults, as every
// release is, the places are nothing, the clock is the system's, and nothing is left
// in the binary.
package fault

// Enabled reports whether this binary was built for fault tests.
const Enabled = false

// Point marks a place where a fault test may kill the process.
func Point(string) {}
