package engine

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/google/uuid"
)

// tamper changes an order's record while the daemon is stopped, as a program that can
// write the file might.
func (b *engineFixture) tamper(id string, change func(*swap.Order)) {
	b.t.Helper()
	b.halt()
	o, err := b.service.o.Journal.Get(id)
	if err != nil {
		b.t.Fatal(err)
	}
	change(&o)
	if err := b.service.o.Journal.Update(&o, swap.NewCause("test")); err != nil {
		b.t.Fatal(err)
	}
}

// storeOrder stores an order that nobody accepted.
func (b *engineFixture) storeOrder(o swap.Order) {
	b.t.Helper()
	b.halt()
	if _, made, err := b.service.o.Journal.Create(o, o.Digest); err != nil || !made {
		b.t.Fatal(made, err)
	}
}

// restartUnlocked is the daemon's next start, with the vault unlocked.
func (b *engineFixture) restartUnlocked() {
	b.start()
	b.signer.locked.Store(false)
	b.service.Wake()
}

// consistent recomputes an order's digest.
func consistent(o *swap.Order) { o.Digest = swap.Digest(o.Terms, o.Plan.Effects()) }

// payable changes the recipient everywhere in an order.
func payable(o *swap.Order, to common.Address) {
	o.Terms.Recipient, o.Offer.Request.Recipient = to, to
	for i, s := range o.Plan.Steps {
		for j := range s.Effect.Receives {
			o.Plan.Steps[i].Effect.Receives[j].To = to
		}
	}
	consistent(o)
}

func isChanged(o swap.Order) bool { return o.Condition == swap.RecordTampered }

// TestNothingIsSignedForAChangedRecord checks that nothing is signed for a record in
// which anything accepted was changed, however consistent the rest is. The order says so,
// and the user can cancel it.
func TestNothingIsSignedForAChangedRecord(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	strangers, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(true)
	another := b.swap(usdc, 500e6)
	for name, change := range map[string]func(*swap.Order){
		"recipient":          func(o *swap.Order) { payable(o, thief) },
		"refund address":     func(o *swap.Order) { o.Terms.RefundTo = thief; consistent(o) },
		"amount":             func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(2 * thousand); consistent(o) },
		"floor":              func(o *swap.Order) { o.Terms.MinOut = big.NewInt(1); consistent(o) },
		"deadline":           func(o *swap.Order) { o.Terms.Deadline = o.Terms.Deadline.Add(time.Hour); consistent(o) },
		"gas ceiling":        func(o *swap.Order) { o.Terms.GasCeiling = big.NewInt(1e18); consistent(o) },
		"digest":             func(o *swap.Order) { o.Digest = another.Digest },
		"bytes of a step":    func(o *swap.Order) { o.Plan.Steps[0].Call.Data = bytes.Repeat([]byte{1}, 68) },
		"a message's bytes":  func(o *swap.Order) { o.Plan.Steps[1].TypedData.Message["sigDeadline"] = "1" },
		"what is asked for":  func(o *swap.Order) { o.Offer.Request.Recipient = thief },
		"the offer's words":  func(o *swap.Order) { o.Offer.Raw = []byte(`{"quote":"another"}`) },
		"the offer's life":   func(o *swap.Order) { o.Offer.Expires = o.Offer.Expires.Add(time.Hour) },
		"slippage":           func(o *swap.Order) { o.SlippageBps = 5000 },
		"acknowledged":       func(o *swap.Order) { o.AckCodes = []string{"price_unknown"} },
		"when":               func(o *swap.Order) { o.Created = o.Created.Add(time.Hour) },
		"another's seal":     func(o *swap.Order) { s, _, _ := b.service.Order(another.ID); o.Seal = s.Seal },
		"a stranger's seal":  func(o *swap.Order) { payable(o, thief); *o = (&fakeSigner{key: strangers}).sealed(*o) },
		"the act of a seal":  func(o *swap.Order) { o.Seal.Action = "accept" },
		"the time of a seal": func(o *swap.Order) { o.Seal.ActedAt = o.Seal.ActedAt.Add(time.Second) },
		"no code":            func(o *swap.Order) { payable(o, thief); o.Seal.MAC = common.Hash{} },
		"no seal":            func(o *swap.Order) { payable(o, thief); o.Seal = nil },
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.signer.locked.Store(true)
			if b.stop == nil {
				b.start()
			}
			b.made++ // plans made in the same second would be identical
			o := b.swap(usdc, thousand+int64(b.made))
			b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
			b.tamper(o.ID, change)
			if err := b.markCancelled(another.ID); err != nil { // so that only the other can be carried out
				t.Fatal(err)
			}
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "refused", isChanged)
			if o.Cause == nil || o.Cause.Code != swap.RecordChanged || o.Reason == "" || o.Step != 0 {
				t.Errorf("step %d, %q, cause %+v", o.Step, o.Reason, o.Cause)
			}
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			if o = b.waitState(o.ID, swap.Cancelled); o.Verdict.Sources != swap.NothingSigned {
				t.Errorf("verdict %+v", o.Verdict)
			}
			b.wantNonce(0)
			if n := b.signer.signed.Load(); n != 0 {
				t.Errorf("%d transactions were signed", n)
			}
		})
	}
}

