package intent

import (
	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Proof requires a refund of the whole input from the built-in contract that took it, which fills
// other orders too (testdata/live/FACTS.md: its withdrawals name no order). If the
// deposit's own receipt names a relay of Across, the fill of that relay is proof. Nothing else on
// the destination chain names the order, and the provider does not publish who its fillers
// are, so any other payment of the minimum is never proof, and at most [swap.LikelyPaid]. In a
// same-chain swap the deposit's own transaction may already have paid; with native output no
// log would show that. No I/O.
func (p *Provider) Proof(o swap.Order) (swap.Proof, error) {
	c, err := depositOf(o)
	if err != nil {
		return swap.Proof{}, err
	}
	t := o.Terms
	proof := swap.Proof{
		Own:     t.SrcChain == t.DstChain && t.TokenOut != chain.Native,
		Arrival: &swap.Arrival{Chain: t.DstChain, Token: t.TokenOut, To: t.Recipient, Least: t.MinOut},
		Refund:  &swap.Arrival{Chain: t.SrcChain, Token: t.TokenIn, To: t.RefundTo, Least: t.AmountIn},
	}
	proof.Arrival.Link, proof.Arrival.From = relay(t)
	// A contract's payment of the native coin leaves no log that names the contract. And a
	// contract that is not built in may be a pool, whose later payment is no refund.
	if t.TokenIn != chain.Native && p.Pins().Allows(t.SrcChain, swap.Depot, c.To) {
		proof.Refund.From = []common.Address{c.To}
	}
	return proof, nil
}
