package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"golang.org/x/time/rate"
)

// A harness is one flow with its replaying server and its honest outcome.
type harness struct {
	suite       Suite
	flow        Flow
	server      *replayer
	p           swap.Provider
	otherOffers string // other sources' offers
	terms       swap.Terms
	good        outcome
	built       swap.Built
	order       swap.Order // of built, with its steps carried out but not submitted
	known       sync.Map   // signatures by message
}

func newHarness(t *testing.T, s Suite, f Flow) *harness {
	t.Helper()
	h := &harness{suite: s, flow: f, server: replay(t, s, f)}
	h.p = h.provider(t, longTimeout)
	h.flow.Request = isolate(h.p, f.Request)
	f = h.flow
	offer, others, err := h.quote(t.Context(), h.p)
	if err != nil {
		t.Fatalf("quote: %v", err)
	}
	offer.Request = f.Request.WithActualFee(offer.Fees)
	h.otherOffers, h.terms = others, termsOf(offer, f)
	h.good = h.run(t.Context(), h.p)
	if h.good.err != nil {
		t.Fatalf("honest replies: %v", h.good.err)
	}
	if h.built, err = h.p.Build(t.Context(), offer, h.terms); err != nil {
		t.Fatal(err)
	}
	if h.order, err = h.finish(t.Context(), h.p, offer, h.built); err != nil {
		t.Fatal(err)
	}
	return h
}

// Limits are those of a provider that gives up an exchange after attempt, with small
// backoffs and no rate limit or circuit breaker in the way.
func Limits(attempt time.Duration) rest.Limits {
	return rest.Limits{
		Attempt: attempt, Call: 8 * attempt, Attempts: 2,
		Backoff: time.Millisecond, MaxWait: 10 * time.Millisecond, Rate: rate.Inf, Failures: 1000,
	}
}

// Time limits for an exchange: hasty for services that fail, patient for those that answer
// on a machine that may be busy.
const (
	shortTimeout = 250 * time.Millisecond
	longTimeout  = 10 * time.Second
)

func (h *harness) provider(t testing.TB, attempt time.Duration) swap.Provider {
	return h.suite.New(t, h.server.URL+h.suite.Prefix, func() time.Time { return h.suite.Now }, Limits(attempt))
}

// termsOf is what a user would accept with the offer.
func termsOf(o swap.Offer, f Flow) swap.Terms {
	r := o.Request
	return swap.Terms{
		Provider: o.Provider, Account: r.Account, Isolated: r.Isolated, SrcChain: r.SrcChain, TokenIn: r.TokenIn, AmountIn: r.AmountIn,
		DstChain: r.DstChain, TokenOut: r.TokenOut, Recipient: r.Recipient, MinOut: o.MinOut, RefundTo: r.RefundTo,
		Deadline: f.Deadline, FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: f.MakerFeeBps,
		GasCeiling: big.NewInt(1e18), Refund: o.Refund, Wrap: o.Wrap,
	}
}

// An outcome is how far a swap got and, if it was not refused, everything that matters
// about it, by name.
type outcome struct {
	at     string // where it was refused: quote, build, decode …
	err    error
	facets map[string]string
}

// refusedAt is the outcome of a swap that was refused.
func refusedAt(at string, err error) outcome {
	return outcome{at: at, err: fmt.Errorf("%s: %w", at, err)}
}

