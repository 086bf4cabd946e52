package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
)

// crowded is how many blocks go to others before the user has enough of it.
const crowded = 4

// spedUp sends a transaction that a crowd then outbids by half as much again as
// it offers, and has it sped up when it has waited for some blocks.
func (s *show) spedUp(ctx context.Context, l *ledger, r protocol.Review) (protocol.Order, error) {
	defer l.chain.Resume()
	defer func() { _ = l.chain.AskTip(nil) }() // the usual one is never refused
	f := newFollower()
	o, err := s.sentInAPause(ctx, l, f, r)
	if err != nil {
		return o, err
	}
	if err := s.crowd(ctx, l, f); err != nil {
		return o, err
	}
	s.resume(l)
	s.out.Fact("speed-up", "swap.speedup, fast, under the ceiling that was accepted")
	o, err = ask[protocol.Order](ctx, s.port, "swap.speedup", protocol.SpeedupParams{
		Request: newRequest(), Order: o.ID, Digest: o.Digest, Tier: protocol.TierFast,
	})
	if err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

// crowd has blocks made that take only transactions of others, who tip twice as
// much, each as long after the last as blocks are here.
func (s *show) crowd(ctx context.Context, l *ledger, f *follower) error {
	a, err := l.audited(ctx)
	if err != nil {
		return err
	}
	if len(a.signed) != 1 {
		return fmt.Errorf("the node was handed %s, want 1", count(len(a.signed), "transaction"))
	}
	ours := a.signed[0]
	tip := new(big.Int).Lsh(ours.GasTipCap(), 1)
	if err := l.chain.AskTip(tip); err != nil {
		return err
	}
	s.out.Fact("crowd", fmt.Sprintf("others now tip %s, and blocks take nothing for less; ours offers %s", gwei(tip), gwei(ours.GasTipCap())))
	for range crowded {
		select {
		case <-time.After(s.period):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.crowdedBlock(ctx, l, f, ours); err != nil {
			return err
		}
	}
	return nil
}

// crowdedBlock makes one with a transaction of somebody else's.
func (s *show) crowdedBlock(ctx context.Context, l *ledger, f *follower, ours *signed) error {
	if err := l.chain.Fund(ctx, s.box.Accounts()[0].Address, common.Address{}, big.NewInt(1)); err != nil {
		return err
	}
	block, err := l.chain.Client().BlockByNumber(ctx, l.chain.Head().Number)
	if err != nil {
		return err
	}
	_, waits, err := l.chain.Client().TransactionByHash(ctx, ours.Hash())
	switch {
	case err != nil:
		return err
	case !waits:
		return errors.New("the transaction was mined for less than blocks ask")
	}
	s.out.Fact(seconds(time.Since(f.began)), fmt.Sprintf("block %d: %s of others; ours waits in the node's pool", block.NumberU64(), count(len(block.Transactions()), "transaction")))
	return nil
}

// gwei writes a price of gas.
func gwei(wei *big.Int) string { return amount.Decimal(wei, 9, 3) + " gwei" }
