package main

import (
	"context"
	"errors"
	"slices"

	"swapkeep/keys"
	"swapkeep/swap"
	"swapkeep/swap/engine"

	"github.com/ethereum/go-ethereum/common"
)

// isolated is the vault's isolated accounts as orders use them.
type isolated struct{ *keys.Vault }

// NextIsolated implements [engine.IsolatedVault].
func (v isolated) NextIsolated(ctx context.Context, owner common.Address, from uint32) (uint32, common.Address, error) {
	i, err := v.Vault.NextIsolated(ctx, owner, from)
	if errors.Is(err, keys.ErrLocked) {
		err = &swap.Refusal{Code: swap.SessionRequired, Reason: "unlock the wallet first: on this network the call is made from an account of its own, which needs the keys", Err: err}
	}
	return i.Number, i.Address, err
}

// TakeIsolated implements [engine.IsolatedVault].
func (v isolated) TakeIsolated(ctx context.Context, owner common.Address, number uint32) error {
	err := v.Vault.TakeIsolated(ctx, owner, number)
	if errors.Is(err, keys.ErrIsolatedTaken) {
		return engine.ErrIsolatedTaken
	}
	return err
}

// OwnerOf implements [engine.IsolatedVault].
func (v isolated) OwnerOf(ctx context.Context, at common.Address) (common.Address, error) {
	all, err := v.TakenIsolated(ctx)
	if err != nil {
		return common.Address{}, err
	}
	i := slices.IndexFunc(all, func(x keys.Isolated) bool { return x.Address == at })
	if i < 0 {
		return common.Address{}, keys.ErrUnknownAccount
	}
	return all[i].Owner, nil
}

func addressesOf(all []keys.Isolated) (addresses []common.Address) {
	for _, i := range all {
		addresses = append(addresses, i.Address)
	}
	return addresses
}
