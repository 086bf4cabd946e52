package keys

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/zeroize"
)

// maxIsolated is the number of isolated accounts that one account may have. An unlock
// derives all that are taken, in about a fifth of a millisecond each, because any of them
// may still have something left of its order.
const maxIsolated = 1000

// An Isolated account is used for one order's call that cannot be decoded, and for nothing
// else. It is never listed, so nobody is asked to send anything to it, and never exported.
//
// In a wallet made from words it is m/44'/60'/0'/1/n/k: k is its number, n that of the
// account it belongs to, and 1 is BIP-44's chain for addresses that are not meant to be
// seen outside of a wallet. Of a single key it is derived by HKDF. It is thus found again
// from the words or the key alone; the index holds only how many are taken.
type Isolated struct {
	Owner   common.Address // the account of the wallet that it belongs to
	Number  uint32
	Address common.Address
}

// NextIsolated returns owner's first isolated account with a number of at least from that
// is not taken. The vault does not sign for it yet. It records nothing and may be
// repeated. It does not reset the auto-lock timer. A locked vault knows the one that it
// named last, so that offers can be compared. Errors: [ErrLocked], also if the
// owner's wallet did not open; [ErrUnknownAccount], [ErrAccountExhausted] after a
// thousand; those of the keychain if it was not read yet.
func (v *Vault) NextIsolated(ctx context.Context, owner common.Address, from uint32) (Isolated, error) {
	x, err := v.known(ctx)
	if err != nil {
		return Isolated{}, err
	}
	w, a := x.account(owner)
	if a == nil {
		return Isolated{}, ErrUnknownAccount
	}
	for k := max(from, a.Isolated); ; k++ {
		i, key, err := v.deriveIsolated(w, a, k)
		key.zero()
		switch last := v.namedIsolated(i, err); {
		case errors.Is(err, ErrLocked) && last.Owner == owner && last.Number >= k:
			return last, nil
		case err != nil || !x.holds(i.Address): // somebody may have imported its key
			return i, err
		}
	}
}

// namedIsolated remembers the isolated account that was derived last, of any account, and
// returns it.
func (v *Vault) namedIsolated(i Isolated, err error) Isolated {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		v.named = i
	}
	return v.named
}

// TakeIsolated records in the keychain that an isolated account of owner and all with
// lower numbers are taken. The vault signs and seals for them from then on, also after a
// lock or a restart. After a keychain error it may still be taken later. It does not reset
// the auto-lock timer. Errors: [ErrIsolatedTaken], also for an account that is listed;
// [ErrTooLarge], otherwise as NextIsolated.
func (v *Vault) TakeIsolated(ctx context.Context, owner common.Address, number uint32) error {
	x, err := v.beginChange(ctx)
	if err != nil {
		return err
	}
	defer v.unlockKeychain()
	w, a := x.account(owner)
	if a == nil {
		return ErrUnknownAccount
	}
	i, key, err := v.deriveIsolated(w, a, number)
	key.zero()
	switch {
	case err != nil:
		return err
	case number < a.Isolated || x.holds(i.Address):
		return ErrIsolatedTaken
	}
	a.Isolated = number + 1
	if err := v.write(ctx, x); err != nil {
		return err
	}
	v.openIsolated(x)
	return nil
}

// TakenIsolated lists the taken isolated accounts of all wallets that opened, by owner and
// number. Errors: [ErrLocked].
func (v *Vault) TakenIsolated(ctx context.Context) ([]Isolated, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked == nil {
		return nil, ErrLocked
	}
	return slices.SortedFunc(maps.Values(v.unlocked.isolated), func(a, b Isolated) int {
		return cmp.Or(bytes.Compare(a.Owner[:], b.Owner[:]), cmp.Compare(a.Number, b.Number))
	}), nil
}

// deriveIsolated derives isolated account k of account a. The caller wipes the key.
func (v *Vault) deriveIsolated(w *indexWallet, a *indexAccount, k uint32) (i Isolated, key secret, err error) {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked == nil {
		return Isolated{}, nil, ErrLocked
	}
	r := v.unlocked.roots[w.ID]
	switch {
	case r == nil:
		return Isolated{}, nil, fmt.Errorf("%w: the wallet of this account did not open", ErrLocked)
	case k >= maxIsolated:
		return Isolated{}, nil, fmt.Errorf("%w: %d isolated ones are taken", ErrAccountExhausted, maxIsolated)
	}
	i = Isolated{Owner: common.Address(a.Address), Number: k}
	zeroize.Do(func() { key, i.Address, err = r.isolated(a.Number, k) })
	if err != nil {
		return Isolated{}, nil, err
	}
	return i, key, nil
}

// openIsolated derives the taken isolated accounts if the vault is unlocked. If it is not,
// the next unlock does it.
func (v *Vault) openIsolated(x *index) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked != nil {
		zeroize.Do(func() { v.unlocked.addIsolated(x) })
	}
}

// addIsolated derives those taken isolated accounts of open wallets that are not derived
// yet.
func (o *unlockedState) addIsolated(x *index) {
	for i := range x.Wallets {
		if r := o.roots[x.Wallets[i].ID]; r != nil {
			for _, a := range x.Wallets[i].Accounts {
				o.addIsolatedOf(x, r, a)
			}
		}
	}
}

func (o *unlockedState) addIsolatedOf(x *index, r root, a indexAccount) {
	owner := common.Address(a.Address)
	for k := o.derived[owner]; k < a.Isolated; k++ {
		key, at, err := r.isolated(a.Number, k)
		if err != nil || x.holds(at) { // nobody took it, or somebody imported its key
			key.zero()
			continue
		}
		o.keys[at], o.isolated[at] = key, Isolated{owner, k, at}
	}
	o.derived[owner] = max(o.derived[owner], a.Isolated)
}
