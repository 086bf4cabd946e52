package intent

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestSpokePools holds the table against the published addresses, for every chain that a swap may
// leave or reach.
func TestSpokePools(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/live/FACTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "SpokePool proxies")
	section, _, _ = strings.Cut(section, "SpokePoolPeriphery")
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \| (0x[0-9a-fA-F]{40})`)
	number := regexp.MustCompile(`[0-9]+`)
	published := map[uint64]common.Address{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		for _, n := range number.FindAllString(m[1], -1) {
			id, err := strconv.ParseUint(n, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			published[id] = common.HexToAddress(m[2])
		}
	}
	known := slices.Clone(destinations)
	for _, n := range networks {
		if n.Enabled {
			known = append(known, swap.Destination{ChainID: n.ChainID})
		}
	}
	for _, d := range known {
		if spokePools[d.ChainID].address != published[d.ChainID] {
			t.Errorf("chain %d: %s, published %s", d.ChainID, spokePools[d.ChainID].address, published[d.ChainID])
		}
	}
	for id, p := range spokePools {
		if !slices.ContainsFunc(known, func(d swap.Destination) bool { return d.ChainID == id }) || p.coin == (common.Address{}) {
			t.Errorf("chain %d: %+v", id, p)
		}
		if n, own := chain.NetworkByID(id); own && n.WrappedNative != p.coin {
			t.Errorf("chain %d wraps its coin in %s, not %s", id, n.WrappedNative, p.coin)
		}
	}
}
