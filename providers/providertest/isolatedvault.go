package providertest

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// An IsolatedVault makes isolated accounts and signs for those that were taken.
type IsolatedVault struct {
	mu    sync.Mutex
	keys  []*ecdsa.PrivateKey
	owner map[common.Address]common.Address // of those that were taken
}

var errNotTaken = errors.New("no isolated account that was taken")

// NextIsolated implements engine.IsolatedVault.
func (v *IsolatedVault) NextIsolated(_ context.Context, _ common.Address, from uint32) (uint32, common.Address, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := max(from, uint32(len(v.owner)))
	for uint32(len(v.keys)) <= n {
		key, err := crypto.GenerateKey()
		if err != nil {
			return 0, common.Address{}, err
		}
		v.keys = append(v.keys, key)
	}
	return n, crypto.PubkeyToAddress(v.keys[n].PublicKey), nil
}

// TakeIsolated implements engine.IsolatedVault.
func (v *IsolatedVault) TakeIsolated(_ context.Context, owner common.Address, number uint32) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.owner == nil {
		v.owner = map[common.Address]common.Address{}
	}
	if int(number) != len(v.owner) || len(v.keys) <= int(number) {
		return errNotTaken
	}
	v.owner[crypto.PubkeyToAddress(v.keys[number].PublicKey)] = owner
	return nil
}

// OwnerOf implements engine.IsolatedVault.
func (v *IsolatedVault) OwnerOf(_ context.Context, isolated common.Address) (common.Address, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if owner, ok := v.owner[isolated]; ok {
		return owner, nil
	}
	return common.Address{}, errNotTaken
}

// KeyOf returns the key of an isolated account that was taken.
func (v *IsolatedVault) KeyOf(isolated common.Address) (*ecdsa.PrivateKey, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, key := range v.keys {
		if a := crypto.PubkeyToAddress(key.PublicKey); a == isolated && v.owner[a] != (common.Address{}) {
			return key, nil
		}
	}
	return nil, errNotTaken
}
