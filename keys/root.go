package keys

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// A root is what a wallet's accounts come from: the branch of a mnemonic, or a
// single key, which is its own account 0.
type root interface {
	// account returns key and address of account n; the caller wipes the key.
	account(n uint32) (secret, common.Address, error)
	zero()
}

// root opens the secret of a wallet.
func (p payload) root() (root, error) {
	if p.kind == kindKey {
		return single{append(secret(nil), p.secret...)}, nil
	}
	return branch(p.secret)
}

// A single is an imported private key.
type single struct{ key secret }

func (s single) zero() { s.key.zero() }

func (s single) account(n uint32) (secret, common.Address, error) {
	if n != 0 {
		return nil, common.Address{}, fmt.Errorf("%w: it is a single key", ErrAccountExhausted)
	}
	return append(secret(nil), s.key...), addressOf(s.key), nil
}
