package sandbox

import (
	"math/big"

	"swapkeep/sandbox/bridgesim"
)

func openBridge(o simulatorDeps) (*simulator, error) {
	bridge, err := bridgesim.New(o.contracts, o.chains, bridgesim.Options{
		APIKey: o.options.BridgeKey, Solver: o.services["bridgeSolver"], Stranger: o.services["bridgeStranger"], Layout: o.layout,
	})
	if err != nil {
		return nil, err
	}
	return simulate(bridge, bridge.Faults, bridge.Controls()), nil
}

// Bridge returns the simulator of the bridge provider.
func (s *Sandbox) Bridge() *bridgesim.Server {
	return s.simulator("bridge").Handler.(*bridgesim.Server)
}

// bridge deploys the bridge's contracts. Its routers swap against their own balances.
func (g *genesis) bridge() {
	for _, d := range bridgesim.Deployments(g.layout, g.network) {
		g.deploy(d.Contract, d.At, d.Args...)
		if !d.Stock {
			continue
		}
		g.Fund(d.At, new(big.Int).Set(serviceNative))
		for _, t := range append([]Token{g.network.Wrapped}, g.network.Tokens...) {
			g.give(t, d.At, t.Units(serviceDollars))
		}
	}
}
