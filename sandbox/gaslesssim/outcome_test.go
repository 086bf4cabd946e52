package gaslesssim_test

import (
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/gaslesssim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

// TestOrders checks the outcomes of orders, one after the other in one sandbox.
func TestOrders(t *testing.T) {
	w := start(t, 1)
	for _, tc := range []struct {
		name string
		test func(w *world)
	}{
		{"settles after blocks", testSettlesAfterBlocks},
		{"settles just before it expires", testSettlesJustBeforeItExpires},
		{"never settles", testNeverSettles},
		{"fails with and without a transaction", testFailsWithAndWithoutATransaction},
		{"settles in part", testSettlesInPart},
		{"drops what cannot be settled", testDropsWhatCannotBeSettled},
		{"answers an error and settles", testAnswersAnErrorAndSettles},
		{"surplus", testSurplus},
		{"sends anew what the chain forgot", testSendsAnewWhatTheChainForgot},
		{"lies about status", testLiesAboutStatus},
		{"reset forgets orders", testResetForgetsOrders},
		{"control", testControl},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(w.in(t)) })
	}
}

// behave changes the behaviour of both protocols.
func (w *world) behave(change func(*gaslesssim.Behaviour)) {
	w.Helper()
	w.set(func(s *gaslesssim.Settings) { change(&s.JAM); change(&s.RFQ) })
}

// both runs a test with a funded order of each protocol.
func (w *world) both(change func(*gaslesssim.Behaviour), test func(w *world, q quote)) {
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	for protocol, spender := range map[string]common.Address{"jam": balanceManager, "pmm": rfqSettlement} {
		w.Run(protocol, func(t *testing.T) {
			w := w.in(t)
			w.Gasless().Reset()
			w.approve(1, usdc, spender, sandboxtest.Units(1000, 6))
			w.behave(change)
			test(w, w.quote(protocol, 1, usdc, weth, sandboxtest.Units(100, 6), nil))
		})
	}
}

func (w *world) sent(q quote) bool { return w.status(q).TxHash != nil }

func testSettlesAfterBlocks(w *world) {
	w.both(func(b *gaslesssim.Behaviour) { b.AfterBlocks = 2 }, func(w *world, q quote) {
		if r := w.post(q); r.TxHash != nil {
			w.Errorf("%+v", r)
		}
		w.mine(1, 1)
		time.Sleep(20 * time.Millisecond) // time for something that must not happen
		if w.sent(q) {
			w.Error("sent after one block")
		}
		w.mine(1, 1)
		await.Until(w, 10*time.Second, "sent", func() bool { return w.sent(q) })
		w.mine(1, 1)
		if s := w.status(q); s.Status != "Settled" {
			w.Errorf("%+v", s)
		}
	})
}

func testSettlesJustBeforeItExpires(w *world) {
	w.both(func(b *gaslesssim.Behaviour) { b.Outcome, b.LateSeconds = "late", 5 }, func(w *world, q quote) {
		w.post(q)
		w.mine(1, 3)
		if w.sent(q) {
			w.Error("sent early")
		}
		left := q.Expiry - 4 - int64(w.Chain(1).Head().Time)
		if err := w.Chain(1).Shift(time.Duration(left) * time.Second); err != nil {
			w.Fatal(err)
		}
		await.Until(w, 10*time.Second, "sent", func() bool { return w.sent(q) })
		w.mine(1, 1)
		if s := w.status(q); s.Status != "Settled" {
			w.Errorf("%+v", s)
		}
	})
}

func testNeverSettles(w *world) {
	w.both(func(b *gaslesssim.Behaviour) { b.Outcome = "never" }, func(w *world, q quote) {
		w.post(q)
		w.mine(1, 3)
		if s := w.status(q); s.Status != "Pending" || s.TxHash != nil {
			w.Errorf("%+v", s)
		}
		if err := w.Chain(1).Shift(time.Hour); err != nil {
			w.Fatal(err)
		}
		if s := w.status(q); s.Status != "Failed" || s.TxHash != nil {
			w.Errorf("after its expiry: %+v", s)
		}
	})
}

