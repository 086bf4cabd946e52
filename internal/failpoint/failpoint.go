//go:build !faults

// Package failpoint marks the points at which a crash test may kill the process. Built
// without the tag faults, as every release is, [Point] does nothing and nothing of this is
// in the binary.
package failpoint

// Enabled reports whether this binary was built for fault tests.
const Enabled = false

// Point marks a place where a fault test may kill the process.
func Point(string) {}