// markCancelled marks an order as cancelled in the journal, if it is open.
func (b *engineFixture) markCancelled(id string) error {
	o, err := b.service.o.Journal.Get(id)
	if err != nil || o.State.Final() {
		return err
	}
	o.State = swap.Cancelled
	return b.service.o.Journal.Update(&o, swap.NewCause("test"))
}

// TestForgedOrders checks that an order that nobody accepted is not carried out, whether
// it has no seal or another order's.
func TestForgedOrders(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	done := b.waitState(b.swap(usdc, thousand).ID, swap.Filled)
	before := b.signer.signed.Load()
	plant := func(change func(*swap.Order)) swap.Order {
		o := done.Clone()
		o.ID, o.Request = uuid.Must(uuid.NewV7()).String(), uuid.NewString()
		o.State, o.Step, o.Results, o.Verdict, o.Wrapped, o.Revision = swap.Accepted, 0, nil, nil, false, 0
		b.made++
		o.Created, o.Terms.Deadline = b.now().UTC(), b.now().Add(consentLife+time.Duration(b.made)*time.Second).UTC().Truncate(time.Second)
		o.Offer.Expires = b.now().Add(time.Minute).UTC()
		consistent(&o)
		change(&o)
		b.storeOrder(o)
		return o
	}
	copied := plant(func(o *swap.Order) { payable(o, thief) })
	bare := plant(func(o *swap.Order) { payable(o, thief); o.Seal = nil })
	exact := plant(func(o *swap.Order) {
		o.Terms, o.Offer, o.Digest, o.Created = done.Terms, done.Offer, common.Hash{1}, done.Created
	})
	b.restartUnlocked()
	for _, o := range []swap.Order{copied, bare, exact} {
		o = b.waitUntil(o.ID, "refused", isChanged)
		if o.Cause.Reason != swap.ReasonRecordTampered {
			t.Errorf("cause %+v", o.Cause)
		}
	}
	if n := b.signer.signed.Load(); n != before {
		t.Fatalf("%d transactions were signed for planted orders", n-before)
	}
}

// TestProposalsAreSealed checks that a proposal that the engine did not make cannot be
// accepted and does not affect the next one.
func TestProposalsAreSealed(t *testing.T) {
	b := newEngineFixture(t)
	o := priceFell(b, b.useTrader())
	forged := o.Clone()
	forged.Terms, forged.Offer, forged.Plan = o.Proposal.Terms, o.Proposal.Offer, o.Proposal.Plan
	payable(&forged, thief)
	b.tamper(o.ID, func(o *swap.Order) {
		o.Proposal.Terms, o.Proposal.Offer, o.Proposal.Plan, o.Proposal.Digest = forged.Terms, forged.Offer, forged.Plan, forged.Digest
		o.Proposal.Made = b.now().Add(time.Hour).UTC()
	})
	changed, _, err := b.service.Order(o.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.service.Accept(t.Context(), acceptOf(changed))
	refusedWith(t, err, swap.RecordChanged)
	b.restartUnlocked()
	again := b.waitUntil(o.ID, "proposed again", func(o swap.Order) bool { return proposes(o) && o.Proposal.Digest != forged.Digest })
	if again.Proposal.Terms.Recipient != b.from || again.Terms.Recipient != b.from {
		t.Errorf("proposes to pay %s", again.Proposal.Terms.Recipient)
	}
	old := again.Seal
	if _, err := b.service.Accept(t.Context(), acceptOf(again)); err != nil {
		t.Fatal(err)
	}
	if done := b.waitState(o.ID, swap.Filled); done.Seal.MAC == old.MAC || done.Seal.Action != "accept" || done.Terms.Recipient != b.from {
		t.Errorf("sealed %+v", done.Seal)
	}
}

// TestOldSealAfterAccept checks that the first consent's seal is not valid for the terms
// accepted later.
func TestOldSealAfterAccept(t *testing.T) {
	b := newEngineFixture(t)
	o := priceFell(b, b.useTrader())
	first := o.Seal
	b.signer.locked.Store(true)
	if _, err := b.service.Accept(t.Context(), acceptOf(o)); err != nil {
		t.Fatal(err)
	}
	b.tamper(o.ID, func(o *swap.Order) { o.Seal = first })
	before := b.signer.signed.Load()
	b.restartUnlocked()
	b.waitUntil(o.ID, "refused", isChanged)
	if b.signer.signed.Load() != before {
		t.Error("signed under the first consent's seal")
	}
}

// TestUserRequestsAreSealed checks that only the user can request a cancel or speed-up.
// Meanwhile a sent transaction is still watched to its proven end.
func TestUserRequestsAreSealed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*swap.Order)
		wanted swap.State
	}{
		"an end":            {func(o *swap.Order) { o.Cancel = true }, swap.Filled},
		"a speed-up":        {func(o *swap.Order) { o.Bump = &swap.Bump{Tier: "fast", Replaces: o.CurrentTx} }, swap.Filled},
		"an end by another": {func(o *swap.Order) { o.Cancel, o.CancelSeal = true, o.Seal }, swap.Filled},
		"other terms":       {func(o *swap.Order) { o.Terms.GasCeiling = big.NewInt(1e18); consistent(o); o.Cancel = true }, swap.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			o := b.sentOrder(nil)
			b.tamper(o.ID, c.change)
			before := b.signer.signed.Load()
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "refused", isChanged)
			if b.signer.signed.Load() != before {
				t.Error("signed for a wish that is not the user's")
			}
			if c.wanted == swap.Cancelled {
				if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
					t.Fatal(err)
				}
				o = b.waitUntil(o.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
				if net, err := b.hub.Network(1); err != nil || o.Terms.GasCeiling.Cmp(net.GasCeiling) > 0 {
					t.Errorf("ended for up to %s, %v", o.Terms.GasCeiling, err)
				}
			}
			b.chain.Resume()
			b.waitState(o.ID, c.wanted)
		})
	}
}

