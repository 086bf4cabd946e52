//go:build goexperiment.runtimesecret && linux && (amd64 || arm64)

package zeroize

import "runtime/secret"

// Erases reports whether Do erases in this build.
const Erases = true

// Do calls f. Before it returns, also by a panic, it erases the stack and the registers
// that f used. What f allocated is erased by the garbage collector's first run in which
// it is unreachable, and so are registers that a signal saved meanwhile. Goroutines
// started by f are not covered.
func Do(f func()) { secret.Do(f) }
