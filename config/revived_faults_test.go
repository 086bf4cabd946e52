//go:build faults

package config

import "testing"

// TestRevived checks that a build for fault tests revives a network, in a sandbox only.
func TestRevived(t *testing.T) {
	if _, err := load(t, "sandbox = true\n[chains]\nrevived = [5330]\n"); err != nil {
		t.Error(err)
	}
	if _, err := load(t, "[chains]\nrevived = [5330]\n"); err == nil {
		t.Error("it runs outside the sandbox")
	}
}
