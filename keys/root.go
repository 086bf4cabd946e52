package keys

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// A root derives a wallet's accounts. It is the branches of a mnemonic, or a single key,
// which is account 0.
type root interface {
	// account returns the key and address of account n. The caller wipes the key.
	account(n uint32) (secret, common.Address, error)
	// isolated returns the key and address of isolated account k of account n. The caller
	// wipes the key.
	isolated(n, k uint32) (secret, common.Address, error)
	zero()
}

func (p payload) root() (root, error) {
	if p.kind == kindKey {
		return single{append(secret(nil), p.secret...)}, nil
	}
	return branchesOf(p.secret)
}

var errSingle = fmt.Errorf("%w: it is a single key", ErrAccountExhausted)

// A single is the root of an imported private key.
type single struct{ key secret }

func (s single) zero() { s.key.zero() }

func (s single) account(n uint32) (secret, common.Address, error) {
	if n != 0 {
		return nil, common.Address{}, errSingle
	}
	return append(secret(nil), s.key...), addressOf(s.key), nil
}

// isolatedInfo separates the keys of isolated accounts from any other key that may be
// derived. Their number follows, and how often the derivation gave no key.
const isolatedInfo = "swapkeep isolated account v1/%d/%d"

// isolated derives with HKDF-SHA256 (RFC 5869), since a single key has no branches. The
// key alone therefore gives its isolated accounts again.
func (s single) isolated(n, k uint32) (secret, common.Address, error) {
	if n != 0 {
		return nil, common.Address{}, errSingle
	}
	for try := range 4 { // 32 bytes are no key once in 2^128
		key, err := hkdf.Key(sha256.New, s.key, nil, fmt.Sprintf(isolatedInfo, k, try), keySize)
		if err != nil {
			return nil, common.Address{}, err
		}
		if validKey(key) {
			return key, addressOf(key), nil
		}
	}
	return nil, common.Address{}, fmt.Errorf("%w: no isolated account %d", ErrAccountExhausted, k)
}
