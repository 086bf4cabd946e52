//go:build !faults

// Package fault names the points where a test may kill the process, and provides the
// clock, which a test may shift or speed up. Built without the tag faults, as every
// release is, points do nothing, the clock is the system's, and nothing of this is in the
// binary.
package fault

// Enabled reports whether this binary was built for fault tests.
const Enabled = false

// Point marks a place where a fault test may kill the process.
func Point(string) {}
