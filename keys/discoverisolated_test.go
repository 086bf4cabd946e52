package keys_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/keys"
)

// isolatedOf returns the first isolated accounts of an account of an unlocked vault.
func (b *bench) isolatedOf(t *testing.T, owner common.Address, count int) (all []common.Address) {
	t.Helper()
	for k := range uint32(count) {
		all = append(all, must[keys.Isolated](t)(b.NextIsolated(t.Context(), owner, k)).Address)
	}
	return all
}

// ends returns a function that waits for the end of the next search for isolated accounts.
func ends(b *bench) func(*testing.T) keys.Discovery {
	next := make(chan keys.Discovery, 16)
	b.Subscribe(func(c keys.Change) {
		if c.Kind == keys.IsolatedSearched {
			next <- *c.Discovery
		}
	})
	return func(t *testing.T) keys.Discovery {
		t.Helper()
		select {
		case d := <-next:
			return d
		case <-time.After(time.Minute):
			t.Fatal("no end of the search")
			return keys.Discovery{}
		}
	}
}

func numbers(all []keys.Isolated) (out []string) {
	for _, i := range all {
		out = append(out, fmt.Sprintf("%s/%d", i.Owner, i.Number))
	}
	return out
}

func of(owner common.Address, numbers ...int) (out []string) {
	for _, n := range numbers {
		out = append(out, fmt.Sprintf("%s/%d", owner, n))
	}
	return out
}

func upTo(n int) (all []int) {
	for k := range n {
		all = append(all, k)
	}
	return all
}

