package keys

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// A Form is a format in which key material can be exported.
type Form string

// The export formats.
const (
	FormWords    Form = "words"      // of a whole wallet made from words
	FormKey      Form = "privateKey" // of one account: 0x and 64 hex digits
	FormKeystore Form = "keystore"   // of one account: JSON, Web3 Secret Storage version 3
)

// An Export selects the key material to export. The caller wipes its passwords.
type Export struct {
	Form             Form
	Wallet           string         // id, for FormWords
	Account          common.Address // for the other forms
	Password         []byte         // the vault's; required each time
	KeystorePassword []byte         // of the new key file; must be strong
}

// Exported is exported key material: show it, then call Zero. Printing or encoding it
// shows nothing; only Reveal returns it.
type Exported struct{ Words }

// Export returns a wallet's words or an account's key, given the password, locked or not.
// It changes nothing and may be repeated. Errors: [ErrSandboxExport], [ErrExportForm],
// [ErrUnknownWallet], [ErrUnknownAccount], [ErrWeakPassword] for the key file's password,
// those of [Vault.CheckPassword].
func (v *Vault) Export(ctx context.Context, e Export) (*Exported, error) {
	if v.options.Sandbox {
		return nil, ErrSandboxExport
	}
	if e.Form == FormKeystore {
		if err := CheckStrength(e.KeystorePassword); err != nil {
			return nil, err
		}
	}
	if err := v.lockKeychain(ctx); err != nil {
		return nil, err
	}
	defer v.unlockKeychain()
	x, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	w, number, err := x.exported(e)
	if err != nil {
		return nil, err
	}
	out, err := withZeroize(func() (secret, error) {
		p, err := v.decryptWallet(ctx, x, w.ID, e.Password)
		if err != nil {
			return nil, err
		}
		defer p.secret.zero()
		return p.encodeAs(e, number)
	})
	if err != nil {
		return nil, err
	}
	return &Exported{Words{out}}, nil
}

// exported finds the wallet to export, and the account's number.
func (x *index) exported(e Export) (*indexWallet, uint32, error) {
	switch e.Form {
	case FormWords:
		if w := x.wallet(e.Wallet); w != nil {
			return w, 0, nil
		}
		return nil, 0, ErrUnknownWallet
	case FormKey, FormKeystore:
		if w, a := x.account(e.Account); a != nil {
			return w, a.Number, nil
		}
		return nil, 0, ErrUnknownAccount
	}
	return nil, 0, ErrExportForm
}

// decryptWallet decrypts one wallet with the vault password. A wrong password counts for the
// backoff.
func (v *Vault) decryptWallet(ctx context.Context, x *index, id string, password []byte) (payload, error) {
	key, err := v.authenticate(ctx, x, password)
	if err != nil {
		return payload{}, err
	}
	ring := keyRing{password: password, keys: []*passKey{key}}
	defer ring.zeroBut(nil)
	p, err := v.readWallet(ctx, id, &ring)
	if err != nil {
		return payload{}, err
	}
	if err := p.checkMode(v.options.Sandbox); err != nil {
		p.secret.zero()
		return payload{}, err
	}
	return p, nil
}

// encodeAs encodes the secret of a wallet, or of one account, in the requested form.
func (p payload) encodeAs(e Export, number uint32) (secret, error) {
	if e.Form == FormWords {
		if p.kind != kindMnemonic {
			return nil, fmt.Errorf("%w: the wallet was made from a key and has no words", ErrExportForm)
		}
		return mnemonic(p.secret), nil
	}
	r, err := p.root()
	if err != nil {
		return nil, err
	}
	defer r.zero()
	key, at, err := r.account(number)
	if err != nil {
		return nil, err
	}
	defer key.zero()
	switch {
	case at != e.Account:
		return nil, fmt.Errorf("%w: account %d has another address", ErrDamaged, number)
	case e.Form == FormKeystore:
		return sealKeystore(key, e.KeystorePassword)
	}
	return encodePrivateKey(key), nil
}