// run carries out the whole flow under the honest terms, as the service and the engine do:
// quote, build, decode and check. Deferred steps are decoded and checked again once they have
// calldata. An order that the provider settles is then submitted and its status queried.
func (h *harness) run(ctx context.Context, p swap.Provider) outcome {
	offer, others, err := h.quote(ctx, p)
	if err != nil {
		return refusedAt("quote", err)
	}
	if err := h.sound(offer); err != nil {
		return refusedAt("quote", err)
	}
	o := outcome{facets: offerFacets(offer)}
	o.facets["beside"] = others
	offer.Request = h.flow.Request.WithActualFee(offer.Fees) // as the service does
	built, err := p.Build(ctx, offer, h.terms)
	if err != nil {
		return refusedAt("build", err)
	}
	o.facets["settlement"], o.facets["spender"] = string(built.Settlement), built.Spender.Hex()
	if err := h.judge(p, built.Steps, planned, o.facets); err != nil {
		return refusedAt("decode", err)
	}
	late := slices.ContainsFunc(built.Steps, func(s swap.Step) bool { return s.Kind == swap.DeferredStep })
	if built.Settlement != swap.ByProvider && !late {
		return o
	}
	accepted := o.facets["digest"]
	order, err := h.finish(ctx, p, offer, built)
	if err != nil {
		return refusedAt("late", err)
	}
	if late {
		err = h.judge(p, order.Plan.Steps, made, o.facets)
	}
	if err == nil && o.facets["digest"] != accepted {
		err = swap.Refuse(swap.NotAsAccepted, "a deferred call is not what was accepted")
	}
	if err != nil {
		return refusedAt("decode", err)
	}
	if built.Settlement == swap.ByProvider {
		if at, err := h.settle(ctx, p, order, o.facets); err != nil {
			return refusedAt(at, err)
		}
	}
	return o
}

// finish carries the steps out: it signs typed steps, requests the calls of late steps, and
// treats every call as mined.
func (h *harness) finish(ctx context.Context, p swap.Provider, o swap.Offer, b swap.Built) (swap.Order, error) {
	order := swap.Order{
		ID: "providertest", Consent: swap.Consent{Terms: h.terms, Offer: o,
			Plan: swap.Plan{Steps: slices.Clone(b.Steps), Settlement: b.Settlement, Spender: b.Spender}},
	}
	for i, s := range b.Steps {
		var left swap.Result
		switch s.Kind {
		case swap.TypedStep:
			var err error
			if left.Signature, err = h.sign(*s.TypedData); err != nil {
				return order, err
			}
		case swap.DeferredStep:
			late, ok := p.(swap.DeferredBuilder)
			if !ok {
				return order, errors.New("a deferred step of a provider that is no DeferredBuilder")
			}
			call, err := late.BuildDeferred(ctx, order, i)
			if err != nil {
				return order, err
			}
			order.Plan.Steps[i].Call = &call
		}
		if c := order.Plan.Steps[i].Call; c != nil {
			left.Tx = MinedHash(*c)
			left.Evidence = &chain.Evidence{Chain: c.ChainID, Tx: left.Tx, Block: 1, Depth: 64, Success: true, FeePaid: new(big.Int), To: c.To}
		}
		order.Results, order.Step = append(order.Results, left), i+1
	}
	return order, nil
}

// sign caches signatures, since most lies do not change the message.
func (h *harness) sign(data apitypes.TypedData) ([]byte, error) {
	key := text(data)
	if known, ok := h.known.Load(key); ok {
		return known.([]byte), nil
	}
	signature, err := h.suite.Sign(data)
	if err == nil {
		h.known.Store(key, signature)
	}
	return signature, err
}

// MinedHash is the transaction hash that the suite assigns to a call.
func MinedHash(c chain.Call) common.Hash { return crypto.Keccak256Hash(c.To[:], c.Data) }

// sound checks what any accepted quote must satisfy, since the user's terms are made from
// it. A violation is no refusal, so its error has no code.
func (h *harness) sound(o swap.Offer) error {
	r := h.flow.Request
	minimum := new(big.Int).Mul(o.AmountOut, big.NewInt(int64(10_000-r.SlippageBps)))
	minimum.Div(minimum, big.NewInt(10_000))
	ours, theirs := 0, 0
	for _, f := range o.Fees {
		if r.FeeBps > 0 && f.To == r.FeeReceiver {
			ours += f.Bps
		} else {
			theirs += f.Bps
		}
	}
	switch {
	case o.MinOut.Cmp(minimum) < 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.MinOut.Sign() <= 0:
		return fmt.Errorf("an offer of %s with a minimum of %s", o.AmountOut, o.MinOut)
	case ours > r.FeeBps || theirs > h.flow.MakerFeeBps:
		return fmt.Errorf("an offer with fees of %d and %d bps", ours, theirs)
	case o.Expires.After(h.suite.Now.Add(max(h.flow.Offer.Life, h.flow.Offer.Longest))) || !sameJSON(o.Request, r):
		return fmt.Errorf("an offer that is not for the request, or lives too long")
	}
	return nil
}

