package engine

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/test/await"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
)

// An isolatedVault has isolated accounts as the vault does. Its zero owner has none.
type isolatedVault struct {
	owner  common.Address
	signer *fakeSigner

	mu    sync.Mutex
	taken uint32
}

func (v *isolatedVault) key(number uint32) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256(crypto.FromECDSA(v.signer.key), fmt.Append(nil, number)))
	if err != nil {
		panic(err)
	}
	return key
}

func (v *isolatedVault) at(number uint32) common.Address {
	return crypto.PubkeyToAddress(v.key(number).PublicKey)
}

func (v *isolatedVault) NextIsolated(_ context.Context, owner common.Address, from uint32) (uint32, common.Address, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.signer.locked.Load() {
		return 0, common.Address{}, &swap.Refusal{Code: swap.SessionRequired, Err: errLocked}
	}
	n := max(from, v.taken)
	return n, v.at(n), nil
}

func (v *isolatedVault) TakeIsolated(_ context.Context, _ common.Address, number uint32) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if number < v.taken {
		return ErrIsolatedTaken
	}
	v.taken = number + 1
	return nil
}

func (v *isolatedVault) OwnerOf(_ context.Context, at common.Address) (common.Address, error) {
	if v.signing(at) == nil {
		return common.Address{}, errGone
	}
	return v.owner, nil
}

// signing returns the key of a taken account; nil if it is none.
func (v *isolatedVault) signing(at common.Address) *ecdsa.PrivateKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.taken {
		if v.at(n) == at {
			return v.key(n)
		}
	}
	return nil
}

// useIsolating makes the fixture's provider one whose deposit contract is not built in.
func (b *engineFixture) useIsolating() *depositProvider {
	b.t.Helper()
	v := &isolatedVault{owner: b.from, signer: b.signer}
	b.signer.other, b.isolated = v.signing, v
	h := b.useDepositProvider(swap.Opaque)
	h.set(func(h *depositProvider) { h.isolates, h.pins = true, nil })
	return h
}

