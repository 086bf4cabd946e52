//go:build faults && linux

package torture

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/gaslesssim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/intentsim"
)

// change gives every provider new behaviour from now on: what it does with orders, how
// soon, and what it claims about them.
func (m *mischief) change() (func(), bool) {
	return nil, m.w.drawProviders(m.rng, false) == nil
}

// pick picks one of its arguments; repeated ones are more likely.
func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

// drawProviders draws the providers' behaviour. Honest providers claim nothing false.
func (w *world) drawProviders(rng *rand.Rand, honest bool) error {
	d := dexsim.DefaultSettings
	d.DeadlineSeconds = 60
	d.Auctions = pick(rng, dexsim.AuctionsAlways, dexsim.AuctionsBest, dexsim.AuctionsNever)
	d.Outcome = dexsim.Outcome{Fill: pick(rng, "now", "now", "now", "late", "never"), Blocks: rng.Uint64N(4), Claim: pick(rng, "", "", "backwards", "silent", "other", "expired", "error"), Cosign: pick(rng, "", "", "", "", "worse", "generous", "stranger")}

	b := bridgesim.DefaultSettings
	b.APIKey, b.PaceMS = w.Bridge().APIKey, pick(rng, 0, 100, 800)
	b.Outcome = bridgesim.Outcome{Kind: pick(rng, bridgesim.Fill, bridgesim.Fill, bridgesim.Fill, bridgesim.Fill, bridgesim.Refund, bridgesim.Refund, bridgesim.Fail), DelayMS: rng.IntN(3000)}

	i := intentsim.DefaultSettings()
	i.PacePercent, i.Indexing = pick(rng, 0, 0, 20), true
	i.LoseQuotes = pick(rng, 0, 0, 0, 1)
	i.Outcome = intentsim.Outcome{Reserve: rng.IntN(3) == 0, Ending: pick(rng, "fill", "fill", "fill", "fill", "fill", "fill", "fill_unnamed", "refund", "refund", "fail_refund", "fail_fill", "fail", "never", "claim", "claim_refund", "borrow")}
	i.Stream = intentsim.Stream{Repeat: rng.IntN(2), Blank: rng.IntN(2) == 0}

	g := gaslesssim.DefaultSettings
	g.JAM, g.RFQ = drawBehaviour(rng, g.JAM), drawBehaviour(rng, g.RFQ)
	g.RFQ.Outcome = pick(rng, g.RFQ.Outcome, g.RFQ.Outcome, "part")
	if honest {
		d.Outcome.Claim, g.JAM.Status, g.RFQ.Status = "", "", ""
	}
	return errors.Join(w.DEX().Set(d), w.Bridge().Set(b), w.Intent().Set(i), w.Gasless().Set(g))
}

// drawBehaviour draws the behaviour of one of the gasless protocols.
func drawBehaviour(rng *rand.Rand, b gaslesssim.Behaviour) gaslesssim.Behaviour {
	b.Down = rng.IntN(8) == 0
	b.Outcome = pick(rng, "settle", "settle", "settle", "settle", "late", "never", "revert", "reject")
	b.AfterBlocks = rng.Uint64N(3)
	b.PriceBps = rng.Int64N(20)
	b.Status = pick(rng, "", "", "", "", "", "", "silent", "failed", "settled", "foreign", "backwards", "unknown")
	return b
}

// statuses are the bridge's words for the status of an order.
var statuses = []string{"unknown", "waiting", "pending", "delayed", "submitted", "success", "failure", "refund"}

// lie makes the bridge claim a wrong status for all orders for a while, to pollers and to
// its stream: earlier, later or final; one time in three with another order's payment.
func (m *mischief) lie() (func(), bool) {
	said := map[string]any{"/status": pick(m.rng, statuses...)}
	if m.rng.IntN(3) == 0 {
		var paid []common.Hash
		for _, o := range m.w.Bridge().Orders() {
			if o.Payment != (common.Hash{}) {
				paid = append(paid, o.Payment)
			}
		}
		if len(paid) > 0 {
			said["/txHashes"] = []common.Hash{pick(m.rng, paid...)}
		}
	}
	var undo []func()
	for _, pointer := range slices.Sorted(maps.Keys(said)) {
		value, err := json.Marshal(said[pointer])
		if err != nil {
			m.w.find("lie %v: %v", said, err)
			continue
		}
		for target, at := range map[string]string{"/intents/status/v3": "", "/ws/event": "/data"} {
			id, err := m.w.Faults(bridge).Add(inject.Rule{Target: target, Kind: inject.Lie, Pointer: at + pointer, Value: value})
			if err != nil {
				m.w.find("lie %v: %v", said, err)
				continue
			}
			undo = append(undo, func() { m.w.Faults(bridge).Remove(id) })
		}
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}, true
}

// endLies ends the providers' lies, about existing and future orders.
func (w *world) endLies() error {
	if err := w.drawProviders(rand.New(rand.NewPCG(w.seed, 1)), true); err != nil {
		return err
	}
	orders, err := w.DEX().Orders(w.ctx)
	for _, o := range orders {
		outcome := o.Outcome
		outcome.Claim = ""
		err = errors.Join(err, w.DEX().SetOutcome(o.OrderID, outcome))
	}
	return err
}
