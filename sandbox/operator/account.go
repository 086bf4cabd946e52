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

// An Account sends transactions on every chain. Its methods may be called concurrently.
// Its key is public.
type Account struct {
	Address common.Address
	Key     *ecdsa.PrivateKey

	sending sync.Mutex // one nonce at a time
}

// NewAccount returns the account of a key.
func NewAccount(key *ecdsa.PrivateKey) *Account {
	return &Account{Address: crypto.PubkeyToAddress(key.PublicKey), Key: key}
}

// A Call is a transaction to be sent.
type Call struct {
	To    common.Address
	Value *big.Int // wei; nil = 0
	Data  []byte
	Gas   uint64 // 0 = estimate; a call that would revert is then not sent
}

// minTip is the smallest tip of an account, in wei per gas.
var minTip = big.NewInt(2e9)

// Send signs a call and submits it, without waiting for a block. If Gas is 0 and the call
// would revert, it returns an error and sends nothing.
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
	tip := c.MinTip()
	if tip.Cmp(minTip) < 0 {
		tip = minTip
	}
	var hash common.Hash
	// A nonce read in a block that is replaced meanwhile would leave the transaction
	// pending forever.
	err := c.WithMiningPaused(func() error {
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
