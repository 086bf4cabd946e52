//go:build !goexperiment.runtimesecret || !linux || !(amd64 || arm64)

package zeroize

// Erases reports whether Do erases in this build.
const Erases = false

// Do calls f.
func Do(f func()) { f() }
