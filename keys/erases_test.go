//go:build keyring

package keys_test

import (
	"testing"

	"swapkeep/internal/zeroize"
)

// TestErases checks that make exports GOEXPERIMENT=runtimesecret. Without it the tests
// that search memory are skipped, and programs leave secrets there.
func TestErases(t *testing.T) {
	if !zeroize.Erases {
		t.Error("this build erases no secrets: the Makefile must export GOEXPERIMENT=runtimesecret")
	}
}
