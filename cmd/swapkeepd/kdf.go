//go:build !faults

package main

import (
	"time"

	"swapkeep/keys"
)

// keyDerivation returns the key derivation for new wallets and the pause between attempts.
func keyDerivation() (keys.KDF, time.Duration) { return keys.DefaultKDF, keys.DefaultAttemptInterval }
