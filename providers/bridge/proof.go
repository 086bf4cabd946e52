package bridge

import (
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// coinPaid is the topic of the event by which a router says whom it paid in the coin
// (relayprotocol/relay-periphery, RelayRouter).
var coinPaid = crypto.Keccak256Hash([]byte("SolverNativeTransfer(address,uint256)"))

// payers are the routers by which solvers pay, on every chain: those that orders may be paid
// through here, v2.1, and their London builds (docs.relay.link, contract addresses).
var payers = func() (all []common.Address) {
	for _, p := range routerPairs {
		all = append(all, p.router)
	}
	for _, a := range []string{
		"0x3ec130b627944cad9b2750300ecb0a695da522b6",
		"0x113a327221d2c4660684449bfc39bc14ad1aaf38", "0xb758f3bfa7b9d39ef5457d7c7ffb3702f2ad3982",
		"0x9ef6d3c2f60d7b9008d74cab1fc0f899c957c819", "0x6328ea02d28131e58b28e55c6258258a30d90e05",
	} {
		all = append(all, common.HexToAddress(a))
	}
	return all
}()

// Proof returns what the chains would show: between chains a payment of the minimum, or of the
// refund, which is part of the terms, whose transaction names the order; on one chain what
// the call itself brought. Fills come from many accounts, so that the sender decides nothing
// but for less than the minimum. No I/O.
func (p *Provider) Proof(o swap.Order) (swap.Proof, error) {
	last, t := len(o.Plan.Steps)-1, o.Terms
	if last < 0 {
		return swap.Proof{}, refuse(swap.Undecodable, "plan", "has no order without a step")
	}
	f, err := p.Decode(t, o.Plan.Steps[last])
	if err != nil {
		return swap.Proof{}, err
	}
	if t.SrcChain == t.DstChain {
		return swap.Proof{Own: true}, nil
	}
	id := f.DepositID
	if f.Kind == swap.Opaque {
		x, err := checkOffer(o.Offer, t, p.solver)
		if err != nil {
			return swap.Proof{}, err
		}
		id = x.orderID
	}
	back := t.MinRefund()
	from, link := []common.Address{p.solver}, &swap.Link{InputEnd: id, CoinPaid: coinPaid, Payers: payers}
	return swap.Proof{
		Arrival: &swap.Arrival{Chain: t.DstChain, Token: t.TokenOut, To: t.Recipient, Least: t.MinOut, From: from, Link: link},
		Refund:  &swap.Arrival{Chain: t.SrcChain, Token: back.Token, To: t.RefundTo, Least: back.Amount, From: from, Link: link},
	}, nil
}
