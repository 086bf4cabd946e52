package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"swapkeep/host/protocol"
)

// chainNames are the chain ids of networks outside the wallet's own that providers may
// reach. A script may use these names: they are ours, so that no provider can redirect it.
var chainNames = map[string]uint64{
	"abstract": 2741, "apechain": 33139, "arbitrum nova": 42170, "arbitrum one": 42161, "arbitrum": 42161, "avalanche": 43114,
	"base": 8453, "berachain": 80094, "blast": 81457, "bnb smart chain": 56, "celo": 42220, "cronos": 25, "ethereum": 1,
	"fantom": 250, "gnosis": 100, "hyperevm": 999, "ink": 57073, "linea": 59144, "lisk": 1135, "manta pacific": 169,
	"mantle": 5000, "metis": 1088, "mode": 34443, "monad": 143, "moonbeam": 1284, "op mainnet": 10, "opbnb": 204,
	"optimism": 10, "polygon": 137, "polygon zkevm": 1101, "scroll": 534352, "sei": 1329, "soneium": 1868, "sonic": 146,
	"superseed": 5330, "taiko": 167000, "unichain": 130, "world chain": 480, "zksync": 324, "zksync era": 324, "zora": 7777777,
}

// unknownNetwork is the error for a name that no network has, with the network that was
// probably meant. known are names by chain id.
func unknownNetwork(wanted string, known map[uint64]string) *protocol.Error {
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if resembles(known[id], wanted) {
			return protocol.Newf("network_unknown", "unknown network %q; did you mean %q (%d)?", wanted, known[id], id)
		}
	}
	return protocol.Newf("network_unknown", "unknown network %q", wanted)
}

// resembles reports whether wanted is part of name, its initials, or a misspelling of it.
func resembles(name, wanted string) bool {
	name, wanted = strings.ToLower(name), strings.ToLower(wanted)
	initials := ""
	for _, word := range strings.Fields(name) {
		initials += word[:1]
	}
	return wanted == initials || len(wanted) > 2 && strings.Contains(name, wanted) || len(wanted) > 3 && editDistance(name, wanted) <= 2
}

// editDistance returns the Levenshtein distance of two texts in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// providerNamedNetwork refuses a script that uses a name that only a provider gives a
// network: the provider could redirect the script with it.
func providerNamedNetwork(wanted string, id uint64) error {
	return usageError{fmt.Errorf("%q is a network name given by a provider; in a script use the chain id: --to %d", wanted, id)}
}
