package sandbox

import (
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/dexsim"
)

func openDEX(o simulatorDeps) (*simulator, error) {
	dex, err := dexsim.New(o.contracts, o.chains, dexsim.Options{
		APIKey: o.options.DEXKey, Filler: o.services["auctionFiller"], Cosigner: o.services["auctionCosigner"],
	})
	if err != nil {
		return nil, err
	}
	return simulate(dex, dex.Faults, dex.Controls()), nil
}

// DEX returns the simulator of the DEX provider.
func (s *Sandbox) DEX() *dexsim.Server { return s.simulator("dex").Handler.(*dexsim.Server) }

// DEXURL returns its base URL.
func (s *Sandbox) DEXURL() string { return s.BaseURL("dex") }

// arbSys is the address of Arbitrum's ArbSys precompile.
var arbSys = common.HexToAddress("0x0000000000000000000000000000000000000064")

// arbBlockNumber is runtime code that answers every call with the block number.
var arbBlockNumber = common.FromHex("0x435f5260205ff3")

// arbitrum is the chain whose contracts ask arbSys for the block number.
const arbitrum = 42161

// uniswapX deploys the UniswapX reactors and the OrderQuoter.
func (g *genesis) uniswapX() {
	if g.network.ID == arbitrum {
		g.Install(arbSys, arbBlockNumber)
	}
	x := g.network.UniswapX()
	for name, at := range map[string]common.Address{"V2DutchOrderReactor": x.V2Reactor, "V3DutchOrderReactor": x.V3Reactor} {
		if at != (common.Address{}) {
			g.deploy(name, at, g.network.Contracts.Permit2, x.FeeOwner)
			g.approveAll("auctionFiller", at)
		}
	}
	if x.OrderQuoter != (common.Address{}) {
		g.deploy("OrderQuoter", x.OrderQuoter)
	}
}
