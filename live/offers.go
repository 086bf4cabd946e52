package live

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/plan"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// An quoteCase is a quote to request.
type quoteCase struct {
	what string
	swap.QuoteRequest
}

// quoteCases returns the kinds of quotes that a swap may begin with: native coin, a dollar
// token, and cross-chain where the provider supports it. The amounts are large enough for
// services with auctions and makers.
func (w World) quoteCases(k swap.Kind, n chain.Network) (all []quoteCase) {
	dollar, ok := w.dollar(n.ID)
	if !ok {
		return nil
	}
	coins, dollars := big.NewInt(5e17), new(big.Int).Mul(big.NewInt(2000), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(dollar.Decimals)), nil))
	add := func(what string, in common.Address, amount *big.Int, dst uint64, out common.Address) {
		all = append(all, quoteCase{what, swap.QuoteRequest{
			Account: chain.Nobody, Recipient: chain.Nobody, RefundTo: chain.Nobody, SlippageBps: 50,
			SrcChain: n.ID, TokenIn: in, AmountIn: amount, DstChain: dst, TokenOut: out,
		}})
	}
	add("the coin for dollars", tokens.Native, coins, n.ID, dollar.Address)
	add("dollars for the coin", dollar.Address, dollars, n.ID, tokens.Native)
	if n.WrappedNative != (common.Address{}) {
		add("dollars for the wrapped coin", dollar.Address, dollars, n.ID, n.WrappedNative)
	}
	if far, ok := w.crossChainTarget(k, n.ID); ok {
		add(fmt.Sprintf("the coin to %d", far), tokens.Native, coins, far, tokens.Native)
		if there, ok := w.dollar(far); ok {
			add(fmt.Sprintf("dollars to %d", far), dollar.Address, dollars, far, there.Address)
		}
	}
	return all
}

// dollar returns a network's most traded dollar token.
func (w World) dollar(id uint64) (tokens.Token, bool) {
	for _, symbol := range []string{"USDC", "USDT"} {
		for _, t := range w.Tokens {
			if t.Chain == id && t.Symbol == symbol {
				return t, true
			}
		}
	}
	return tokens.Token{}, false
}

// crossChainTarget returns another network that the provider reaches from id and that has hosts.
func (w World) crossChainTarget(k swap.Kind, id uint64) (uint64, bool) {
	if !swap.SupportOf(k, id).CrossChain {
		return 0, false
	}
	for _, other := range []uint64{8453, 42161, 1} {
		if _, err := w.Nodes.Network(other); err == nil && other != id && swap.SupportOf(k, other).CrossChain {
			return other, true
		}
	}
	return 0, false
}

// checkOffers requests each quote from a provider and checks the answer: every offer is built,
// decoded and checked against the terms that it would be accepted with.
func (w World) checkOffers(ctx context.Context, p swap.Provider, n chain.Network) (rows []Row, answers []Answer) {
	r := plan.DryRun{Provider: p, Nodes: w.Nodes, Fees: w.Fees}
	for _, e := range w.quoteCases(p.Kind(), n) {
		kind, id := string(p.Kind()), n.ID
		reported := map[string]bool{}
		offers, err := r.Quote(swap.OnPartRefused(ctx, func(err error) {
			if verdictOfQuote(err) == Differs && !reported[err.Error()] { // other refusals are usual
				reported[err.Error()] = true
				rows = append(rows, Row{kind, id, e.what + ", a part of the answer", Differs, err.Error()})
			}
		}), e.QuoteRequest)
		if err != nil {
			rows = append(rows, Row{kind, id, e.what, verdictOfQuote(err), err.Error()})
			continue
		}
		answers = append(answers, Answer{p.Kind(), e.QuoteRequest, offers})
		for _, o := range offers {
			v, how := judgeOffer(ctx, r, o)
			rows = append(rows, Row{kind, id, e.what + ", " + o.Routing, v, how})
		}
	}
	return rows, answers
}

func judgeOffer(ctx context.Context, r plan.DryRun, o swap.Offer) (Verdict, string) {
	if o.Unusable != "" {
		return Works, "shown, and not to be executed: " + o.Unusable
	}
	made, err := r.Plan(ctx, o)
	if err != nil {
		return verdictOfQuote(err), err.Error()
	}
	return Works, fmt.Sprintf("%s for at least %s; %d steps, all understood", o.AmountOut, o.MinOut, len(made.Steps))
}

// differingCodes are the refusals of an answer that is not as expected. Any other means that
// there was no answer to judge.
var differingCodes = []swap.Code{swap.Undecodable, swap.NotAsAccepted, swap.NotPinned, swap.ProviderInvalidResponse}

func verdictOfQuote(err error) Verdict {
	var refused *swap.Refusal
	if errors.As(err, &refused) && slices.Contains(differingCodes, refused.Code) {
		return Differs
	}
	return NotAvailable
}
