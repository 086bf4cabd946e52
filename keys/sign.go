package keys

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/internal/zeroize"
)

// signedKinds are the supported transaction types. Blobs are not needed here, and a
// set-code transaction would hand the whole account to a contract.
var signedKinds = []uint8{types.LegacyTxType, types.AccessListTxType, types.DynamicFeeTxType}

// SignTx signs tx for chainID and resets the auto-lock timer. It checks only the
// transaction's type and chain id; the caller checks what the transaction does. It needs
// no keychain and may be repeated: the same transaction gives the same signature (RFC
// 6979). Errors: [ErrLocked], also for an account of a listed wallet that did not open,
// so that callers wait for an unlock; [ErrUnknownAccount], [ErrChainID],
// [ErrTransactionKind].
func (v *Vault) SignTx(ctx context.Context, from common.Address, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.Contains(signedKinds, tx.Type()) {
		return nil, fmt.Errorf("%w: kind %d", ErrTransactionKind, tx.Type())
	}
	if chainID == nil || chainID.Sign() <= 0 || !namesChain(tx, chainID) {
		return nil, ErrChainID
	}
	signer := types.LatestSignerForChainID(chainID)
	signature, err := v.sign(from, signer.Hash(tx).Bytes())
	if err != nil {
		return nil, err
	}
	return tx.WithSignature(signer, signature)
}

// namesChain reports whether tx is for chainID. Only an unsigned legacy transaction
// carries no chain id; its signature is bound to the chain by EIP-155.
func namesChain(tx *types.Transaction, chainID *big.Int) bool {
	if tx.Type() == types.LegacyTxType {
		v, r, s := tx.RawSignatureValues()
		return zero(v) && zero(r) && zero(s)
	}
	return tx.ChainId().Cmp(chainID) == 0
}

func zero(n *big.Int) bool { return n == nil || n.Sign() == 0 }

// SignTypedData signs an EIP-712 message, returns 65 bytes with v as 27 or 28, and resets
// the auto-lock timer. The domain must contain chainId and verifyingContract and its type
// must hash both; otherwise the signature would be valid on every chain or for every
// contract. The caller checks the message. Errors: [ErrLocked] and [ErrUnknownAccount] as
// for SignTx, [ErrTypedData].
func (v *Vault) SignTypedData(ctx context.Context, from common.Address, d apitypes.TypedData) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkDomain(d); err != nil {
		return nil, err
	}
	hash, _, err := apitypes.TypedDataAndHash(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTypedData, err)
	}
	signature, err := v.sign(from, hash)
	if err != nil {
		return nil, err
	}
	signature[64] += 27
	return signature, nil
}

// boundFields are the domain fields that bind a signature to one chain and one contract.
var boundFields = []apitypes.Type{
	{Name: "chainId", Type: "uint256"},
	{Name: "verifyingContract", Type: "address"},
}

func checkDomain(d apitypes.TypedData) error {
	for _, field := range boundFields {
		if !slices.Contains(d.Types["EIP712Domain"], field) {
			return fmt.Errorf("%w: the domain type lacks %s", ErrTypedData, field.Name)
		}
	}
	switch id, contract := (*big.Int)(d.Domain.ChainId), d.Domain.VerifyingContract; {
	case zero(id) || id.Sign() < 0:
		return fmt.Errorf("%w: the domain lacks chainId", ErrTypedData)
	case !common.IsHexAddress(contract) || common.HexToAddress(contract) == (common.Address{}):
		return fmt.Errorf("%w: the domain lacks verifyingContract", ErrTypedData)
	case d.PrimaryType == "EIP712Domain" || d.PrimaryType == "":
		return fmt.Errorf("%w: no message", ErrTypedData)
	}
	return nil
}

// sign signs a hash with one account's key. It holds v.mu so that Lock cannot wipe the
// key meanwhile.
func (v *Vault) sign(from common.Address, hash []byte) (signature []byte, err error) {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	key, err := v.unlockedKey(from)
	if err != nil {
		return nil, err
	}
	v.idle.last = v.options.Clock.Now()
	zeroize.Do(func() { signature, err = signHash(key, hash) })
	return signature, err
}

// unlockedKey returns an account's key. The caller holds v.mu while it uses the key.
func (v *Vault) unlockedKey(account common.Address) (secret, error) {
	if v.unlocked == nil || v.idled() {
		return nil, ErrLocked
	}
	if key, ok := v.unlocked.keys[account]; ok {
		return key, nil
	}
	// An index has no addresses of isolated accounts: this may be one of a wallet that did
	// not open.
	if v.unlocked.failedAccounts[account] || len(v.unlocked.failedIsolated) > 0 {
		return nil, fmt.Errorf("%w: the wallet of this account did not open", ErrLocked)
	}
	return nil, ErrUnknownAccount
}
