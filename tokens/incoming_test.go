package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

var holder = common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")

// fakeTransfers is a network on which contracts log transfers at blocks.
type fakeTransfers struct {
	settled uint64
	logs    map[uint64]common.Address // by block
	from    []uint64                  // of the searches
	asked   int                       // contracts asked about themselves
	fail    error
}

func (f *fakeTransfers) SettledBlock(context.Context, uint64) (uint64, error) { return f.settled, nil }

func (f *fakeTransfers) Incoming(_ context.Context, _ uint64, _ common.Address, from uint64) (all []common.Address, through uint64, err error) {
	f.from = append(f.from, from)
	for n := from; n <= f.settled; n++ {
		if a, ok := f.logs[n]; ok {
			all = append(all, a)
		}
	}
	return all, f.settled, f.fail
}

func (f *fakeTransfers) Describe(_ context.Context, _ uint64, contracts []common.Address) ([]Answers, error) {
	out := make([]Answers, len(contracts))
	for i, a := range contracts {
		f.asked++
		out[i] = Answers{Symbol: dynamic("T" + a.Hex()[38:]), Decimals: word(9)}
		if a == silentToken {
			out[i] = Answers{}
		}
	}
	return out, nil
}

var silentToken = common.HexToAddress("0x0000000000000000000000000000000000005113")

func contractAt(n int64) common.Address { return common.BigToAddress(big.NewInt(1<<32 + n)) }

