package keys

import (
	"context"
	"errors"
	"strconv"
)

// unlisted is how many wallet ids are tried before a keychain counts as one without
// wallets: the list may be lost, and theirs are numbers from 1.
const unlisted = 64

// Clear removes every item of a vault without wallets: the list and the providers'
// keys. The caller uses neither vault nor provider keys afterwards. It may be repeated.
// Errors: [ErrWalletLeft], also of a wallet that the list does not name; those of the
// keychain, after which some items are left.
func (v *Vault) Clear(ctx context.Context) error {
	x, err := v.begin(ctx) // what was begun and never finished goes here
	if err != nil {
		return err
	}
	defer v.leave()
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
	return v.store.clear(ctx)
}
