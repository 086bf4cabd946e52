package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/dex"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

const (
	checkTurns   = 2000
	checksInTurn = 10 // timed together, as one call takes little more than reading the clock

	planChain = 8453
	planFloor = 368_000_000_000_000_000 // base units that the calldata enforces
)

// planVector is the calldata of a plan, made by the vendor's SDK.
//
//go:embed testdata/plan.json
var planVector []byte

type plan struct {
	Account     common.Address `json:"account"`
	FeeReceiver common.Address `json:"feeReceiver"`
	TokenOut    common.Address `json:"tokenOut"`
	Approve     hexutil.Bytes  `json:"approve"`
	Swap        hexutil.Bytes  `json:"swap"`
	Deadline    int64          `json:"deadline"` // of the swap
}

// planned is everything that is checked before a signature, for the longest kind of plan:
// approve the token for Permit2, permit it to the router, swap.
type planned struct {
	terms    swap.Terms
	steps    []swap.Step
	provider *dex.Provider
}

func readPlan() (planned, error) {
	var v plan
	if err := json.Unmarshal(planVector, &v); err != nil {
		return planned{}, err
	}
	p, err := readPermit()
	if err != nil {
		return planned{}, err
	}
	provider, err := dex.New(dex.Config{Base: "https://dex.invalid/v1"})
	if err != nil {
		return planned{}, err
	}
	typed, grant := p.typed(), p.grant()
	permit2 := common.HexToAddress(p.Domain.VerifyingContract)
	call := func(to common.Address, data []byte) *chain.Call {
		return &chain.Call{ChainID: planChain, From: v.Account, To: to, Value: new(big.Int), Data: data}
	}
	return planned{
		terms: swap.Terms{
			Provider: swap.DEX, Account: v.Account, SrcChain: planChain, TokenIn: grant.Token, AmountIn: grant.Amount,
			DstChain: planChain, TokenOut: v.TokenOut, Recipient: v.Account, MinOut: big.NewInt(planFloor), Deadline: time.Unix(v.Deadline, 0).UTC(),
			RefundTo: v.Account, FeeBps: 40, FeeReceiver: v.FeeReceiver, GasCeiling: big.NewInt(1e16),
		},
		steps: []swap.Step{
			{Kind: swap.CallStep, Call: call(grant.Token, v.Approve), Effect: swap.Effect{ // made by package swap, not by a provider
				Kind: swap.Approve, Chain: planChain, Target: grant.Token,
				Approves: []swap.Approval{{Token: grant.Token, Spender: permit2, Amount: grant.Amount}},
			}},
			{Kind: swap.TypedStep, TypedData: &typed},
			{Kind: swap.DeferredStep, Call: call(grant.Spender, v.Swap)},
		},
		provider: provider,
	}, nil
}

// decode decodes the effects of the provider's steps from their bytes.
func (p planned) decode() ([]swap.Effect, error) {
	effects := []swap.Effect{p.steps[0].Effect}
	for i, s := range p.steps[1:] {
		f, err := p.provider.Decode(p.terms, s)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+2, err)
		}
		effects = append(effects, f)
	}
	return effects, nil
}

// measureCheck times the comparison of decoded effects with the terms.
func measureCheck(ctx context.Context, l *lab) (sides, error) {
	p, err := readPlan()
	if err != nil {
		return nil, err
	}
	effects, err := p.decode()
	if err != nil {
		return nil, err
	}
	pins := p.provider.Pins()
	return ours(timeBatches(ctx, l.sampleCount(checkTurns), func() error { return swap.Check(p.terms, effects, pins) }))
}

// measureDecode times the decoding of the effects, which comes before.
func measureDecode(ctx context.Context, l *lab) (sides, error) {
	p, err := readPlan()
	if err != nil {
		return nil, err
	}
	return ours(timeBatches(ctx, l.sampleCount(checkTurns), func() error { _, err := p.decode(); return err }))
}

// timeBatches times f, several calls at a time, after one round of warm-up.
func timeBatches(ctx context.Context, turns int, f func() error) (took []float64, err error) {
	for turn := range 1 + turns {
		began := time.Now()
		for range checksInTurn {
			if err := f(); err != nil {
				return nil, err
			}
		}
		if turn > 0 {
			took = append(took, float64(time.Since(began))/checksInTurn)
		}
	}
	return took, ctx.Err()
}
