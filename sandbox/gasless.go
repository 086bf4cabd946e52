package sandbox

import (
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/gaslesssim"
)

func openGasless(o simulatorDeps) (*simulator, error) {
	g, err := gaslesssim.New(o.contracts, o.chains, gaslesssim.Options{Solver: o.services["jamSolver"], Maker: o.services["rfqMaker"]})
	if err != nil {
		return nil, err
	}
	return simulate(g, g.Faults, g.Controls()), nil
}

// Gasless returns the simulator of the gasless provider.
func (s *Sandbox) Gasless() *gaslesssim.Server {
	return s.simulator("gasless").Handler.(*gaslesssim.Server)
}

// gasless deploys JAM and, where the chain has it, RFQ. Solver and maker approve the
// contracts that pull their tokens.
func (g *genesis) gasless() {
	c, permit2 := g.network.Gasless(), g.network.Contracts.Permit2
	if c.Name == "" {
		return
	}
	g.deploy("JamBalanceManager", c.JamBalanceManager, c.JamSettlement, permit2)
	g.deploy("JamSettlement", c.JamSettlement, c.JamBalanceManager, permit2, gaslesssim.ProtocolFees)
	g.approveAll("jamSolver", c.JamBalanceManager)
	if c.RfqSettlement != (common.Address{}) {
		g.deploy("RfqSettlement", c.RfqSettlement, g.network.Wrapped.Address, permit2)
		g.approveAll("rfqMaker", c.RfqSettlement)
	}
}
