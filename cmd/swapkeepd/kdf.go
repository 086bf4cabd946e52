//go:build !faults

package main

import (
	"time"

	"swapkeep/keys"
)

// stretching is how new wallets' passwords become keys, and the pace of their tries.
func stretching() (keys.KDF, time.Duration) { return keys.DefaultKDF, keys.DefaultPace }
