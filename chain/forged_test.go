package chain

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// rewritten changes a record as an attacker who can write the file would: the record
// remains consistent.
func rewritten(t *testing.T, s *Sender, key string, change func(*Tx)) {
	t.Helper()
	tx, err := s.Lookup(key)
	if err != nil || tx == nil {
		t.Fatal(tx, err)
	}
	change(tx)
	raw, err := json.Marshal(tx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeTx(raw); err != nil {
		t.Fatalf("the forgery shows by itself: %v", err)
	}
	put(t, s.ledger.db, tx, raw)
}

// another returns an attempt signed by another key, at a high price.
func another(t *testing.T, by *testKey, tx *Tx) Attempt {
	t.Helper()
	highFee := big.NewInt(1e15)
	signed, err := by.SignTx(t.Context(), by.addr, unsigned(tx.Call, tx.Nonce, 21000, Fees{GasFeeCap: highFee, GasTipCap: highFee}), big.NewInt(base))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	a := tx.Attempts[0]
	a.Raw, a.Hash, a.FeeCap, a.TipCap = raw, signed.Hash(), (*hexutil.Big)(highFee), (*hexutil.Big)(highFee)
	return a
}

// TestNothingIsSignedOverAForgedRecord checks that nothing is signed to speed up, cancel
// or let through a record whose bytes the account did not sign, or that do not do what
// the record says.
func TestNothingIsSignedOverAForgedRecord(t *testing.T) {
	stranger := newTestKey(t, "stranger")
	for name, forge := range map[string]func(*Tx){
		"another recipient":           func(tx *Tx) { tx.Call.To = stranger.addr },
		"another value":               func(tx *Tx) { tx.Call.Value = big.NewInt(1e18) },
		"other data":                  func(tx *Tx) { tx.Call.Data = []byte{1} },
		"another transaction's bytes": func(tx *Tx) { tx.Attempts[0] = another(t, stranger, tx) },
		"one more attempt":            func(tx *Tx) { tx.Attempts = append(tx.Attempts, another(t, stranger, tx)) },
		"a cancel":                    func(tx *Tx) { tx.Attempts[0].Kind = AttemptCancel },
	} {
		t.Run(name, func(t *testing.T) {
			_, key, s, now := newSending(t, "forged")
			p := Policy{Until: now.Add(time.Hour)}
			filler, err := s.Submit(t.Context(), gapPrefix+"filler", pay(base, key.addr, "0xff", 0), p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), p); err != nil {
				t.Fatal(err)
			}
			rewritten(t, s, "a", forge)
			before := key.count()
			now.advance(bumpRest + cancelRest)
			if tx, err := s.Bump(t.Context(), "a", p); err == nil || !errors.Is(err, ErrLedger) && !errors.Is(err, ErrCancelling) {
				t.Errorf("sped up: %+v, %v", tx, err)
			}
			if tx, err := s.Cancel(t.Context(), "a", p); !errors.Is(err, ErrLedger) {
				t.Errorf("cancelled: %+v, %v", tx, err)
			}
			tx, err := s.Lookup("a")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.fill(t.Context(), tx, 0); err == nil || !strings.Contains(err.Error(), "attempt 1") && !strings.Contains(err.Error(), "attempt 2") {
				t.Errorf("let through: %v", err)
			}
			if why := s.replaceFiller(t.Context(), tx, filler); why == "" {
				t.Error("what was to let it through was pushed on")
			}
			if n := key.count(); n != before {
				t.Errorf("%d signatures over a forged record", n-before)
			}
		})
	}
}
