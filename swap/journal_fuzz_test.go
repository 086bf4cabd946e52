package swap

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// FuzzJournal checks that reading the journal gives an error or something valid, whatever
// bytes are stored in place of a record.
func FuzzJournal(f *testing.F) {
	db, err := bolt.Open(filepath.Join(f.TempDir(), "orders.db"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	j, err := OpenJournal(db)
	if err != nil {
		f.Fatal(err)
	}
	content := common.Hash{1}
	key := AllowanceKey{Chain: 1, Account: account, Token: usdc, Spender: permit2}
	for _, seed := range []any{
		Order{ID: "a", Request: uuid.Nil.String(), Offer: testOffer(), Plan: soundOrder().Plan, Terms: testTerms(), State: Settling}, Entry{Time: noon, State: Filled, Note: "proven"}, requestRecord{content, "a"},
		Use{Order: "a", Amount: big.NewInt(1000), AllowanceLocked: true}, Use{Order: "a", Amount: big.NewInt(-1), Signed: true}, nil, []int{1}, "text",
		Order{ID: "a", Request: uuid.Nil.String(), Offer: testOffer(), Plan: soundOrder().Plan, Terms: testTerms(), State: Filled, SearchFrom: map[uint64]uint64{1: 7}, Searched: map[string]uint64{searchArrival: 9}, Claim: &Claim{State: Filled, Chain: 10, Tx: content}, Verdict: &Verdict{
			State: Filled, By: byArrival, Received: &Spend{usdc, big.NewInt(7)}, Sources: "one source", Evidence: &chain.Evidence{Chain: 10, Tx: content, FeePaid: big.NewInt(1), Value: big.NewInt(0)},
			Logs: []LogRef{{Chain: 10, Tx: content, Index: 3}, {Chain: 10, Tx: content, Index: -1, BalanceIncrease: true, Block: 9, Account: account}}, Absence: &Absence{Chain: 1, From: 2, Hosts: []string{"a"}}}},
		Order{ID: "a", Request: uuid.Nil.String(), Offer: testOffer(), Plan: soundOrder().Plan, Terms: testTerms(), Condition: NeedsConsent, Reason: "the price fell", Cause: &Cause{Word: PriceFell, Code: ConsentNeeded, Data: Figures{"floor": "9", "offered": "8"}}},
		Entry{Time: noon, State: Approving, Note: "rejected", Cause: &Cause{Word: NotTaken, Said: "no", By: SaidByNode}},
	} {
		f.Add(mustJSON(seed))
	}
	f.Add([]byte(`{"order":"a","amount":1e400,"holds":tr`))
	whole := grantKey(account, 1, grant{usdc, permit2, ByToken})
	for _, n := range []int{28, 47, 68, 72, len(whole)} { // prefixes of the rest of a key
		f.Add(whole[28:n:n])
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		fuzzIndexes(t, j, stored)
		err := db.Update(func(tx *bolt.Tx) error {
			for _, place := range []struct{ bucket, key []byte }{
				{orderBucket, []byte("a")}, {requestBucket, []byte("r")}, {historyBucket, []byte("a/00000001")}, {digestBucket, content[:]}, {useBucket, append(key.bytes(), 'a')},
				{usedBucket, usedKey(1, usedLog, content[:], make([]byte, 8))},
			} {
				if err := tx.Bucket(place.bucket).Put(place.key, stored); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := j.Get("a"); err == nil {
			_ = o.Clone()
			_, _, _ = o.unproven(), o.Means(), o.idleSince(noon)
			if o.Verdict != nil {
				_ = o.Verdict.Means()
				if _, err := j.unused("a", o.Verdict.Logs); err != nil {
					t.Fatal(err)
				}
			}
		}
		if free, err := j.unused("b", refsOf(1, content, 0)); err != nil || len(free) != 0 && string(stored) != "b" {
			t.Fatalf("a used log is free: %v", err)
		}
		if lines, err := j.History("a"); err != nil || len(lines) != 1 || len(mustJSON(lines)) == 0 {
			t.Fatalf("%q hides the history: %+v, %v", stored, lines, err)
		}
		_, _ = j.ByDigest(content)
		list, next, err := j.List(common.Address{}, false, "", 10)
		if err != nil || next != "" || len(list) != 1 || list[0].ID != "a" {
			t.Fatalf("%q hides the order: %+v, %q, %v", stored, list, next, err)
		}
		if one, err := j.GetForDisplay("a"); err != nil || one.State != list[0].State || one.Means() == "" {
			t.Fatalf("%q is listed as %s and shown as %s: %v", stored, list[0].State, one.State, err)
		}
		if _, err := j.Get("a"); (err != nil) != (list[0].State == Unreadable) {
			t.Fatalf("%q is listed as %s: %v", stored, list[0].State, err)
		}
		if o, ok, err := j.OrderOfRequest("r", content); ok && err == nil {
			var a requestRecord
			if json.Unmarshal(stored, &a) != nil || a.Content != content {
				t.Fatalf("%q, asked for something else, made %+v", stored, o)
			}
		}
		uses, err := j.Uses(key)
		for _, u := range uses {
			if err == nil && (u.Order == "" || u.Amount == nil || u.Amount.Sign() < 0) {
				t.Fatalf("%q is read as %+v", stored, u)
			}
		}
		if sum, err := j.Promised(key.Chain, account, usdc, time.Now()); err == nil && sum.Sign() < 0 {
			t.Fatalf("%q promises %s", stored, sum)
		}
	})
}

// fuzzIndexes stores the bytes in the indexes whose entries are read from their keys, and
// where an order's id is kept. Reading them gives an error or something valid, and the
// next start can read them all.
func fuzzIndexes(t *testing.T, j *Journal, planted []byte) {
	if len(planted) > 1<<10 {
		planted = planted[:1<<10] // keys have a maximum length
	}
	name, ours := common.Hash{2}, grant{usdc, permit2, ByToken}
	key := slices.Concat(grantKey(account, 1, ours)[:28], planted)
	j.putEntry(t, grantBucket, grantKey(account, 1, ours), planted)
	j.putEntry(t, grantBucket, key, []byte("b"))
	j.putEntry(t, openBucket, append([]byte("a"), planted...), []byte{1})
	j.putEntry(t, traceBucket, name[:], planted)
	whole := len(planted) >= 40 && (string(planted[40:]) == string(ByToken) || string(planted[40:]) == string(ByPermit2))
	all, err := j.grants(account, 1)
	if whole == errors.Is(err, ErrIndex) || whole && (err != nil || all[grant{common.BytesToAddress(planted[:20]), common.BytesToAddress(planted[20:40]), AllowanceKind(planted[40:])}] != "b") {
		t.Fatalf("a key that ends with %x is read as %v, %v", planted, all, err)
	}
	ids, err := j.Open()
	if err != nil || slices.ContainsFunc(ids, func(id string) bool { return !isID([]byte(id)) }) {
		t.Fatalf("open are %q, %v", ids, err)
	}
	if _, err := j.countActive(ids); err != nil {
		t.Fatal(err)
	}
	if err := j.checkDistinguishable("a", []common.Hash{name}); (err == nil) != (string(planted) == "a") {
		t.Fatalf("the likeness of %q is nobody's: %v", planted, err)
	}
	all, err = j.reopened(t).grants(account, 1)
	byOrder := string(planted) == "a" || all[ours] == "a" // order a exists, so its record decides
	if err != nil || string(key) != string(grantKey(account, 1, ours)) && all[ours] != string(planted) && !byOrder {
		t.Fatalf("after the next start, with a key that ends with %x: %v, %v", planted, all, err)
	}
	if ids, err := j.Open(); err != nil || slices.ContainsFunc(ids, func(id string) bool { return id != "a" }) {
		t.Fatalf("after the next start are open %q, %v", ids, err)
	}
	if uses, err := j.Uses(AllowanceKey{Chain: 1, Account: account, Token: usdc, Spender: permit2}); err != nil {
		t.Fatalf("after the next start: %+v, %v", uses, err)
	}
	j.putEntry(t, grantBucket, key, nil)
	j.putEntry(t, openBucket, append([]byte("a"), planted...), nil)
}

// FuzzApprove checks that every byte of an accepted approval is as we would write it:
// exactly the input, or a reset, for the pinned spender.
func FuzzApprove(f *testing.F) {
	terms, effects := erc20()
	for _, n := range []int64{0, 1000, 1001} {
		data := approveCall(terms, permit2, big.NewInt(n)).Data
		f.Add(usdc.Bytes(), data)
		f.Add(usdc.Bytes(), append(data, 0))
		f.Add(weth.Bytes(), data)
	}
	f.Add(usdc.Bytes(), approveCall(terms, thief, big.NewInt(1000)).Data)
	f.Add(usdc.Bytes(), erc20Approve)
	f.Fuzz(func(t *testing.T, to, data []byte) {
		call := chain.Call{ChainID: 1, From: account, To: common.BytesToAddress(to), Value: new(big.Int), Data: data}
		if !isApprove(call) {
			return // left to the provider to decode
		}
		got, err := decodeStep(nil, terms, Step{Kind: CallStep, Call: &call})
		if err != nil {
			return
		}
		plan := append([]Effect{got}, effects[1:]...)
		if Check(terms, plan, testPins) != nil {
			return
		}
		n := got.Approves[0].Amount
		if n.Sign() != 0 && n.Cmp(terms.AmountIn) != 0 || call.To != usdc || !bytes.Equal(data, approveCall(terms, permit2, n).Data) {
			t.Fatalf("%x at %s passes as an approval", data, call.To)
		}
	})
}
