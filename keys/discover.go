package keys

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/zeroize"
)

const (
	gapLimit    = 20  // consecutive unused accounts that end a search (BIP-44, address gap limit)
	maxSearched = 100 // accounts looked up per wallet
	searchTime  = time.Minute
)

// An Explorer reports whether accounts have ever been used. Its answers only decide which
// accounts are listed. The service it queries learns that the addresses belong together.
type Explorer interface {
	// LookUp looks addresses up on every network it knows. used has one entry per
	// address, true if any network knows of a use. silent are the chain ids of networks
	// that did not answer; addresses used only there are reported as unused. It returns
	// soon after ctx ends and may be repeated.
	LookUp(ctx context.Context, addresses []common.Address) (used []bool, silent []uint64)
}

// A Discovery is the progress of a search for a wallet's used accounts, or for its isolated
// ones.
type Discovery struct {
	Wallet   string // id
	Searched int    // accounts looked up so far
	Found    []Account
	Isolated []Isolated // used ones that were not recorded as taken, and now are
	Silent   []uint64   // chain ids of networks that failed to answer at least once
	Done     bool
	Err      error // why it ended early
}

// errNoExplorer means that the vault was created without an Explorer.
var errNoExplorer = errors.New("keys: nobody to ask about accounts")

// Discover searches for accounts of an unlocked wallet that were used elsewhere and adds
// them. It looks at the first 100 accounts and stops after 20 consecutive unused ones. It
// takes at most a minute and reports progress to subscribers. Networks that do not answer
// are listed in the result and are not an error. A search for isolated accounts follows in
// the background. It may be repeated; one search runs at a time. Errors: [ErrLocked],
// [ErrUnknownWallet], [ErrAccountExhausted] for a single-key wallet, [ErrTooLarge] if not
// all found accounts fit, those of the keychain and of ctx. After the last three, accounts
// found before the error have been added.
func (v *Vault) Discover(ctx context.Context, wallet string) (Discovery, error) {
	if v.options.Explorer == nil {
		return Discovery{}, errNoExplorer
	}
	if _, err := v.listed(ctx, wallet); err != nil {
		return Discovery{}, err
	}
	addresses, err := withZeroize(func() ([]common.Address, error) {
		return searchedAddresses(func(n uint32) (secret, common.Address, error) { return v.nextKey(wallet, n) })
	})
	if err != nil {
		return Discovery{}, err
	}
	d := v.search(ctx, wallet, addresses)
	v.searchIsolatedLater(wallet)
	return d, d.Err
}

// searchable returns the addresses to look up for an imported mnemonic, and none for
// other wallets or without an Explorer.
func (v *Vault) searchable(p payload, r root) ([]common.Address, error) {
	if v.options.Explorer == nil || p.kind != kindMnemonic || p.origin != originImported {
		return nil, nil
	}
	return searchedAddresses(r.account)
}

// searchedAddresses returns the addresses of accounts 1 to maxSearched, as account
// derives them. With these the search needs no key and continues while the vault is
// locked.
func searchedAddresses(account func(n uint32) (secret, common.Address, error)) ([]common.Address, error) {
	addresses := make([]common.Address, 0, maxSearched)
	for n := range uint32(maxSearched) {
		key, at, err := account(n + 1)
		if err != nil {
			return nil, err
		}
		key.zero()
		addresses = append(addresses, at)
	}
	return addresses, nil
}

// searchLater starts the searches that follow an import in the background. They end with
// Close. That for accounts needs no key.
func (v *Vault) searchLater(w *indexWallet, addresses []common.Address) {
	if !w.Unsearched {
		return
	}
	v.searches.Go(func() {
		if len(addresses) > 0 {
			v.search(v.life, w.ID, addresses)
		}
		v.searchIsolatedLater(w.ID)
	})
}

// search looks up the accounts of these addresses, gapLimit of them at a time.
func (v *Vault) search(ctx context.Context, wallet string, addresses []common.Address) Discovery {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	d := Discovery{Wallet: wallet}
	if d.Err = v.beginSearch(ctx); d.Err == nil {
		defer v.endSearch()
	}
	for next := 0; d.Err == nil; {
		var ask []int
		if ask, next, d.Err = v.nextToSearch(ctx, wallet, addresses, next); len(ask) == 0 {
			break
		}
		d.Err = v.searchBatch(ctx, &d, addresses, ask)
		if d.Err == nil {
			v.notifyDiscovery(d)
		}
	}
	d.Done = true
	v.notifyDiscovery(d)
	return d
}

