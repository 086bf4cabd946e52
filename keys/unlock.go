package keys

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/ethereum/go-ethereum/common"
)

// Unlock opens every wallet with the vault password and starts the auto-lock timer. It
// may be repeated; on an unlocked vault it checks the password. Wallets that cannot be
// opened while another can are listed in [Status]. Errors: [ErrWrongPassword],
// [ErrBackoff] (a [*BackoffError]), [ErrNoWallet], [ErrLocked] if Lock was called
// meanwhile, those of the keychain.
func (v *Vault) Unlock(ctx context.Context, password []byte) error {
	if err := v.lockKeychain(ctx); err != nil {
		return err
	}
	defer v.unlockKeychain()
	v.mu.Lock()
	before := v.locks
	v.mu.Unlock()
	x, err := v.readAndSweep(ctx)
	if err != nil {
		return err
	}
	found, problems, err := v.openAll(ctx, x, password)
	if err != nil {
		return err
	}
	v.mu.Lock()
	if v.locks != before {
		v.mu.Unlock()
		found.zero()
		return fmt.Errorf("%w: it was locked while unlocking", ErrLocked)
	}
	if v.unlocked != nil {
		v.unlocked.zero()
	}
	v.unlocked, v.problems = found, problems
	v.watchIdle()
	v.mu.Unlock()
	v.notify(Change{Kind: Unlocked})
	for i := range x.Wallets {
		if x.Wallets[i].Unsearched {
			v.searchIsolatedLater(x.Wallets[i].ID)
		}
	}
	return nil
}

// Lock wipes the keys. After it returns nothing is signed. It may be repeated.
func (v *Vault) Lock() {
	v.mu.Lock()
	v.locks++
	was := v.unlocked != nil
	v.wipe()
	v.mu.Unlock()
	if was {
		v.notify(Change{Kind: Locked})
	}
}

// wipe erases all secrets. The caller holds v.mu.
func (v *Vault) wipe() {
	if v.unlocked != nil {
		v.unlocked.zero()
		debug.FreeOSMemory() // what signatures left, see withZeroize
	}
	v.unlocked, v.problems = nil, nil
	if v.idle.stop != nil {
		v.idle.stop()
	}
}

// CheckPassword checks the password again, for actions that require more than an unlocked
// vault. Wrong passwords count as for Unlock. Errors as for Unlock.
func (v *Vault) CheckPassword(ctx context.Context, password []byte) error {
	if err := v.lockKeychain(ctx); err != nil {
		return err
	}
	defer v.unlockKeychain()
	x, err := v.read(ctx)
	if err != nil {
		return err
	}
	key, err := v.authenticate(ctx, x, password)
	if err == nil {
		key.key.zero()
	}
	return err
}

// authenticate returns the key that opens the vault's wallets. The caller holds the turn.
// A keychain failure does not count as a wrong password.
func (v *Vault) authenticate(ctx context.Context, x *index, password []byte) (*passKey, error) {
	return withZeroize(func() (*passKey, error) {
		ring := keyRing{password: password}
		defer ring.zeroBut(nil)
		found, _, err := v.tryPassword(ctx, x, &ring)
		if err != nil {
			return nil, err
		}
		found.zero()
		return ring.release(), nil
	})
}

func (v *Vault) openAll(ctx context.Context, x *index, password []byte) (*unlockedState, []Problem, error) {
	var problems []Problem
	found, err := withZeroize(func() (found *unlockedState, err error) {
		ring := keyRing{password: password}
		defer ring.zeroBut(nil)
		if found, problems, err = v.tryPassword(ctx, x, &ring); err != nil {
			return nil, err
		}
		found.addIsolated(x)
		return found, nil
	})
	return found, problems, err
}

