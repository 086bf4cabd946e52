package plan

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"
	"swapkeep/swap"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// quoteTimeouts are the providers' time limits for a quote.
var quoteTimeouts = map[swap.Kind]time.Duration{
	swap.DEX:     10 * time.Second,
	swap.Bridge:  15 * time.Second, // it looks for routes on two chains
	swap.Intent:  30 * time.Second, // it streams offers as its fillers answer
	swap.Gasless: 10 * time.Second,
}

// maxRaw bounds a provider's raw offer, in bytes, since every snapshot of an order
// repeats it. Honest ones have a tenth of it.
const maxRaw = 128 << 10

const (
	// maxOffersPerProvider bounds the offers of one provider; the best come first.
	maxOffersPerProvider = 64
	// maxOfferText bounds each of an offer's texts for people, in runes.
	maxOfferText = 300
)

// QuoteUpdate is a provider's update to a running quote.
type QuoteUpdate struct {
	Provider swap.Kind
	Offers   []swap.Offer  // new ones; with Done all, best first
	Failure  *swap.Refusal // why there are none
	Done     bool          // the provider has answered in full
	Ranked   []swap.Offer  // all offers of the quote so far, best first
}

// A QuoteResult is the answer to a quote: ranked offers and, for each provider that had
// none, why.
type QuoteResult struct {
	Offers   []swap.Offer                `json:"offers"`
	Failures map[swap.Kind]*swap.Refusal `json:"failures"`
}

