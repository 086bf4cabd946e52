package keys

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// A root derives a wallet's accounts. It is the branch node of a mnemonic, or a single
// key, which is account 0.
type root interface {
	// account returns the key and address of account n. The caller wipes the key.
	account(n uint32) (secret, common.Address, error)
	zero()
}

func (p payload) root() (root, error) {
	if p.kind == kindKey {
		return single{append(secret(nil), p.secret...)}, nil
	}
	return accountParent(p.secret)
}

// A single is the root of an imported private key.
type single struct{ key secret }

func (s single) zero() { s.key.zero() }

func (s single) account(n uint32) (secret, common.Address, error) {
	if n != 0 {
		return nil, common.Address{}, fmt.Errorf("%w: it is a single key", ErrAccountExhausted)
	}
	return append(secret(nil), s.key...), addressOf(s.key), nil
}
