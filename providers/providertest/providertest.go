// Package providertest is the conformance suite of [swap.Provider]: what every
// provider must do with good replies, with broken services, and with replies
// that lie in any single place. The lies are not listed by hand: they are made
// from every leaf of the recorded replies and every word of the calldata, so a
// field that nobody thought of fails the suite until somebody has.
package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A Suite describes a provider to test.
type Suite struct {
	// Dir holds the recorded exchanges, one file each.
	Dir string
	// Prefix is the path of the API on its host, such as /v1.
	Prefix string
	// Now is the moment of the recordings; the provider's clock stands there.
	Now time.Time
	// New makes a fresh provider that talks to base by the given clock. It must
	// not wait long: time out within a second, back off by milliseconds.
	New func(t testing.TB, base string, now func() time.Time) swap.Provider
	// Sign signs a typed step as the recorded account's key would, 65 bytes with v
	// as 27 or 28, the same for the same message. Nil without such steps.
	Sign func(apitypes.TypedData) ([]byte, error)
	// Flows are the recorded swaps; the first also meets every fault.
	Flows []Flow
	// Harmless lists the leaves whose value decides nothing, each with the reason.
	Harmless []Harmless
}

// A Flow is one recorded swap, from quote to calldata.
type Flow struct {
	Name    string
	Request swap.QuoteRequest
	// Terms are derived from the first offer; these two are added.
	Deadline    time.Time
	MakerFeeBps int
	// Exchanges are file names below Dir, one for each path that is called.
	Exchanges []string
	// Offer, Spender and Effects are what the honest replies must give.
	Offer   Expected
	Spender common.Address
	Effects []swap.Effect
	// FreeWords are words of the last step's calldata (32 bytes each, counted
	// after the selector) that may have any value, each with the reason.
	FreeWords map[int]string
}

// Expected is what a quote must come to.
type Expected struct {
	Routing           string
	AmountOut, MinOut string
	Fees              []swap.Payment
	Life              time.Duration // from Suite.Now to the offer's expiry
}

// Harmless says why a leaf may have any value. Path is as in [walk] after the
// name of the exchange's path, with [*] for indexes; a last part ** stands for
// everything below.
type Harmless struct {
	Path, Why string
	// MayChange names the facets of the outcome that the leaf may alter: things
	// that are shown or bounded elsewhere. Terms and effects are never among them.
	MayChange []string
}

// Run tests a provider.
func Run(t *testing.T, s Suite) {
	for i, f := range s.Flows {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, s, f)
			t.Run("honest", h.honest)
			t.Run("repeat", h.repeat)
			t.Run("concurrent", h.concurrent)
			t.Run("calldata", h.calldata)
			if i == 0 { // a broken service is the same to every flow
				t.Run("cancelled", h.cancelled)
				t.Run("faults", h.faults)
			}
		})
	}
	t.Run("lies", func(t *testing.T) { lies(t, s) })
	t.Run("pins", func(t *testing.T) { pins(t, s) })
}

// A harness is one flow with its replaying server and honest outcome.
type harness struct {
	suite  Suite
	flow   Flow
	server *replayer
	p      swap.Provider
	terms  swap.Terms
	good   outcome
	built  swap.Built
	steps  []swap.Step // of built, carried out
}

func newHarness(t *testing.T, s Suite, f Flow) *harness {
	t.Helper()
	h := &harness{suite: s, flow: f, server: replay(t, s, f)}
	h.p = h.provider(t)
	offers, err := h.p.Quote(t.Context(), f.Request)
	if err != nil || len(offers) == 0 {
		t.Fatalf("quote: %d offers, %v", len(offers), err)
	}
	h.terms = termsOf(offers[0], f)
	h.good = h.run(t.Context(), h.p)
	if h.good.err != nil {
		t.Fatalf("honest replies: %v", h.good.err)
	}
	if h.built, err = h.p.Build(t.Context(), offers[0], h.terms); err != nil {
		t.Fatal(err)
	}
	if h.steps, err = h.finish(t.Context(), h.p, offers[0], h.built); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *harness) provider(t testing.TB) swap.Provider {
	return h.suite.New(t, h.server.URL+h.suite.Prefix, func() time.Time { return h.suite.Now })
}

