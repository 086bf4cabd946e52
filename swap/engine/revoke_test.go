package engine

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

// Grant lets a spender pull n of the bench's wrapped coin, directly or through Permit2.
func (b *engineFixture) grant(g swap.Grant, n int64) {
	b.t.Helper()
	data := slices.Concat(erc20Approve, pad(g.Spender), common.BigToHash(big.NewInt(n)).Bytes())
	if g.Kind == swap.ByPermit2 {
		year := big.NewInt(time.Now().Add(365 * 24 * time.Hour).Unix())
		data = slices.Concat(permit2Approve, pad(g.Token), pad(g.Spender), common.BigToHash(big.NewInt(n)).Bytes(), common.BigToHash(year).Bytes())
	}
	b.mineCall(chain.Call{ChainID: 1, From: b.from, To: g.Keeper(), Value: new(big.Int), Data: data})
}

// allowances lists what the bench's account granted.
func (b *engineFixture) allowances() []Allowance {
	b.t.Helper()
	var all []Allowance
	r := AllowancesRequest{Account: b.from, Chain: 1, Tokens: []common.Address{native, weth, usdc}, Prepare: true}
	for range 10 {
		page, next, err := b.service.Allowances(b.t.Context(), r)
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, page...)
		if r.Cursor = next; next == "" {
			return all
		}
	}
	b.t.Fatal("the list has no end")
	return nil
}

func (b *engineFixture) allowed(g swap.Grant) int64 {
	b.t.Helper()
	n, err := allowanceOf(b.t.Context(), b.hub, 1, b.from, g)
	if err != nil {
		b.t.Fatal(err)
	}
	return n.Int64()
}

func consentTo(a Allowance) ExecuteRequest {
	return ExecuteRequest{Request: uuid.NewString(), Digest: a.Review.Digest, Caller: passwordCaller}
}

