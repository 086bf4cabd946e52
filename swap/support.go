package swap

import "slices"

// Support is one cell of the spec's table (section 2, network support).
type Support string

const (
	Active       Support = "active"
	Disabled     Support = "disabled" // until the provider supports the chain
	NotSupported Support = "not_supported"
)

// A Cell is a provider's support on one chain; Note is the table's remark.
type Cell struct {
	Support    Support  `json:"support"`
	CrossChain bool     `json:"crossChainEnabled"`
	Note       string   `json:"note,omitempty"`
	Pools      []string `json:"pools,omitempty"` // DEX: pool versions requested for the classic route
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

// supportTable is the spec's of 24 June 2026, row by row, except for the cells in
// [superseded]. It applies to its chains in both directions: what it calls unsupported is
// refused even where an API would serve it.
var supportTable = []supportRow{
	{1, [4]Cell{dex("V3", "V2", "V4"), bridged, intents, gasless}},
	{10, [4]Cell{noAuctions(dex("V3", "V4")), bridged, intents, gasless}},
	{56, [4]Cell{dex("V3", "V4"), bridged, intents, gasless}},
	{8453, [4]Cell{dex("V3", "V4"), bridged, intents, gasless}},
	{42161, [4]Cell{dex("V3", "V4"), bridged, intents, gasless}},
	{143, [4]Cell{dex("V3", "V4"), bridged, intents, none}},
	{43114, [4]Cell{dex("V3", "V4"), bridged, intents, gasless}},
	{5330, [4]Cell{none, bridged, disabled, gaslessOne}},
	{39, [4]Cell{none, none, disabled, none}},
}

// noAuctions is a cell of a chain where the auction contract is deployed but no auction
// was seen yet. Auctions are requested anyway, and the pools answer.
func noAuctions(c Cell) Cell {
	c.Note = "no auctions seen so far: quotes come from pools"
	return c
}

// A supersededCell is a cell of the spec's table that has another value now, and why.
type supersededCell struct {
	chain uint64
	kind  Kind
	was   Cell
	why   string
}

const v4Too = "V4 routes are decoded, and requested when neither token is the wrapped coin"

// superseded are the cells that are no longer the spec's. A new network adds a row.
var superseded = []supersededCell{
	{1, DEX, dex("V3", "V2"), v4Too},
	{10, DEX, dex("V3"), v4Too + "; the reactor is deployed, but no auction fill is known; if the API offers no auction, pools are queried"},
	{56, DEX, none, "Universal Router 2.1.2 (@uniswap/universal-router-sdk 5.13.0) and the V3 reactor (@uniswap/uniswapx-sdk 3.1.0) are deployed; recorded API replies include quotes there"},
	{8453, DEX, dex("V3"), v4Too},
	{42161, DEX, dex("V3"), v4Too},
	{143, DEX, none, "Universal Router 2.1.2 (@uniswap/universal-router-sdk 5.13.0) and the V3 reactor (@uniswap/uniswapx-sdk 3.1.0) are deployed, and auctions get filled there"},
	{143, Bridge, none, "Relay's published configuration lists a depository there (relayprotocol/relay-settlement, packages/networks/src/networks/monad.ts at 08c02f5)"},
	{43114, DEX, none, "the network was added: Universal Router 2.1.2 (@uniswap/universal-router-sdk 5.13.0) and the V3 reactor (@uniswap/uniswapx-sdk 3.1.0) are deployed, and auctions get filled there"},
	{43114, Bridge, none, "the network was added: Relay lists its depository (addresses.prod.json of relayprotocol/relay-depository) and its routers"},
	{43114, Intent, none, "the network was added: the provider lists it (GET /v1/chains on 2026-07-25)"},
	{43114, Gasless, none, "the network was added: the provider's lists of both protocols have it, as avalanche"},
}

// SupportOf returns the table's cell for a provider and chain. Chains outside the table
// are NotSupported; bridge and intent may serve them as destinations only.
func SupportOf(k Kind, chainID uint64) Cell {
	col := slices.Index(Kinds(), k)
	for _, r := range supportTable {
		if r.chain == chainID && col >= 0 {
			return r.cells[col]
		}
	}
	return none
}

// SupportedChains returns the table's chains, in its order.
func SupportedChains() []uint64 {
	out := make([]uint64, len(supportTable))
	for i, r := range supportTable {
		out[i] = r.chain
	}
	return out
}

// CheckRoute refuses a route that the table does not allow.
func CheckRoute(k Kind, src, dst uint64) error {
	from := SupportOf(k, src)
	switch {
	case from.Support == Disabled:
		return RefuseField(UnsupportedNetwork, "srcChainId", "%s is disabled on chain %d until the provider supports it", k, src)
	case from.Support != Active:
		return RefuseField(UnsupportedNetwork, "srcChainId", "%s does not serve chain %d; choose another provider or network", k, src)
	case src == dst:
		return nil
	case !from.CrossChain:
		return RefuseField(UnsupportedRoute, "dstChainId", "%s swaps on one chain only; choose the bridge or intent provider for chain %d", k, dst)
	case slices.Contains(SupportedChains(), dst) && !SupportOf(k, dst).CrossChain:
		return RefuseField(UnsupportedNetwork, "dstChainId", "%s does not reach chain %d; choose another provider or network", k, dst)
	}
	return nil
}

// ProviderInfo says what a provider can do here.
type ProviderInfo struct {
	Kind     Kind            `json:"kind"`
	Ready    bool            `json:"ready"` // built in and configured
	Reason   string          `json:"reason,omitempty"`
	Support  map[uint64]Cell `json:"support"` // by chain id
	Can      Capabilities    `json:"capabilities"`
	Fee      ProviderFee     `json:"fee"`
	Endpoint *Endpoint       `json:"place,omitempty"` // of a [Endpointer] provider that is set up
}
