//go:build !faults

package main

import "swapkeep/keys"

// stretching is how new wallets' passwords become keys.
func stretching() keys.KDF { return keys.DefaultKDF }