// TestRestoreFindsIsolatedAccounts restores a wallet of which isolated accounts of three
// accounts were used, one of them found by the search itself, with the vault locked and
// not. A locked vault searches once it is unlocked, also by another process.
func TestRestoreFindsIsolatedAccounts(t *testing.T) {
	past := newBench(t, keys.Options{})
	w := must[keys.Wallet](t)(past.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	past.unlock(t)
	var own []common.Address
	own = append(own, w.Accounts[0].Address)
	for len(own) < 4 {
		own = append(own, must[keys.Account](t)(past.Add(t.Context(), w.ID, "")).Address)
	}
	first, third := past.isolatedOf(t, own[0], 25), past.isolatedOf(t, own[3], 1)
	used := []common.Address{own[3], first[2], first[22], third[0]}
	for _, how := range []string{"unlocked", "locked", "restarted"} {
		t.Run(how, func(t *testing.T) {
			c := &chains{used: used, silent: []uint64{56}}
			b := newBench(t, keys.Options{Explorer: c})
			t.Cleanup(func() { b.Close() })
			found, end := news(b), ends(b)
			if how == "unlocked" {
				b.create(t, "first")
				b.unlock(t)
			}
			must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
			found(t)
			if how != "unlocked" && (len(c.about(first[0])) != 0 || !strings.Contains(b.chain.Items(service)["index"], `"u":true`)) {
				t.Errorf("not to be searched: %s", b.chain.Items(service)["index"])
			}
			if how == "restarted" {
				b.Close()
				b = b.again(t, keys.Options{Explorer: c})
				end = ends(b)
			}
			if how != "unlocked" {
				b.unlock(t)
			}
			d := end(t)
			want := append(of(own[0], 2, 22), of(own[3], 0)...)
			if d.Err != nil || !d.Done || !slices.Equal(numbers(d.Isolated), want) || !slices.Equal(d.Silent, []uint64{56}) {
				t.Errorf("found %v, %+v; want %v", numbers(d.Isolated), d, want)
			}
			// 20 after each one that was used.
			if d.Searched != 22+1+20+1+20 {
				t.Errorf("looked at %d", d.Searched)
			}
			taken := append(of(own[0], upTo(23)...), of(own[3], 0)...)
			slices.Sort(taken)
			check := func(what string, b *bench) {
				t.Helper()
				got := numbers(must[[]keys.Isolated](t)(b.TakenIsolated(t.Context())))
				if slices.Sort(got); !slices.Equal(got, taken) {
					t.Errorf("%s: taken %v, want %v", what, got, taken)
				}
				b.signs(t, what, first[22], nil)
				b.signs(t, what, first[23], keys.ErrUnknownAccount)
				if next := must[keys.Isolated](t)(b.NextIsolated(t.Context(), own[0], 0)); next.Number != 23 {
					t.Errorf("%s: next is %d", what, next.Number)
				}
			}
			check("found", b)
			if index := b.chain.Items(service)["index"]; strings.Contains(index, `"u"`) {
				t.Errorf("to be searched again: %s", index)
			}
			again := b.again(t, keys.Options{})
			again.unlock(t)
			check("another process", again)
			// What was found is not looked up again.
			d = must[keys.Discovery](t)(b.DiscoverIsolated(t.Context(), b.walletOf(t, own[0])))
			if d.Searched != 40 || len(d.Isolated) != 0 || len(c.about(first[22])) != 1 {
				t.Errorf("searched again: %+v", d)
			}
		})
	}
}

func (b *bench) walletOf(t *testing.T, at common.Address) string {
	t.Helper()
	for _, a := range must[[]keys.Account](t)(b.Accounts(t.Context())) {
		if a.Address == at {
			return a.Wallet
		}
	}
	t.Fatalf("%s is not listed", at)
	return ""
}

// TestRestoreOfAKeyFindsIsolatedAccounts restores a wallet of one key, whose isolated
// accounts are on no branch.
func TestRestoreOfAKeyFindsIsolatedAccounts(t *testing.T) {
	c := &chains{used: []common.Address{common.HexToAddress(strayIsolated[1])}}
	b := newBench(t, keys.Options{Explorer: c})
	t.Cleanup(b.Close)
	end := ends(b)
	w := must[keys.Wallet](t)(b.ImportKey(t.Context(), "", []byte(strayKey), password))
	b.unlock(t)
	if d := end(t); d.Err != nil || !slices.Equal(numbers(d.Isolated), of(w.Accounts[0].Address, 1)) {
		t.Errorf("found %+v", d)
	}
	for _, at := range strayIsolated {
		b.signs(t, "found", common.HexToAddress(at), nil)
	}
}

// TestIsolatedSearchEnds locks the vault in the middle of a search, and closes it. The
// next unlock goes on.
func TestIsolatedSearchEnds(t *testing.T) {
	first := common.HexToAddress(ownIsolated[0])
	wait := make(chan struct{})
	c := &chains{}
	b := newBench(t, keys.Options{Explorer: c})
	found, end := news(b), ends(b)
	must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	found(t)
	c.used, c.wait = []common.Address{first}, wait
	b.unlock(t)
	b.Lock()
	close(wait)
	d := end(t)
	wantErr(t, "locked", d.Err, keys.ErrLocked)
	_, err := b.DiscoverIsolated(t.Context(), d.Wallet)
	wantErr(t, "on request", err, keys.ErrLocked)
	end(t)
	_, err = b.DiscoverIsolated(t.Context(), "9")
	wantErr(t, "unknown wallet", err, keys.ErrUnknownWallet)
	end(t)
	b.unlock(t)
	if d := end(t); d.Err != nil {
		t.Errorf("goes on: %+v", d)
	}
	b.signs(t, "found", first, nil)
	if index := b.chain.Items(service)["index"]; strings.Contains(index, `"u"`) {
		t.Errorf("to be searched again: %s", index)
	}
	if _, err := newBench(t, keys.Options{}).DiscoverIsolated(t.Context(), "1"); err == nil {
		t.Error("nobody was asked")
	}

	c.wait = make(chan struct{}) // never closed
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if d, err := b.DiscoverIsolated(ctx, d.Wallet); !errors.Is(err, context.DeadlineExceeded) || len(d.Isolated) != 0 {
		t.Errorf("given up: %+v, %v", d, err)
	}
	b.Close()
}

// TestNewWalletsAreNotSearched checks that nobody is asked about a wallet that was made
// here, whose isolated accounts the index knows.
func TestNewWalletsAreNotSearched(t *testing.T) {
	c := &chains{}
	b := newBench(t, keys.Options{Explorer: c})
	w := b.create(t, "")
	b.unlock(t)
	must[keys.Account](t)(b.Add(t.Context(), w.ID, ""))
	if err := b.TakeIsolated(t.Context(), w.Accounts[0].Address, 0); err != nil {
		t.Fatal(err)
	}
	b.unlock(t)
	b.Close()
	if len(c.asked) != 0 {
		t.Errorf("asked %v", c.asked)
	}
}

// TestFoundAccountsAreSearchedLater locks the vault while it looks for accounts. The
// isolated ones of an account that it finds are searched for after the next unlock.
func TestFoundAccountsAreSearchedLater(t *testing.T) {
	own := ownAccounts(t, 2)
	isolated := common.HexToAddress("0x93Dd93760c1d19fC7C12a6E67842200A042a98eC") // m/44'/60'/0'/1/1/0
	c := &chains{}
	b := newBench(t, keys.Options{Explorer: c})
	t.Cleanup(b.Close)
	found, end := news(b), ends(b)
	w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	found(t)
	b.unlock(t)
	end(t) // nothing was used so far
	c.used = []common.Address{own[1], isolated}
	c.before = func(addresses []common.Address) {
		if slices.Contains(addresses, own[1]) {
			b.Lock()
		}
	}
	if d := must[keys.Discovery](t)(b.Discover(t.Context(), w.ID)); len(d.Found) != 1 {
		t.Fatalf("found %+v", d)
	}
	b.unlock(t)
	if d := end(t); d.Err != nil || !slices.Equal(numbers(d.Isolated), of(own[1], 0)) {
		t.Errorf("found %+v", d)
	}
	b.signs(t, "found", isolated, nil)
}