func testFailsWithAndWithoutATransaction(w *world) {
	for outcome, sends := range map[string]bool{"revert": true, "reject": false} {
		w.both(func(b *gaslesssim.Behaviour) { b.Outcome = outcome }, func(w *world, q quote) {
			before := w.balance(1, w.user.Address, q.sell)
			w.post(q)
			w.mine(1, 1)
			if s := w.status(q); s.Status != "Failed" || (s.TxHash != nil) != sends || s.Amounts != nil {
				w.Errorf("%s: %+v", outcome, s)
			}
			if w.balance(1, w.user.Address, q.sell).Cmp(before) != 0 {
				w.Errorf("%s: tokens moved", outcome)
			}
		})
	}
}

// testSettlesInPart checks that RFQ's contract lets the settler fill a part at the signed
// price, which completes the order. JAM's contract has no partial fills.
func testSettlesInPart(w *world) {
	w.Gasless().Reset()
	w.set(func(s *gaslesssim.Settings) { s.RFQ.Outcome = "part" })
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	w.approve(1, usdc, rfqSettlement, sandboxtest.Units(100, 6))
	q := w.quote("pmm", 1, usdc, weth, sandboxtest.Units(100, 6), nil)
	before := w.balances(1, usdc, weth, w.user.Address)
	w.post(q)
	w.mine(1, 1)
	if s := w.status(q); s.Status != "Settled" {
		w.Fatalf("%+v", s)
	}
	after := w.balances(1, usdc, weth, w.user.Address)
	amount, _ := q.buy()
	left, got := new(big.Int).Sub(before[0], after[0]), new(big.Int).Sub(after[1], before[1])
	if left.Cmp(sandboxtest.Units(50, 6)) != 0 || got.Cmp(new(big.Int).Rsh(amount, 1)) != 0 {
		w.Errorf("%s left of %s, %s arrived of %s", left, q.sold(), got, amount)
	}
	settings := gaslesssim.DefaultSettings
	settings.JAM.Outcome = "part"
	if err := w.Gasless().Set(settings); err == nil {
		w.Error("JAM settles in part")
	}
}

// testDropsWhatCannotBeSettled checks that an order is not sent once its taker has
// withdrawn the allowance.
func testDropsWhatCannotBeSettled(w *world) {
	w.both(func(b *gaslesssim.Behaviour) { b.AfterBlocks = 2 }, func(w *world, q quote) {
		w.post(q)
		w.approve(1, q.sell, q.ApprovalTarget, new(big.Int))
		w.mine(1, 2)
		await.Until(w, 10*time.Second, "dropped", func() bool { return w.status(q).Status == "Failed" })
	})
}

// testAnswersAnErrorAndSettles checks that an order may settle although it was answered
// with an error.
func testAnswersAnErrorAndSettles(w *world) {
	for _, code := range []int{210, 500, 522} {
		w.both(func(b *gaslesssim.Behaviour) { b.Answer = code }, func(w *world, q quote) {
			if got := w.refused(q, w.order(q)); got != code {
				w.Errorf("answered %d", got)
			}
			w.mine(1, 1)
			if s := w.status(q); s.Status != "Settled" {
				w.Errorf("%+v", s)
			}
		})
	}
}

// testSurplus checks that more than quoted may be paid, but not less than signed.
func testSurplus(w *world) {
	w.both(func(b *gaslesssim.Behaviour) { b.SurplusBps = 30 }, func(w *world, q quote) {
		weth := w.token(1, "WETH")
		before := w.balance(1, w.user.Address, weth)
		w.post(q)
		w.mine(1, 1)
		amount, _ := q.buy()
		got := new(big.Int).Sub(w.balance(1, w.user.Address, weth), before)
		if got.Cmp(amount) <= 0 || w.status(q).Amounts[weth.Hex()] != got.String() {
			w.Errorf("got %s of %s", got, amount)
		}
	})
	w.both(func(b *gaslesssim.Behaviour) { b.SurplusBps = -100 }, func(w *world, q quote) {
		if code := w.refused(q, w.order(q)); code != 201 {
			w.Errorf("less than signed: %d", code)
		}
	})
}

// testSendsAnewWhatTheChainForgot checks that a dropped settlement is sent again and
// settles once.
func testSendsAnewWhatTheChainForgot(w *world) {
	w.both(func(*gaslesssim.Behaviour) {}, func(w *world, q quote) {
		w.post(q)
		first := w.transaction(q)
		before := w.balance(1, w.user.Address, q.sell)
		w.Chain(1).DropPending()
		await.Until(w, 10*time.Second, "sent anew", func() bool {
			w.mine(1, 1)
			s := w.status(q)
			return s.Status == "Confirmed"
		})
		if sold := new(big.Int).Sub(before, w.balance(1, w.user.Address, q.sell)); sold.Cmp(q.sold()) != 0 {
			w.Errorf("sold %s, first in %s", sold, first)
		}
	})
}

