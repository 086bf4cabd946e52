package network

import "github.com/ethereum/go-ethereum/common"

// Bridge holds a chain's contracts of the bridge. Name is the bridge's name of the chain,
// "" if the bridge does not serve it.
type Bridge struct {
	Name       string
	Depository common.Address
	Pairs      []BridgePair // old to new
}

// A BridgePair is one deployment of the router. Swaps of the native coin call the router,
// swaps of tokens its approval proxy.
type BridgePair struct {
	Version       string
	Router, Proxy common.Address
}

// bridgeNames maps chain ids to names; the bridge uses the chains' own ids.
var bridgeNames = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bnb", 143: "monad", 5330: "superseed", 8453: "base", 42161: "arbitrum", 43114: "avalanche", 130: "unichain",
}

// bridgeDepository is the same on all of these chains, as the bridge publishes.
var bridgeDepository = common.HexToAddress("0x4cd00e387622c35bddb9b4c962c136462338bc31")

// unpinnedPair is one that the wallet does not know.
var unpinnedPair = BridgePair{"v2.1", common.HexToAddress("0x3ec130b627944cad9b2750300ecb0a695da522b6"), common.HexToAddress("0x58cc3e0aa6cd7bf795832a225179ec2d848ce3e7")}

// bridgePairs are the deployments in the bridge's list of chains. The last appeared after
// 5330 was no longer served.
var bridgePairs = []BridgePair{
	{"v2", common.HexToAddress("0xf5042e6ffac5a625d4e7848e0b01373d8eb9e222"), common.HexToAddress("0xbbbfd134e9b44bfb5123898ba36b01de7ab93d98")},
	{"v3", common.HexToAddress("0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f"), common.HexToAddress("0xccc88a9d1b4ed6b0eaba998850414b24f1c315be")},
	{"v3.2", common.HexToAddress("0x0729e2a4716d9f7dd17858d5d504426d228697f7"), common.HexToAddress("0x5567954cd026cebfe486062cb75848e0f1c12e58")},
}

// Bridge returns the chain's contracts of the bridge.
func (n Network) Bridge() Bridge {
	name := bridgeNames[n.ID]
	if name == "" {
		return Bridge{}
	}
	pairs := bridgePairs
	switch n.ID {
	case 5330:
		pairs = pairs[:2]
	case 56:
		pairs = append([]BridgePair{unpinnedPair}, pairs...)
	case 143: // added later
		pairs = append([]BridgePair{unpinnedPair}, pairs[1:]...)
	}
	return Bridge{name, bridgeDepository, pairs}
}

func (b Bridge) named() map[string]common.Address {
	named := map[string]common.Address{"bridgeDepository": b.Depository}
	for _, p := range b.Pairs {
		named["bridgeRouter-"+p.Version], named["bridgeProxy-"+p.Version] = p.Router, p.Proxy
	}
	return named
}
