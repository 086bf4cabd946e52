package hostile

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A falsePayment is a payment that a provider names as the fill of an order and that is none. seen
// is the order's condition from then on. It is never filled.
type falsePayment struct {
	name   string
	by     []swap.Kind
	before bool // before the order exists
	make   func(*stage) common.Hash
	seen   swap.Condition
	then   func(*stage, common.Hash) // what happens to it after that was seen; nil = nothing
	last   swap.Condition            // what is seen after that
}

var (
	anybody = []swap.Kind{swap.Intent, swap.Bridge}
	bridges = []swap.Kind{swap.Bridge}
)

// falsePayments is the family. A payment "with the name" ends with the order's public id, which
// links it to the bridge's order; the intent provider's orders have no such name.
var falsePayments = []falsePayment{
	{name: "of somebody else's, to somebody else", by: anybody, make: func(x *stage) common.Hash { return x.paid(x.thief, x.friend.Address, nil) }, seen: swap.AwaitingProof},
	{name: "of somebody else's, to somebody else, with the name", by: bridges, make: func(x *stage) common.Hash { return x.paid(x.thief, x.friend.Address, x.name(x.order)) }, seen: swap.AwaitingProof},
	{name: "of somebody else's, to the recipient", by: anybody, make: func(x *stage) common.Hash { return x.paid(x.thief, x.who.Address, nil) }, seen: swap.LikelyPaid},
	{name: "of somebody else's, before the deposit", by: anybody, before: true, make: func(x *stage) common.Hash { return x.paid(x.thief, x.who.Address, nil) }, seen: swap.AwaitingProof},

	{name: "by which another order is likely paid", by: anybody, make: func(x *stage) common.Hash {
		other, tx := x.other(swap.Intent, 24), x.paid(x.thief, x.who.Address, nil)
		x.claims(other, tx)
		x.sees(other, swap.LikelyPaid)
		return tx
	}, seen: swap.PaymentSeen},
	{name: "that fills another order", by: anybody, make: func(x *stage) common.Hash {
		other := x.other(swap.Bridge, 24)
		return x.fills(other, x.paid(x.thief, x.who.Address, x.name(other)))
	}, seen: swap.AwaitingProof},
	{name: "with the name of another order, for which it is too little", by: anybody, make: func(x *stage) common.Hash {
		return x.paid(x.thief, x.who.Address, x.name(x.other(swap.Bridge, 50)))
	}, seen: swap.PaymentSeen},

	{name: "made by the account itself", by: anybody, make: func(x *stage) common.Hash { return x.paid(x.who, x.who.Address, nil) }, seen: swap.AwaitingProof},
	{name: "made by the account itself, with the name", by: bridges, make: func(x *stage) common.Hash { return x.paid(x.who, x.who.Address, x.name(x.order)) }, seen: swap.AwaitingProof},
	{name: "sent by the account itself, of somebody else's tokens", by: anybody, make: func(x *stage) common.Hash { return x.pulled(x.who, 1, nil) }, seen: swap.AwaitingProof},
	{name: "made by another account of the wallet", by: anybody, make: func(x *stage) common.Hash { return x.paid(x.s.Accounts()[1], x.who.Address, nil) }, seen: swap.PaymentSeen},

	{name: "made twice in one transaction", by: anybody, make: func(x *stage) common.Hash { return x.pulled(x.thief, 2, nil) }, seen: swap.PaymentSeen},
	{name: "made twice in one transaction, for two orders", by: anybody, make: func(x *stage) common.Hash {
		other, tx := x.other(swap.Intent, 24), x.pulled(x.thief, 2, nil)
		x.claims(other, tx)
		x.sees(other, swap.PaymentSeen)
		return tx
	}, seen: swap.PaymentSeen},
	{name: "made twice in one transaction, which fills another order", by: anybody, make: func(x *stage) common.Hash {
		other := x.other(swap.Bridge, 24)
		return x.fills(other, x.pulled(x.thief, 2, x.name(other)))
	}, seen: swap.AwaitingProof},

	{name: "not deep yet, then reorganised away", by: anybody, make: func(x *stage) common.Hash { return x.shallow(nil) }, seen: swap.NoCondition, then: (*stage).reorganised, last: swap.AwaitingProof},
	{name: "not deep yet, then reorganised away, with the name", by: bridges, make: func(x *stage) common.Hash { return x.shallow(x.name(x.order)) }, seen: swap.NoCondition, then: (*stage).reorganised, last: swap.AwaitingProof},
	{name: "deep, then reorganised away", by: anybody, make: func(x *stage) common.Hash { return x.paid(x.thief, x.who.Address, nil) }, seen: swap.LikelyPaid, then: (*stage).reorganised, last: swap.AwaitingProof},
}

