package dexsim

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// An Outcome says what becomes of an order. The zero Outcome is an honest fill in the
// next block.
type Outcome struct {
	// Fill is when the filler fills: "now" or "", after Blocks more blocks; "late", in
	// the last seconds before the deadline; "never".
	Fill   string `json:"fill"`
	Blocks uint64 `json:"blocks"`
	// Claim replaces the true status in GET /orders. It is a status, or "backwards": a
	// filled order is shown as open again; "other": another order's fill is shown;
	// "silent": the order is not listed. "" is the truth.
	Claim string `json:"claim"`
	// Cosign is how the cosigner signs: "unsigned", not at all; "stranger", with another
	// key; "worse", with amounts below those the user signed; "early", with a price that
	// has decayed already; "generous", with one percent more than quoted. "" is honest.
	Cosign string `json:"cosign"`
	// Refuse is the error code with which POST /order refuses the order.
	Refuse string `json:"refuse"`
}

var (
	fills    = []string{"", "now", "late", "never"}
	statuses = []string{"unverified", "open", "filled", "expired", "error", "cancelled", "insufficient-funds"}
)

func (o Outcome) check() error {
	claimed := append(slices.Sorted(maps.Keys(claims)), statuses...)
	for _, f := range []struct {
		name, value string
		known       []string
	}{
		{"fill", o.Fill, fills}, {"claim", o.Claim, append(claimed, "")}, {"cosign", o.Cosign, slices.Sorted(maps.Keys(cosigners))},
	} {
		if !slices.Contains(f.known, f.value) {
			return fmt.Errorf("%s: %q is none of %q", f.name, f.value, f.known)
		}
	}
	return nil
}

// claims change what GET /orders shows of an order by more than a status. They return
// false to hide the order.
var claims = map[string]func(s *Server, ctx context.Context, o *order, status *orderStatus) bool{
	"silent": func(*Server, context.Context, *order, *orderStatus) bool { return false },
	"backwards": func(_ *Server, _ context.Context, _ *order, status *orderStatus) bool {
		if status.status == "filled" {
			*status = orderStatus{status: "open"}
		}
		return true
	},
	"other": func(s *Server, ctx context.Context, o *order, status *orderStatus) bool {
		if other, found := s.otherFill(ctx, o); found {
			*status = other
		}
		return true
	},
}

// claimed returns what GET /orders shows of an order in place of its true status, and
// whether it shows the order at all.
func (s *Server) claimed(ctx context.Context, o *order, claim string, real orderStatus) (orderStatus, bool) {
	status := real
	if change := claims[claim]; change != nil {
		return status, change(s, ctx, o, &status)
	}
	if claim == "" || claim == real.status {
		return status, true
	}
	if status = (orderStatus{status: claim}); claim == "filled" {
		status.tx = common.BytesToHash(newNonce().Bytes())
		for _, l := range o.terms.outputs() {
			status.outs = append(status.outs, l.start)
		}
		_, status.in = o.terms.maxInput()
	}
	return status, true
}

// A cosigner makes the cosigner's part of an order and its signature, if any.
type cosigner func(s *Server, o *order, data cosignerData) (cosignerData, []byte, error)

var cosigners = map[string]cosigner{
	"": func(s *Server, o *order, data cosignerData) (cosignerData, []byte, error) {
		return o.cosignedBy(s.Cosigner.Key, data)
	},
	"unsigned": func(_ *Server, _ *order, data cosignerData) (cosignerData, []byte, error) { return data, []byte{}, nil },
	"stranger": func(s *Server, o *order, data cosignerData) (cosignerData, []byte, error) {
		return o.cosignedBy(s.Filler.Key, data)
	},
	"worse": func(s *Server, o *order, data cosignerData) (cosignerData, []byte, error) {
		data.outputs = o.scaled(9_000)
		return o.cosignedBy(s.Cosigner.Key, data)
	},
	"generous": func(s *Server, o *order, data cosignerData) (cosignerData, []byte, error) {
		data.outputs = o.scaled(10_100)
		return o.cosignedBy(s.Cosigner.Key, data)
	},
	"early": func(s *Server, o *order, data cosignerData) (cosignerData, []byte, error) {
		data.start, data.end = new(big.Int), big.NewInt(1) // the reactor refuses an end equal to the start
		return o.cosignedBy(s.Cosigner.Key, data)
	},
}

// scaled returns the outputs' start amounts times the given basis points.
func (o *order) scaled(bips int64) []*big.Int {
	legs := o.terms.outputs()
	all := make([]*big.Int, len(legs))
	for i, l := range legs {
		all[i] = new(big.Int).Mul(l.start, big.NewInt(bips))
		all[i].Div(all[i], big.NewInt(allBips))
	}
	return all
}
