package intent

import "github.com/ethereum/go-ethereum/common"

// sandboxFiller is the account that the sandbox's simulator pays from. Its key is
// public; only [Config.Sandbox] reaches this table.
var sandboxFiller = common.HexToAddress("0x7c4Fa858cdFb46a314404409B69d7Dfa4ee5E3B0")

func sandboxFillers() []filler {
	out := make([]filler, len(networks))
	for i, n := range networks {
		out[i] = filler{n.ChainID, sandboxFiller}
	}
	return out
}