// TestForgedUsesAreNone checks that what unaccepted orders claim to need of an allowance
// is neither approved for them nor deducted from it.
func TestForgedUsesAreNone(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	forged := spends(b.service.o.Journal, t, swap.Signed, 300e6)
	must(b.service.o.Journal, t, &forged, func(o *swap.Order) {
		o.Terms.Account, o.State, o.Step, o.Results = b.from, swap.Executing, 2, []swap.Result{{}, {Signature: make([]byte, 65)}}
	})
	if uses, err := b.service.o.Journal.Uses(allowanceKeyOf(forged)); err != nil || len(uses) != 1 {
		t.Fatal(uses, err)
	}
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Plan.Steps[0].Effect.Approves[0]; a.Amount.Int64() != thousand || a.Shares != nil {
		t.Errorf("approves %s with a share of %v", a.Amount, a.Shares)
	}
}

// TestNothingIsAcceptedWithoutKeys checks that what cannot be sealed is not accepted.
func TestNothingIsAcceptedWithoutKeys(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	r, err := b.review(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.halt()
	b.signer.strict = true
	b.signer.locked.Store(true)
	acts := map[string]func() (swap.Order, error){
		"execute": func() (swap.Order, error) {
			return b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
		},
		"accept": func() (swap.Order, error) { return b.service.Accept(t.Context(), acceptOf(o)) },
		"cancel": func() (swap.Order, error) { return b.service.Cancel(t.Context(), cancelOf(o)) },
	}
	for name, act := range acts {
		if _, err := act(); !errors.Is(err, errLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, _, err := b.service.Orders(b.from, false, "", 10)
	if err != nil || len(all) != 1 || all[0].Cancel || all[0].Digest != o.Digest {
		t.Errorf("%d orders, %v", len(all), err)
	}
}

// TestSealedForm checks that the sealed message does not change between versions, or
// every open order would count as changed. A change needs a new sealVersion.
func TestSealedForm(t *testing.T) {
	terms, effects := fourSteps()
	when := time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC)
	o := swap.Order{ID: "order", Consent: swap.Consent{Digest: common.Hash{1}, Terms: terms, AckCodes: []string{"price_impact"},
		Offer: swap.Offer{ID: "offer", Provider: swap.DEX, AmountOut: big.NewInt(1), MinOut: big.NewInt(1), Expires: when, Raw: []byte(`{"a": "<b>"}`)},
		Plan:  swap.Plan{Settlement: swap.ByOwnCall, Spender: permit2}}, Progress: swap.Progress{SlippageBps: 50}, Created: when}
	for _, f := range effects {
		o.Plan.Steps = append(o.Plan.Steps, swap.Step{Kind: swap.CallStep, Effect: f})
	}
	s := swap.Seal{Version: sealVersion, UserAct: swap.UserAct{Action: "execute", Origin: "terminal", Confirmation: swap.Confirmation{By: swap.ByTerminal, Lines: common.Hash{7}}, ActedAt: when}}
	message := consentOf(o).message(s)
	if got := crypto.Keccak256Hash(message); got != common.HexToHash("0x0424a6da76474991e76c10e9a5fd874bb3fdedc92d274fdae15cb2224fa0d43d") {
		t.Errorf("%s: count sealVersion up\n%s", got, message)
	}
	stored := o.Clone()
	if !bytes.Equal(consentOf(stored).message(s), message) || !bytes.Equal(consentOf(stored.Clone()).message(s), message) {
		t.Error("an order reads otherwise once it was stored")
	}
	if others := slices.Concat(cancelRequestOf(o).message(s), message); bytes.HasPrefix(others, message) {
		t.Error("two things are sealed alike")
	}
}

// TestSealedFormOfAFullRecord checks that a record's other content, and its form in
// memory, do not affect the sealed message.
func TestSealedFormOfAFullRecord(t *testing.T) {
	terms, effects := fourSteps()
	when := time.Date(2026, 11, 20, 14, 0, 0, 5, time.FixedZone("", 2*60*60))
	terms.Deadline, terms.Refund = when, &swap.Spend{Token: usdc, Amount: big.NewInt(7)}
	typed := apitypes.TypedData{PrimaryType: "Order", Types: apitypes.Types{"Order": {{Name: "n", Type: "uint256"}}}, Domain: apitypes.TypedDataDomain{ChainId: math.NewHexOrDecimal256(1)},
		Message: apitypes.TypedDataMessage{"n": new(big.Int).Lsh(big.NewInt(1), 255), "list": []any{}, "text": "<&>"}}
	o := swap.Order{ID: "order", Consent: swap.Consent{Digest: common.Hash{1}, Terms: terms, AckCodes: []string{},
		Offer: swap.Offer{ID: "offer'", Provider: swap.DEX, AmountOut: big.NewInt(1), MinOut: big.NewInt(1), Expires: when, Raw: []byte("{ \"a\": \"<b>\", \"n\": 1.0 }"), Fees: []swap.Payment{}, Net: big.NewInt(-1)},
		Plan:  swap.Plan{Settlement: swap.ByProvider, Steps: []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{ChainID: 1, Data: []byte{}, Value: new(big.Int)}}, {Kind: swap.TypedStep, TypedData: &typed}}}}, Created: when}
	for _, f := range effects {
		f.Pays = []swap.Payment{}
		o.Plan.Steps = append(o.Plan.Steps, swap.Step{Kind: swap.DeferredStep, Effect: f})
	}
	s := swap.Seal{Version: sealVersion, UserAct: swap.UserAct{Action: "accept", ActedAt: when}}
	want := common.HexToHash("0x89e459cb1d304e2dc5fe7cfe1327443585e029393d31cdb3fa67edac9ce219df")
	for name, grow := range map[string]func(*swap.Order){
		"accepted":  func(*swap.Order) {},
		"read back": func(o *swap.Order) { *o = o.Clone() },
		"begun": func(o *swap.Order) {
			o.State, o.Step, o.Revision, o.Results = swap.Executing, 1, 9, []swap.Result{{Tx: common.Hash{2}}}
		},
		"sent": func(o *swap.Order) { o.Attempts, o.CurrentTx = []swap.Attempt{{FeeCap: big.NewInt(1)}}, common.Hash{3} },
		"told": func(o *swap.Order) {
			o.Claim, o.ProviderOrderID, o.SearchFrom = &swap.Claim{}, "ref", map[uint64]uint64{1: 2}
		},
		"in need": func(o *swap.Order) {
			o.Proposal = &swap.Proposal{Review: swap.Review{Terms: testTerms(), Offer: testOffer()}}
		},
		"to be over": func(o *swap.Order) { o.Cancel, o.Updated, o.Reason = true, when, "why" },
	} {
		grown := o
		grow(&grown)
		if got := crypto.Keccak256Hash(consentOf(grown).message(s)); got != want {
			t.Errorf("%s: %s: count sealVersion up\n%s", name, got, consentOf(grown).message(s))
		}
	}
	o.Proposal = &swap.Proposal{Review: swap.Review{Digest: o.Digest, Terms: terms, Offer: o.Offer, Plan: o.Plan, Findings: []swap.Finding{}, Expires: when}, Reason: "why", Made: when, Seal: &s}
	if got := crypto.Keccak256Hash(proposalOf(o).message(s)); got != common.HexToHash("0x1199c149f63db50345af7663e14fc181669f2893ad426434cab25c1540b25515") {
		t.Errorf("%s: count sealVersion up\n%s", got, proposalOf(o).message(s))
	}
}