// termsOf is what a user would accept with the offer.
func termsOf(o swap.Offer, f Flow) swap.Terms {
	r := f.Request
	return swap.Terms{
		Provider: o.Provider, Account: r.Account, SrcChain: r.SrcChain, TokenIn: r.TokenIn, AmountIn: r.AmountIn,
		DstChain: r.DstChain, TokenOut: r.TokenOut, Recipient: r.Recipient, FloorOut: o.MinOut, RefundTo: r.RefundTo,
		Deadline: f.Deadline, FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: f.MakerFeeBps,
		GasCeiling: big.NewInt(1e18),
	}
}

// An outcome is how far a swap got and, when it was not refused, all that
// matters of it, by name.
type outcome struct {
	err    error
	facets map[string]string
}

// run does the whole flow under the honest terms, as service and engine do: quote,
// build, decode, check and, before each step's bytes would be signed, again.
func (h *harness) run(ctx context.Context, p swap.Provider) outcome {
	offers, err := p.Quote(ctx, h.flow.Request)
	if err != nil {
		return outcome{err: fmt.Errorf("quote: %w", err)}
	}
	if len(offers) == 0 {
		return outcome{err: errors.New("quote: no offer and no reason")}
	}
	if err := h.sound(offers[0]); err != nil {
		return outcome{err: err}
	}
	o := outcome{facets: offerFacets(offers[0])}
	built, err := p.Build(ctx, offers[0], h.terms)
	if err != nil {
		return outcome{err: fmt.Errorf("build: %w", err)}
	}
	o.facets["settlement"], o.facets["spender"] = string(built.Settlement), built.Spender.Hex()
	if err := h.judge(p, built.Steps, planned, o.facets); err != nil {
		return outcome{err: err}
	}
	if !slices.ContainsFunc(built.Steps, func(s swap.Step) bool { return s.Kind == swap.LateStep }) {
		return o
	}
	accepted := o.facets["digest"]
	steps, err := h.finish(ctx, p, offers[0], built)
	if err == nil {
		err = h.judge(p, steps, made, o.facets)
	}
	if err == nil && o.facets["digest"] != accepted {
		err = swap.Refuse(swap.NotAsAccepted, "a late call is not what was accepted")
	}
	if err != nil {
		return outcome{err: err}
	}
	return o
}

// finish carries steps out as far as the provider has a part in it: typed steps
// are signed, and the calls of late ones asked for.
func (h *harness) finish(ctx context.Context, p swap.Provider, o swap.Offer, b swap.Built) ([]swap.Step, error) {
	order := swap.Order{Terms: h.terms, Offer: o, Plan: swap.Plan{Steps: b.Steps, Settlement: b.Settlement}}
	steps := slices.Clone(b.Steps)
	for i, s := range b.Steps {
		var left swap.Result
		switch s.Kind {
		case swap.TypedStep:
			signature, err := h.suite.Sign(*s.Typed)
			if err != nil {
				return nil, err
			}
			left.Signature = signature
		case swap.LateStep:
			late, ok := p.(swap.LateBuilder)
			if !ok {
				return nil, errors.New("a late step of a provider that makes no late calls")
			}
			call, err := late.Late(ctx, order, i)
			if err != nil {
				return nil, fmt.Errorf("late: %w", err)
			}
			steps[i].Call = &call
		}
		order.Results, order.Step = append(order.Results, left), i+1
	}
	return steps, nil
}