// tryPassword opens all wallets with one password and records whether it was right.
func (v *Vault) tryPassword(ctx context.Context, x *index, ring *keyRing) (*unlockedState, []Problem, error) {
	if len(x.Wallets) == 0 {
		return nil, nil, ErrNoWallet
	}
	if err := v.beginAttempt(ctx); err != nil {
		return nil, nil, err
	}
	found, problems := v.openWallets(ctx, x, ring)
	var failures []error
	for _, p := range problems {
		failures = append(failures, fmt.Errorf("%s: %w", p.Wallet, p.Err))
	}
	failed := errors.Join(failures...)
	switch {
	case len(found.roots) > 0:
		v.attemptSucceeded(ctx)
		return found, problems, nil
	case errors.Is(failed, ErrWrongPassword):
		v.attemptFailed(ctx)
		return nil, nil, ErrWrongPassword
	}
	return nil, nil, failed
}

// openWallets opens each wallet or reports why not. Once one has opened, the password is
// right, so another that it does not open is damaged.
func (v *Vault) openWallets(ctx context.Context, x *index, ring *keyRing) (*unlockedState, []Problem) {
	found := &unlockedState{
		roots: map[string]root{}, keys: map[common.Address]secret{},
		isolated: map[common.Address]Isolated{}, derived: map[common.Address]uint32{},
		failedAccounts: map[common.Address]bool{}, failedIsolated: map[string]bool{},
	}
	var problems []Problem
	for i := range x.Wallets {
		w := &x.Wallets[i]
		if err := v.openWallet(ctx, w, ring, found); err != nil {
			problems = append(problems, Problem{Wallet: w.Name, Err: err})
			for _, a := range w.Accounts {
				found.failedAccounts[common.Address(a.Address)] = true
				if a.Isolated > 0 {
					found.failedIsolated[w.ID] = true
				}
			}
		}
	}
	if len(found.roots) > 0 {
		for i := range problems {
			if errors.Is(problems[i].Err, ErrWrongPassword) {
				problems[i].Err = ErrDamaged
			}
		}
	}
	return found, problems
}

func (v *Vault) openWallet(ctx context.Context, w *indexWallet, ring *keyRing, into *unlockedState) error {
	p, err := v.readWallet(ctx, w.ID, ring)
	if err != nil {
		return err
	}
	defer p.secret.zero()
	if err := p.checkMode(v.options.Sandbox); err != nil {
		return err
	}
	r, err := p.root()
	if err != nil {
		return err
	}
	return into.add(w, r)
}

func (v *Vault) readWallet(ctx context.Context, id string, ring *keyRing) (payload, error) {
	item := walletItem(id)
	text, err := v.store.Get(ctx, item)
	if err != nil {
		return payload{}, err
	}
	r, err := parseRecord(text)
	if err != nil {
		return payload{}, err
	}
	plain, err := ring.key(r.KDF).open(v.store.service, item, r)
	if err != nil {
		return payload{}, err
	}
	ring.opened = ring.key(r.KDF)
	return parsePayload(plain)
}

// add derives the accounts of a wallet. An address that differs from the one in the index
// means that the index was altered.
func (o *unlockedState) add(w *indexWallet, r root) error {
	derived := map[common.Address]secret{}
	for _, a := range w.Accounts {
		key, address, err := r.account(a.Number)
		if err == nil && address != common.Address(a.Address) {
			key.zero()
			err = fmt.Errorf("%w: account %d has another address", ErrDamaged, a.Number)
		}
		if err != nil {
			(&unlockedState{keys: derived}).zero()
			r.zero()
			return err
		}
		derived[address] = key
	}
	for address, key := range derived {
		o.keys[address].zero() // its key was imported, and it had been an isolated account
		o.keys[address] = key
		delete(o.isolated, address)
	}
	o.roots[w.ID] = r
	return nil
}

// A keyRing derives keys from one password, once per set of parameters.
type keyRing struct {
	password []byte
	keys     []*passKey
	opened   *passKey // the last key that opened a record
}

func (r *keyRing) key(kdf recordKDF) *passKey {
	for _, k := range r.keys {
		if k.fits(kdf) {
			return k
		}
	}
	k := deriveKey(r.password, kdf)
	r.keys = append(r.keys, k)
	return k
}

// release returns the key that opened a record and wipes the others. The caller wipes it.
func (r *keyRing) release() *passKey {
	r.zeroBut(r.opened)
	return r.opened
}

func (r *keyRing) zeroBut(kept *passKey) {
	for _, k := range r.keys {
		if k != kept {
			k.key.zero()
		}
	}
	r.keys = nil
}
