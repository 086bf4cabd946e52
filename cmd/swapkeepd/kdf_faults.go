//go:build faults

package main

import (
	"os"
	"time"

	"swapkeep/keys"
)

// stretching is how new wallets' passwords become keys, and the pace of their tries.
// With SWAPKEEP_CHEAP_KDF it is the least that a record may have, and no pace: hundreds
// of daemons that each make a wallet to be killed would else do little but stretch.
func stretching() (keys.KDF, time.Duration) {
	if os.Getenv("SWAPKEEP_CHEAP_KDF") != "" {
		return keys.KDF{Passes: 1, MemoryKiB: 8 << 10, Lanes: 1}, -1
	}
	return keys.DefaultKDF, keys.DefaultPace
}
