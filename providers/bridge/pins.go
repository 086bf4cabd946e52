package bridge

import (
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	// solver pays fills and refunds on every EVM chain.
	solver = common.HexToAddress("0xf70da97812cb96acdf810712aa562db8dfa3dbef")

	depository       = common.HexToAddress("0x4cd00e387622c35bddb9b4c962c136462338bc31")
	londonDepository = common.HexToAddress("0x59916da825d2d2ec1bf878d71c88826f6633ecca")
	zeroDepository   = common.HexToAddress("0xa88cf7864951147a08707ed732237eaa9b1c3b9b")

	nativeCoin = common.Address{}
)

// A routerPair is one deployment of the routers: the native coin goes to the router
// itself, tokens are pulled by its approval proxy.
type routerPair struct {
	version       string
	router, proxy common.Address
}

// routerPairs are v2, which the API's list of chains still has, and v3 and v3.2, the old and the
// new routers of the change of 2026-10-26. They are deployed by CREATE2: at these addresses
// any chain has this code or none. A router calls whatever it is told, in its own name;
// docs/providers/bridge.md says what that can reach.
var routerPairs = []routerPair{
	{"v2", common.HexToAddress("0xf5042e6ffac5a625d4e7848e0b01373d8eb9e222"), common.HexToAddress("0xbbbfd134e9b44bfb5123898ba36b01de7ab93d98")},
	{"v3", common.HexToAddress("0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f"), common.HexToAddress("0xccc88a9d1b4ed6b0eaba998850414b24f1c315be")},
	{"v3.2", common.HexToAddress("0x0729e2a4716d9f7dd17858d5d504426d228697f7"), common.HexToAddress("0x5567954cd026cebfe486062cb75848e0f1c12e58")},
}

// A deployment is the bridge's contracts on a chain that an order may start from.
type deployment struct {
	chain      uint64
	depository common.Address
	pairs      []routerPair // the built-in routers
}

// deployments lists the chains on which the support table has the bridge active. The
// bridge's chain ids are the chains' own (spec section 2). v2 and v3 are from
// deployments/v2 and v3/addresses.json of relayprotocol/relay-periphery. v3.2 is on all
// chains served when it was released (5330 was not), on ours at these addresses.
var deployments = []deployment{
	{1, depository, routerPairs},
	{10, depository, routerPairs},
	{56, depository, routerPairs},
	{8453, depository, routerPairs},
	{42161, depository, routerPairs},
	{5330, depository, routerPairs[:2]},
	{143, depository, routerPairs[1:]}, // v2 was never published there
	{43114, depository, routerPairs},
}

// protocolNames are what orders call the built-in chains: the slugs of
// packages/networks/src/networks in relayprotocol/relay-settlement (56, 10 and 43114 at 5cf0db0,
// 5330 and 42161 at 1fd2e98, 143 at 08c02f5); 1 and 8453 are recorded in orders. The names
// of other chains are the API's claim.
var protocolNames = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bnb", 143: "monad", 5330: "superseed", 8453: "base", 42161: "arbitrum", 43114: "avalanche",
}

// depositories are those of all chains that Relay has published (addresses.prod.json of
// relayprotocol/relay-depository; for 143, which is missing there, packages/networks of
// relayprotocol/relay-settlement). A chain for which the API names another one is not used.
var depositories = []struct {
	contract common.Address
	chains   []uint64
}{
	{depository, []uint64{
		1, 10, 56, 100, 130, 137, 143, 146, 169, 185, 288, 324, 360, 466, 480,
		690, 714, 747, 988, 999, 1135, 1329, 1424, 1514, 1625, 1868, 1923, 1996, 2020,
		2741, 2818, 4217, 5031, 5330, 7560, 7869, 7897, 8333, 8453, 9745, 17071, 33139, 33979,
		34443, 42161, 42170, 42220, 43111, 43114, 43419, 48900, 55244, 57073, 60808, 69000, 70700, 70701,
		80094, 81457, 98866, 510003, 534352, 660279, 685689, 747474, 984122, 5064014, 7777777, 21000000, 84530008, 666666666,
		845300014, 888888888, 1380012617,
	}},
	{londonDepository, []uint64{25, 1088, 1101, 2911, 5000, 59144, 167000}},
	{zeroDepository, []uint64{543210}},
}

// depositoryOf returns a chain's published depository, zero if there is none.
func depositoryOf(chainID uint64) common.Address {
	for _, d := range depositories {
		if slices.Contains(d.chains, chainID) {
			return d.contract
		}
	}
	return common.Address{}
}

func deploymentOn(chainID uint64) (deployment, error) {
	i := slices.IndexFunc(deployments, func(d deployment) bool { return d.chain == chainID })
	if i < 0 || swap.SupportOf(swap.Bridge, chainID).Support != swap.Active {
		return deployment{}, refuse(swap.UnsupportedNetwork, "srcChainId", "does not start from chain %d; choose another provider or network", chainID)
	}
	return deployments[i], nil
}

// wrapped returns the chain's wrapped native coin.
func (d deployment) wrapped() common.Address {
	n, _ := chain.NetworkByID(d.chain)
	return n.WrappedNative
}

// A contractRole is the role of the contract that a step calls.
type contractRole int

const (
	roleUnknown    contractRole = iota
	roleDepository              // the depository: calls are decoded
	roleRouter                  // a router, or for tokens its approval proxy: calls are opaque
	roleUnpinned                // as roleRouter, of a pair that is not built in: called by an isolated account alone
)

// roleOf returns the role of a contract for the step that spends the input of the terms.
func (d deployment) roleOf(to common.Address, t swap.Terms) contractRole {
	switch {
	case to == d.depository:
		return roleDepository
	case takes(d.pairs, to, t.TokenIn):
		return roleRouter
	case t.IsIsolated() && to != (common.Address{}) && !d.isContract(to):
		return roleUnpinned
	}
	return roleUnknown
}

// takes reports whether a contract is the one of a pair that takes this input.
func takes(pairs []routerPair, to, input common.Address) bool {
	return slices.ContainsFunc(pairs, func(p routerPair) bool {
		return input == nativeCoin && to == p.router || input != nativeCoin && to == p.proxy
	})
}

// Pins returns the depositories, the routers and their approval proxies, the wrapped coins,
// and the solver.
func (p *Provider) Pins() swap.Pins {
	var pins swap.Pins
	for _, d := range deployments {
		pin := func(a common.Address, roles ...swap.Role) {
			for _, r := range roles {
				pins = append(pins, swap.Pin{Chain: d.chain, Role: r, Address: a})
			}
		}
		pin(d.depository, swap.Depot, swap.Spender)
		for _, x := range d.pairs {
			pin(x.router, swap.Router)
			pin(x.proxy, swap.Router, swap.Spender)
		}
		pin(d.wrapped(), swap.Wrapper)
		pin(p.solver, swap.Filler)
	}
	return pins
}
