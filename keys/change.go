package keys

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// RenameWallet gives a wallet another name, locked or not. It may be repeated. After a
// keychain error the new name may still take effect later. Errors: [ErrUnknownWallet],
// [ErrName], [ErrTooLarge], those of the keychain.
func (v *Vault) RenameWallet(ctx context.Context, id, name string) (Wallet, error) {
	return v.renameInIndex(ctx, func(x *index) (*indexWallet, error) {
		w := x.wallet(id)
		if w == nil {
			return nil, ErrUnknownWallet
		}
		taken := slices.ContainsFunc(x.Wallets, func(o indexWallet) bool { return o.Name == name && o.ID != id })
		if !validName(name) || taken {
			return nil, ErrName
		}
		w.Name = name
		return w, nil
	})
}

// RenameAccount gives an account another label, locked or not; "" restores the default,
// "Account" and its number. It may be repeated. Errors: [ErrUnknownAccount], otherwise as
// RenameWallet.
func (v *Vault) RenameAccount(ctx context.Context, at common.Address, label string) (Wallet, error) {
	return v.renameInIndex(ctx, func(x *index) (*indexWallet, error) {
		w, a := x.account(at)
		switch {
		case a == nil:
			return nil, ErrUnknownAccount
		case label != "" && !validName(label):
			return nil, ErrName
		}
		a.Label = label
		return w, nil
	})
}

func (v *Vault) renameInIndex(ctx context.Context, change func(*index) (*indexWallet, error)) (Wallet, error) {
	x, err := v.beginChange(ctx)
	if err != nil {
		return Wallet{}, err
	}
	defer v.unlockKeychain()
	w, err := change(x)
	if err != nil {
		return Wallet{}, err
	}
	if err := v.write(ctx, x); err != nil {
		return Wallet{}, err
	}
	v.notify(Change{Kind: Listed})
	return w.public(), nil
}

// Remove permanently removes a wallet: it wipes the keys from memory and deletes the
// wallet's item and index entry from the keychain. It requires the password, locked or
// not. The caller must warn about what only the wallet's own words or key can restore,
// and must check for open orders. Removing the last wallet locks the vault, and the next
// wallet sets a new password.
//
// The index is written first, which makes the removal effective. An item that could not
// be deleted then is deleted before the next change or unlock, also by the next process;
// [ErrLeftover] reports this. After any other keychain error the wallet is unchanged,
// unless a slow keychain stores the change later. If no wallet opens, the password cannot
// be checked and nothing is removed. Errors: [ErrUnknownWallet], those of
// [Vault.CheckPassword].
func (v *Vault) Remove(ctx context.Context, id string, password []byte) (Wallet, error) {
	x, err := v.beginChange(ctx)
	if err != nil {
		return Wallet{}, err
	}
	defer v.unlockKeychain()
	w := x.wallet(id)
	if w == nil {
		return Wallet{}, ErrUnknownWallet
	}
	removed := w.public()
	key, err := v.authenticate(ctx, x, password)
	if err != nil {
		return Wallet{}, err
	}
	key.key.zero()
	x.drop(id)
	x.Pending = append(x.Pending, id)
	if err := v.write(ctx, x); err != nil {
		return Wallet{}, err
	}
	v.forgetWallet(removed, len(x.Wallets) == 0)
	rest, err := v.readAndSweep(context.WithoutCancel(ctx))
	if err == nil && slices.Contains(rest.Pending, id) {
		err = ErrLeftover
	}
	v.notify(Change{Kind: Listed})
	if err != nil {
		return removed, fmt.Errorf("%w: %w", ErrLeftover, err)
	}
	return removed, nil
}

// forgetWallet wipes the keys of a removed wallet. If it was the last one, the vault is locked.
func (v *Vault) forgetWallet(w Wallet, last bool) {
	if last {
		v.Lock()
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked != nil {
		v.unlocked.remove(w)
	}
	v.problems = slices.DeleteFunc(slices.Clone(v.problems), func(p Problem) bool { return p.Wallet == w.Name })
}

func (o *unlockedState) remove(w Wallet) {
	if r := o.roots[w.ID]; r != nil {
		r.zero()
		delete(o.roots, w.ID)
	}
	for _, a := range w.Accounts {
		o.keys[a.Address].zero()
		delete(o.keys, a.Address)
		delete(o.failedAccounts, a.Address)
		delete(o.derived, a.Address)
		for at, i := range o.isolated {
			if i.Owner == a.Address {
				o.keys[at].zero()
				delete(o.keys, at)
				delete(o.isolated, at)
			}
		}
	}
	delete(o.failedIsolated, w.ID)
}
