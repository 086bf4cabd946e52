package swap

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/google/uuid"
)

// revokeOf returns the plan of a revoke as a review would have it.
func revokeOf(t *testing.T, g grant) (Terms, Step) {
	t.Helper()
	terms := Terms{
		Provider: Wallet, Account: account, SrcChain: 1, TokenIn: g.Token, AmountIn: new(big.Int), DstChain: 1, TokenOut: g.Token,
		Recipient: account, MinOut: new(big.Int), Deadline: noon, RefundTo: account, GasCeiling: big.NewInt(1e15),
	}
	b, err := revoker{}.Build(t.Context(), Offer{Raw: mustJSON(g)}, terms)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := decodeAll(revoker{}, terms, b)
	if err != nil {
		t.Fatal(err)
	}
	return terms, plan.Steps[0]
}

// TestRevokeMayOnlyTakeAway checks that a revoke may set any allowance to zero, and
// nothing else.
func TestRevokeMayOnlyTakeAway(t *testing.T) {
	pins := revoker{}.Pins()
	for _, g := range []grant{{usdc, permit2, ByToken}, {usdc, thief, ByToken}, {usdc, router, ByPermit2}, {usdc, thief, ByPermit2}} {
		terms, s := revokeOf(t, g)
		if err := Check(terms, []Effect{s.Effect}, pins); err != nil {
			t.Errorf("%+v: %v", g, err)
		}
		if got := grantOf(s.Effect); got != g {
			t.Errorf("%+v became %+v", g, got)
		}
	}
	for name, c := range map[string]struct {
		code   Code
		change func(*Terms, *[]Effect)
	}{
		"one unit":         {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Amount = big.NewInt(1) }},
		"a share":          {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Shares = new(big.Int) }},
		"negative":         {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Amount = big.NewInt(-1) }},
		"no amount":        {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Amount = nil }},
		"with an end":      {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Until = noon }},
		"for nobody":       {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Spender = native }},
		"two allowances":   {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves = append((*f)[0].Approves, (*f)[0].Approves[0]) }},
		"no allowance":     {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves = nil }},
		"another token":    {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Approves[0].Token = weth }},
		"another contract": {NotPinned, func(_ *Terms, f *[]Effect) { (*f)[0].Target = thief }},
		"another chain":    {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Chain = 10 }},
		"spends":           {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Spends = []Spend{{usdc, big.NewInt(1)}} }},
		"pays":             {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Pays = []Payment{{usdc, thief, 1}} }},
		"receives":         {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Receives = []Receive{{usdc, thief, big.NewInt(1)}} }},
		"a deadline":       {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Deadline = noon }},
		"trust":            {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].TrustedTo = "somebody" }},
		"a permit":         {NotAsAccepted, func(_ *Terms, f *[]Effect) { (*f)[0].Kind = Permit }},
		"a swap":           {NotAsAccepted, func(_ *Terms, f *[]Effect) { *f = []Effect{testSwap()} }},
		"a swap besides":   {NotAsAccepted, func(_ *Terms, f *[]Effect) { *f = append(*f, testSwap()) }},
		"nothing":          {NotAsAccepted, func(_ *Terms, f *[]Effect) { *f = nil }},
		"native":           {BadRequest, func(t *Terms, _ *[]Effect) { t.TokenIn, t.TokenOut = native, native }},
		"an amount in":     {BadRequest, func(t *Terms, _ *[]Effect) { t.AmountIn = big.NewInt(1) }},
		"no amount in":     {BadRequest, func(t *Terms, _ *[]Effect) { t.AmountIn = nil }},
		"a floor":          {BadRequest, func(t *Terms, _ *[]Effect) { t.MinOut = big.NewInt(1) }},
		"a fee":            {BadRequest, func(t *Terms, _ *[]Effect) { t.FeeBps = 1 }},
		"to a stranger":    {BadRequest, func(t *Terms, _ *[]Effect) { t.Recipient = thief }},
		"across chains":    {BadRequest, func(t *Terms, _ *[]Effect) { t.DstChain = 10 }},
		"no deadline":      {BadRequest, func(t *Terms, _ *[]Effect) { t.Deadline = time.Time{} }},
		"no ceiling":       {BadRequest, func(t *Terms, _ *[]Effect) { t.GasCeiling = nil }},
	} {
		terms, s := revokeOf(t, grant{usdc, permit2, ByToken})
		effects := []Effect{s.Effect}
		c.change(&terms, &effects)
		if err := Check(terms, effects, pins); !errors.Is(err, &Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	terms, s := revokeOf(t, grant{usdc, router, ByPermit2})
	if err := Check(terms, []Effect{s.Effect}, nil); !errors.Is(err, &Refusal{Code: NotPinned}) {
		t.Errorf("Permit2 where it is not pinned: %v", err)
	}
	terms.Provider = DEX
	if err := Check(terms, []Effect{s.Effect}, pins); err == nil {
		t.Error("a provider's plan may do what only the wallet's may")
	}
}

// TestTookAway checks that a revoke is proven by a log of a zero allowance, with the
// right contract, owner and spender.
func TestTookAway(t *testing.T) {
	word := func(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }
	byToken, byPermit2 := grant{usdc, permit2, ByToken}, grant{usdc, router, ByPermit2}
	log := func(at common.Address, data []byte, topics ...common.Hash) *types.Log {
		return &types.Log{Address: at, Topics: topics, Data: data}
	}
	zero := log(usdc, word(0), erc20Approved, topicOf(account), topicOf(permit2))
	one := log(usdc, word(1), erc20Approved, topicOf(account), topicOf(permit2))
	inside := log(permit2, append(word(0), word(0)...), permit2Approved, topicOf(account), topicOf(usdc), topicOf(router))
	for name, c := range map[string]struct {
		g    grant
		logs []*types.Log
		want bool
	}{
		"by the token":          {byToken, []*types.Log{zero}, true},
		"granted before":        {byToken, []*types.Log{one, zero}, true},
		"granted after":         {byToken, []*types.Log{zero, one}, false},
		"nothing logged":        {byToken, nil, false},
		"of another token":      {byToken, []*types.Log{log(weth, word(0), zero.Topics...)}, false},
		"of another owner":      {byToken, []*types.Log{log(usdc, word(0), erc20Approved, topicOf(thief), topicOf(permit2))}, false},
		"of another spender":    {byToken, []*types.Log{log(usdc, word(0), erc20Approved, topicOf(account), topicOf(router))}, false},
		"inside Permit2":        {byPermit2, []*types.Log{inside}, true},
		"the token, not inside": {byPermit2, []*types.Log{zero}, false},
	} {
		if got := revokedIn(c.logs, account, c.g); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzRevoke checks that any bytes that the revoker decodes and Check accepts are exactly
// those of a revoke.
func FuzzRevoke(f *testing.F) {
	for _, g := range []grant{{usdc, permit2, ByToken}, {usdc, router, ByPermit2}} {
		f.Add(g.keeper().Bytes(), g.revokeData())
		f.Add(g.keeper().Bytes(), append(g.revokeData(), 0))
	}
	f.Add(permit2.Bytes(), []byte{0x87, 0x51, 0x7c, 0x45})
	f.Fuzz(func(t *testing.T, to, data []byte) {
		terms, _ := revokeOf(t, grant{usdc, permit2, ByToken})
		call := chain.Call{ChainID: 1, From: account, To: common.BytesToAddress(to), Value: new(big.Int), Data: data}
		f, err := revoker{}.Decode(terms, Step{Kind: CallStep, Call: &call})
		if err != nil || Check(terms, []Effect{f}, revoker{}.Pins()) != nil {
			return
		}
		if g := grantOf(f); g.keeper() != call.To || !bytes.Equal(g.revokeData(), data) {
			t.Fatalf("%x at %s passes as a revoke of %+v", data, call.To, g)
		}
	})
}

// grant lets a spender pull n of the bench's wrapped coin, directly or through Permit2.
func (b *engineFixture) grant(g grant, n int64) {
	b.t.Helper()
	data := slices.Concat(erc20Approve, pad(g.Spender), common.BigToHash(big.NewInt(n)).Bytes())
	if g.Kind == ByPermit2 {
		year := big.NewInt(time.Now().Add(365 * 24 * time.Hour).Unix())
		data = slices.Concat(permit2Approve, pad(g.Token), pad(g.Spender), common.BigToHash(big.NewInt(n)).Bytes(), common.BigToHash(year).Bytes())
	}
	key := "grant/" + uuid.NewString()
	c := chain.Call{ChainID: 1, From: b.from, To: g.keeper(), Value: new(big.Int), Data: data}
	if _, err := b.service.o.Sender.Submit(b.t.Context(), key, c, chain.Policy{Until: time.Now().Add(time.Minute)}); err != nil {
		b.t.Fatal(err)
	}
	for range 500 {
		tx, _, err := b.service.o.Sender.Poll(b.t.Context(), key)
		if err != nil {
			b.t.Fatal(err)
		}
		if tx.State == chain.TxMined {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatal("the allowance was never granted")
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

func (b *engineFixture) allowed(g grant) int64 {
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
	for _, g := range []grant{{weth, permit2, ByToken}, {weth, weth, ByPermit2}} { // the bench's router is the wrapped coin
		t.Run(string(g.Kind), func(t *testing.T) {
			b := newEngineFixture(t)
			b.grant(g, 700)
			all := b.allowances()
			if len(all) != 1 || all[0].grant() != g || all[0].Amount.Int64() != 700 || all[0].Share.Sign() != 0 || all[0].Provider != DEX || all[0].Unlimited() {
				t.Fatalf("listed %+v", all)
			}
			if a := all[0]; g.Kind == ByToken && (a.Name != "Permit2" || !a.Expires.IsZero()) || g.Kind == ByPermit2 && (a.Name != "Uniswap Universal Router" || a.Expires.IsZero()) {
				t.Errorf("named %q, expires %s", a.Name, a.Expires)
			}
			r := all[0].Review
			if r == nil || len(r.Findings) != 0 || r.Gas.Max.Sign() <= 0 || r.Terms.Provider != Wallet {
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
			o = b.waitState(o.ID, Filled)
			if b.allowed(g) != 0 || len(b.allowances()) != 0 {
				t.Errorf("%d is still allowed, listed %+v", b.allowed(g), b.allowances())
			}
			if o.Means() != "the allowance is revoked" || o.Verdict == nil || o.Verdict.Evidence == nil || o.Verdict.Evidence.Tx != o.Results[0].Tx || o.Verdict.Received != nil {
				t.Errorf("means %q, verdict %+v", o.Means(), o.Verdict)
			}
			if got := b.stateHistory(o.ID); got != "accepted approving settling filled" {
				t.Errorf("history: %s", got)
			}
			_, err = b.service.Revoke(t.Context(), consentTo(all[0]))
			refusedWith(t, err, PlanExecuted)
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
	b.grant(grant{weth, permit2, ByToken}, 700)
	a := b.allowances()[0]
	ask := consentTo(a)
	for name, c := range map[string]struct {
		code   Code
		change func(*ExecuteRequest)
	}{
		"no session":     {ConsentDeclined, func(r *ExecuteRequest) { r.Session = "" }},
		"another digest": {PlanUnknown, func(r *ExecuteRequest) { r.Digest[0] ^= 1 }},
		"no uuid":        {BadRequest, func(r *ExecuteRequest) { r.Request = "1" }},
	} {
		r := ask
		c.change(&r)
		if _, err := b.service.Revoke(t.Context(), r); !errors.Is(err, &Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	_, err := b.service.Execute(t.Context(), ask)
	refusedWith(t, err, PlanUnknown)
	b.service.DropPlans()
	_, err = b.service.Revoke(t.Context(), ask)
	refusedWith(t, err, PlanUnknown)
	a = b.allowances()[0]
	ask.Digest = a.Review.Digest
	o, err := b.service.Revoke(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.service.Execute(t.Context(), ask) // the same uuid for another action
	refusedWith(t, err, RequestConflict)
	b.waitState(o.ID, Filled)
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
	b.grant(grant{weth, permit2, ByToken}, 700)
	b.service.engine.Nodes = emptyNodes{b.service.engine.Nodes}
	a := b.allowances()[0]
	if len(a.Review.Findings) != 1 || a.Review.Findings[0].Code != "gas_insufficient" || !a.Review.Blocked() {
		t.Fatalf("findings %+v", a.Review.Findings)
	}
	_, err := b.service.Revoke(t.Context(), consentTo(a))
	refusedWith(t, err, InsufficientGas)
	var refused *Refusal
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
	b.grant(grant{weth, permit2, ByToken}, 700)
	b.grant(grant{weth, weth, ByPermit2}, 700)
	b.service.engine.Nodes = unpricedNodes{b.service.engine.Nodes, weth}
	all := b.allowances()
	if len(all) != 2 {
		t.Fatalf("listed %+v", all)
	}
	for _, a := range all {
		if (a.Review == nil) != (a.Kind == ByToken) {
			t.Errorf("%s: review %+v", a.Kind, a.Review)
		}
	}
	b.service.engine.Nodes = unpricedNodes{b.service.engine.Nodes, permit2}
	if _, _, err := b.service.Allowances(t.Context(), AllowancesRequest{Account: b.from, Chain: 1, Tokens: []common.Address{weth}, Prepare: true}); err == nil {
		t.Error("nodes that can price nothing are no error")
	}
}

// TestRevokeWaitsForOrders checks that an allowance which an open order needs is not
// revoked, neither at consent nor at signing.
func TestRevokeWaitsForOrders(t *testing.T) {
	b := newEngineFixture(t)
	g := grant{weth, permit2, ByToken}
	b.grant(g, 700)
	b.signer.locked.Store(true)
	a := b.allowances()[0]
	revoke, err := b.service.Revoke(t.Context(), consentTo(a))
	if err != nil {
		t.Fatal(err)
	}
	b.waitUntil(revoke.ID, "waiting", func(o Order) bool { return o.Condition == WaitingForUnlock })
	_, err = b.service.Revoke(t.Context(), consentTo(b.allowances()[0]))
	refusedWith(t, err, AllowanceInUse)

	b.halt()
	needs := b.journalOrder(g, 300)
	a = b.allowances()[0]
	if a.Share.Int64() != 300 {
		t.Errorf("share %s", a.Share)
	}
	_, err = b.service.Revoke(t.Context(), consentTo(a))
	refusedWith(t, err, AllowanceInUse)
	var refused *Refusal
	if errors.As(err, &refused) && refused.Data["order"] != needs.ID {
		t.Errorf("names %v, not the order %s", refused.Data, needs.ID)
	}
	b.signer.locked.Store(false)
	b.service.engine.Start(t.Context(), revoke.ID) // only this order
	if o := b.waitState(revoke.ID, Cancelled); o.Means() != "cancelled; the allowance stands" {
		t.Errorf("means %q", o.Means())
	}
	if b.allowed(g) != 700 {
		t.Error("taken from an order that needs it")
	}
	b.wantNonceAndWETH(1, 0)
}

// journalOrder journals an order that needs an allowance, without starting it.
func (b *engineFixture) journalOrder(g grant, amount int64) Order {
	b.t.Helper()
	terms := testTerms()
	terms.Account, terms.Recipient, terms.RefundTo = b.from, b.from, b.from
	terms.TokenIn, terms.AmountIn = g.Token, big.NewInt(amount)
	o := Order{ID: uuid.Must(uuid.NewV7()).String(), Request: uuid.NewString(), Digest: common.BigToHash(big.NewInt(amount)), Terms: terms, Offer: testOffer(),
		Plan: Plan{Steps: []Step{{Kind: CallStep, Effect: testSwap()}}, Settlement: ByOwnCall, Spender: g.Spender}, State: Accepted, Created: time.Now(), Updated: time.Now()}
	o, made, err := b.service.o.Journal.Create(b.signer.sealed(o), o.Digest)
	if err != nil || !made {
		b.t.Fatal(made, err)
	}
	return o
}

// TestAllowancesPage checks that the list's cursor survives changes.
func TestAllowancesPage(t *testing.T) {
	var all []grant
	for i := range 5 {
		all = append(all, grant{common.BigToAddress(big.NewInt(int64(i))), permit2, ByToken})
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
		if _, err := pairsAfter(all, bad); !errors.Is(err, &Refusal{Code: BadRequest}) {
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

func (m loglessNodes) Allowance(context.Context, uint64, common.Address, common.Address, common.Address) (*big.Int, error) {
	return big.NewInt(m.left), nil
}

// TestRevokeOfAMuteToken checks that without a log the chain is asked: a token that
// reports success but keeps the allowance was not revoked.
func TestRevokeOfAMuteToken(t *testing.T) {
	for left, end := range map[int64]State{0: Filled, 700: Failed} {
		b := newEngineFixture(t)
		b.grant(grant{weth, permit2, ByToken}, 700)
		r := consentTo(b.allowances()[0])
		b.service.engine.Nodes = loglessNodes{b.service.engine.Nodes, left}
		o, err := b.service.Revoke(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if o = b.waitState(o.ID, end); end == Failed && o.Means() != "the transaction failed; the allowance stands" {
			t.Errorf("means %q", o.Means())
		}
	}
}

// TestExpiry checks that every reported date can be marshaled.
func TestExpiry(t *testing.T) {
	for _, c := range []struct {
		stored uint64
		never  bool
	}{{1 << 47, true}, {1<<48 - 1, true}, {maxWireTime + 1, true}, {maxWireTime, false}, {0, false}, {1_800_000_000, false}} {
		at := expiryOf(chain.PermitAllowance{Expiration: c.stored})
		if _, err := at.MarshalJSON(); err != nil || at.IsZero() != c.never {
			t.Errorf("%d: %s, %v", c.stored, at, err)
		}
	}
}

// TestRevokeAsksForMoreGas checks that a revoke whose gas rises above what was accepted
// asks for consent, as a swap does.
func TestRevokeAsksForMoreGas(t *testing.T) {
	b := newEngineFixture(t)
	g := grant{weth, permit2, ByToken}
	b.grant(g, 700)
	r := *b.allowances()[0].Review
	r.Terms.GasCeiling = big.NewInt(1)
	r.Digest = Digest(r.Terms, r.Plan.Effects())
	b.service.revokes.put(r.Digest.Hex(), r)
	o, err := b.service.Revoke(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	if err != nil {
		t.Fatal(err)
	}
	o = b.waitUntil(o.ID, "in need of consent", func(o Order) bool { return o.Condition == NeedsConsent && o.Proposal != nil })
	if b.signer.signed.Load() != 1 || o.Proposal.Terms.GasCeiling.Cmp(r.Terms.GasCeiling) <= 0 || len(o.Proposal.Plan.Steps) != 1 {
		t.Fatalf("%d signatures, proposal %+v", b.signer.signed.Load(), o.Proposal)
	}
	if _, err := b.service.Accept(t.Context(), AcceptRequest{Request: uuid.NewString(), Order: o.ID, Digest: o.Proposal.Digest, Caller: passwordCaller}); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, Filled)
	if b.allowed(g) != 0 {
		t.Error("not revoked")
	}
	b.wantNonceAndWETH(2, 0)
}

// TestRevokeStopsAnywhere checks that a revoke that is stopped and restarted repeatedly
// is paid once.
func TestRevokeStopsAnywhere(t *testing.T) {
	b := newEngineFixture(t)
	g := grant{weth, permit2, ByToken}
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
	b.waitState(o.ID, Filled)
	if b.allowed(g) != 0 {
		t.Error("not revoked")
	}
	b.wantNonceAndWETH(2, 0)
}
