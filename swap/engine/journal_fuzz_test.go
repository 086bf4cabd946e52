package engine

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
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/swap/proof"

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
	j, err := journal.Open(db)
	if err != nil {
		f.Fatal(err)
	}
	content := common.Hash{1}
	key := journal.AllowanceKey{Chain: 1, Account: account, Token: usdc, Spender: permit2}
	for _, seed := range []any{
		swap.Order{ID: "a", Consent: swap.Consent{Request: uuid.Nil.String(), Offer: testOffer(), Plan: soundOrder().Plan, Terms: testTerms()}, Progress: swap.Progress{State: swap.Settling}}, journal.Entry{Time: noon, State: swap.Filled, Note: "proven"}, map[string]any{"content": content, "order": "a"},
		journal.Use{Order: "a", Amount: big.NewInt(1000), AllowanceLocked: true}, journal.Use{Order: "a", Amount: big.NewInt(-1), Signed: true}, nil, []int{1}, "text",
		swap.Order{ID: "a", Consent: swap.Consent{Request: uuid.Nil.String(), Offer: testOffer(), Plan: soundOrder().Plan, Terms: testTerms()}, Progress: swap.Progress{State: swap.Filled, SearchFrom: map[uint64]uint64{1: 7}, Searched: map[string]uint64{searchArrival: 9}, Claim: &swap.Claim{State: swap.Filled, Chain: 10, Tx: content}}, Outcome: swap.Outcome{Verdict: &swap.Verdict{
			State: swap.Filled, ProvenBy: swap.ProvenByArrival, Received: &swap.Spend{Token: usdc, Amount: big.NewInt(7)}, Sources: swap.OneHost, Evidence: &chain.Evidence{Chain: 10, Tx: content, FeePaid: big.NewInt(1), Value: big.NewInt(0)},
			Logs: []swap.LogRef{{Chain: 10, Tx: content, Index: 3}, {Chain: 10, Tx: content, Index: -1, BalanceIncrease: true, Block: 9, Account: account}}, Absence: &swap.Absence{Chain: 1, From: 2, Hosts: []string{"a"}}}}},
		swap.Order{ID: "a", Consent: swap.Consent{Request: uuid.Nil.String(), Offer: testOffer(), Plan: soundOrder().Plan, Terms: testTerms()}, Progress: swap.Progress{Condition: swap.NeedsConsent}, Outcome: swap.Outcome{Reason: "the price fell", Cause: &swap.Cause{Reason: swap.PriceFell, Code: swap.ConsentNeeded, Data: swap.Figures{"minOut": "9", "offered": "8"}}}},
		journal.Entry{Time: noon, State: swap.Approving, Note: "rejected", Cause: &swap.Cause{Reason: swap.NotBroadcast, QuotedText: "no", QuotedFrom: swap.AuthorNode}},
	} {
		f.Add(swap.MustJSON(seed))
	}
	f.Add([]byte(`{"order":"a","amount":1e400,"allowanceLocked":tr`))
	whole := grantKey(account, 1, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken})
	for _, n := range []int{28, 47, 68, 72, len(whole)} { // prefixes of the rest of a key
		f.Add(whole[28:n:n])
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		fuzzIndexes(t, j, stored)
		err := db.Update(func(tx *bolt.Tx) error {
			for _, place := range []struct{ bucket, key []byte }{
				{orderBucket, []byte("a")}, {requestBucket, []byte("r")}, {historyBucket, []byte("a/00000001")}, {digestBucket, content[:]}, {useBucket, append(key.Bytes(), 'a')},
				{usedBucket, usedLogKey(1, content, 0)},
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
			_, _ = o.Unproven(), idleSince(o, noon)
			if o.Verdict != nil {
				if _, err := j.Unused("a", o.Verdict.Logs); err != nil {
					t.Fatal(err)
				}
			}
		}
		if free, err := j.Unused("b", proof.RefsOf(1, content, 0)); err != nil || len(free) != 0 && string(stored) != "b" {
			t.Fatalf("a used log is free: %v", err)
		}
		if lines, err := j.History("a"); err != nil || len(lines) != 1 || len(swap.MustJSON(lines)) == 0 {
			t.Fatalf("%q hides the history: %+v, %v", stored, lines, err)
		}
		_, _ = j.ByDigest(content)
		list, next, err := j.List(common.Address{}, false, "", 10)
		if err != nil || next != "" || len(list) != 1 || list[0].ID != "a" {
			t.Fatalf("%q hides the order: %+v, %q, %v", stored, list, next, err)
		}
		if one, err := j.GetForDisplay("a"); err != nil || one.State != list[0].State {
			t.Fatalf("%q is listed as %s and shown as %s: %v", stored, list[0].State, one.State, err)
		}
		if _, err := j.Get("a"); (err != nil) != (list[0].State == swap.Unreadable) {
			t.Fatalf("%q is listed as %s: %v", stored, list[0].State, err)
		}
		if o, ok, err := j.OrderOfRequest("r", content); ok && err == nil {
			var a struct {
				Content common.Hash
				Order   string
			}
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
func fuzzIndexes(t *testing.T, j *journal.Journal, planted []byte) {
	if len(planted) > 1<<10 {
		planted = planted[:1<<10] // keys have a maximum length
	}
	name, ours := common.Hash{2}, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}
	key := slices.Concat(grantKey(account, 1, ours)[:28], planted)
	putEntry(j, t, grantBucket, grantKey(account, 1, ours), planted)
	putEntry(j, t, grantBucket, key, []byte("b"))
	putEntry(j, t, openBucket, append([]byte("a"), planted...), []byte{1})
	putEntry(j, t, traceBucket, name[:], planted)
	whole := len(planted) >= 40 && (string(planted[40:]) == string(swap.ByToken) || string(planted[40:]) == string(swap.ByPermit2))
	all, err := j.Grants(account, 1)
	if whole == errors.Is(err, journal.ErrIndex) || whole && (err != nil || all[swap.Grant{Token: common.BytesToAddress(planted[:20]), Spender: common.BytesToAddress(planted[20:40]), Kind: swap.AllowanceKind(planted[40:])}] != "b") {
		t.Fatalf("a key that ends with %x is read as %v, %v", planted, all, err)
	}
	ids, err := j.Open()
	if err != nil || slices.ContainsFunc(ids, func(id string) bool { return !plainID.MatchString(id) }) {
		t.Fatalf("open are %q, %v", ids, err)
	}
	if _, err := j.CountActive(ids); err != nil {
		t.Fatal(err)
	}
	if err := j.CheckDistinguishable("a", []common.Hash{name}); (err == nil) != (string(planted) == "a") {
		t.Fatalf("the likeness of %q is nobody's: %v", planted, err)
	}
	all, err = reopened(j, t).Grants(account, 1)
	byOrder := string(planted) == "a" || all[ours] == "a" // order a exists, so its record decides
	if err != nil || string(key) != string(grantKey(account, 1, ours)) && all[ours] != string(planted) && !byOrder {
		t.Fatalf("after the next start, with a key that ends with %x: %v, %v", planted, all, err)
	}
	if ids, err := j.Open(); err != nil || slices.ContainsFunc(ids, func(id string) bool { return id != "a" }) {
		t.Fatalf("after the next start are open %q, %v", ids, err)
	}
	if uses, err := j.Uses(journal.AllowanceKey{Chain: 1, Account: account, Token: usdc, Spender: permit2}); err != nil {
		t.Fatalf("after the next start: %+v, %v", uses, err)
	}
	putEntry(j, t, grantBucket, key, nil)
	putEntry(j, t, openBucket, append([]byte("a"), planted...), nil)
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
		got, err := plan.DecodeStep(nil, terms, swap.Step{Kind: swap.CallStep, Call: &call})
		if err != nil {
			return
		}
		plan := append([]swap.Effect{got}, effects[1:]...)
		if swap.Check(terms, plan, testPins) != nil {
			return
		}
		n := got.Approves[0].Amount
		if n.Sign() != 0 && n.Cmp(terms.AmountIn) != 0 || call.To != usdc || !bytes.Equal(data, approveCall(terms, permit2, n).Data) {
			t.Fatalf("%x at %s passes as an approval", data, call.To)
		}
	})
}