// looks makes an Incoming of which each look is due.
func looks(t *testing.T, path string, f *fakeTransfers) (*Incoming, func() []Token) {
	t.Helper()
	db := openDB(t, path)
	r, err := Open(db, nil, Options{Reserved: func(_ uint64, a common.Address) bool { return a == contractAt(99) }})
	if err != nil {
		t.Fatal(err)
	}
	w := NewIncoming(db, r, f)
	return w, func() []Token {
		clear(w.looked)
		got, err := w.Look(t.Context(), 1, holder)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// TestIncoming checks that the first look only notes the block, that later ones find what is
// neither known nor reserved, that each block is searched once, and that all of it is kept.
func TestIncoming(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	f := &fakeTransfers{settled: 1000, logs: map[uint64]common.Address{
		900: contractAt(1), 1001: contractAt(2), 1002: usdc, 1003: contractAt(99), 1004: silentToken, 1005: contractAt(2), 1006: contractAt(3), 1010: contractAt(4)}}
	w, look := looks(t, path, f)
	if got := look(); len(got) != 0 || len(f.from) != 0 {
		t.Fatalf("the first look finds %v, searched %v", got, f.from)
	}
	f.settled = 1008
	got := look()
	if len(got) != 2 || got[0].Address != contractAt(3) || got[1].Address != contractAt(2) || f.asked != 3 {
		t.Fatalf("found %+v, asked about %d", got, f.asked)
	}
	if x := got[0]; x.Recognized || x.Verified || x.Imported || x.List != "" || x.DecimalsFrom.Confirmed() || x.Decimals != 9 || x.Name != x.Symbol {
		t.Errorf("%+v", x)
	}
	if again, err := w.Look(t.Context(), 1, holder); err != nil || len(again) != 2 || len(f.from) != 1 {
		t.Errorf("at once again: %v, %v, searched %v", again, err, f.from)
	}
	if none, err := w.Look(t.Context(), 10, holder); err != nil || len(none) != 0 {
		t.Errorf("on another network: %v, %v", none, err)
	}
	_ = w.db.Close()
	f.settled = 1020
	_, look = looks(t, path, f)
	if got := look(); len(got) != 3 || got[0].Address != contractAt(4) || f.from[1] != 1009 {
		t.Errorf("after a restart: %v, searched from %v", got, f.from)
	}
}

// TestIncomingIsBounded checks that a flood leaves the newest, asks about no more contracts
// than are kept, and that a long absence is not searched in full.
func TestIncomingIsBounded(t *testing.T) {
	f := &fakeTransfers{settled: 10, logs: map[uint64]common.Address{}}
	_, look := looks(t, filepath.Join(t.TempDir(), "orders.db"), f)
	look()
	for i := range int64(500) {
		f.logs[uint64(11+i)] = contractAt(i + 100)
	}
	f.settled = 600
	if got := look(); len(got) != MaxIncoming || got[0].Address != contractAt(599) || f.asked != MaxIncoming {
		t.Errorf("%d, asked about %d", len(got), f.asked)
	}
	f.settled, f.logs = 50_000_000, map[uint64]common.Address{49_999_999: contractAt(7)}
	if got := look(); len(got) != MaxIncoming || got[0].Address != contractAt(7) || f.settled-f.from[1] >= maxLookBack {
		t.Errorf("%d, searched from %v", len(got), f.from)
	}
}

// TestIncomingFails checks that a failing network loses nothing: the same blocks are searched
// again.
func TestIncomingFails(t *testing.T) {
	f := &fakeTransfers{settled: 10, logs: map[uint64]common.Address{12: contractAt(1)}}
	w, look := looks(t, filepath.Join(t.TempDir(), "orders.db"), f)
	look()
	f.settled, f.fail = 20, errors.New("down")
	clear(w.looked)
	if got, err := w.Look(t.Context(), 1, holder); err == nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	f.fail = nil
	if got := look(); len(got) != 1 || f.from[0] != f.from[1] {
		t.Errorf("%v, searched from %v", got, f.from)
	}
	w.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Look(ctx, 1, holder); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: %v", err)
	}
}

// TestIncomingRate checks that an account is looked at again after lookEvery, also when the
// clock was set back.
func TestIncomingRate(t *testing.T) {
	f := &fakeTransfers{settled: 10}
	w, _ := looks(t, filepath.Join(t.TempDir(), "orders.db"), f)
	for i, ago := range []time.Duration{lookEvery, 0, lookEvery + time.Second, -2 * lookEvery} {
		w.looked[id{1, holder}] = clock.Now().Add(-ago)
		f.settled++
		if _, err := w.Look(t.Context(), 1, holder); err != nil {
			t.Fatal(i, err)
		}
	}
	if len(f.from) != 2 { // the first look searches nothing, the second was not due
		t.Errorf("searched from %v", f.from)
	}
}

// FuzzIncoming checks that a decoded record could have been written, and that a damaged one
// is none.
func FuzzIncoming(f *testing.F) {
	f.Add([]byte(`{"through":7,"tokens":[{"address":"0x5ec2e70000000000000000000000000000000001","symbol":"A","decimals":6}]}`))
	f.Add([]byte(`{"through":7,"tokens":[{"address":"0x0000000000000000000000000000000000000000","symbol":"\u202e","decimals":99}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := decodeIncoming(raw)
		if len(r.Tokens) > MaxIncoming {
			t.Fatalf("%d tokens", len(r.Tokens))
		}
		for _, x := range r.Tokens {
			fit(t, x.Symbol, maxSymbol)
			if x.Symbol == "" || x.Decimals > MaxDecimals || x.Address == Native {
				t.Fatalf("%+v", x)
			}
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if b := decodeIncoming(again); b.Through != r.Through || len(b.Tokens) != len(r.Tokens) {
			t.Fatalf("%+v became %+v", r, b)
		}
	})
}

// TestDamagedIncoming checks that a damaged record begins anew.
func TestDamagedIncoming(t *testing.T) {
	f := &fakeTransfers{settled: 10}
	w, look := looks(t, filepath.Join(t.TempDir(), "orders.db"), f)
	look()
	if err := w.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(incomingBucket).Put(id{1, holder}.key(), []byte("{"))
	}); err != nil {
		t.Fatal(err)
	}
	f.settled = 20
	if got := look(); len(got) != 0 || len(f.from) != 0 {
		t.Errorf("%v, searched from %v", got, f.from)
	}
}
