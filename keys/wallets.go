package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/failpoint"
)

// Create creates a wallet of 12 or 24 words with one account and returns the words, this
// once. The first wallet sets the vault password, which must be strong; later ones
// require the same password. The vault stays locked or unlocked; if it is unlocked, the
// new wallet is opened too. An empty name is replaced by a default.
//
// Repeating it creates another wallet. After an error there is no new wallet: what a slow
// keychain stores afterwards is removed before the next change or unlock. Only if the
// process dies in between may a wallet remain whose words nobody saw. Errors:
// [ErrWordCount], [ErrName], [ErrWeakPassword], [ErrWrongPassword], [ErrBackoff],
// [ErrTooLarge] for too many wallets, those of the keychain.
func (v *Vault) Create(ctx context.Context, name string, count int, password []byte) (Wallet, *Words, error) {
	entropy, err := newEntropy(count)
	if err != nil {
		return Wallet{}, nil, err
	}
	defer entropy.zero()
	w, err := v.addWallet(ctx, name, password, payload{kindMnemonic, originCreated, entropy})
	if err != nil {
		return Wallet{}, nil, err
	}
	words, err := withZeroize(func() (secret, error) { return mnemonic(entropy), nil })
	return w, &Words{words}, err
}

// ImportMnemonic imports a BIP-39 mnemonic: 12 to 24 English words in any case and
// spacing, without a passphrase. The caller wipes words and password. If there is an
// [Explorer], accounts that were used elsewhere are searched for in the background, as by
// [Vault.Discover] and [Vault.DiscoverIsolated]. Otherwise as Create; repeating it returns [ErrDuplicateWallet].
// Further errors: [ErrBadMnemonic], [ErrTestKey] for a published mnemonic,
// [ErrSandboxImport].
func (v *Vault) ImportMnemonic(ctx context.Context, name string, words, password []byte) (Wallet, error) {
	entropy, err := withZeroize(func() (secret, error) { return parseMnemonic(words) })
	if err != nil {
		return Wallet{}, err
	}
	defer entropy.zero()
	return v.importWallet(ctx, name, password, payload{kindMnemonic, originImported, entropy})
}

// ImportKey imports a private key, 64 hex digits with or without 0x, as a wallet of one
// account. If there is an [Explorer], isolated accounts that were used elsewhere are
// searched for in the background, as by [Vault.DiscoverIsolated]. Further errors: [ErrBadKey], [ErrTestKey], [ErrSandboxImport] for all but the
// accounts of the published test mnemonic. Otherwise as ImportMnemonic.
func (v *Vault) ImportKey(ctx context.Context, name string, text, password []byte) (Wallet, error) {
	key, err := withZeroize(func() (secret, error) { return parseKey(text) })
	if err != nil {
		return Wallet{}, err
	}
	defer key.zero()
	return v.importWallet(ctx, name, password, payload{kindKey, originImported, key})
}

// ImportKeystore imports a key file, JSON of the Web3 Secret Storage definition, version
// 3, as ImportKey does. keyPassword is the file's password. Opening a file may take
// seconds and 256 MiB, so one is opened at a time. Further errors: [ErrBadKeystore],
// [ErrKeystorePassword].
func (v *Vault) ImportKeystore(ctx context.Context, name string, file, keyPassword, password []byte) (Wallet, error) {
	k, err := parseKeystore(file)
	if err != nil {
		return Wallet{}, err
	}
	if err := v.keyFileMu.lock(ctx, v.store.limits.Prompt); err != nil {
		return Wallet{}, err
	}
	key, err := withZeroize(func() (secret, error) { return k.open(keyPassword) })
	v.keyFileMu.unlock()
	if err != nil {
		return Wallet{}, err
	}
	defer key.zero()
	return v.importWallet(ctx, name, password, payload{kindKey, originImported, key})
}

// importWallet stores an imported wallet if this vault may have it.
func (v *Vault) importWallet(ctx context.Context, name string, password []byte, p payload) (Wallet, error) {
	if _, err := withZeroize(func() (struct{}, error) { return struct{}{}, p.checkMode(v.options.Sandbox) }); err != nil {
		return Wallet{}, err
	}
	return v.addWallet(ctx, name, password, p)
}