// beginSearch waits until no other search runs. If there is no error, the caller calls
// endSearch.
func (v *Vault) beginSearch(ctx context.Context) error {
	select {
	case v.searching <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *Vault) endSearch() { <-v.searching }

func (v *Vault) notifyDiscovery(d Discovery) {
	d.Found, d.Silent = slices.Clone(d.Found), slices.Clone(d.Silent)
	v.notify(Change{Kind: Discovered, Discovery: &d})
}

// nextToSearch returns the indices, from next on, of the addresses to look up together: those
// within gapLimit of the wallet's last account that the wallet does not have yet.
func (v *Vault) nextToSearch(ctx context.Context, wallet string, addresses []common.Address, next int) ([]int, int, error) {
	w, err := v.listed(ctx, wallet)
	if err != nil {
		return nil, next, err
	}
	last := 0
	for _, a := range w.Accounts {
		last = max(last, int(a.Number))
	}
	var ask []int
	for ; next < len(addresses) && next < last+gapLimit && len(ask) < gapLimit; next++ {
		if !slices.ContainsFunc(w.Accounts, func(a indexAccount) bool { return common.Address(a.Address) == addresses[next] }) {
			ask = append(ask, next)
		}
	}
	return ask, next, nil
}

// listed returns a wallet from the index, or ErrUnknownWallet.
func (v *Vault) listed(ctx context.Context, wallet string) (*indexWallet, error) {
	x, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	if w := x.wallet(wallet); w != nil {
		return w, nil
	}
	return nil, ErrUnknownWallet
}

// searchBatch looks up the addresses at the indices ask and adds those that were used.
func (v *Vault) searchBatch(ctx context.Context, d *Discovery, addresses []common.Address, ask []int) error {
	some := make([]common.Address, len(ask))
	for i, n := range ask {
		some[i] = addresses[n]
	}
	used, err := v.lookUp(ctx, d, some)
	if err != nil {
		return err
	}
	var found []indexAccount
	for i, n := range ask {
		if used[i] {
			found = append(found, indexAccount{Number: uint32(n + 1), Address: address(addresses[n])})
		}
	}
	if len(found) == 0 {
		return nil
	}
	added, err := v.addFound(ctx, d.Wallet, found)
	d.Found = append(d.Found, added...)
	return err
}

// lookUp asks the Explorer, and counts and notes in d.
func (v *Vault) lookUp(ctx context.Context, d *Discovery, addresses []common.Address) ([]bool, error) {
	used, silent := v.options.Explorer.LookUp(ctx, addresses)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.Searched += len(addresses)
	for _, id := range silent {
		if !slices.Contains(d.Silent, id) {
			d.Silent = append(d.Silent, id)
		}
	}
	return append(used, make([]bool, len(addresses))...)[:len(addresses)], nil
}

// addFound adds accounts to a wallet's index entry, locked or not, and derives their keys
// if the wallet is open. With [ErrTooLarge] the returned accounts were added.
func (v *Vault) addFound(ctx context.Context, wallet string, found []indexAccount) ([]Account, error) {
	x, err := v.beginChange(ctx)
	if err != nil {
		return nil, err
	}
	defer v.unlockKeychain()
	w := x.wallet(wallet)
	if w == nil {
		return nil, ErrUnknownWallet
	}
	var added []indexAccount
	var full error
	w.Unsearched = true
	for _, a := range found {
		if x.holds(common.Address(a.Address)) {
			continue // imported as a single key, or added meanwhile
		}
		before := slices.Clone(w.Accounts)
		w.Accounts = append(w.Accounts, a)
		if !x.fits() {
			w.Accounts, full = before, ErrTooLarge
			break
		}
		added = append(added, a)
	}
	if len(added) == 0 {
		return nil, full
	}
	slices.SortFunc(w.Accounts, func(a, b indexAccount) int { return cmp.Compare(a.Number, b.Number) })
	if err := v.write(ctx, x); err != nil {
		return nil, err
	}
	return v.openFound(w, added), full
}

// openFound derives the keys of accounts that were just listed. If the vault is locked or
// a key cannot be derived, the next unlock does it.
func (v *Vault) openFound(w *indexWallet, added []indexAccount) (accounts []Account) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range added {
		accounts = append(accounts, a.public(w))
	}
	if v.unlocked == nil || v.unlocked.roots[w.ID] == nil {
		return accounts
	}
	zeroize.Do(func() {
		for _, a := range added {
			if key, at, err := v.unlocked.roots[w.ID].account(a.Number); err == nil && at == common.Address(a.Address) {
				v.unlocked.keys[at] = key
			}
		}
	})
	return accounts
}

// Close locks the vault, cancels background searches and waits for them. No method may be
// called afterwards.
func (v *Vault) Close() {
	v.Lock()
	v.endLife()
	v.searches.Wait()
}
