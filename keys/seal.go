package keys

import (
	"crypto/sha256"

	"github.com/ethereum/go-ethereum/common"
)

// sealInfo sets the key of seals apart from all else that may ever be derived.
const sealInfo = "swapkeep order seal v1"

// Seal authenticates a message for an account (HMAC-SHA256): whoever makes the same
// code again has the account's key unlocked. It is no signature and cannot become
// one: its key is derived from the account's (HKDF-SHA256, RFC 5869). It does not
// count as use, so that what only looks does not keep the vault open. Errors: as by
// [Vault.SignTx], ErrLocked and ErrUnknownAccount.
func (v *Vault) Seal(account common.Address, message []byte) (code [32]byte, err error) {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	key, err := v.unlockedKey(account)
	if err != nil {
		return code, err
	}
	sum, err := shielded(func() (secret, error) { return seal(key, message), nil })
	copy(code[:], sum)
	return code, err
}

// seal derives the key of seals from an account's and authenticates a message by it.
func seal(account secret, message []byte) secret {
	extracted := macOnce(sha256.New, make([]byte, sha256.Size), account)
	defer extracted.zero()
	derived := macOnce(sha256.New, extracted, []byte(sealInfo), []byte{1})
	defer derived.zero()
	return macOnce(sha256.New, derived, message)
}
