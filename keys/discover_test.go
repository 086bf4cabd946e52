package keys_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/keys"
	"swapkeep/keys/keystest"
)

// strayKey is a key made for these tests and used nowhere else.
const strayKey = "0x2b5e91c07d3846fa9be21475c3d06f8812ab97e4503cd16f7e08b94ac5f3d261"

func ownAccounts(t *testing.T, count int) (all []common.Address) {
	t.Helper()
	b := newBench(t, keys.Options{})
	w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	b.unlock(t)
	all = append(all, w.Accounts[0].Address)
	for len(all) < count {
		all = append(all, must[keys.Account](t)(b.Add(t.Context(), w.ID, "")).Address)
	}
	return all
}

// chains is a fake Explorer: the accounts in use, and the networks that do not answer.
type chains struct {
	mu     sync.Mutex
	used   []common.Address
	silent []uint64
	asked  [][]common.Address
	wait   chan struct{}          // if not nil, LookUp blocks until it is closed
	before func([]common.Address) // if not nil, LookUp calls it first
}

func (c *chains) LookUp(ctx context.Context, addresses []common.Address) ([]bool, []uint64) {
	if c.before != nil {
		c.before(addresses)
	}
	if c.wait != nil {
		select {
		case <-c.wait:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, addresses)
	used := make([]bool, len(addresses))
	for i, a := range addresses {
		used[i] = slices.Contains(c.used, a)
	}
	return used, c.silent
}

// about returns the queries that an address was part of.
func (c *chains) about(a common.Address) (queries [][]common.Address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.asked {
		if slices.Contains(q, a) {
			queries = append(queries, q)
		}
	}
	return queries
}

// news returns a function that collects the progress reports of a search up to its end.
func news(b *bench) func(*testing.T) []keys.Discovery {
	next := make(chan keys.Discovery, 16)
	b.Subscribe(func(c keys.Change) {
		if c.Kind == keys.Discovered {
			next <- *c.Discovery
		}
	})
	return func(t *testing.T) (all []keys.Discovery) {
		t.Helper()
		for {
			select {
			case d := <-next:
				if all = append(all, d); d.Done {
					return all
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("no end of the search after %+v", all)
			}
		}
	}
}

func paths(accounts []keys.Account) (out []string) {
	for _, a := range accounts {
		out = append(out, a.Path)
	}
	return out
}

func numbered(numbers ...int) (out []string) {
	for _, n := range numbers {
		out = append(out, fmt.Sprintf("m/44'/60'/0'/0/%d", n))
	}
	return out
}

func (b *bench) listed(t *testing.T) []string {
	t.Helper()
	return paths(must[[]keys.Account](t)(b.Accounts(t.Context())))
}

// TestImportFindsUsedAccounts checks that an import returns before the search begins, and
// that the search needs no key.
func TestImportFindsUsedAccounts(t *testing.T) {
	own := ownAccounts(t, 30)
	for _, unlocked := range []bool{false, true} {
		c := &chains{used: []common.Address{own[3], own[7], own[26]}, silent: []uint64{56}, wait: make(chan struct{})}
		b := newBench(t, keys.Options{Explorer: c})
		t.Cleanup(b.Close)
		if unlocked {
			b.create(t, "first")
			b.unlock(t)
		}
		before := len(b.listed(t))
		next := news(b)
		w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
		if len(w.Accounts) != 1 || len(b.listed(t)) != before+1 {
			t.Fatalf("the import waited for the search: %v", paths(w.Accounts))
		}
		close(c.wait)
		all := next(t)
		end := all[len(all)-1]
		if want := numbered(3, 7, 26); end.Err != nil || !slices.Equal(paths(end.Found), want) || end.Wallet != w.ID {
			t.Errorf("found %v, %v; want %v", paths(end.Found), end.Err, want)
		}
		if !slices.Equal(end.Silent, []uint64{56}) {
			t.Errorf("silent: %v", end.Silent)
		}
		// Accounts 1 to 20, then up to 20 after each used account.
		if end.Searched != 1+26+20-1 || len(all) < 3 {
			t.Errorf("looked at %d in %d steps", end.Searched, len(all))
		}
		if got, want := b.listed(t)[before:], numbered(0, 3, 7, 26); !slices.Equal(got, want) {
			t.Errorf("listed %v, want %v", got, want)
		}
		if !unlocked {
			b.unlock(t)
		}
		for _, a := range []common.Address{own[0], own[3], own[26]} {
			tx := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(1)})
			if _, err := b.SignTx(t.Context(), a, tx, big.NewInt(1)); err != nil {
				t.Errorf("sign with %s: %v", a, err)
			}
		}
		// New accounts continue after the last one found: the next is number 27.
		if a := must[keys.Account](t)(b.Add(t.Context(), w.ID, "")); a.Address != own[27] {
			t.Errorf("next is %s", a.Path)
		}
	}
}

