//go:build !faults

package config

import (
	"strings"
	"testing"
)

// TestRevived checks that a release revives no network, not even in a sandbox.
func TestRevived(t *testing.T) {
	_, err := load(t, "sandbox = true\n[chains]\nrevived = [5330]\n")
	if err == nil || !strings.Contains(err.Error(), "this build") {
		t.Error(err)
	}
}