// TestHostilePayments runs the family against the real engine on the sandbox's chains. Every row
// reports what was seen.
func TestHostilePayments(t *testing.T) {
	w := newWallet(t)
	for _, p := range falsePayments {
		for _, by := range p.by {
			t.Run(string(by)+"/"+p.name, func(t *testing.T) {
				w.start(t)
				x := &stage{wallet: w, t: t, by: by, who: w.account(t), thief: w.s.Accounts()[0], friend: w.s.Accounts()[2]}
				t.Cleanup(func() { w.s.Faults("intent").Reset(); w.s.Faults("bridge").Reset() })
				var tx common.Hash
				if x.follows(dstChain, srcChain); p.before {
					tx = p.make(x)
					x.follows(srcChain, dstChain)
				}
				x.order = w.deposits(t, by, x.who.Address, 25)
				if !p.before {
					tx = p.make(x)
				}
				x.claims(x.order, tx)
				x.sees(x.order, p.seen)
				report := fmt.Sprintf("payments: %s names one %s: %s", by, p.name, shown(p.seen))
				if p.then != nil {
					p.then(x, tx)
					x.sees(x.order, p.last)
					report += ", then " + shown(p.last)
				}
				providertest.Report(t, report)
			})
		}
	}
}

func shown(c swap.Condition) string {
	if c == swap.NoCondition {
		return "nothing"
	}
	return string(c)
}

// A stage is where one false payment plays.
type stage struct {
	*wallet
	t                  *testing.T
	by                 swap.Kind
	who, thief, friend sandbox.Account
	order              swap.Order
}

// amount is a little less than what is offered, and more than the minimum.
func (x *stage) amount() *big.Int { return big.NewInt(24_980_000) }

// other has the same account make another order, of so many tokens.
func (x *stage) other(by swap.Kind, units int64) swap.Order {
	x.t.Helper()
	return x.deposits(x.t, by, x.who.Address, units)
}

// name returns the id by which a payment names an order.
func (x *stage) name(o swap.Order) []byte {
	x.t.Helper()
	p, err := x.providers[o.Terms.Provider].(swap.Settler).Proof(o)
	if err != nil || p.Arrival.Link == nil {
		x.t.Fatalf("the order has no name: %+v, %v", p.Arrival, err)
	}
	return p.Arrival.Link.InputEnd[:]
}

// paid has an account send tokens, deep enough; the transaction's input ends with end.
func (x *stage) paid(from sandbox.Account, to common.Address, end []byte) common.Hash {
	x.t.Helper()
	tx := x.transfer(from, to, end)
	x.mine(depth)
	return tx
}

// shallow is paid by the thief to the recipient, in the latest block.
func (x *stage) shallow(end []byte) common.Hash { return x.transfer(x.thief, x.who.Address, end) }

func (x *stage) transfer(from sandbox.Account, to common.Address, end []byte) common.Hash {
	x.t.Helper()
	data := sandboxtest.Calldata(x.t, "transfer(address,uint256)", to, x.amount())
	return sandboxtest.MustTransact(x.t, x.s.Chain(dstChain), from, operator.Call{To: x.usdc(x.t, dstChain), Data: append(data, end...)}).TxHash
}

