package source

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestNames checks that every service is asked about the tokens of every network that it lists,
// and about none of a network that it is not known to list.
func TestNames(t *testing.T) {
	for id, n := range networks {
		listed := id != superseed && id != 39
		for service, known := range map[string]bool{
			"CoinGecko": n.platform != "", "GeckoTerminal": n.gecko != "", "DexScreener": n.dex != "",
		} {
			if known != listed {
				t.Errorf("chain %d: a name at %s: %t", id, service, known)
			}
		}
		if len(n.slugs) == 0 || id != 39 && (n.coin == "" || n.wrapped == (common.Address{})) {
			t.Errorf("chain %d: %+v", id, n)
		}
	}
	for _, id := range []uint64{1, 10, 56, 143, 8453, 42161, 43114, superseed, 39} {
		if _, known := networks[id]; !known {
			t.Errorf("chain %d has no names", id)
		}
	}
}
