package bridgesim

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/network"
)

// native is the currency address of a chain's native coin.
var native common.Address

// A Deployment is a contract of the bridge on a chain.
type Deployment struct {
	Contract string // name in the set
	At       common.Address
	Args     []any // of its constructor
	Stock    bool  // it needs funds to swap against
}

// Deployments lists the bridge's contracts on a chain, for the layout number of this run.
func Deployments(number uint64, n network.Network) []Deployment {
	b := n.Bridge()
	if b.Name == "" {
		return nil
	}
	all := []Deployment{{Contract: "BridgeDepository", At: b.Depository}}
	for _, p := range b.Pairs {
		router, proxy := LayoutOf(number, n.ID, p.Router), LayoutOf(number, n.ID, p.Proxy)
		all = append(all,
			Deployment{"BridgeRouter", p.Router, []any{router.Selector, router.Order, p.Proxy, b.Depository}, true},
			Deployment{"BridgeApprovalProxy", p.Proxy, []any{proxy.Selector, proxy.Order, p.Router}, false})
	}
	return all
}

// pair returns the chain's deployment of the version, or its newest if it lacks that
// version.
func (m *market) pair(version string) (network.BridgePair, error) {
	pairs := m.Bridge().Pairs
	i := slices.IndexFunc(pairs, func(p network.BridgePair) bool { return p.Version == version })
	switch {
	case i >= 0:
		return pairs[i], nil
	case len(pairs) > 0:
		return pairs[len(pairs)-1], nil
	}
	return network.BridgePair{}, fmt.Errorf("chain %d has no router", m.ID)
}

// abis are the ABIs of the contracts that the simulator calls or whose events it reads.
type abis struct {
	depository, router, erc20 abi.ABI
	// depositERC20 is the published method to deposit tokens. An overload deposits the
	// whole allowance.
	depositERC20 *abi.Method
}

// depositERC20Selector is the selector of depositErc20(address,address,uint256,bytes32).
var depositERC20Selector = hexutil.MustDecode("0xe8017952")

func loadABIs(set *contracts.Set) (abis, error) {
	var a abis
	for name, to := range map[string]*abi.ABI{"BridgeDepository": &a.depository, "BridgeRouter": &a.router, "MockERC20": &a.erc20} {
		c, err := set.Get(name)
		if err != nil {
			return abis{}, err
		}
		*to = c.ABI
	}
	var err error
	a.depositERC20, err = a.depository.MethodById(depositERC20Selector)
	return a, err
}
