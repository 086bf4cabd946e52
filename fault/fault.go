//go:build !faults

// Package fault names the places where a test may stop the process or shift
// its clock. Built without the tag faults, as every release is, it does
// nothing and leaves nothing in the binary.
package fault

import "time"

// Enabled reports whether this binary was built for fault tests.
const Enabled = false

// Point marks a place where a fault test may kill the process.
func Point(string) {}

// Now is the current time.
func Now() time.Time { return time.Now() }