func (b *engineFixture) balance(token, of common.Address) *big.Int {
	b.t.Helper()
	n, err := b.hub.Balance(b.t.Context(), 1, of, token)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// fundIsolated gives an isolated account so much USDC and coin, in base units.
func (b *engineFixture) fundIsolated(at common.Address, tokens, coins int64) {
	b.t.Helper()
	for token, n := range map[common.Address]int64{usdc: tokens, native: coins} {
		if err := b.chain.Fund(b.t.Context(), at, token, big.NewInt(n)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// waitSwept waits until nothing is left in the order's isolated account that is worth
// moving.
func (b *engineFixture) waitSwept(id string) swap.Order {
	b.t.Helper()
	var o swap.Order
	if !await.Holds(30*time.Second, func() bool {
		var err error
		if o, _, err = b.service.Order(id); err != nil {
			b.t.Fatal(err)
		}
		return o.Isolation != nil && len(o.Isolation.Left) > 0
	}) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("never swept: %s %s, %+v\n%v", o.State, o.Reason, o.Isolation, b.logged)
	}
	return o
}

// wantSwept checks that the account has all that it had but these amounts and the network
// fees, and the isolated account only what is not worth a transfer.
func (b *engineFixture) wantSwept(o swap.Order, coins *big.Int, usdcSpent, coinSpent int64) {
	b.t.Helper()
	if got, want := b.balance(usdc, b.from), big.NewInt(5000e6-usdcSpent); got.Cmp(want) != 0 {
		b.t.Errorf("%v USDC, want %v", got, want)
	}
	if got := b.balance(usdc, o.Terms.Isolated); got.Sign() != 0 {
		b.t.Errorf("%v USDC are left", got)
	}
	lost := new(big.Int).Sub(coins, b.balance(native, b.from))
	lost.Sub(lost, big.NewInt(coinSpent))
	if lost.Sign() <= 0 || lost.Cmp(big.NewInt(2e16)) > 0 {
		b.t.Errorf("%v wei are gone besides", lost)
	}
	if left := b.balance(native, o.Terms.Isolated); left.Cmp(big.NewInt(2e15)) > 0 {
		b.t.Errorf("%v wei are left", left)
	}
	for _, r := range o.Isolation.Returned {
		if r.Tx == (common.Hash{}) || r.Amount.Sign() <= 0 {
			b.t.Errorf("came back: %+v", r)
		}
	}
}

// TestIsolated makes deposits at a contract that is not built in, each from an account of
// its own: that has the input and gas, the account itself calls nobody, and the rest comes
// back.
func TestIsolated(t *testing.T) {
	for name, c := range map[string]struct {
		token              common.Address
		amount, usdc, coin int64
		steps              int
	}{
		"a token":  {token: usdc, amount: thousand, usdc: thousand, steps: 4},
		"the coin": {token: native, amount: 1e16, coin: 1e16, steps: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useIsolating()
			coins := b.balance(native, b.from)
			r, err := b.reviewDeposit(c.token, c.amount)
			if err != nil {
				t.Fatal(err)
			}
			if r.Terms.Account != b.from || !r.Terms.IsIsolated() || r.Terms.Recipient != b.from || r.Terms.RefundTo != b.from || len(r.Plan.Steps) != c.steps || findingSeverity(r, "isolated_account") != swap.Note {
				t.Errorf("terms %+v, %d steps, %+v", r.Terms, len(r.Plan.Steps), r.Findings)
			}
			o := b.waitSettling(b.executeAcknowledged(r).ID)
			if got, err := b.hub.Allowance(t.Context(), 1, usdc, b.from, depot); err != nil || got.Sign() != 0 {
				t.Errorf("the account lets the contract take %v (%v)", got, err)
			}
			o = b.waitSwept(o.ID)
			b.wantSwept(o, coins, c.usdc, c.coin)
			if h.submits.Load() != 1 || len(o.Isolation.Returned) == 0 {
				t.Errorf("%d submissions, %+v", h.submits.Load(), o.Isolation)
			}
		})
	}
}

// TestIsolatedCrashAnywhere kills the engine after each outside effect and after each
// record: the input is moved once, deposited once, and the rest comes back.
func TestIsolatedCrashAnywhere(t *testing.T) {
	run := func(t *testing.T, effect, commit int32) (through bool) {
		b := newEngineFixture(t)
		b.useIsolating()
		b.halt()
		var effects, commits atomic.Int32
		effects.Store(effect)
		commits.Store(commit)
		b.wrapSender = func(s Sender) Sender { return crashingSender{s, &effects, b} }
		b.start()
		coins := b.balance(native, b.from)
		r, err := b.reviewDeposit(usdc, thousand)
		if err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		stop := b.stop
		defer b.service.Subscribe(func(swap.Order) {
			if commits.Add(-1) == 0 {
				once.Do(stop)
			}
		})()
		o := b.executeAcknowledged(r)
		await.Holds(30*time.Second, func() bool {
			o, _, _ = b.service.Order(o.ID)
			through = o.Isolation != nil && len(o.Isolation.Left) > 0
			return through || effect > 0 && effects.Load() <= 0 || commit > 0 && commits.Load() <= 0
		})
		b.halt()
		b.wrapSender = nil
		b.start()
		b.waitSettling(o.ID)
		o = b.waitSwept(o.ID)
		b.wantSwept(o, coins, thousand, 0)
		for who, want := range map[common.Address]uint64{b.from: 2, o.Terms.Isolated: 3} {
			if n, err := b.hub.Nonces(t.Context(), 1, who); err != nil || n.Next != want {
				t.Errorf("%d transactions of %s, want %d (%v)", n.Next, who, want, err)
			}
		}
		return through
	}
	for name, at := range map[string]func(int32) (int32, int32){
		"after effect": func(n int32) (int32, int32) { return n, -1 },
		"after commit": func(n int32) (int32, int32) { return -1, n },
	} {
		n := int32(1)
		for through := false; !through && n < 40; n++ {
			effect, commit := at(n)
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) { through = run(t, effect, commit) })
		}
		if n < 6 || n >= 40 {
			t.Errorf("%s: %d points", name, n)
		}
	}
}

