//go:build faults

package main

import (
	"os"
	"time"

	"swapkeep/keys"
)

// keyDerivation returns the key derivation for new wallets and the pause between attempts.
// With SWAPKEEP_CHEAP_KDF it is the cheapest allowed derivation and no pause, because
// tests start hundreds of daemons that each create a wallet.
func keyDerivation() (keys.KDF, time.Duration) {
	if os.Getenv("SWAPKEEP_CHEAP_KDF") != "" {
		return keys.KDF{Passes: 1, MemoryKiB: 8 << 10, Lanes: 1}, -1
	}
	return keys.DefaultKDF, keys.DefaultAttemptInterval
}
