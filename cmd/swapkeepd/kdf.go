//go:build !faults

package main

import (
	"time"

	"swapkeep/keys"
)

// stretching returns the key derivation for new wallets and the pause between attempts.
func stretching() (keys.KDF, time.Duration) { return keys.DefaultKDF, keys.DefaultPace }