// TestIsolatedCancelled cancels an order after its input was moved: that comes back, and the
// verdict says where it was.
func TestIsolatedCancelled(t *testing.T) {
	b := newEngineFixture(t)
	b.useIsolating()
	coins := b.balance(native, b.from)
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	stop := b.service.Subscribe(func(o swap.Order) {
		if o.Step == 2 {
			b.signer.locked.Store(true)
		}
	})
	o := b.executeAcknowledged(r)
	o = b.waitUntil(o.ID, "locked", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	stop()
	b.signer.locked.Store(false)
	if _, err := b.service.Cancel(t.Context(), CancelRequest{Caller: passwordCaller, Request: uuid.NewString(), Order: o.ID, Digest: o.Digest}); err != nil {
		t.Fatal(err)
	}
	if o = b.waitState(o.ID, swap.Cancelled); o.Verdict.Sources != swap.IsolatedOnly {
		t.Errorf("%+v", o.Verdict)
	}
	b.service.Wake()
	o = b.waitSwept(o.ID)
	b.wantSwept(o, coins, 0, 0)
	if !slices.ContainsFunc(o.Isolation.Returned, func(r swap.Returned) bool { return r.Token == usdc && r.Amount.Int64() == thousand }) {
		t.Errorf("came back: %+v", o.Isolation)
	}
}

// TestLateRefundToIsolated has a provider refund to the isolated account, after the order's
// rest came back: at the next start that comes back too.
func TestLateRefundToIsolated(t *testing.T) {
	b := newEngineFixture(t)
	b.useIsolating()
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	o := b.waitSwept(b.executeAcknowledged(r).ID)
	b.fundIsolated(o.Terms.Isolated, 1e16, 1e16)
	before := len(o.Isolation.Returned)
	b.halt()
	b.start()
	b.waitUntil(o.ID, "swept again", func(o swap.Order) bool { return len(o.Isolation.Returned) == before+2 })
	if got := b.balance(usdc, b.from); got.Cmp(big.NewInt(5000e6-thousand+1e16)) != 0 {
		t.Errorf("%v USDC", got)
	}
}

// TestIsolatedOncePerOrder checks that two plans shown at the same time do not share an
// isolated account: the second is refused, and a fresh quote has the next one. A locked
// wallet has none to offer, and one that has sent something before is passed over.
func TestIsolatedOncePerOrder(t *testing.T) {
	b := newEngineFixture(t)
	b.useIsolating()
	first, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.clockOffset.Add(int64(2 * time.Second)) // plans made in the same second would be identical
	second, err := b.reviewDeposit(usdc, thousand)
	if err != nil || second.Terms.Isolated != first.Terms.Isolated {
		t.Fatalf("%s and %s, %v", first.Terms.Isolated, second.Terms.Isolated, err)
	}
	b.executeAcknowledged(first)
	_, err = b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: second.Digest, Acknowledge: acks(second.Findings), Caller: passwordCaller})
	refusedWith(t, err, swap.PlanUnknown)
	if !b.service.engine.isMine(first.Terms.Isolated) || b.service.engine.isMine(depot) {
		t.Error("the isolated account of an order is not known as the wallet's")
	}
	third, err := b.reviewDeposit(usdc, thousand)
	if err != nil || third.Terms.Isolated == first.Terms.Isolated {
		t.Errorf("then %s, %v", third.Terms.Isolated, err)
	}
	b.signer.locked.Store(true)
	_, err = b.service.Quote(t.Context(), first.Offer.Request, []swap.Kind{swap.Intent}, nil)
	refusedWith(t, err, swap.SessionRequired)
}

