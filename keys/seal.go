package keys

import (
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/zeroize"
)

// sealInfo separates the sealing key from any other key that may be derived.
const sealInfo = "swapkeep order seal v1"

// Seal returns an HMAC-SHA256 of a message for an account. Only with the account's key
// unlocked can the same code be computed again. The code is not a signature and cannot
// become one: its key is derived from the account's (HKDF-SHA256, RFC 5869). Sealing does
// not reset the auto-lock timer, so background checks do not keep the vault open. Errors:
// ErrLocked and ErrUnknownAccount as for [Vault.SignTx].
func (v *Vault) Seal(account common.Address, message []byte) (code [32]byte, err error) {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	key, err := v.unlockedKey(account)
	if err != nil {
		return code, err
	}
	zeroize.Do(func() {
		var sum secret
		sum, err = seal(key, message)
		copy(code[:], sum)
	})
	return code, err
}

// seal derives the sealing key from an account's key and authenticates message with it.
func seal(account secret, message []byte) (secret, error) {
	derived, err := hkdf.Key(sha256.New, account, nil, sealInfo, sha256.Size)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	return mac(sha256.New, derived, message), nil
}