// sound is what any accepted quote must satisfy, since the user's terms are made
// from it. An offer that does not is no refusal, so its error has no code.
func (h *harness) sound(o swap.Offer) error {
	r := h.flow.Request
	floor := new(big.Int).Mul(o.AmountOut, big.NewInt(int64(10_000-r.SlippageBps)))
	floor.Div(floor, big.NewInt(10_000))
	ours, theirs := 0, 0
	for _, f := range o.Fees {
		if r.FeeBps > 0 && f.To == r.FeeReceiver {
			ours += f.Bps
		} else {
			theirs += f.Bps
		}
	}
	switch {
	case o.MinOut.Cmp(floor) < 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.MinOut.Sign() <= 0:
		return fmt.Errorf("quote: an offer of %s with a minimum of %s", o.AmountOut, o.MinOut)
	case ours != r.FeeBps || theirs > h.flow.MakerFeeBps:
		return fmt.Errorf("quote: an offer with fees of %d and %d bps", ours, theirs)
	case o.Expires.After(h.suite.Now.Add(h.flow.Offer.Life)) || !sameJSON(o.Request, r):
		return fmt.Errorf("quote: an offer that is not for the request, or lives too long")
	}
	return nil
}

// A stage is how far a plan's late steps are: planned ones have no bytes and do
// what their provider states.
type stage bool

const planned, made stage = false, true

// judge decodes and checks the steps of a plan and adds what they do to the facets.
func (h *harness) judge(p swap.Provider, steps []swap.Step, at stage, facets map[string]string) error {
	var effects []swap.Effect
	for i, s := range steps {
		f, err := s.Effect, error(nil)
		if s.Kind != swap.LateStep || at == made {
			f, err = p.Decode(h.terms, s)
		}
		if err != nil {
			return fmt.Errorf("decode: %w", err)
		}
		effects = append(effects, f)
		name := fmt.Sprintf("step%d.", i)
		facets[name+"kind"] = string(s.Kind)
		if c := s.Call; c != nil {
			facets[name+"call"] = fmt.Sprint(c.ChainID, c.From, c.To, c.Value)
			facets[name+"gas"] = fmt.Sprint(c.Gas)
		}
		if s.Typed != nil {
			hash, _, err := apitypes.TypedDataAndHash(*s.Typed)
			facets[name+"typed"] = fmt.Sprintf("%x %v", hash, err)
		}
	}
	if err := swap.Check(h.terms, effects, p.Pins()); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	facets["digest"] = swap.Digest(h.terms, effects).Hex()
	return nil
}

func offerFacets(o swap.Offer) map[string]string {
	fees, err := json.Marshal(o.Fees)
	if err != nil {
		panic(err) // our own type
	}
	return map[string]string{
		"offer.request": fmt.Sprint(o.Request), "offer.provider": string(o.Provider), "offer.routing": o.Routing, "offer.route": o.Route,
		"offer.amountOut": fmt.Sprint(o.AmountOut), "offer.minOut": fmt.Sprint(o.MinOut), "offer.gas": fmt.Sprint(o.Gas),
		"offer.duration": fmt.Sprint(o.Duration), "offer.expires": fmt.Sprint(o.Expires), "offer.fees": string(fees),
	}
}

// differences names the facets in which two outcomes are not alike.
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

// code is the refusal's code, or "" when the error is of another kind.
func code(err error) swap.Code {
	var r *swap.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func pins(t *testing.T, s Suite) {
	p := s.New(t, "http://127.0.0.1:1"+s.Prefix, func() time.Time { return s.Now })
	seen := map[swap.Pin]bool{}
	for _, pin := range p.Pins() {
		if pin.Address == (common.Address{}) || pin.Chain == 0 || pin.Role == "" || seen[pin] {
			t.Errorf("pin %+v is empty or doubled", pin)
		}
		seen[pin] = true
	}
	if len(seen) == 0 {
		t.Error("no pins: every plan would be refused")
	}
	for _, f := range s.Flows {
		if k := p.Kind(); swap.SupportOf(k, f.Request.SrcChain).Support != swap.Active {
			t.Errorf("%s: chain %d is not active for %s", f.Name, f.Request.SrcChain, k)
		}
	}
}