// TestSweepFound moves back what a restored wallet finds in an isolated account of which no
// order knows, also after a stop in between.
func TestSweepFound(t *testing.T) {
	b := newEngineFixture(t)
	b.useIsolating()
	v := b.isolated.(*isolatedVault)
	if err := v.TakeIsolated(t.Context(), b.from, 0); err != nil {
		t.Fatal(err)
	}
	at := v.at(0)
	b.fundIsolated(at, thousand, 1e16)
	b.signer.locked.Store(true)
	if err := b.service.SweepFound([]common.Address{at}); err != nil {
		t.Fatal(err)
	}
	b.halt()
	b.start()
	b.service.sweeper.o.Tokens = func(uint64) []common.Address { return []common.Address{usdc, usdt} }
	b.signer.locked.Store(false)
	b.service.Wake()
	if !await.Holds(30*time.Second, func() bool {
		found, err := b.service.o.Journal.Found()
		if err != nil {
			t.Fatal(err)
		}
		return len(found) == 0
	}) {
		t.Fatalf("not swept\n%v", b.logged)
	}
	if got := b.balance(usdc, b.from); got.Int64() != 5000e6+thousand {
		t.Errorf("%v USDC", got)
	}
	if left := b.balance(native, at); left.Cmp(big.NewInt(2e15)) > 0 {
		t.Errorf("%v wei are left", left)
	}
}

// TestSweepsBounded: after so many transfers out of an isolated account no more are made, and
// what is there is said to be left.
func TestSweepsBounded(t *testing.T) {
	b := newEngineFixture(t)
	b.useIsolating()
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	o := b.waitSwept(b.executeAcknowledged(r).ID)
	at := o.Terms.Isolated
	b.halt()
	b.fundIsolated(at, 1e17, 1e17)
	for i := range maxSweeps {
		key := fmt.Sprintf("sweep/1/%s/before/%d", at.Hex(), i)
		if _, err := b.service.engine.Sender.Submit(t.Context(), key, swap.TransferCall(1, usdc, at, b.from, big.NewInt(1)), chain.Policy{Ceiling: big.NewInt(1e17), Until: b.now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	b.start()
	o = b.waitUntil(o.ID, "said to be left", func(o swap.Order) bool {
		return o.Isolation.Left != nil && o.Isolation.Left[0].Token == usdc
	})
	want := big.NewInt(1e17 - maxSweeps)
	if got := b.balance(usdc, at); got.Cmp(want) != 0 || o.Isolation.Left[0].Amount.Cmp(want) != 0 {
		t.Errorf("%v USDC are there and said to be left: %v, want %v", got, o.Isolation.Left[0].Amount, want)
	}
}

// TestNothingIsMovedToStrangers has the vault no longer own the isolated account of a plan, as
// when its wallet was imported again in another form: before the order is accepted, and
// before its first step.
func TestNothingIsMovedToStrangers(t *testing.T) {
	b := newEngineFixture(t)
	b.useIsolating()
	v := b.isolated.(*isolatedVault)
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	v.owner = depot
	_, err = b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Acknowledge: acks(r.Findings), Caller: passwordCaller})
	refusedWith(t, err, swap.PlanUnknown)
	v.owner = b.from
	b.clockOffset.Add(int64(2 * time.Second)) // plans made in the same second would be identical
	if r, err = b.reviewDeposit(usdc, thousand); err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(true)
	o := b.executeAcknowledged(r)
	b.waitUntil(o.ID, "locked", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	v.owner = depot
	b.signer.locked.Store(false)
	b.service.Wake()
	if !await.Holds(10*time.Second, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return slices.ContainsFunc(b.logged, func(s string) bool { return strings.Contains(s, errNotOurs.Error()) })
	}) {
		t.Error("nothing says why the order waits")
	}
	if n := b.signer.signed.Load(); n != 0 || b.balance(usdc, b.from).Int64() != 5000e6 {
		t.Errorf("%d transactions were signed", n)
	}
}
