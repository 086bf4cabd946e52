package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"swapkeep/chain"
	"swapkeep/swap"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Selectors of the calls that set an allowance.
var (
	erc20Approve   = []byte{0x09, 0x5e, 0xa7, 0xb3} // approve(address spender, uint256 amount)
	permit2Approve = []byte{0x87, 0x51, 0x7c, 0x45} // approve(address token, address spender, uint160 amount, uint48 expiration)
)

// revokeData returns the calldata that sets g to zero.
func revokeData(g swap.Grant) []byte {
	if g.Kind == swap.ByPermit2 {
		return slices.Concat(permit2Approve, pad(g.Token), pad(g.Spender), make([]byte, 64))
	}
	return slices.Concat(erc20Approve, pad(g.Spender), make([]byte, 32))
}

func pad(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// A Revoker is the built-in provider of revokes: one call of our own that sets an
// allowance to zero and can do nothing else.
type Revoker struct{}

func (Revoker) Kind() swap.Kind { return swap.Wallet }

// Pins returns Permit2, the only contract besides the token itself that a revoke may
// call. Any spender may be named, since rights are only taken away.
func (Revoker) Pins() swap.Pins {
	var pins swap.Pins
	for _, id := range swap.SupportedChains() {
		pins = append(pins, swap.Pin{Chain: id, Role: swap.Verifier, Address: swap.Permit2Contract})
	}
	return pins
}

// Quote refuses with UnsupportedRoute: there is nothing to swap.
func (Revoker) Quote(context.Context, swap.QuoteRequest) ([]swap.Offer, error) {
	return nil, swap.Refuse(swap.UnsupportedRoute, "the wallet itself offers no swaps")
}

// Build returns the one step that revokes the grant in o.Raw. The plan's spender makes
// the order lock the token's allowance: no other order changes or pulls it meanwhile.
func (Revoker) Build(_ context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	var g swap.Grant
	if err := json.Unmarshal(o.Raw, &g); err != nil {
		return swap.Built{}, &swap.Refusal{Code: swap.Undecodable, Reason: "the allowance to revoke cannot be read", Err: err}
	}
	call := chain.Call{ChainID: t.SrcChain, From: t.Account, To: g.Keeper(), Value: new(big.Int), Data: revokeData(g)}
	b := swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: &call}}, Settlement: swap.ByOwnCall, Spender: g.Spender}
	if g.Kind == swap.ByPermit2 {
		b.Spender = swap.Permit2Contract
	}
	return b, nil
}

// Decode reads the two calls that set an allowance, in the one encoding that revokeData
// writes. Everything else is refused with Undecodable.
func (Revoker) Decode(_ swap.Terms, s swap.Step) (swap.Effect, error) {
	if s.Kind != swap.CallStep || s.Call == nil || len(s.Call.Data) < 4 {
		return swap.Effect{}, swap.Refuse(swap.Undecodable, "a revoke is one transaction")
	}
	c := *s.Call
	w := words(c.Data[4:])
	a := swap.Approval{Token: c.To}
	switch selector := c.Data[:4]; {
	case bytes.Equal(selector, erc20Approve) && len(w) == 2 && isAddress(w[0]):
		a.Spender, a.Amount = common.BytesToAddress(w[0]), new(big.Int).SetBytes(w[1])
	case bytes.Equal(selector, permit2Approve) && len(w) == 4 && c.To == swap.Permit2Contract && isAddress(w[0]) && isAddress(w[1]):
		until := new(big.Int).SetBytes(w[3])
		if until.Sign() != 0 { // Permit2 takes zero as the current block's time
			return swap.Effect{}, swap.RefuseField(swap.Undecodable, "expiration", "a revoke has no expiration")
		}
		a.Token, a.Spender, a.Amount = common.BytesToAddress(w[0]), common.BytesToAddress(w[1]), new(big.Int).SetBytes(w[2])
	default:
		return swap.Effect{}, swap.Refuse(swap.Undecodable, "the call is no revoke of an allowance")
	}
	return swap.Effect{Kind: swap.Approve, Chain: c.ChainID, Target: c.To, Approves: []swap.Approval{a}}, nil
}

// words splits ABI-encoded arguments into 32-byte words; nil if they are not whole words.
func words(b []byte) (w [][]byte) {
	if len(b)%32 != 0 {
		return nil
	}
	for ; len(b) > 0; b = b[32:] {
		w = append(w, b[:32])
	}
	return w
}

func isAddress(word []byte) bool { return len(bytes.Trim(word[:12], "\x00")) == 0 }

// revokePlanLife is how long a revoke's plan may be accepted after it was shown: it depends
// on no price except that of gas.
const revokePlanLife = 10 * time.Minute

// ReviewRevoke prepares the revoke of g as it stands now, with its cost. The review is not
// kept: see KeepReviews. It may be repeated. A chain that was shut down is refused.
func (q *Quoter) ReviewRevoke(ctx context.Context, account common.Address, net chain.Network, g swap.Grant) (swap.Review, error) {
	if net.HasEnded() {
		return swap.Review{}, refuseEnded(net, "chainId")
	}
	now := q.planner.Now().UTC().Truncate(time.Second)
	zero := new(big.Int)
	t := swap.Terms{
		Provider: swap.Wallet, Account: account, SrcChain: net.ID, TokenIn: g.Token, AmountIn: zero, DstChain: net.ID, TokenOut: g.Token,
		Recipient: account, MinOut: zero, Deadline: now.Add(consentLife), RefundTo: account, GasCeiling: net.GasCeiling,
	}
	offer := swap.Offer{
		Provider: swap.Wallet, Routing: "REVOKE", Route: "allowance of " + g.Spender.Hex() + " to zero", AmountOut: zero, MinOut: zero, Expires: now.Add(revokePlanLife), Raw: swap.MustJSON(g),
		Request: swap.QuoteRequest{Account: account, SrcChain: net.ID, TokenIn: g.Token, AmountIn: zero, DstChain: net.ID, TokenOut: g.Token, Recipient: account, RefundTo: account},
	}
	p := Revoker{}
	plan, err := q.planner.build(ctx, p, offer, t)
	if err != nil {
		return swap.Review{}, err
	}
	if err := swap.Check(t, plan.Effects(), p.Pins()); err != nil {
		return swap.Review{}, err
	}
	r := swap.Review{Digest: swap.Digest(t, plan.Effects()), Terms: t, Offer: offer, Plan: plan, Expires: offer.Expires}
	if err := q.planner.weigh(ctx, &r, net, plan.Steps, t.GasCeiling); err != nil {
		return r, err
	}
	q.planner.setLines(&r)
	return r, nil
}
