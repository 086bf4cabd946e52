package chain

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestBump checks that a stuck call is sped up on the same nonce and in the same record,
// and that the attempt that is mined decides, whichever it is.
func TestBump(t *testing.T) {
	c, key, s, now := newSending(t, "bump")
	later := Policy{Until: now.Add(time.Hour)}
	if _, err := s.Bump(t.Context(), "a", later); err == nil {
		t.Error("sped up what does not exist")
	}
	first, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), later)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := s.nodes.(*MultiClient).GasPrice(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	for want := 2; want <= 4; want++ {
		for range 2 { // the second one is a double click
			tx, err := s.Bump(t.Context(), "a", later)
			if err != nil || len(tx.Attempts) != want || tx.Last().Kind != AttemptBump || tx.Nonce != first.Nonce {
				t.Fatalf("speed-up %d: %+v, %v", want, tx, err)
			}
			if tx.Last().FeeCap.ToInt().Cmp(fast.Fast.GasFeeCap) < 0 || tx.Last().TipCap.ToInt().Cmp(fast.Fast.GasTipCap) < 0 {
				t.Errorf("speed-up %d is below the fast tier", want)
			}
		}
		now.advance(bumpRest)
	}
	tx, err := s.Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range tx.Attempts[1:] {
		if before := tx.Attempts[i]; !outbids(a.FeeCap, before.FeeCap) || !outbids(a.TipCap, before.TipCap) || a.Hash == before.Hash {
			t.Errorf("attempt %d: %s/%s after %s/%s", i+2, a.FeeCap, a.TipCap, before.FeeCap, before.TipCap)
		}
		if sent, err := a.transaction(); err != nil || *sent.To() != common.HexToAddress("0xaa") || sent.Value().Int64() != 1 {
			t.Errorf("attempt %d carries another call: %v", i+2, err)
		}
	}
	c.Commit()
	if _, err := s.Bump(t.Context(), "a", later); !errors.Is(err, ErrNonceUsed) {
		t.Errorf("speed-up of a mined one: %v", err)
	}
	c.Commit()
	if tx, ev := poll(t, s, "a"); tx.State != TxMined || ev == nil || tx.Mined != tx.Attempts[3].Hash {
		t.Errorf("poll = %s, %v", tx.State, tx.Mined)
	}
	if tx, err := s.Bump(t.Context(), "a", later); !errors.Is(err, ErrEnded) || tx == nil || tx.State != TxMined {
		t.Errorf("speed-up of a final one = %+v, %v", tx, err)
	}
	if balanceOf(t, c, common.HexToAddress("0xaa")) != 1 {
		t.Error("the recipient was not paid once")
	}
}

// TestBumpRefused checks that a refused speed-up signs nothing and that earlier attempts
// stay watched.
func TestBumpRefused(t *testing.T) {
	c, key, s, now := newSending(t, "bumprefused")
	own := Policy{Until: now.Add(time.Minute)}
	for _, k := range []string{"a", "late", "cancelled"} {
		if _, err := s.Submit(t.Context(), k, pay(base, key.addr, "0xaa", 1), own); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Cancel(t.Context(), "cancelled", own); err != nil {
		t.Fatal(err)
	}
	signs := key.count()
	refuse := func(name, k string, p Policy, want error) {
		t.Helper()
		tx, err := s.Bump(t.Context(), k, p)
		if !errors.Is(err, want) || tx == nil || tx.State != TxSent || key.count() != signs {
			t.Errorf("%s: %+v, %v, want %v", name, tx, err, want)
		}
	}
	refuse("above the ceiling", "a", Policy{Until: own.Until, Ceiling: big.NewInt(21_000)}, ErrCeiling)
	refuse("late by its own policy", "a", Policy{Until: now.Add(-time.Second)}, ErrExpired)
	refuse("being cancelled", "cancelled", own, ErrCancelling)
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_estimateGas" {
			return nil, &rpcError{Code: 3, Message: "execution reverted"}
		}
		return result, err
	})
	refuse("it would fail now", "a", own, ErrWouldRevert)
	c.set(nil, nil)
	key.fail = errors.New("locked")
	refuse("locked", "a", own, key.fail)
	key.fail = nil
	tx, err := s.Bump(t.Context(), "a", Policy{Until: now.Add(time.Hour)})
	if err != nil || !tx.Last().Until.Equal(own.Until.UTC()) {
		t.Errorf("the speed-up may leave until %v, %v; the call until %v", tx.Last().Until, err, own.Until)
	}
	signs++
	now.advance(2 * time.Minute)
	refuse("late by the record's policy", "late", Policy{Until: now.Add(time.Hour)}, ErrExpired)
	c.ends(t, s, map[string]TxState{"a": TxMined, "late": TxMined, "cancelled": TxCancelled})
}

