// Package providertest is the conformance suite of [swap.Provider]: what every provider
// must do with good replies, with broken services, and with replies that lie in any single
// place. The lies are not listed by hand: they are made from every leaf of the recorded
// replies and every word of the calldata. So a field that nobody considered fails the
// suite.
package providertest

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A Suite describes a provider to test.
type Suite struct {
	// Name is the provider's name in the report of [Hostile].
	Name string
	// Dir holds the recorded exchanges, one file each.
	Dir string
	// Prefix is the path of the API on its host, such as /v1.
	Prefix string
	// Now is the moment of the recordings, at which the provider's clock stands.
	Now time.Time
	// New makes a provider for base with the given clock and limits.
	New func(t testing.TB, base string, now func() time.Time, limits rest.Limits) swap.Provider
	// Sign signs a typed step with the recorded account's key: 65 bytes with v as 27 or 28,
	// the same for the same message. Nil if there are no such steps.
	Sign func(apitypes.TypedData) ([]byte, error)
	// Flows are the recorded swaps. The first, and the first that the provider settles,
	// also run every fault.
	Flows []Flow
	// Readings are what the provider reads apart from swaps.
	Readings []Reading
	// Harmless lists the leaves whose value decides nothing, each with the reason.
	Harmless []Harmless
	// StrictObjects lists the objects in which an unknown member is refused, such as what is signed
	// (paths as in [Harmless]). In all others it is ignored.
	StrictObjects []string
	// Attacks are the named attacks.
	Attacks []Attack
}

func (s Suite) file(name string) string { return filepath.Join(s.Dir, name) }

// A Flow is one recorded swap: from quote to calldata or, if the provider settles it, to
// the provider's final status.
type Flow struct {
	Name    string
	Request swap.QuoteRequest
	// Terms are derived from the first offer; these two are added to them.
	Deadline    time.Time
	MakerFeeBps int
	// Exchanges are file names below Dir, one for each endpoint that is called.
	Exchanges []string
	// FixedExchanges are exchanges that always answer as recorded: those of another source of
	// offers, or those that another flow lies about.
	FixedExchanges []string
	// Streamed requests the offers as a stream.
	Streamed bool
	// WithOtherSources means that other sources also have offers. The flow's is the one with
	// Offer.Routing, and no lie may change the others.
	WithOtherSources bool
	// Offer, Spender and Effects are what the honest replies must give.
	Offer   Expected
	Spender common.Address
	Effects []swap.Effect
	// FreeWords are words of the last step's calldata (paths as returned by [Word]) that
	// may have other values.
	FreeWords []Harmless
	// Opaque is why the last step's calldata may be anything: its form is not published,
	// and package swap bounds what it may do. Empty = it is decoded.
	Opaque string
	// FreeFields are leaves of the typed steps' data (paths as in [walk], such as
	// message.nonce) that may have other values.
	FreeFields []Harmless
	// Settled is the expected settlement of a plan that the provider settles; nil for
	// others.
	Settled *Settled
}

// Expected is what a quote must give.
type Expected struct {
	Routing           string
	AmountOut, MinOut string
	Fees              []swap.Payment
	FeeRequested      int
	Life              time.Duration // from Suite.Now to the offer's expiry
	// Longest is the longest life that any reply may give; 0 = Life.
	Longest time.Duration
}

// Run tests a provider with good replies and broken services; [Hostile] tests it with lies.
func Run(t *testing.T, s Suite) {
	settled := slices.IndexFunc(s.Flows, func(f Flow) bool { return f.Settled != nil })
	for i, f := range s.Flows {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, s, f)
			t.Run("honest", h.honest)
			t.Run("repeat", h.repeat)
			t.Run("concurrent", h.concurrent)
			if h.terms.IsIsolated() {
				t.Run("isolated", h.isolated)
			}
			if i == 0 || i == settled { // a broken service is the same for every flow
				t.Run("cancelled", h.cancelled)
				t.Run("faults", h.faults)
				t.Run("paused", h.paused)
				t.Run("clocks", h.clocks)
			}
			if i == settled {
				t.Run("apart", h.apart)
			}
		})
	}
	t.Run("pins", func(t *testing.T) { pins(t, s) })
}

// Hostile tests what a provider does when its service lies, in every leaf of every recorded
// reply and by named attacks, and when the bytes to be signed are changed. Each leaf and
// each attack is a sub-test. A one-line summary is reported, see [record.report].
func Hostile(t *testing.T, s Suite) {
	r := newRecord()
	t.Run("signed", func(t *testing.T) {
		for _, f := range s.Flows {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				newHarness(t, s, f).signed(t, r)
			})
		}
	})
	t.Run("leaves", func(t *testing.T) { lies(t, s, r) })
	t.Run("attacks", func(t *testing.T) { attacks(t, s, r) })
	r.report(t, s.Name)
}

// signed changes the calldata and the typed data of the plan.
func (h *harness) signed(t *testing.T, r *record) {
	steps := h.order.Plan.Steps
	if steps[len(steps)-1].Call != nil {
		t.Run("calldata", func(t *testing.T) { h.calldata(t, r) })
	}
	if slices.ContainsFunc(steps, func(s swap.Step) bool { return s.TypedData != nil }) {
		t.Run("typed", func(t *testing.T) { h.typed(t, r) })
	}
}

// refusal is the refusal in an error, or nil.
func refusal(err error) *swap.Refusal {
	var r *swap.Refusal
	errors.As(err, &r)
	return r
}

func pins(t *testing.T, s Suite) {
	p := s.New(t, "http://127.0.0.1:1"+s.Prefix, func() time.Time { return s.Now }, Limits(shortTimeout))
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
