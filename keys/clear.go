package keys

import (
	"context"
	"errors"
	"strconv"
)

// unlisted is how many wallet ids are tried before a keychain counts as one without
// wallets: the list may be lost, and theirs are numbers from 1.
const unlisted = 256

// Clear removes every item of a vault without wallets: the list and the providers'
// keys. From then on this vault takes no wallet in: [ErrCleared]. It may be repeated.
// Errors: [ErrWalletLeft], also of a wallet that the list does not name; those of the
// keychain, after which some items are left.
func (v *Vault) Clear(ctx context.Context) error {
	if err := v.take(ctx); err != nil {
		return err
	}
	defer v.leave()
	if !v.cleared {
		if err := v.withoutWallets(ctx); err != nil {
			return err
		}
		v.cleared = true // also if what follows fails: it may come to pass later
	}
	return v.store.clear(ctx)
}

// withoutWallets removes what was begun and never finished, and refuses where a wallet
// is left. The caller holds the turn.
func (v *Vault) withoutWallets(ctx context.Context) error {
	x, err := v.swept(ctx)
	if err != nil {
		return err
	}
	if len(x.Wallets)+len(x.Pending) > 0 {
		return ErrWalletLeft
	}
	for n := range unlisted {
		switch _, err := v.store.Get(ctx, walletItem(strconv.Itoa(n+1))); {
		case err == nil:
			return ErrWalletLeft
		case !errors.Is(err, ErrMissingItem):
			return err
		}
	}
	return nil
}
