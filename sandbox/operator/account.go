package operator

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// An Account pays on every chain. Its methods may be called concurrently; the
// key is public.
type Account struct {
	Address common.Address
	Key     *ecdsa.PrivateKey

	sending sync.Mutex // one nonce at a time
}

// NewAccount is the account of a key.
func NewAccount(key *ecdsa.PrivateKey) *Account {
	return &Account{Address: crypto.PubkeyToAddress(key.PublicKey), Key: key}
}

// A Call is a transaction to be sent.
type Call struct {
	To    common.Address
	Value *big.Int // wei; nil = 0
	Data  []byte
	Gas   uint64 // 0 = estimated: a call that would revert is not sent then
}

// leastTip is what an account tips where blocks ask no more, in wei per gas.
var leastTip = big.NewInt(2e9)

// Send signs a call and hands it to the chain. It does not wait for a block. A
// call without gas that would revert is an error and nothing was sent.
func (a *Account) Send(ctx context.Context, c Chain, call Call) (common.Hash, error) {
	if call.Value == nil {
		call.Value = new(big.Int)
	}
	if call.Gas == 0 {
		estimate, err := c.Client.EstimateGas(ctx, ethereum.CallMsg{From: a.Address, To: &call.To, Value: call.Value, Data: call.Data})
		if err != nil {
			return common.Hash{}, fmt.Errorf("chain %d: call of %s: %w", c.ID, call.To, err)
		}
		call.Gas = estimate + estimate/2
	}
	a.sending.Lock()
	defer a.sending.Unlock()
	tip := c.Tip()
	if tip.Cmp(leastTip) < 0 {
		tip = leastTip
	}
	var hash common.Hash
	// The nonce of a block that is abandoned meanwhile would wait for ever.
	err := c.Still(func() error {
		tx, err := a.sign(ctx, c, call, tip)
		if err != nil {
			return err
		}
		hash = tx.Hash()
		return c.Client.SendTransaction(ctx, tx)
	})
	return hash, err
}

func (a *Account) sign(ctx context.Context, c Chain, call Call, tip *big.Int) (*types.Transaction, error) {
	nonce, err := c.Client.PendingNonceAt(ctx, a.Address)
	if err != nil {
		return nil, err
	}
	head, err := c.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return nil, err
	}
	id := new(big.Int).SetUint64(c.ID)
	return types.SignNewTx(a.Key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, To: &call.To, Value: call.Value, Data: call.Data, Gas: call.Gas,
		GasTipCap: tip, GasFeeCap: new(big.Int).Add(tip, new(big.Int).Mul(big.NewInt(2), head.BaseFee)),
	})
}