// Quote asks providers in parallel (all if kinds is empty), ranks their offers, and calls
// each, if not nil, with every update. A failed provider has its reason in Failures; if
// it was the only one asked, that is the error. Otherwise Quote fails only if the request
// is wrong, or the balance does not cover it or cannot be read. The balance is checked in
// parallel: no offer is kept, reported or returned before that.
func (q *Quoter) Quote(ctx context.Context, r swap.QuoteRequest, kinds []swap.Kind, each func(QuoteUpdate)) (QuoteResult, error) {
	if err := checkRequest(&r); err != nil {
		return QuoteResult{}, err
	}
	if err := checkRunning(q.planner.Nodes, r); err != nil {
		return QuoteResult{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var short error // valid once known is closed
	known := make(chan struct{})
	funds := func() error { <-known; return short }
	b := q.newRanking(ctx, r, each)
	var wg sync.WaitGroup
	for _, k := range kindsOrAll(kinds) {
		wg.Go(func() { q.quoteOne(ctx, b, k, funds) })
	}
	if short = q.planner.checkBalance(ctx, r.SrcChain, r.Account, r.TokenIn, r.AmountIn); short != nil {
		stop()
	}
	close(known)
	wg.Wait()
	if short != nil {
		return QuoteResult{}, short
	}
	res := b.result()
	if len(kinds) == 1 && len(res.Offers) == 0 { // return the reason of the only provider that was asked
		if refused := res.Failures[kinds[0]]; refused != nil {
			return res, refused
		}
	}
	return res, nil
}

func kindsOrAll(kinds []swap.Kind) []swap.Kind {
	if len(kinds) == 0 {
		return swap.Kinds()
	}
	return kinds
}

// checkRequest fills in defaults and refuses what no provider could serve.
func checkRequest(r *swap.QuoteRequest) error {
	zero := common.Address{}
	if r.SlippageBps == 0 {
		r.SlippageBps = swap.DefaultSlippageBps
	}
	if r.Recipient == zero {
		r.Recipient = r.Account
	}
	if r.RefundTo == zero {
		r.RefundTo = r.Account
	}
	switch {
	case r.Account == zero:
		return swap.RefuseField(swap.BadRequest, "account", "choose an account")
	case r.AmountIn == nil || r.AmountIn.Sign() <= 0:
		return swap.RefuseField(swap.AmountZero, "amountIn", "enter an amount above zero")
	case r.AmountIn.BitLen() > 256:
		return swap.RefuseField(swap.BadRequest, "amountIn", "the amount has more than 256 bits")
	case r.SlippageBps < swap.MinSlippageBps || r.SlippageBps > swap.MaxSlippageBps:
		return swap.RefuseField(swap.SlippageBounds, "slippage", "slippage must be above 0 and at most 50 %%")
	case r.SrcChain == r.DstChain && r.TokenIn == r.TokenOut:
		return swap.RefuseField(swap.SameToken, "tokenOut", "token in and token out are the same; choose another")
	case !slices.Contains(swap.SupportedChains(), r.SrcChain):
		return swap.RefuseField(swap.UnsupportedNetwork, "srcChainId", "chain %d is not one of the wallet's networks", r.SrcChain)
	}
	return nil
}

// checkFunds refuses an amount that exceeds the balance less what is promised to signed
// open orders, in base units, with InsufficientFunds.
func checkFunds(amount, balance, promised *big.Int) error {
	need := new(big.Int).Add(amount, promised)
	if balance.Cmp(need) >= 0 {
		return nil
	}
	refused := &swap.Refusal{Code: swap.InsufficientFunds, Field: "amountIn", Reason: "insufficient balance; enter a smaller amount or add funds",
		Data: map[string]string{"balance": balance.String(), "missing": new(big.Int).Sub(need, balance).String()}}
	if promised.Sign() > 0 {
		refused.Reason = "insufficient balance: open orders need part of it; enter a smaller amount, or cancel one of them"
		refused.Data["promised"] = promised.String()
	}
	return refused
}

// quoteOne asks one provider and posts its offers once the balance is known to suffice.
func (q *Quoter) quoteOne(ctx context.Context, b *ranking, k swap.Kind, funds func() error) {
	offers, err := q.ask(ctx, b, k, funds)
	if funds() == nil {
		b.setAnswer(k, offers, asRefusal(err))
	}
}

// ask asks one provider, within its time limit, and keeps its offers. A provider that names
// its contracts only with an offer, and then one that is not built in, is asked once more,
// for an isolated account.
func (q *Quoter) ask(ctx context.Context, b *ranking, k swap.Kind, funds func() error) (offers []swap.Offer, err error) {
	defer recovered(k, &offers, &err)
	r := b.request
	if err := swap.CheckRoute(k, r.SrcChain, r.DstChain); err != nil {
		return nil, err
	}
	p, ok := q.planner.Providers[k]
	if !ok {
		return nil, swap.Refuse(swap.ProviderDown, "the %s provider is not configured", k)
	}
	net, _ := q.planner.Nodes.Network(r.SrcChain) // an unknown network has no wrapped coin
	r = q.planner.Fees.Charge(r, k, net.WrappedNative)
	ctx, cancel := context.WithTimeout(ctx, quoteTimeouts[k])
	defer cancel()
	if r, err = q.planner.isolate(ctx, p, r); err != nil {
		return nil, err
	}
	offers, err = q.askFor(ctx, b, k, r, funds)
	if !q.planner.asksAgain(p, r, err) {
		return offers, err
	}
	if r, err = q.planner.withIsolated(ctx, r); err != nil {
		return nil, err
	}
	return q.askFor(ctx, b, k, r, funds)
}

// recovered turns a panic over a provider's reply into ProviderInvalidResponse: it must stop
// neither the other providers nor the daemon.
func recovered(k swap.Kind, offers *[]swap.Offer, err *error) {
	if p := recover(); p != nil {
		*offers, *err = nil, swap.Refuse(swap.ProviderInvalidResponse, "the %s provider's reply cannot be read: %v", k, p)
	}
}

// askFor asks a provider for one account.
func (q *Quoter) askFor(ctx context.Context, b *ranking, k swap.Kind, r swap.QuoteRequest, funds func() error) (offers []swap.Offer, err error) {
	p := q.planner.Providers[k]
	if err := waitQuota(ctx, k, q.limiters[k].quotes); err != nil {
		return nil, err
	}
	ctx, kept := q.planner.KeepAnswer(ctx, k, r.Accounts()...)
	defer func() {
		if !q.planner.asksAgain(p, r, err) {
			kept(err)
		}
	}()
	defer recovered(k, &offers, &err)
	a := answer{kind: k, request: r, idByRaw: map[string]string{}, droppedBefore: b.drops}
	if st, ok := p.(swap.Streamer); ok {
		offers, err = st.Stream(ctx, r, func(o swap.Offer) {
			if len(a.idByRaw) >= maxOffersPerProvider || funds() != nil {
				return
			}
			if one, err := q.cacheOffers(ctx, a, []swap.Offer{o}); err == nil {
				b.addOffers(k, one)
			}
		})
	} else {
		offers, err = p.Quote(ctx, r)
	}
	if err == nil {
		err = funds()
	}
	if err != nil {
		return nil, err
	}
	return q.cacheOffers(ctx, a, offers)
}

// An answer identifies the offers of one provider for one request.
type answer struct {
	kind          swap.Kind
	request       swap.QuoteRequest
	idByRaw       map[string]string // ids of offers posted before, by Offer.Raw
	droppedBefore uint64            // Quoter.dropped at the time of the request
}

// cacheOffers vets offers and keeps them (see keepOffers). An unsound offer is left out; if
// no sound one is left, its error is returned.
func (q *Quoter) cacheOffers(ctx context.Context, a answer, offers []swap.Offer) ([]swap.Offer, error) {
	k, r := a.kind, a.request
	out := make([]swap.Offer, 0, min(len(offers), maxOffersPerProvider))
	var unsound error
	for _, o := range offers[:min(len(offers), maxOffersPerProvider)] {
		o, err := vetOffer(ctx, k, r, o)
		if err != nil {
			unsound = cmp.Or(unsound, err)
			continue
		}
		out = append(out, o)
	}
	switch {
	case len(out) == 0 && unsound != nil:
		return nil, unsound
	case len(out) == 0:
		return nil, swap.Refuse(swap.NoRoute, "the %s provider has no offer for this pair and amount", k)
	}
	return q.keepOffers(a, out)
}

// vetOffer returns a provider's offer for r with our request in place of the provider's echo
// of it and with texts that are safe to display, or fails if the offer is unsound.
func vetOffer(ctx context.Context, k swap.Kind, r swap.QuoteRequest, o swap.Offer) (swap.Offer, error) {
	o = tidyOffer(o)
	o.Provider, o.Request = k, r.WithActualFee(o.Fees)
	err := checkOffer(o, r)
	if err != nil {
		swap.PartRefused(ctx, err)
	}
	return o, err
}

// tidyOffer makes an offer's texts, which are the provider's, safe to display.
func tidyOffer(o swap.Offer) swap.Offer {
	for _, words := range []*string{&o.Routing, &o.Route, &o.Unusable} {
		*words = swap.Printable(*words, maxOfferText)
	}
	return o
}

// checkOffer refuses an offer that is too large to keep, has no sound amounts, or whose
// minimum allows more slippage than was requested.
func checkOffer(o swap.Offer, r swap.QuoteRequest) error {
	switch {
	case len(o.Raw) > maxRaw:
		return swap.Refuse(swap.ProviderInvalidResponse, "an offer of %d bytes", len(o.Raw))
	case o.Duration < 0:
		return swap.Refuse(swap.ProviderInvalidResponse, "an offer with a negative duration")
	case o.AmountOut == nil || o.MinOut == nil || o.MinOut.Sign() <= 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.AmountOut.BitLen() > 256:
		return swap.Refuse(swap.ProviderInvalidResponse, "an offer with an invalid amount or minimum")
	case o.MinOut.Cmp(swap.MinAfterSlippage(o.AmountOut, r.SlippageBps)) < 0:
		return swap.RefuseField(swap.NotAsAccepted, "minAmountOut", "the offer's minimum allows more slippage than was asked for")
	}
	return nil
}

// asRefusal turns any failure of a provider into a refusal that can be shown.
func asRefusal(err error) *swap.Refusal {
	var r *swap.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return r
	case errors.Is(err, context.Canceled):
		return &swap.Refusal{Code: swap.ProviderDown, Reason: "the quote was ended before the provider answered", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &swap.Refusal{Code: swap.ProviderDown, Reason: "the provider did not answer in time; try again", Err: err}
	}
	return &swap.Refusal{Code: swap.ProviderDown, Reason: swap.Printable(err.Error(), swap.MaxRefusalReason), Err: err}
}
