package sandbox

import (
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/intentsim"
)

// intentReserve is the starting balance of a deposit contract, in US dollars of each
// token. Its native balance is that of a service account.
const intentReserve = 1_000_000

func openIntent(o simulatorDeps) (*simulator, error) {
	intent, err := intentsim.New(o.contracts, o.chains, intentsim.Options{Solver: o.services["intentSolver"], Stranger: o.services["intentStranger"], Layout: o.layout})
	if err != nil {
		return nil, err
	}
	return simulate(intent, intent.Faults, intent.Controls()), nil
}

// Intent returns the simulator of the intent provider.
func (s *Sandbox) Intent() *intentsim.Server {
	return s.simulator("intent").Handler.(*intentsim.Server)
}

// IntentURL returns its base URL, without /v1.
func (s *Sandbox) IntentURL() string { return s.BaseURL("intent") }

// intent deploys the deposit contract, with a reserve to pay from, and Across's.
func (g *genesis) intent() {
	at := g.network.IntentDeposit()
	if at == (common.Address{}) {
		return
	}
	solver := g.services["intentSolver"].Address
	g.deploy("IntentDeposit", at, intentsim.NewLayout(g.layout, g.network.ID).Args(solver)...)
	g.Fund(at, serviceNative)
	g.reserve(at)
	if pool := g.network.SpokePool(); pool != (common.Address{}) {
		g.deploy("SpokePool", pool, g.network.Wrapped.Address, solver)
		g.reserve(pool)
		for _, service := range []string{"intentSolver", "intentStranger"} {
			g.approveAll(service, pool)
		}
	}
}

// reserve gives a contract every token to pay from.
func (g *genesis) reserve(at common.Address) {
	for _, t := range append([]Token{g.network.Wrapped}, g.network.Tokens...) {
		g.give(t, at, t.Units(intentReserve))
	}
}
