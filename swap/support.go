package swap

import (
	"slices"
)

// Support is one cell of the spec's table (section 2, network support).
type Support string

// What a provider does on a chain.
const (
	Active       Support = "active"
	Disabled     Support = "disabled" // until the provider supports the chain
	NotSupported Support = "not supported"
)

// A Cell is a provider's support on one chain; Note is the table's remark.
type Cell struct {
	Support    Support  `json:"support"`
	CrossChain bool     `json:"crossChainEnabled"`
	Note       string   `json:"note,omitempty"`
	Pools      []string `json:"pools,omitempty"` // DEX: pool versions of the classic route
	Auction    bool     `json:"auction,omitempty"`
}

func dex(pools ...string) Cell {
	return Cell{Support: Active, Pools: pools, Auction: true}
}

var (
	none       = Cell{Support: NotSupported}
	disabled   = Cell{Support: Disabled}
	bridged    = Cell{Support: Active, CrossChain: true}
	intents    = Cell{Support: Active, CrossChain: true}
	gasless    = Cell{Support: Active, Note: "two protocol versions"}
	gaslessOne = Cell{Support: Active, Note: "single protocol version, custom contract deployment"}
)

// A supportRow is one row of the table, columns in the order of Kinds.
type supportRow struct {
	chain uint64
	cells [4]Cell
}

// supportTable is the spec's, row by row. It governs its chains in both
// directions: what it calls unsupported is refused even where an API would serve it.
var supportTable = []supportRow{
	{1, [4]Cell{dex("V3", "V2"), bridged, intents, gasless}},
	{10, [4]Cell{dex("V3"), bridged, intents, gasless}},
	{56, [4]Cell{none, bridged, intents, gasless}},
	{8453, [4]Cell{dex("V3"), bridged, intents, gasless}},
	{42161, [4]Cell{dex("V3"), bridged, intents, gasless}},
	{143, [4]Cell{none, none, intents, none}},
	{5330, [4]Cell{none, bridged, disabled, gaslessOne}},
	{39, [4]Cell{none, none, disabled, none}},
}

// SupportOf is the table's cell for a provider and chain. Chains outside the
// table are NotSupported; bridge and intent may serve them as destinations only.
func SupportOf(k Kind, chainID uint64) Cell {
	col := slices.Index(Kinds(), k)
	for _, r := range supportTable {
		if r.chain == chainID && col >= 0 {
			return r.cells[col]
		}
	}
	return none
}

// SupportedChains lists the table's chains, in its order.
func SupportedChains() []uint64 {
	out := make([]uint64, len(supportTable))
	for i, r := range supportTable {
		out[i] = r.chain
	}
	return out
}

// checkRoute refuses a route the table does not allow.
func checkRoute(k Kind, src, dst uint64) error {
	from := SupportOf(k, src)
	switch {
	case from.Support == Disabled:
		return refuseField(UnsupportedNetwork, "srcChainId", "%s is disabled on chain %d until the provider supports it", k, src)
	case from.Support != Active:
		return refuseField(UnsupportedNetwork, "srcChainId", "%s does not serve chain %d; choose another provider or network", k, src)
	case src == dst:
		return nil
	case !from.CrossChain:
		return refuseField(UnsupportedRoute, "dstChainId", "%s swaps on one chain only; choose the bridge or intent provider for chain %d", k, dst)
	case slices.Contains(SupportedChains(), dst) && !SupportOf(k, dst).CrossChain:
		return refuseField(UnsupportedNetwork, "dstChainId", "%s does not reach chain %d; choose another provider or network", k, dst)
	}
	return nil
}

// ProviderInfo says what a provider can do here.
type ProviderInfo struct {
	Kind    Kind            `json:"kind"`
	Ready   bool            `json:"ready"` // built in and configured
	Reason  string          `json:"reason,omitempty"`
	Support map[uint64]Cell `json:"support"` // by chain id
	Can     Capabilities    `json:"capabilities"`
	Fee     ProviderFee     `json:"fee"`
	Place   *Place          `json:"place,omitempty"` // of a [Placed] provider that is set up
}