// TestRevoke checks that both kinds of allowance are listed, revoked once with consent,
// and proven gone.
func TestRevoke(t *testing.T) {
	for _, g := range []swap.Grant{{Token: weth, Spender: permit2, Kind: swap.ByToken}, {Token: weth, Spender: weth, Kind: swap.ByPermit2}} { // the bench's router is the wrapped coin
		t.Run(string(g.Kind), func(t *testing.T) {
			b := newEngineFixture(t)
			b.grant(g, 700)
			all := b.allowances()
			if len(all) != 1 || all[0].grant() != g || all[0].Amount.Int64() != 700 || all[0].Share.Sign() != 0 || all[0].Provider != swap.DEX || all[0].Unlimited() {
				t.Fatalf("listed %+v", all)
			}
			if a := all[0]; g.Kind == swap.ByToken && (a.Name != "Permit2" || !a.Expires.IsZero()) || g.Kind == swap.ByPermit2 && (a.Name != "Uniswap Universal Router" || a.Expires.IsZero()) {
				t.Errorf("named %q, expires %s", a.Name, a.Expires)
			}
			r := all[0].Review
			if r == nil || len(r.Findings) != 0 || r.Gas.Max.Sign() <= 0 || r.Terms.Provider != swap.Wallet {
				t.Fatalf("review %+v", r)
			}
			ask := consentTo(all[0])
			o, err := b.service.Revoke(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := b.service.Revoke(t.Context(), ask); err != nil || again.ID != o.ID {
				t.Errorf("repeated: %v, %v", again.ID, err)
			}
			o = b.waitState(o.ID, swap.Filled)
			if b.allowed(g) != 0 || len(b.allowances()) != 0 {
				t.Errorf("%d is still allowed, listed %+v", b.allowed(g), b.allowances())
			}
			if o.Verdict == nil || o.Verdict.Evidence == nil || o.Verdict.Evidence.Tx != o.Results[0].Tx || o.Verdict.Received != nil {
				t.Errorf("verdict %+v", o.Verdict)
			}
			if got := b.stateHistory(o.ID); got != "accepted approving settling filled" {
				t.Errorf("history: %s", got)
			}
			_, err = b.service.Revoke(t.Context(), consentTo(all[0]))
			refusedWith(t, err, swap.PlanExecuted)
			b.wantNonceAndWETH(2, 0)
		})
	}
}

// stateHistory returns the states that an order went through.
func (b *engineFixture) stateHistory(id string) string {
	var states []string
	for _, l := range b.history(id) {
		states = append(states, string(l.State))
	}
	return strings.Join(slices.Compact(states), " ")
}

// TestRevokeAsksAsASwapDoes checks that a revoke needs session, digest and uuid as a swap
// does and is forgotten with it, and that the two kinds of plan are kept apart.
func TestRevokeAsksAsASwapDoes(t *testing.T) {
	b := newEngineFixture(t)
	b.grant(swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}, 700)
	a := b.allowances()[0]
	ask := consentTo(a)
	for name, c := range map[string]struct {
		code   swap.Code
		change func(*ExecuteRequest)
	}{
		"no session":     {swap.ConsentDeclined, func(r *ExecuteRequest) { r.Session = "" }},
		"another digest": {swap.PlanUnknown, func(r *ExecuteRequest) { r.Digest[0] ^= 1 }},
		"no uuid":        {swap.BadRequest, func(r *ExecuteRequest) { r.Request = "1" }},
	} {
		r := ask
		c.change(&r)
		if _, err := b.service.Revoke(t.Context(), r); !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	_, err := b.service.Execute(t.Context(), ask)
	refusedWith(t, err, swap.PlanUnknown)
	b.service.DropPlans()
	_, err = b.service.Revoke(t.Context(), ask)
	refusedWith(t, err, swap.PlanUnknown)
	a = b.allowances()[0]
	ask.Digest = a.Review.Digest
	o, err := b.service.Revoke(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.service.Execute(t.Context(), ask) // the same uuid for another action
	refusedWith(t, err, swap.RequestConflict)
	b.waitState(o.ID, swap.Filled)
	if b.signer.signed.Load() != 2 {
		t.Errorf("%d signatures", b.signer.signed.Load())
	}
}

// emptyNodes are nodes where every balance is one base unit.
type emptyNodes struct{ Nodes }

func (p emptyNodes) Balance(context.Context, uint64, common.Address, common.Address) (*big.Int, error) {
	return big.NewInt(1), nil
}

// TestRevokeNeedsGas checks that without native coin for gas the revoke is refused with
// the missing amount, and nothing is signed.
func TestRevokeNeedsGas(t *testing.T) {
	b := newEngineFixture(t)
	b.grant(swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}, 700)
	b.setNodes(emptyNodes{b.service.engine.Nodes})
	a := b.allowances()[0]
	if len(a.Review.Findings) != 1 || a.Review.Findings[0].Code != "gas_insufficient" || !a.Review.Blocked() {
		t.Fatalf("findings %+v", a.Review.Findings)
	}
	_, err := b.service.Revoke(t.Context(), consentTo(a))
	refusedWith(t, err, swap.InsufficientGas)
	var refused *swap.Refusal
	if errors.As(err, &refused) && refused.Data["missing"] == "" {
		t.Errorf("the missing amount is not named: %v", refused.Data)
	}
	b.wantNonceAndWETH(1, 0)
}

// unpricedNodes are nodes that cannot estimate a token's approve.
type unpricedNodes struct {
	Nodes
	token common.Address
}

func (n unpricedNodes) Cost(ctx context.Context, c chain.Call) (chain.Cost, error) {
	if c.To == n.token {
		return chain.Cost{}, errors.New("execution aborted (timeout = 5s)")
	}
	return n.Nodes.Cost(ctx, c)
}

// TestAllowanceOfAHostileToken checks that an allowance whose revoke cannot be estimated
// is listed without a review and hides no other.
func TestAllowanceOfAHostileToken(t *testing.T) {
	b := newEngineFixture(t)
	b.grant(swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}, 700)
	b.grant(swap.Grant{Token: weth, Spender: weth, Kind: swap.ByPermit2}, 700)
	b.setNodes(unpricedNodes{b.service.engine.Nodes, weth})
	all := b.allowances()
	if len(all) != 2 {
		t.Fatalf("listed %+v", all)
	}
	for _, a := range all {
		if (a.Review == nil) != (a.Kind == swap.ByToken) {
			t.Errorf("%s: review %+v", a.Kind, a.Review)
		}
	}
	b.setNodes(unpricedNodes{b.service.engine.Nodes, permit2})
	if _, _, err := b.service.Allowances(t.Context(), AllowancesRequest{Account: b.from, Chain: 1, Tokens: []common.Address{weth}, Prepare: true}); err == nil {
		t.Error("nodes that can price nothing are no error")
	}
}

