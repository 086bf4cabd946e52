package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"

	"swapkeep/swap"
)

// Settled is the expected settlement of a plan that the provider settles.
type Settled struct {
	// Submit and Status are the paths, without a query, by which the order is submitted and
	// its status is queried.
	Submit, Status string
	Ref            string // the provider's id for the order
	// Claims are recorded status replies with the expected claims. The first is the one
	// among the flow's exchanges.
	Claims []Claimed
	Proof  swap.Proof
}

// Claimed is one recorded status reply.
type Claimed struct {
	Exchange string // a file below Suite.Dir
	Claim    swap.Claim
}

// settle submits an order and queries its status. The proof becomes a facet, so it is
// compared with the honest order's: it must not depend on anything that the provider said.
func (h *harness) settle(ctx context.Context, p swap.Provider, o swap.Order, facets map[string]string) (at string, err error) {
	s, ok := p.(swap.Settler)
	if !ok {
		return "submit", errors.New("a provider that settles and takes no orders")
	}
	if o.ProviderOrderID, err = s.Submit(ctx, o); err != nil {
		return "submit", err
	}
	facets["providerOrderId"] = o.ProviderOrderID
	claim, err := s.Status(ctx, o)
	if err != nil {
		return "status", err
	}
	facets["claim.state"], facets["claim.providerStatus"], facets["claim.reason"] = string(claim.State), claim.ProviderStatus, claim.Reason
	facets["claim.tx"], facets["claim.chain"] = claim.Tx.Hex(), fmt.Sprint(claim.Chain)
	o.Claim = &claim
	proof, err := s.Proof(o)
	if err != nil {
		return "proof", err
	}
	facets["proof"] = text(proof)
	if c, ok := p.(swap.Canceller); ok {
		call, err := c.CancelCall(o)
		if err != nil {
			return "cancel", err
		}
		facets["cancel"] = text(call)
	}
	return "", nil
}

// runFrom is run, but starts where the reply of a path first matters: submission and status
// need no new quote.
func (h *harness) runFrom(ctx context.Context, path string) outcome {
	s := h.flow.Settled
	if s == nil || path != s.Submit && path != s.Status {
		return h.run(ctx, h.p)
	}
	o := outcome{facets: maps.Clone(h.good.facets)}
	if at, err := h.settle(ctx, h.p, h.order, o.facets); err != nil {
		return refusedAt(at, err)
	}
	return o
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own type
	}
	return string(raw)
}

// settled: the recorded replies give the expected id, claims and proof.
func (h *harness) settled(t *testing.T) {
	s, want := h.p.(swap.Settler), h.flow.Settled
	o := h.order
	ref, err := s.Submit(t.Context(), o)
	if err != nil || ref != want.Ref {
		t.Errorf("the order's name is %q, want %q: %v", ref, want.Ref, err)
	}
	o.ProviderOrderID = ref
	proof, err := s.Proof(o)
	if err != nil || !sameJSON(proof, want.Proof) {
		t.Errorf("the proof is %s, want %s: %v", text(proof), text(want.Proof), err)
	}
	for _, c := range want.Claims {
		h.replies(t, c, func(Exchange) {
			claim, err := s.Status(t.Context(), o)
			if err != nil || claim != c.Claim {
				t.Errorf("%s: the claim is %+v, want %+v: %v", c.Exchange, claim, c.Claim, err)
			}
		})
	}
}

// replies answers status queries with a recorded reply while do runs.
func (h *harness) replies(t testing.TB, c Claimed, do func(Exchange)) {
	x := ReadExchange(t, h.suite.file(c.Exchange))
	if x.path() != h.flow.Settled.Status {
		t.Fatalf("%s is no reply of %s", c.Exchange, h.flow.Settled.Status)
	}
	h.server.override(x.path(), telling(x, x.Response.Body))
	defer h.server.override(x.path(), nil)
	do(x)
}

// resubmitted: an order that was stored and loaded gives the same submission, status and
// proof, any number of times.
func (h *harness) resubmitted(t *testing.T) {
	for range 2 {
		facets := map[string]string{}
		if at, err := h.settle(t.Context(), h.provider(t, longTimeout), h.order.Clone(), facets); err != nil {
			t.Errorf("a stored order: %s: %v", at, err)
		}
		for name, got := range facets {
			if got != h.good.facets[name] {
				t.Errorf("a stored order has another %s: %s", name, got)
			}
		}
	}
}

// prepaid reports whether the provider has the input before submission. Then none of its
// answers is a final refusal.
func (h *harness) prepaid() bool {
	last := h.flow.Effects[len(h.flow.Effects)-1].Kind
	return last == swap.Deposit || last == swap.Opaque
}

// isUncertain reports whether an error leaves open what became of an order. The engine then
// queries the status first.
func isUncertain(err error) bool {
	var r *swap.Refusal
	return !errors.As(err, &r) || r.Temporary()
}
