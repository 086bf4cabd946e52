package swap

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

const (
	// quoteTime is how long one provider may take to quote.
	quoteTime = 10 * time.Second
	// maxRaw bounds a provider's own words, in bytes: every snapshot of an order
	// repeats them. Honest ones have a tenth of it.
	maxRaw = 128 << 10
)

// Quote asks providers for offers, all at once, and ranks what they answer. A
// provider that fails has its reason in Failures; the others are not held up.
// Asking every provider fails only when the request itself is wrong, or the
// balance does not cover it. That is found out meanwhile: no offer is kept, told
// or returned before.
func (s *Service) Quote(ctx context.Context, r QuoteRequest, kinds []Kind, each func(Kind, []Offer, *Refusal)) (QuoteResult, error) {
	if err := checkRequest(&r); err != nil {
		return QuoteResult{}, err
	}
	asked := kinds
	if len(asked) == 0 {
		asked = Kinds()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var short error // valid once known is closed
	known := make(chan struct{})
	funds := func() error { <-known; return short }
	res := QuoteResult{Failures: map[Kind]*Refusal{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, k := range asked {
		wg.Go(func() {
			offers, err := s.quoteOne(ctx, k, r, funds)
			refused := asRefusal(err)
			if funds() != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if refused != nil {
				res.Failures[k] = refused
			}
			res.Offers = append(res.Offers, offers...)
			if each != nil {
				each(k, offers, refused)
			}
		})
	}
	if short = checkBalance(ctx, s.o.Nodes, s.o.Journal, r.SrcChain, r.Account, r.TokenIn, r.AmountIn); short != nil {
		stop()
	}
	close(known)
	wg.Wait()
	if short != nil {
		return QuoteResult{}, short
	}
	rank(res.Offers)
	if len(kinds) == 1 && len(res.Offers) == 0 { // the one provider that was asked says why
		if refused := res.Failures[kinds[0]]; refused != nil {
			return res, refused
		}
	}
	return res, nil
}

// checkRequest refuses what no provider could serve and fills in defaults.
func checkRequest(r *QuoteRequest) error {
	zero := common.Address{}
	if r.SlippageBps == 0 {
		r.SlippageBps = DefaultSlippageBps
	}
	if r.Recipient == zero {
		r.Recipient = r.Account
	}
	if r.RefundTo == zero {
		r.RefundTo = r.Account
	}
	switch {
	case r.Account == zero:
		return refuseField(BadRequest, "account", "choose an account")
	case r.AmountIn == nil || r.AmountIn.Sign() <= 0:
		return refuseField(AmountZero, "amountIn", "enter an amount above zero")
	case r.AmountIn.BitLen() > 256:
		return refuseField(BadRequest, "amountIn", "the amount has more than 256 bits")
	case r.SlippageBps < MinSlippageBps || r.SlippageBps > MaxSlippageBps:
		return refuseField(SlippageBounds, "slippage", "slippage must be above 0 and at most 50 %%")
	case r.SrcChain == r.DstChain && r.TokenIn == r.TokenOut:
		return refuseField(SameToken, "tokenOut", "token in and token out are the same; choose another")
	case !slices.Contains(SupportedChains(), r.SrcChain):
		return refuseField(UnsupportedNetwork, "srcChainId", "chain %d is not one of the wallet's networks", r.SrcChain)
	}
	return nil
}

// checkFunds refuses an amount that the balance does not cover beside what is
// promised to signed open orders.
func checkFunds(amount, balance, promised *big.Int) error {
	need := new(big.Int).Add(amount, promised)
	if balance.Cmp(need) >= 0 {
		return nil
	}
	refused := &Refusal{Code: InsufficientFunds, Field: "amountIn", Reason: "the amount is above the balance; enter a smaller one",
		Data: map[string]string{"balance": balance.String(), "missing": new(big.Int).Sub(need, balance).String()}}
	if promised.Sign() > 0 {
		refused.Reason = "the amount is above what open orders leave of the balance; enter a smaller one, or cancel one of them"
		refused.Data["promised"] = promised.String()
	}
	return refused
}

// quoteOne asks one provider, within its time, and keeps its offers once the
// funds are there.
func (s *Service) quoteOne(ctx context.Context, k Kind, r QuoteRequest, funds func() error) ([]Offer, error) {
	if err := checkRoute(k, r.SrcChain, r.DstChain); err != nil {
		return nil, err
	}
	p, ok := s.o.Providers[k]
	if !ok {
		return nil, Refuse(ProviderDown, "the %s provider is not configured", k)
	}
	r.FeeBps, r.FeeReceiver, _ = s.o.Fees.For(k)
	if net, err := s.o.Nodes.Network(r.SrcChain); err == nil && wraps(r, net.WrappedNative) {
		r.FeeBps, r.FeeReceiver = 0, common.Address{} // wrapping is free
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTime)
	defer cancel()
	offers, err := p.Quote(ctx, r)
	if err == nil {
		err = funds()
	}
	if err != nil {
		return nil, err
	}
	return s.shelve(k, r, offers)
}

// shelve checks what every offer must satisfy, names it and keeps it until it
// expires. The request is ours, not the provider's echo of it.
func (s *Service) shelve(k Kind, r QuoteRequest, offers []Offer) ([]Offer, error) {
	out := make([]Offer, 0, len(offers))
	for _, o := range offers {
		o.Provider, o.Request = k, r
		if err := checkOffer(o, r); err != nil {
			return nil, err
		}
		o.ID = uuid.NewString()
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, Refuse(NoRoute, "the %s provider has no offer for this pair and amount", k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range out {
		s.offers.put(o.ID, o)
	}
	return out, nil
}

// checkOffer refuses an offer that is too large to keep, has no sound amounts,
// or whose minimum allows more slippage than was asked for.
func checkOffer(o Offer, r QuoteRequest) error {
	switch {
	case len(o.Raw) > maxRaw:
		return Refuse(ProviderGarbage, "an offer of %d bytes", len(o.Raw))
	case o.AmountOut == nil || o.MinOut == nil || o.MinOut.Sign() <= 0 || o.MinOut.Cmp(o.AmountOut) > 0:
		return Refuse(ProviderGarbage, "an offer without a sound amount")
	case o.MinOut.Cmp(floorOf(o.AmountOut, r.SlippageBps)) < 0:
		return refuseField(NotAsAccepted, "minAmountOut", "the offer's minimum allows more slippage than was asked for")
	}
	return nil
}

// floorOf is the least that slippage leaves of an amount, rounded down.
func floorOf(amount *big.Int, slippageBps int) *big.Int {
	n := new(big.Int).Mul(amount, big.NewInt(int64(10_000-slippageBps)))
	return n.Div(n, big.NewInt(10_000))
}

// rank orders offers: the best enforced output first, then the quicker one.
func rank(offers []Offer) {
	slices.SortStableFunc(offers, func(a, b Offer) int {
		if c := b.AmountOut.Cmp(a.AmountOut); c != 0 {
			return c
		}
		return int(a.Duration - b.Duration)
	})
}

// asRefusal gives every failure of a provider a reason that can be shown.
func asRefusal(err error) *Refusal {
	var r *Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return r
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Refusal{Code: ProviderDown, Reason: "the provider did not answer in time; try again", Err: err}
	}
	return &Refusal{Code: ProviderDown, Reason: err.Error(), Err: err}
}