// TestRevokeWaitsForOrders checks that an allowance which an open order needs is not
// revoked, neither at consent nor at signing.
func TestRevokeWaitsForOrders(t *testing.T) {
	b := newEngineFixture(t)
	g := swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}
	b.grant(g, 700)
	b.signer.locked.Store(true)
	a := b.allowances()[0]
	revoke, err := b.service.Revoke(t.Context(), consentTo(a))
	if err != nil {
		t.Fatal(err)
	}
	b.waitUntil(revoke.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	_, err = b.service.Revoke(t.Context(), consentTo(b.allowances()[0]))
	refusedWith(t, err, swap.AllowanceInUse)

	b.halt()
	needs := b.journalOrder(g, 300)
	a = b.allowances()[0]
	if a.Share.Int64() != 300 {
		t.Errorf("share %s", a.Share)
	}
	_, err = b.service.Revoke(t.Context(), consentTo(a))
	refusedWith(t, err, swap.AllowanceInUse)
	var refused *swap.Refusal
	if errors.As(err, &refused) && refused.Data["order"] != needs.ID {
		t.Errorf("names %v, not the order %s", refused.Data, needs.ID)
	}
	b.signer.locked.Store(false)
	b.service.engine.Resume(t.Context(), []string{revoke.ID}) // only this order
	b.waitState(revoke.ID, swap.Cancelled)
	if b.allowed(g) != 700 {
		t.Error("taken from an order that needs it")
	}
	b.wantNonceAndWETH(1, 0)
}

// journalOrder journals an order that needs an allowance, without starting it.
func (b *engineFixture) journalOrder(g swap.Grant, amount int64) swap.Order {
	b.t.Helper()
	terms := testTerms()
	terms.Account, terms.Recipient, terms.RefundTo = b.from, b.from, b.from
	terms.TokenIn, terms.AmountIn = g.Token, big.NewInt(amount)
	o := swap.Order{ID: uuid.Must(uuid.NewV7()).String(), Consent: swap.Consent{Request: uuid.NewString(), Digest: common.BigToHash(big.NewInt(amount)), Terms: terms, Offer: testOffer(),
		Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.CallStep, Effect: testSwap()}}, Settlement: swap.ByOwnCall, Spender: g.Spender}}, Progress: swap.Progress{State: swap.Accepted}, Created: time.Now(), Updated: time.Now()}
	o, made, err := b.service.o.Journal.Create(b.signer.sealed(o), o.Digest)
	if err != nil || !made {
		b.t.Fatal(made, err)
	}
	return o
}

