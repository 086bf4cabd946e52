//go:build faults && linux

package crash

import (
	"context"
	"errors"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/requests"
)

const bnb = 56

// isolatedPoints are where a daemon is killed that makes a deposit from an isolated account:
// once that is taken, accepted, and around each of its five transactions, the last of which
// moves back what is left.
var isolatedPoints = []string{
	"keys.before_index", "keys.after_index", "journal.before_accepted", "journal.after_accepted",
	"sender.after_journal:1", "sender.after_mined:1", "sender.after_journal:2", "sender.after_mined:2",
	"sender.after_journal:3", "sender.before_sign:4", "sender.after_journal:4", "sender.after_sent:4",
	"sender.before_sign:5", "sender.after_journal:5", "sender.before_mined:5", "sender.after_mined:5",
}

// TestIsolatedKilled kills the daemon while an order uses an isolated account: its input is
// handed over once, and what is left comes back.
func TestIsolatedKilled(t *testing.T) {
	l := &lane{dir: filepath.Join(root, "isolated")}
	l.config = filepath.Join(l.dir, "config.toml")
	var err error
	if l.Sandbox, err = sandbox.Start(context.Background(), sandbox.Options{Chains: []uint64{bnb, base}, Period: period, Instant: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	settings := intentsim.DefaultSettings()
	settings.PacePercent = 0
	if err := errors.Join(l.WriteFiles(l.dir), l.Intent().Set(settings)); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, l)
	d.open()
	d.wallet(bnb)
	in, out := l.Chain(bnb).Network.Tokens[0], l.Chain(base).Network.Tokens[0]
	amount := new(big.Int).Mul(big.NewInt(25), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(in.Decimals)), nil))
	funds := new(big.Int).Mul(amount, big.NewInt(int64(len(isolatedPoints))))
	if err := errors.Join(l.Chain(bnb).Fund(t.Context(), d.account, native, ether), l.Chain(bnb).Fund(t.Context(), d.account, in.Address, funds)); err != nil {
		t.Fatal(err)
	}
	d.shut()
	quote := protocol.QuoteParams{TokenIn: protocol.Address(in.Address.Hex()), TokenOut: protocol.Address(out.Address.Hex()), AmountIn: protocol.AmountOf(amount), DstChainID: base, Providers: []string{intent}}
	for i, point := range isolatedPoints {
		if !*every && i%2 == 1 {
			continue
		}
		t.Run(point, func(t *testing.T) {
			before := sandboxtest.Balance(t, l.Chain(bnb), d.account, in.Address)
			o := d.depositKilled(quote, point)
			if left := sandboxtest.Balance(t, l.Chain(bnb), evmAddress(o.Terms.Isolated), in.Address); left.Sign() != 0 || len(o.Isolation.Returned) == 0 {
				t.Errorf("%s is left, %+v", left, o.Isolation)
			}
			if spent := before.Sub(before, sandboxtest.Balance(t, l.Chain(bnb), d.account, in.Address)); spent.Cmp(amount) != 0 {
				t.Errorf("%s was spent, not %s", spent, amount)
			}
		})
	}
}

// depositKilled makes a deposit with a daemon that is killed at the point, and waits until
// its successor has submitted the order and moved back what is left. What the provider then
// pays does not concern the isolated account.
func (d *desk) depositKilled(quote protocol.QuoteParams, point string) protocol.Order {
	d.t.Helper()
	d.open("SWAPKEEP_FAILPOINT=" + point)
	defer d.shut()
	d.unlock()
	d.dying = d.watch()
	o, err := d.deposit(quote)
	if err != nil && !errors.Is(err, errLost) {
		d.t.Fatal(err)
	}
	if err := d.dying.killed(longTimeout); err != nil {
		d.t.Fatalf("%s: %v\n%s", point, err, d.Log())
	}
	d.dying = nil
	d.awaitSuccessor()
	d.unlock()
	if i := slices.IndexFunc(d.orders(), func(x protocol.Order) bool { return x.Request == o.Request }); i >= 0 {
		o = d.orders()[i]
	} else if o, err = d.deposit(quote); err != nil { // it was not accepted
		d.t.Fatal(err)
	}
	o, err = d.awaitOrder(o.ID, func(o protocol.Order) bool {
		return o.Submission != nil && o.Submission.Accepted && o.Isolation != nil && len(o.Isolation.Left) > 0
	})
	if err != nil {
		d.t.Fatalf("%s: %v, %+v\n%s", point, err, o.Isolation, d.Log())
	}
	return o
}

// deposit accepts a plan. With an error the order has only its request.
func (d *desk) deposit(quote protocol.QuoteParams) (o protocol.Order, err error) {
	d.t.Helper()
	review, err := d.reviewOf(quote, "")
	if err != nil {
		d.t.Fatal(err)
	}
	var acks []string
	for _, f := range review.Findings {
		if f.Severity == "acknowledge" {
			acks = append(acks, f.Code)
		}
	}
	o.Request = requests.NewUUID()
	request := o.Request
	err = d.ask("swap.execute", protocol.ExecuteParams{Request: request, Digest: review.Digest, Acknowledge: acks, Password: []byte(requests.Password)}, &o)
	o.Request = request
	return o, err
}