// addWallet stores a new wallet and starts the search for its used accounts.
func (v *Vault) addWallet(ctx context.Context, name string, password []byte, p payload) (Wallet, error) {
	x, err := v.beginChange(ctx)
	if err != nil {
		return Wallet{}, err
	}
	defer v.unlockKeychain()
	var others []common.Address
	entry, err := withZeroize(func() (entry indexWallet, err error) {
		entry, others, err = v.addWalletLocked(ctx, x, name, password, p)
		return entry, err
	})
	if err != nil {
		return Wallet{}, err
	}
	v.notify(Change{Kind: Listed})
	v.searchLater(&entry, others)
	return entry.public(), nil
}

// addWalletLocked stores a new wallet and opens it if the vault is unlocked. It returns the
// addresses of further accounts to search for.
func (v *Vault) addWalletLocked(ctx context.Context, x *index, name string, password []byte, p payload) (indexWallet, []common.Address, error) {
	r, err := p.root()
	if err != nil {
		return indexWallet{}, nil, err
	}
	entry, err := v.entry(ctx, x, name, p, r)
	var others []common.Address
	if err == nil {
		others, err = v.searchable(p, r)
	}
	if err == nil {
		err = v.storeWallet(ctx, x, entry, password, p)
	}
	if err != nil {
		r.zero()
		return indexWallet{}, nil, err
	}
	v.openIfUnlocked(&entry, r)
	return entry, others, nil
}

// entry returns the new wallet's index entry, checked against the others.
func (v *Vault) entry(ctx context.Context, x *index, name string, p payload, r root) (indexWallet, error) {
	key, first, err := r.account(0)
	if err != nil {
		return indexWallet{}, err
	}
	key.zero()
	switch {
	case x.holds(first):
		return indexWallet{}, ErrDuplicateWallet
	case !v.options.Sandbox && publishedAddresses()[first]:
		return indexWallet{}, ErrTestKey
	}
	if name, err = x.freeName(name); err != nil {
		return indexWallet{}, err
	}
	id, err := v.freeID(ctx, x)
	if err != nil {
		return indexWallet{}, err
	}
	return indexWallet{
		ID: id, Name: name, Kind: kindNames[p.kind], Accounts: []indexAccount{{Address: address(first)}},
		Unsearched: v.options.Explorer != nil && p.origin == originImported,
	}, nil
}

// freeID returns an id without an item, so that a stored wallet missing from the index is
// never overwritten.
func (v *Vault) freeID(ctx context.Context, x *index) (string, error) {
	const tries = 32
	first := x.nextID()
	for n := first; n < first+tries; n++ {
		id := strconv.FormatUint(n, 10)
		switch _, err := v.store.Get(ctx, walletItem(id)); {
		case errors.Is(err, ErrMissingItem):
			return id, nil
		case err != nil && !errors.Is(err, ErrTooLarge):
			return "", err
		}
	}
	return "", fmt.Errorf("list of wallets: %w: it misses %d wallets that are stored", ErrDamaged, tries)
}

// passKeyFor returns the key to encrypt a new wallet with: derived from a new, strong
// password for the first wallet, from the existing password for later ones.
func (v *Vault) passKeyFor(ctx context.Context, x *index, password []byte) (*passKey, error) {
	if len(x.Wallets) > 0 {
		return v.authenticate(ctx, x, password)
	}
	if err := CheckStrength(password); err != nil {
		return nil, err
	}
	return newPassKey(password, v.options.KDF)
}

// storeWallet writes a wallet in three steps: reserve its id in the index, store its encrypted
// item, list it in the index. If a step fails, swept removes the remains.
func (v *Vault) storeWallet(ctx context.Context, x *index, entry indexWallet, password []byte, p payload) error {
	listed := *x
	listed.Wallets = append(slices.Clone(x.Wallets), entry)
	if !listed.fits() {
		return ErrTooLarge
	}
	key, err := v.passKeyFor(ctx, x, password)
	if err != nil {
		return err
	}
	defer key.key.zero()
	plain := p.encode()
	defer plain.zero()
	sealed, err := key.seal(v.store.service, walletItem(entry.ID), plain)
	if err != nil {
		return err
	}
	reserved := *x
	reserved.Pending = append(slices.Clone(x.Pending), entry.ID)
	err = inOrder(
		func() error { return v.write(ctx, &reserved) },
		func() error { return v.putWalletItem(ctx, entry.ID, sealed) },
		func() error { return v.write(ctx, &listed) },
	)
	if err != nil {
		v.abandon(ctx, entry.ID)
		return err
	}
	return nil
}

func (v *Vault) putWalletItem(ctx context.Context, id, sealed string) error {
	failpoint.Point("keys.before_item")
	err := v.store.Set(ctx, walletItem(id), sealed)
	failpoint.Point("keys.after_item")
	return err
}