// TestAllowancesPage checks that the list's cursor survives changes.
func TestAllowancesPage(t *testing.T) {
	var all []swap.Grant
	for i := range 5 {
		all = append(all, swap.Grant{Token: common.BigToAddress(big.NewInt(int64(i))), Spender: permit2, Kind: swap.ByToken})
	}
	for _, cut := range []int{0, 2, 4} {
		rest, err := pairsAfter(all, cursorOf(all[cut]))
		if err != nil || !slices.Equal(rest, all[cut+1:]) {
			t.Errorf("after %d: %v, %v", cut, rest, err)
		}
	}
	if rest, err := pairsAfter(slices.Delete(slices.Clone(all), 2, 3), cursorOf(all[2])); err != nil || !slices.Equal(rest, all[3:]) {
		t.Errorf("after one that is gone: %v, %v", rest, err)
	}
	for _, bad := range []string{"x", "//", "1/2/3", strings.Repeat("/", 200)} {
		if _, err := pairsAfter(all, bad); !errors.Is(err, &swap.Refusal{Code: swap.BadRequest}) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

// TestUnlimited checks that values that stand for "no limit" are told from large amounts.
func TestUnlimited(t *testing.T) {
	for bits, want := range map[uint]bool{96: true, 160: true, 255: true, 256: true, 95: false, 128: false} {
		if got := (Allowance{Amount: largest(bits)}).Unlimited(); got != want {
			t.Errorf("2^%d-1: %v", bits, got)
		}
	}
}

// loglessNodes are nodes whose receipts have no logs and on which an allowance has a fixed value.
type loglessNodes struct {
	Nodes
	left int64
}

func (m loglessNodes) Evidence(ctx context.Context, id uint64, tx common.Hash) (chain.Evidence, bool, error) {
	ev, ok, err := m.Nodes.Evidence(ctx, id, tx)
	ev.Logs = nil
	return ev, ok, err
}

func (m loglessNodes) CheckReceipt(ctx context.Context, ev chain.Evidence, _ bool) error {
	return m.Nodes.CheckReceipt(ctx, ev, false)
}

func (m loglessNodes) Allowance(context.Context, uint64, common.Address, common.Address, common.Address) (*big.Int, error) {
	return big.NewInt(m.left), nil
}

// TestRevokeOfAMuteToken checks that without a log the chain is asked: a token that
// reports success but keeps the allowance was not revoked.
func TestRevokeOfAMuteToken(t *testing.T) {
	for left, end := range map[int64]swap.State{0: swap.Filled, 700: swap.Failed} {
		b := newEngineFixture(t)
		b.grant(swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}, 700)
		r := consentTo(b.allowances()[0])
		b.setNodes(loglessNodes{b.service.engine.Nodes, left})
		o, err := b.service.Revoke(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		b.waitState(o.ID, end)
	}
}

// TestRevokeAsksForMoreGas checks that a revoke whose gas rises above what was accepted
// asks for consent, as a swap does.
func TestRevokeAsksForMoreGas(t *testing.T) {
	b := newEngineFixture(t)
	g := swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}
	b.grant(g, 700)
	r := *b.allowances()[0].Review
	r.Terms.GasCeiling = big.NewInt(1)
	r.Digest = swap.Digest(r.Terms, r.Plan.Effects())
	b.service.KeepReviews(b.service.Generation(), r)
	o, err := b.service.Revoke(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	if err != nil {
		t.Fatal(err)
	}
	o = b.waitUntil(o.ID, "in need of consent", func(o swap.Order) bool { return o.Condition == swap.NeedsConsent && o.Proposal != nil })
	if b.signer.signed.Load() != 1 || o.Proposal.Terms.GasCeiling.Cmp(r.Terms.GasCeiling) <= 0 || len(o.Proposal.Plan.Steps) != 1 {
		t.Fatalf("%d signatures, proposal %+v", b.signer.signed.Load(), o.Proposal)
	}
	if _, err := b.service.Accept(t.Context(), AcceptRequest{Request: uuid.NewString(), Order: o.ID, Digest: o.Proposal.Digest, Caller: passwordCaller}); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, swap.Filled)
	if b.allowed(g) != 0 {
		t.Error("not revoked")
	}
	b.wantNonceAndWETH(2, 0)
}

// TestRevokeStopsAnywhere checks that a revoke that is stopped and restarted repeatedly
// is paid once.
func TestRevokeStopsAnywhere(t *testing.T) {
	b := newEngineFixture(t)
	g := swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}
	b.grant(g, 700)
	o, err := b.service.Revoke(t.Context(), consentTo(b.allowances()[0]))
	if err != nil {
		t.Fatal(err)
	}
	for range 25 {
		time.Sleep(7 * time.Millisecond)
		b.halt()
		b.start()
	}
	b.waitState(o.ID, swap.Filled)
	if b.allowed(g) != 0 {
		t.Error("not revoked")
	}
	b.wantNonceAndWETH(2, 0)
}