func testLiesAboutStatus(w *world) {
	lies := map[string]func(w *world, q quote){
		"silent": func(w *world, q quote) {
			if s := w.status(q); s.Status != "Pending" || s.TxHash != nil {
				w.Errorf("silent: %+v", s)
			}
		},
		"failed": func(w *world, q quote) {
			if s := w.status(q); s.Status != "Failed" || s.TxHash != nil {
				w.Errorf("failed: %+v", s)
			}
		},
		"settled": func(w *world, q quote) {
			s := w.status(q)
			if s.Status != "Confirmed" || s.TxHash == nil {
				w.Fatalf("settled: %+v", s)
			}
			if _, _, err := w.Chain(1).Client().TransactionByHash(w.Context(), *s.TxHash); err != ethereum.NotFound {
				w.Errorf("settled: the transaction is there: %v", err)
			}
		},
		"foreign": func(w *world, q quote) {
			usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
			other := w.quote(q.protocol, 1, usdc, weth, sandboxtest.Units(7, 6), nil)
			w.post(other)
			if s, s2 := w.status(q), w.status(other); s.Status != "Confirmed" || s.TxHash == nil || s2.TxHash == nil || *s.TxHash == *s2.TxHash {
				w.Errorf("foreign: %+v, %+v", s, s2)
			}
		},
		"backwards": func(w *world, q quote) {
			for i, want := range []string{"Settled", "Pending", "Settled", "Pending"} {
				if s := w.status(q); s.Status != want {
					w.Errorf("backwards %d: %+v", i, s)
				}
			}
		},
		"unknown": func(w *world, q quote) {
			if s := w.status(q); s.Status != "Expired" || s.TxHash == nil {
				w.Errorf("unknown: %+v", s)
			}
		},
	}
	for lie, check := range lies {
		w.both(func(b *gaslesssim.Behaviour) { b.Status = lie }, func(w *world, q quote) {
			w.post(q)
			w.mine(1, 1)
			check(w, q)
			w.behave(func(b *gaslesssim.Behaviour) { b.Status = "" })
			if s := w.status(q); s.Status != "Settled" {
				w.Errorf("%s: the truth is %+v", lie, s)
			}
		})
	}
}

// testResetForgetsOrders checks that a reset forgets orders and restores the settings.
func testResetForgetsOrders(w *world) {
	w.both(func(b *gaslesssim.Behaviour) { b.Outcome = "never" }, func(w *world, q quote) {
		w.post(q)
		w.Reset()
		if orders, err := w.Gasless().Orders(w.Context()); err != nil || len(orders) != 0 {
			w.Errorf("%v, %v", orders, err)
		}
		if w.Gasless().Settings() != gaslesssim.DefaultSettings {
			w.Error("settings stay")
		}
	})
}

// testControl checks changes of single members, and orders, over the control endpoint.
func testControl(w *world) {
	w.both(func(*gaslesssim.Behaviour) {}, func(w *world, q quote) {
		settings := control[gaslesssim.Settings](w, http.MethodPost, "/gasless", `{"jam":{"outcome":"never"},"rfq":{"outcome":"never"}}`)
		want := gaslesssim.DefaultSettings
		want.JAM.Outcome, want.RFQ.Outcome = "never", "never"
		if settings != want {
			w.Errorf("%+v", settings)
		}
		w.post(q)
		orders := control[[]gaslesssim.Order](w, http.MethodGet, "/gasless/orders", "")
		if len(orders) != 1 || orders[0].QuoteID != q.QuoteID || orders[0].Status != "Pending" || orders[0].Outcome != "never" ||
			common.Address(orders[0].Taker) != w.user.Address || orders[0].Expiry != q.Expiry {
			w.Errorf("%+v", orders)
		}
	})
}

func control[T any](w *world, method, path, body string) (reply T) {
	w.Helper()
	return sandboxtest.MustAsk[T](w, method, w.ControlURL()+path, []byte(body))
}
