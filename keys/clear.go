package keys

import (
	"context"
	"errors"
	"strconv"
)

// maxProbedIDs is the number of wallet ids that are looked up before a keychain counts as
// empty. The index may be lost, but wallet ids are numbers from 1.
const maxProbedIDs = 256

// Clear removes every item of a vault without wallets: the index and the provider keys.
// Afterwards this vault refuses new wallets with [ErrCleared]. It may be repeated.
// Errors: [ErrWalletLeft], also for a wallet that the index does not list; those of the
// keychain, after which some items may remain.
func (v *Vault) Clear(ctx context.Context) error {
	if err := v.lockKeychain(ctx); err != nil {
		return err
	}
	defer v.unlockKeychain()
	if !v.cleared {
		if err := v.withoutWallets(ctx); err != nil {
			return err
		}
		v.cleared = true // even if the deletion fails: it may still take effect later
	}
	return v.store.clear(ctx)
}

// withoutWallets removes unfinished wallets and returns ErrWalletLeft if any wallet
// remains. The caller holds the turn.
func (v *Vault) withoutWallets(ctx context.Context) error {
	x, err := v.readAndSweep(ctx)
	if err != nil {
		return err
	}
	if len(x.Wallets)+len(x.Pending) > 0 {
		return ErrWalletLeft
	}
	for n := range maxProbedIDs {
		switch _, err := v.store.Get(ctx, walletItem(strconv.Itoa(n+1))); {
		case err == nil:
			return ErrWalletLeft
		case !errors.Is(err, ErrMissingItem):
			return err
		}
	}
	return nil
}
