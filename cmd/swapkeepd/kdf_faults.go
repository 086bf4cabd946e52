//go:build faults

package main

import (
	"os"

	"swapkeep/keys"
)

// stretching is how new wallets' passwords become keys. With SWAPKEEP_CHEAP_KDF it is
// the least that a record may have: hundreds of daemons that each make a wallet to be
// killed would else do little but stretch.
func stretching() keys.KDF {
	if os.Getenv("SWAPKEEP_CHEAP_KDF") != "" {
		return keys.KDF{Passes: 1, MemoryKiB: 8 << 10, Lanes: 1}
	}
	return keys.DefaultKDF
}