// pulled has an account send a transaction that pays the thief's tokens to the recipient n times.
func (x *stage) pulled(from sandbox.Account, n int, end []byte) common.Hash {
	x.t.Helper()
	c := x.s.Chain(dstChain)
	batch, token := c.Network.Contracts.Multicall3, x.usdc(x.t, dstChain)
	sandboxtest.MustTransact(x.t, c, x.thief, operator.Call{To: token, Data: sandboxtest.Calldata(x.t, "approve(address,uint256)", batch, sandboxtest.Units(100, 6))})
	type call struct {
		Target   common.Address
		CallData []byte
	}
	pull := call{token, sandboxtest.Calldata(x.t, "transferFrom(address,address,uint256)", x.thief.Address, x.who.Address, x.amount())}
	data, err := sandboxtest.Contract(x.t, "Multicall3").ABI.Pack("aggregate", slices.Repeat([]call{pull}, n))
	if err != nil {
		x.t.Fatal(err)
	}
	tx := sandboxtest.MustTransact(x.t, c, from, operator.Call{To: batch, Data: append(data, end...)}).TxHash
	x.mine(depth)
	return tx
}

func (x *stage) mine(blocks int) {
	x.t.Helper()
	if err := x.s.Chain(dstChain).Mine(blocks); err != nil {
		x.t.Fatal(err)
	}
}

// follows sets one chain's clock ahead of another one's, so that what happens there is the later.
func (x *stage) follows(later, than uint64) {
	x.t.Helper()
	if err := x.s.Chain(later).ShiftTo(x.s.Chain(than).Time().Add(10 * time.Second)); err != nil {
		x.t.Fatal(err)
	}
}

// reorganised drops the transactions of the payment's block and of all later ones, and mines others.
func (x *stage) reorganised(payment common.Hash) {
	x.t.Helper()
	c := x.s.Chain(dstChain)
	mined, err := c.Client().TransactionReceipt(x.t.Context(), payment)
	if err != nil {
		x.t.Fatal(err)
	}
	if err := c.Reorg(int(c.Head().Number.Uint64()-mined.BlockNumber.Uint64())+1, true); err != nil {
		x.t.Fatal(err)
	}
	x.mine(depth)
}

// fills checks that a payment fills the order that it names, once.
func (x *stage) fills(o swap.Order, tx common.Hash) common.Hash {
	x.t.Helper()
	o = x.until(x.t, o.ID, "filled", func(o swap.Order) bool { return o.State == swap.Filled && o.Verdict != nil })
	if o.Verdict.Evidence.Tx != tx {
		x.t.Errorf("filled by %+v", o.Verdict)
	}
	return tx
}

// claims makes a provider say that a transaction filled an order.
func (x *stage) claims(o swap.Order, tx common.Hash) {
	x.t.Helper()
	target, lies := "/intents/status/v3", map[string]any{"/status": "success", "/txHashes": []common.Hash{tx}} // of every order of the bridge
	if o.Terms.Provider == swap.Intent {
		target = "/v1/orders/by-id/" + o.ProviderOrderID
		lies = map[string]any{"/status": "filled", "/transactions/fill": map[string]any{"txHash": tx, "chainId": dstChain}}
	}
	for at, value := range lies {
		raw, err := json.Marshal(value)
		if err == nil {
			_, err = x.s.Faults(string(o.Terms.Provider)).Add(inject.Rule{Kind: inject.Lie, Target: target, Pointer: at, Value: raw})
		}
		if err != nil {
			x.t.Fatal(err)
		}
	}
}

// sees checks that an order gets a condition once its provider has named a payment, and keeps it
// over some more polls.
func (x *stage) sees(o swap.Order, want swap.Condition) {
	x.t.Helper()
	o = x.until(x.t, o.ID, shown(want), func(o swap.Order) bool { return o.Claim.State == swap.Filled && o.Condition == want })
	polls, last := 0, o.Checked
	x.until(x.t, o.ID, "polled again", func(o swap.Order) bool {
		if o.Condition != want || o.Verdict != nil || o.State != swap.Settling {
			x.t.Fatalf("order is %s %q, want %q: verdict %+v, seen %+v", o.State, o.Condition, want, o.Verdict, o.Candidate)
		}
		if o.Checked.After(last) {
			polls, last = polls+1, o.Checked
		}
		return polls > 5
	})
}
