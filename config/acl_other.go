//go:build unix && !linux

package config

// hasACL: no other system of ours makes a group of every user.
func hasACL(string) bool { return true }
