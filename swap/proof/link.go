package proof

import (
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// Linked returns what a transaction that names the order brought the awaited account: the
// payments, and their sum. Of a token that is what arrived less what left in the same
// transaction. ok is false if the transaction does not name the order, or brought nothing.
func (x AwaitedPayment) Linked(ev chain.Evidence) (paid []Payment, sum *big.Int, ok bool) {
	l := x.Link
	switch {
	case l == nil:
		return nil, nil, false
	case l.Relay != nil:
		return x.relayed(ev)
	case ev.InputEnd != l.InputEnd:
		return nil, nil, false
	case x.Token != chain.Native:
		paid, sum = TokenPayments(x.Arrival, ev), swap.NetOf(chain.Transfers(ev.Logs), x.To)[x.Token]
	case ev.To == x.To && ev.InputSize == common.HashLength:
		paid, sum = []Payment{{From: ev.From, Amount: ev.Value, Ref: CoinRef(x.Arrival, ev)}}, ev.Value
	default:
		paid, sum = coinPayments(x.Arrival, ev)
	}
	return paid, sum, len(paid) > 0 && sum != nil && sum.Sign() > 0
}

// TokenPayments returns the transfers of a transaction of the awaited token to the awaited account.
func TokenPayments(x swap.Arrival, ev chain.Evidence) (all []Payment) {
	for _, place := range TransfersTo(ev.Logs, x.Token, x.To) {
		m := chain.Transfers([]*types.Log{ev.Logs[place]})[0]
		if m.Amount.Sign() > 0 && m.From != x.To {
			all = append(all, Payment{From: m.From, Amount: m.Amount, Ref: swap.LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: place}})
		}
	}
	return all
}

// CoinRef refers to the value that a transaction sent to the awaited account.
func CoinRef(x swap.Arrival, ev chain.Evidence) swap.LogRef {
	return swap.LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: -1, Block: ev.Block, Account: x.To}
}

// coinPayments returns the payments of the coin to the awaited account that built-in contracts log.
func coinPayments(x swap.Arrival, ev chain.Evidence) (all []Payment, sum *big.Int) {
	sum = new(big.Int)
	for i, l := range ev.Logs {
		if l == nil || len(l.Topics) != 1 || l.Topics[0] != x.Link.CoinPaid || len(l.Data) != 2*common.HashLength || !slices.Contains(x.Link.Payers, l.Address) {
			continue
		}
		if to := common.Hash(l.Data[:common.HashLength]); to != TopicOf(x.To) {
			continue
		}
		p := Payment{From: l.Address, Amount: new(big.Int).SetBytes(l.Data[common.HashLength:]), Ref: swap.LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: i, Block: ev.Block, Account: x.To}}
		all, sum = append(all, p), sum.Add(sum, p.Amount)
	}
	return all, sum
}
