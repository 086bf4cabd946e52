package keys

import (
	"context"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// isolatedTime bounds a search through the isolated accounts of one wallet. Nobody waits
// for it.
const isolatedTime = 5 * time.Minute

// DiscoverIsolated searches for isolated accounts of an unlocked wallet that were used, as
// they are after a restore from the words or the key, and records them and all with lower
// numbers as taken, so that the vault signs for what is left in them and none is used for
// a second order. For each of the wallet's accounts it begins after those that are taken,
// and stops after 20 consecutive unused ones. It takes at most five minutes.
//
// The vault does the same by itself, in the background: after an import once the vault is
// unlocked, after [Vault.Discover], and again at the next unlock if it was locked
// meanwhile. Subscribers get an [IsolatedSearched]. Networks that do not answer are listed
// and are no error: an account that was used only there is not found. Errors: [ErrLocked],
// [ErrUnknownWallet], [ErrTooLarge], those of the keychain and of ctx. What was found
// before an error is recorded.
func (v *Vault) DiscoverIsolated(ctx context.Context, wallet string) (Discovery, error) {
	if v.options.Explorer == nil {
		return Discovery{}, errNoExplorer
	}
	d := v.searchIsolated(ctx, wallet)
	return d, d.Err
}

// searchIsolatedLater searches in the background unless it does so already.
func (v *Vault) searchIsolatedLater(wallet string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.options.Explorer == nil || v.unlocked == nil || v.isolatedSearches[wallet] {
		return
	}
	v.isolatedSearches[wallet] = true
	v.searches.Go(func() {
		v.searchIsolated(v.life, wallet)
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.isolatedSearches, wallet)
	})
}

func (v *Vault) searchIsolated(ctx context.Context, wallet string) Discovery {
	ctx, cancel := context.WithTimeout(ctx, isolatedTime)
	defer cancel()
	d := Discovery{Wallet: wallet}
	done := map[common.Address]bool{}
	for d.Err == nil {
		var left []indexAccount
		if left, d.Err = v.unsearched(ctx, wallet, done); len(left) == 0 {
			break
		}
		d.Err = v.searchIsolatedOf(ctx, &d, left[0])
		done[common.Address(left[0].Address)] = true
	}
	if d.Err == nil {
		d.Err = v.changeWallet(ctx, wallet, func(w *indexWallet) bool {
			was := w.Unsearched
			w.Unsearched = slices.ContainsFunc(w.Accounts, func(a indexAccount) bool { return !done[common.Address(a.Address)] })
			return w.Unsearched != was
		})
	}
	d.Done = true
	v.notify(Change{Kind: IsolatedSearched, Discovery: &d})
	return d
}

// unsearched returns the accounts of a wallet that are not in done.
func (v *Vault) unsearched(ctx context.Context, wallet string, done map[common.Address]bool) ([]indexAccount, error) {
	w, err := v.listed(ctx, wallet)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(w.Accounts), func(a indexAccount) bool { return done[common.Address(a.Address)] }), nil
}

// searchIsolatedOf looks up an account's isolated accounts that are not taken, gapLimit of
// them at a time. Other searches may come in between accounts.
func (v *Vault) searchIsolatedOf(ctx context.Context, d *Discovery, a indexAccount) error {
	if err := v.beginSearch(ctx); err != nil {
		return err
	}
	defer v.endSearch()
	end := a.Isolated + gapLimit
	for next := a.Isolated; next < min(end, maxIsolated); {
		some, err := v.isolatedFrom(ctx, common.Address(a.Address), next, min(next+gapLimit, end, maxIsolated))
		if err != nil {
			return err
		}
		addresses := make([]common.Address, len(some))
		for i := range some {
			addresses[i] = some[i].Address
		}
		used, err := v.lookUp(ctx, d, addresses)
		if err != nil {
			return err
		}
		next += uint32(len(some))
		before := len(d.Isolated)
		for i := range some {
			if used[i] {
				d.Isolated = append(d.Isolated, some[i])
				end = some[i].Number + 1 + gapLimit
			}
		}
		if len(d.Isolated) == before {
			continue
		}
		if err := v.takeFound(ctx, d.Wallet, d.Isolated[len(d.Isolated)-1]); err != nil {
			d.Isolated = d.Isolated[:before]
			return err
		}
	}
	return nil
}

// takeFound records that an isolated account and all with lower numbers are taken, if they
// are not.
func (v *Vault) takeFound(ctx context.Context, wallet string, last Isolated) error {
	return v.changeWallet(ctx, wallet, func(w *indexWallet) (changed bool) {
		for i := range w.Accounts {
			if a := &w.Accounts[i]; common.Address(a.Address) == last.Owner && a.Isolated <= last.Number {
				a.Isolated, changed = last.Number+1, true
			}
		}
		return changed
	})
}

// isolatedFrom derives the isolated accounts of owner from number first up to before end.
func (v *Vault) isolatedFrom(ctx context.Context, owner common.Address, first, end uint32) (all []Isolated, err error) {
	x, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	w, a := x.account(owner)
	if a == nil {
		return nil, ErrUnknownAccount
	}
	for k := first; k < end; k++ {
		i, key, err := v.deriveIsolated(w, a, k)
		key.zero()
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// changeWallet changes a wallet's entry in the index if change reports that there is
// something to store, and derives what is taken then.
func (v *Vault) changeWallet(ctx context.Context, wallet string, change func(*indexWallet) bool) error {
	x, err := v.beginChange(ctx)
	if err != nil {
		return err
	}
	defer v.unlockKeychain()
	w := x.wallet(wallet)
	if w == nil {
		return ErrUnknownWallet
	}
	if !change(w) {
		return nil
	}
	if err := v.write(ctx, x); err != nil {
		return err
	}
	v.openIsolated(x)
	return nil
}
