package secretscan

import (
	"crypto/pbkdf2"
	"crypto/sha512"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox"
)

// WalletSecrets returns the secrets of a mnemonic: words, seed, and keys of that many accounts.
func WalletSecrets(name, mnemonic string, accounts uint32) ([]Secret, error) {
	seed, err := pbkdf2.Key(sha512.New, mnemonic, []byte("mnemonic"), 2048, 64)
	if err != nil {
		return nil, err
	}
	derived, err := sandbox.AccountsOf(mnemonic, accounts)
	if err != nil {
		return nil, err
	}
	all := []Secret{Words(name, mnemonic), Key(name+": seed", seed)}
	for _, a := range derived {
		all = append(all, Key(fmt.Sprintf("%s: key %d", name, a.Index), crypto.FromECDSA(a.Key)))
	}
	return all, nil
}
