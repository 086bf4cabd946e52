package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"swapkeep/swap"
)

// honest: the recorded replies give the expected offer and effects, and the requests equal
// the recorded ones.
func (h *harness) honest(t *testing.T) {
	o, _, err := h.quote(t.Context(), h.p)
	if err != nil {
		t.Fatal(err)
	}
	want := h.flow.Offer
	if o.Provider != h.p.Kind() || o.Routing != want.Routing || o.AmountOut.String() != want.AmountOut || o.MinOut.String() != want.MinOut {
		t.Errorf("offer %s %s out %s at least %s, want %+v", o.Provider, o.Routing, o.AmountOut, o.MinOut, want)
	}
	if got := o.Expires.Sub(h.suite.Now); got != want.Life {
		t.Errorf("offer lives %s, want %s", got, want.Life)
	}
	if !sameJSON(o.Fees, want.Fees) || o.FeeRequested != want.FeeRequested {
		t.Errorf("fees %+v, %d bps asked for, want %+v and %d", o.Fees, o.FeeRequested, want.Fees, want.FeeRequested)
	}
	var effects []swap.Effect
	for _, s := range h.order.Plan.Steps {
		f, err := h.p.Decode(h.terms, s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Call != nil && s.Call.From != h.terms.From() {
			t.Errorf("a call from %s, want %s", s.Call.From, h.terms.From())
		}
		effects = append(effects, f)
	}
	if !sameJSON(effects, h.flow.Effects) {
		got, err := json.MarshalIndent(effects, "", " ")
		t.Errorf("effects %s, %v", got, err)
	}
	if h.built.Spender != h.flow.Spender {
		t.Errorf("spender %s, want %s", h.built.Spender, h.flow.Spender)
	}
	if (h.flow.Settled != nil) != (h.built.Settlement == swap.ByProvider) {
		t.Errorf("the plan is settled %s", h.built.Settlement)
	}
	if h.flow.Settled != nil {
		h.settled(t)
	}
	for _, p := range h.server.problems {
		t.Errorf("request: %s", p)
	}
}

func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// repeat: quoting and building again gives the same result, also from an offer that was
// stored and loaded.
func (h *harness) repeat(t *testing.T) {
	for range 3 {
		if d := differences(h.good, h.run(t.Context(), h.p)); len(d) > 0 {
			t.Errorf("a repetition differs in %v", d)
		}
	}
	offer, _, err := h.quote(t.Context(), h.p)
	if err != nil {
		t.Fatal(err)
	}
	offer.Request = h.flow.Request.WithActualFee(offer.Fees)
	var stored swap.Offer
	raw, err := json.Marshal(offer)
	if err == nil {
		err = json.Unmarshal(raw, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	built, err := h.p.Build(t.Context(), stored, h.terms)
	if err != nil || !sameJSON(built, h.built) {
		t.Errorf("a stored offer builds something else: %v", err)
	}
	for range 2 { // as after a crash before the deferred call was journaled
		if o, err := h.finish(t.Context(), h.p, stored, built); err != nil || !sameJSON(o.Plan, h.order.Plan) {
			t.Errorf("a stored offer is carried out otherwise: %v", err)
		}
	}
	if h.flow.Settled != nil {
		h.resubmitted(t)
	}
}

func (h *harness) concurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if o := h.run(t.Context(), h.p); o.err != nil || len(differences(h.good, o)) > 0 {
				t.Errorf("beside others: %v, differs in %v", o.err, differences(h.good, o))
			}
		})
	}
	wg.Wait()
}

// cancelled: a cancelled caller promptly gets context.Canceled.
func (h *harness) cancelled(t *testing.T) {
	for path := range h.server.exchanges {
		release := make(chan struct{})
		h.server.override(path, hang(release))
		for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(delay, cancel)
			if delay == 0 {
				cancel()
			}
			begun := time.Now()
			o := h.run(ctx, h.provider(t, longTimeout))
			if !errors.Is(o.err, context.Canceled) {
				t.Errorf("%s cancelled after %s: %v", path, delay, o.err)
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: took %s to give up", path, took)
			}
			cancel()
		}
		close(release)
		h.server.override(path, nil)
	}
	if o := h.run(t.Context(), h.p); o.err != nil {
		t.Error(fmt.Errorf("afterwards: %w", o.err))
	}
}