func (v *Vault) deleteWalletItem(ctx context.Context, id string) error {
	failpoint.Point("keys.before_delete")
	err := v.store.Delete(ctx, walletItem(id))
	failpoint.Point("keys.after_delete")
	return err
}

func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// abandon marks a wallet whose creation was reported as failed, and removes its remains
// now if the keychain allows it.
func (v *Vault) abandon(ctx context.Context, id string) {
	v.mu.Lock()
	v.abandoned[id] = true
	v.mu.Unlock()
	_, _ = v.readAndSweep(context.WithoutCancel(ctx))
}

// beginChange takes the turn for a change and returns the index after cleanup. The caller
// releases the turn if there is no error.
func (v *Vault) beginChange(ctx context.Context) (*index, error) {
	if err := v.lockKeychain(ctx); err != nil {
		return nil, err
	}
	if v.cleared {
		v.unlockKeychain()
		return nil, ErrCleared
	}
	x, err := v.readAndSweep(ctx)
	if err != nil {
		v.unlockKeychain()
	}
	return x, err
}

// readAndSweep reads the index and removes unfinished wallets. The caller holds the turn. What
// cannot be removed now stays pending.
func (v *Vault) readAndSweep(ctx context.Context) (*index, error) {
	x, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	leftovers := slices.Clone(x.Pending)
	for id := range v.abandoned {
		if !slices.Contains(leftovers, id) {
			leftovers = append(leftovers, id)
		}
	}
	v.mu.Unlock()
	if len(leftovers) == 0 {
		return x, nil
	}
	var removed []string
	for _, id := range leftovers {
		x.drop(id)
		if err := v.deleteWalletItem(ctx, id); err == nil || errors.Is(err, ErrMissingItem) {
			removed = append(removed, id)
		} else {
			x.Pending = append(x.Pending, id)
		}
	}
	if err := v.write(ctx, x); err == nil {
		v.mu.Lock()
		for _, id := range removed {
			delete(v.abandoned, id)
		}
		v.mu.Unlock()
	}
	return x, nil
}

// openIfUnlocked opens a wallet that was just stored if the vault is unlocked.
func (v *Vault) openIfUnlocked(w *indexWallet, r root) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked == nil || v.unlocked.add(w, r) != nil {
		r.zero()
	}
}

// Add adds the wallet's next account, m/44'/60'/0'/0/n, to an unlocked vault, skipping
// accounts whose key was imported separately. Repeating it adds another account. After a
// keychain error the account may still appear later. Errors: [ErrLocked],
// [ErrUnknownWallet], [ErrAccountExhausted] for a single-key wallet, [ErrName] for the
// label, [ErrTooLarge] for too many accounts, those of the keychain.
func (v *Vault) Add(ctx context.Context, wallet, label string) (Account, error) {
	if label != "" && !validName(label) {
		return Account{}, ErrName
	}
	x, err := v.beginChange(ctx)
	if err != nil {
		return Account{}, err
	}
	defer v.unlockKeychain()
	w := x.wallet(wallet)
	if w == nil {
		return Account{}, ErrUnknownWallet
	}
	next := indexAccount{Number: w.Accounts[len(w.Accounts)-1].Number + 1, Label: label}
	key, err := withZeroize(func() (secret, error) {
		key, at, err := v.nextKey(wallet, next.Number)
		for ; err == nil && x.holds(at); key, at, err = v.nextKey(wallet, next.Number) {
			key.zero()
			next.Number++
		}
		next.Address = address(at)
		return key, err
	})
	if err != nil {
		return Account{}, err
	}
	w.Accounts = append(w.Accounts, next)
	err = ErrTooLarge
	if x.fits() {
		err = v.write(ctx, x)
	}
	if err != nil {
		key.zero()
		return Account{}, err
	}
	v.keepKey(common.Address(next.Address), key)
	v.notify(Change{Kind: Listed})
	return next.public(w), nil
}

func (v *Vault) nextKey(wallet string, number uint32) (secret, common.Address, error) {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked == nil {
		return nil, common.Address{}, ErrLocked
	}
	r := v.unlocked.roots[wallet]
	if r == nil {
		return nil, common.Address{}, fmt.Errorf("%w: the wallet did not open", ErrDamaged)
	}
	v.idle.last = v.options.Clock.Now()
	return r.account(number)
}

// keepKey adds a key to an unlocked vault; if it was locked meanwhile, the key is wiped.
func (v *Vault) keepKey(a common.Address, key secret) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked == nil {
		key.zero()
		return
	}
	v.unlocked.keys[a] = key
}