// A stage says whether a plan's late steps have calldata yet. Planned ones have none, and
// their effects are those that the provider states.
type stage bool

const planned, made stage = false, true

// judge decodes and checks the steps of a plan and records their effects in the facets.
func (h *harness) judge(p swap.Provider, steps []swap.Step, at stage, facets map[string]string) error {
	var effects []swap.Effect
	for i, s := range steps {
		f, err := s.Effect, error(nil)
		if s.Kind != swap.DeferredStep || at == made {
			f, err = p.Decode(h.terms, s)
		}
		if err != nil {
			return err
		}
		effects = append(effects, f)
		name := fmt.Sprintf("step%d.", i)
		facets[name+"kind"] = string(s.Kind)
		if c := s.Call; c != nil {
			facets[name+"call"] = fmt.Sprint(c.ChainID, c.From, c.To, c.Value)
			facets[name+"gas"] = fmt.Sprint(c.Gas)
		}
		if s.TypedData != nil {
			facets[name+"typed"] = text(s.TypedData)
		}
	}
	effects = slices.Concat(funding(h.terms), wrapFirst(h.terms), effects)
	if err := swap.Check(h.terms, effects, p.Pins()); err != nil {
		return err
	}
	facets["digest"] = swap.Digest(h.terms, effects).Hex()
	return nil
}

// wrapFirst is the wrap that package swap puts before the plan of a provider that takes
// tokens only.
func wrapFirst(t swap.Terms) []swap.Effect {
	if t.Wrap == (common.Address{}) {
		return nil
	}
	return []swap.Effect{{
		Kind: swap.Wrap, Chain: t.SrcChain, Target: t.Wrap,
		Spends:   []swap.Spend{{Token: common.Address{}, Amount: t.AmountIn}},
		Receives: []swap.Receive{{Token: t.Wrap, To: t.Account, Min: t.AmountIn}},
	}}
}

func offerFacets(o swap.Offer) map[string]string {
	fees, err := json.Marshal(o.Fees)
	if err != nil {
		panic(err) // our own type
	}
	return map[string]string{
		"offer.request": fmt.Sprint(o.Request), "offer.provider": string(o.Provider), "offer.routing": o.Routing, "offer.route": o.Route,
		"offer.amountOut": fmt.Sprint(o.AmountOut), "offer.minOut": fmt.Sprint(o.MinOut), "offer.toldMin": fmt.Sprint(o.QuotedMin), "offer.gas": fmt.Sprint(o.Gas),
		"offer.duration": fmt.Sprint(o.Duration), "offer.expires": fmt.Sprint(o.Expires), "offer.fees": string(fees), "offer.feeRequested": fmt.Sprint(o.FeeRequested),
		"offer.gasless": fmt.Sprint(o.Gasless), "offer.wrap": o.Wrap.Hex(), "offer.refund": refundText(o.Refund),
	}
}

func refundText(s *swap.Spend) string {
	if s == nil {
		return "all"
	}
	return s.Amount.String() + " of " + s.Token.Hex()
}

// differences names the facets in which two outcomes differ.
func differences(a, b outcome) []string {
	var out []string
	for k, v := range a.facets {
		if b.facets[k] != v {
			out = append(out, k)
		}
	}
	for k := range b.facets {
		if _, ok := a.facets[k]; !ok {
			out = append(out, k)
		}
	}
	return out
}
