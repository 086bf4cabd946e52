// Package sandboxtest starts sandboxes for tests.
package sandboxtest

import (
	"testing"
	"time"

	"swapkeep/sandbox"
)

// Start starts a sandbox that mines every transaction at once, and a block per second,
// and closes it with the test. Without chain ids it starts [sandbox.DefaultChains]. For
// other options use [StartWith].
func Start(t testing.TB, chains ...uint64) *sandbox.Sandbox {
	t.Helper()
	return StartWith(t, sandbox.Options{Chains: chains, Period: time.Second, Instant: true})
}

// StartWith starts a sandbox and closes it with the test. If the contracts have not been
// built, the test fails and names the command that builds them.
func StartWith(t testing.TB, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start the sandbox: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	return s
}
