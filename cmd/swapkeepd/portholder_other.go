//go:build !linux

package main

// holderOf is implemented on Linux only.
func holderOf(string) string { return "" }
