package intent

import (
	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Proof requires a payment of at least the minimum received from a built-in filler, or a
// refund of the whole input from one or from the built-in contract that took it. A payment
// from any other account is only reported as seen. In a same-chain swap the deposit's own
// transaction may already have paid; with native output no log would show that. No I/O.
func (p *Provider) Proof(o swap.Order) (swap.Proof, error) {
	c, err := depositOf(o)
	if err != nil {
		return swap.Proof{}, err
	}
	t := o.Terms
	payers := func(id uint64) (out []common.Address) {
		for _, f := range p.fillers {
			if f.chain == id {
				out = append(out, f.address)
			}
		}
		return out
	}
	proof := swap.Proof{
		Own:     t.SrcChain == t.DstChain && t.TokenOut != chain.Native,
		Arrival: &swap.Arrival{Chain: t.DstChain, Token: t.TokenOut, To: t.Recipient, Least: t.MinOut, From: payers(t.DstChain)},
		Refund:  &swap.Arrival{Chain: t.SrcChain, Token: t.TokenIn, To: t.RefundTo, Least: t.AmountIn, From: payers(t.SrcChain)},
	}
	// A contract's payment of the native coin leaves no log that names the contract. And a
	// contract that is not built in may be a pool, whose later payment is no refund.
	if t.TokenIn != chain.Native && p.Pins().Allows(t.SrcChain, swap.Depot, c.To) {
		proof.Refund.From = append(proof.Refund.From, c.To)
	}
	return proof, nil
}