// TestBumpsAreBounded checks that speed-ups are limited in number and can still be
// cancelled.
func TestBumpsAreBounded(t *testing.T) {
	c, key, s, now := newSending(t, "bounded")
	later := Policy{Until: now.Add(time.Hour)}
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), later); err != nil {
		t.Fatal(err)
	}
	for range maxBumps {
		if _, err := s.Bump(t.Context(), "a", later); err != nil {
			t.Fatal(err)
		}
		now.advance(bumpRest)
	}
	tx, err := s.Bump(t.Context(), "a", later)
	if !errors.Is(err, ErrAttempts) || len(tx.Attempts) != maxBumps+1 {
		t.Errorf("%d attempts, %v", len(tx.Attempts), err)
	}
	if tx, err := s.Cancel(t.Context(), "a", later); err != nil || tx.Last().Kind != AttemptCancel {
		t.Errorf("cancel after all speed-ups: %+v, %v", tx, err)
	}
	c.Commit()
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxCancelled {
		t.Errorf("it is %s", tx.State)
	}
}

// TestBumpUnderpriced checks that the first attempt is found when the node keeps it,
// refuses its replacement, and it is mined.
func TestBumpUnderpriced(t *testing.T) {
	c, key, s, _ := newSending(t, "underpriced")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	sayOnSend(c, "replacement transaction underpriced", false)
	tx, err := s.Bump(t.Context(), "a", soon())
	if err != nil || tx.State != TxSent || len(tx.Attempts) != 2 || !strings.Contains(tx.Reason, "underpriced") {
		t.Fatalf("Bump = %+v, %v, want two attempts, the last underpriced", tx, err)
	}
	c.Commit()
	c.Commit()
	if tx, ev := poll(t, s, "a"); tx.State != TxMined || ev == nil || tx.Mined != tx.Attempts[0].Hash {
		t.Errorf("poll = %s, %v", tx.State, tx.Mined)
	}
}

// TestBumpKeepsTheKind checks that a legacy transaction is replaced by a legacy one, and
// a dynamic one by a dynamic one, whatever the network's fee kind is now.
func TestBumpKeepsTheKind(t *testing.T) {
	for _, legacy := range []bool{true, false} {
		id := uint64(base)
		if legacy {
			id = 39
		}
		key := newTestKey(t, "kind")
		c := newTestChain(t, id, funded(key.addr))
		s := newTestSender(t, tempDB(t), newTestClient(t, id, 2, c.serve(t)), key)
		if _, err := s.Submit(t.Context(), "a", pay(id, key.addr, "0xaa", 1), soon()); err != nil {
			t.Fatal(err)
		}
		s.nodes = otherKind{s.nodes.(*MultiClient)}
		tx, err := s.Bump(t.Context(), "a", soon())
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range tx.Attempts {
			sent, err := a.transaction()
			if err != nil || (sent.Type() == types.LegacyTxType) != legacy || a.legacy() != legacy {
				t.Errorf("legacy %v: attempt %d is of type %d, %v", legacy, i+1, sent.Type(), err)
			}
		}
		c.Commit()
		c.Commit()
		if tx, _ := poll(t, s, "a"); tx.State != TxMined || tx.Mined != tx.Last().Hash {
			t.Errorf("legacy %v: %s", legacy, tx.State)
		}
	}
}

// otherKind prices in the fee kind that the network does not use.
type otherKind struct{ *MultiClient }

func (o otherKind) CostAt(ctx context.Context, c Call, t Tier) (Cost, error) {
	cost, err := o.MultiClient.CostAt(ctx, c, t)
	cost.Fees.Legacy = !cost.Fees.Legacy
	return cost, err
}