// TestSearchIsBounded checks that a search without a hit looks up gapLimit accounts once,
// and none that the vault already has.
func TestSearchIsBounded(t *testing.T) {
	own := ownAccounts(t, 3)
	c := &chains{}
	b := newBench(t, keys.Options{Explorer: c})
	t.Cleanup(b.Close)
	next := news(b)
	w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	end := next(t)
	if asked := c.about(own[2]); end[0].Searched != 20 || len(asked) != 1 || len(asked[0]) != 20 || slices.Contains(asked[0], own[0]) {
		t.Errorf("%+v after asking %v", end, asked)
	}
	b.unlock(t)
	must[keys.Account](t)(b.Add(t.Context(), w.ID, ""))
	d := must[keys.Discovery](t)(b.Discover(t.Context(), w.ID))
	if asked := c.about(own[2]); !d.Done || d.Searched != 20 || len(d.Found) != 0 || len(asked) != 2 || slices.Contains(asked[1], own[1]) {
		t.Errorf("Discover = %+v, want done after 20 accounts, none found", d)
	}
	// A new wallet has no used accounts, and a single key has no further ones.
	fresh := b.create(t, "")
	key := must[keys.Wallet](t)(b.ImportKey(t.Context(), "", []byte(strayKey), password))
	for _, w := range []keys.Wallet{fresh, key} {
		if len(c.about(w.Accounts[0].Address)) != 0 {
			t.Errorf("asked about the account of %s", w.Name)
		}
	}
	if len(c.about(own[2])) != 2 {
		t.Error("searched again")
	}
}

// TestSearchFillsTheListAndSaysSo checks that accounts that do not fit the index are left
// out and reported.
func TestSearchFillsTheListAndSaysSo(t *testing.T) {
	c := &all{}
	b := newBench(t, keys.Options{Explorer: c})
	t.Cleanup(b.Close)
	next := news(b)
	must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	end := next(t)
	last := end[len(end)-1]
	if wantErr(t, "search", last.Err, keys.ErrTooLarge); len(last.Found) < 30 || len(b.listed(t)) != len(last.Found)+1 {
		t.Errorf("%d found, %d listed", len(last.Found), len(b.listed(t)))
	}
	b.unlock(t)
	again := b.again(t, keys.Options{})
	if err := again.Unlock(t.Context(), password); err != nil || len(again.listed(t)) != len(last.Found)+1 {
		t.Errorf("another process: %v", err)
	}
}

// all is an Explorer that reports every account as used.
type all struct{}

func (*all) LookUp(_ context.Context, addresses []common.Address) ([]bool, []uint64) {
	return slices.Repeat([]bool{true}, len(addresses)), nil
}

func TestDiscoverRefusals(t *testing.T) {
	b := newBench(t, keys.Options{Explorer: &chains{}})
	w := b.create(t, "")
	key := must[keys.Wallet](t)(b.ImportKey(t.Context(), "", []byte(strayKey), password))
	_, err := b.Discover(t.Context(), w.ID)
	wantErr(t, "locked", err, keys.ErrLocked)
	b.unlock(t)
	_, err = b.Discover(t.Context(), "9")
	wantErr(t, "unknown", err, keys.ErrUnknownWallet)
	_, err = b.Discover(t.Context(), key.ID)
	wantErr(t, "key", err, keys.ErrAccountExhausted)
	if _, err := newBench(t, keys.Options{}).Discover(t.Context(), "1"); err == nil {
		t.Error("nobody was asked")
	}
}

// TestSearchEnds checks that a search ends when its wallet is removed, its caller gives
// up, the vault closes or the keychain fails.
func TestSearchEnds(t *testing.T) {
	own := ownAccounts(t, 2)
	type lost struct {
		*bench
		failing *atomic.Bool // the keychain fails from now on
	}
	begin := func(t *testing.T) (lost, *chains, keys.Wallet, func(*testing.T) []keys.Discovery) {
		c := &chains{used: own[1:], wait: make(chan struct{})}
		b := lost{failing: &atomic.Bool{}}
		b.bench = benchOn(t, &keystest.Memory{Before: func(string, string, string) error {
			if b.failing.Load() {
				return keys.ErrKeychain
			}
			return nil
		}}, keys.Options{Explorer: c}, keys.Limits{})
		next := news(b.bench)
		w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
		return b, c, w, next
	}
	t.Run("removed", func(t *testing.T) {
		b, c, w, next := begin(t)
		t.Cleanup(b.Close)
		must[keys.Wallet](t)(b.Remove(t.Context(), w.ID, password))
		close(c.wait)
		end := next(t)
		wantErr(t, "search", end[len(end)-1].Err, keys.ErrUnknownWallet)
		if left := b.listed(t); len(left) != 0 {
			t.Errorf("listed %v", left)
		}
	})
	t.Run("closed", func(t *testing.T) {
		b, _, _, next := begin(t)
		b.Close()
		if end := next(t); !errors.Is(end[0].Err, context.Canceled) {
			t.Errorf("search ended with %v, want context.Canceled", end[0].Err)
		}
	})
	t.Run("given up", func(t *testing.T) {
		b, _, w, _ := begin(t) // the search of the import holds the only slot
		t.Cleanup(b.Close)
		b.unlock(t)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if d, err := b.Discover(ctx, w.ID); !errors.Is(err, context.DeadlineExceeded) || len(d.Found) != 0 {
			t.Errorf("Discover = %+v, %v, want context.DeadlineExceeded, none found", d, err)
		}
	})
	t.Run("keychain gone", func(t *testing.T) {
		b, c, _, next := begin(t)
		t.Cleanup(b.Close)
		b.failing.Store(true)
		close(c.wait)
		end := next(t)
		if last := end[len(end)-1]; !errors.Is(last.Err, keys.ErrKeychain) || len(last.Found) != 0 {
			t.Errorf("search ended with %+v, want ErrKeychain, none found", last)
		}
	})
}
