package dex

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A delta is what the pool manager and the router owe each other of a currency. The manager
// keeps one for each address: hooks and tokens can add to the router's by paying for it
// (settleFor), and cannot take from it. A delta of zero is not stored.
type delta struct {
	kind deltaKind
	// n is, of a debt, the most that is owed, which is what the swaps take by their stated
	// amounts; of a credit, the least that the swaps' own minimums leave of it.
	n *big.Int
	// shared: a fee was taken from the credit, and n no longer counts.
	shared bool
}

type deltaKind int

const (
	debt         deltaKind = iota // of swaps whose input is yet to be settled
	settledAhead                  // settled before the swap that is to use all of it
	credit                        // what swaps paid
)

// An unlockedMachine machine is one whose router has the pool manager unlocked. Nobody else can
// unlock the manager then, nor enter the router.
type unlockedMachine struct {
	*machine
	deltas map[common.Address]*delta // by currency
}

// swap runs a swap of exact input along currencies. Its minimum is compared with what the
// last pool, after its hook, owes the router for this very call.
func (u *unlockedMachine) swap(route []common.Address, v values) error {
	if u.handedOver {
		return refuse(swap.Undecodable, "commands", "a swap after the output was shared out")
	}
	pools := make([]common.Address, len(route))
	for i, currency := range route {
		if currency != nativeCoin && !u.pair.isToken(currency) {
			return refuse(swap.Undecodable, "path", "%s is no token of a pool", currency)
		}
		pools[i] = u.pair.pooled(currency)
	}
	if err := u.checkPath(pools); err != nil { // it takes both forms of the coin for one token
		return err
	}
	first, last := route[0], route[len(route)-1]
	if err := u.owe(first, v["amountIn"].(*big.Int)); err != nil {
		return err
	}
	d := u.deltas[last]
	if d == nil {
		d = &delta{kind: credit, n: new(big.Int)}
		u.deltas[last] = d
	}
	if d.kind != credit {
		return refuse(swap.Undecodable, "path", "%s is paid in and out", last)
	}
	d.n.Add(d.n, v["amountOutMinimum"].(*big.Int))
	u.swaps++
	return nil
}

// owe records a swap's input. Zero means all that was settled ahead, where it is stated.
func (u *unlockedMachine) owe(currency common.Address, n *big.Int) error {
	switch d := u.deltas[currency]; {
	case n.Sign() == 0 && d != nil && d.kind == settledAhead:
		delete(u.deltas, currency)
	case n.Sign() == 0:
		return refuse(swap.NotAsAccepted, "amountIn", "the amount of a swap is not written down")
	case d == nil:
		u.deltas[currency] = &delta{kind: debt, n: new(big.Int).Set(n)}
	case d.kind == debt:
		d.n.Add(d.n, n)
	default:
		return refuse(swap.Undecodable, "amountIn", "a swap takes a part of what was settled or paid before")
	}
	return nil
}

// settle pays the pool manager: after the swaps all that they took, for which zero stands;
// or, before a swap, the amount that it is to use.
func (u *unlockedMachine) settle(currency common.Address, n *big.Int, fromUser bool) error {
	d := u.deltas[currency]
	switch {
	case d == nil && n.Sign() != 0:
		u.deltas[currency] = &delta{kind: settledAhead}
	case d != nil && d.kind == debt && (n.Sign() == 0 || n.Cmp(d.n) == 0):
		n = d.n
		delete(u.deltas, currency)
	default:
		return refuse(swap.NotAsAccepted, "amountIn", "what is settled of %s is not what the swaps take", currency)
	}
	// The router pays the native coin from the value it got, whoever is named as payer.
	return u.pay(currency, leg{in: n, fromUser: fromUser && currency != nativeCoin})
}

// settleAll pays what the swaps took, from the account and at most max.
func (u *unlockedMachine) settleAll(currency common.Address, max *big.Int) error {
	if d := u.deltas[currency]; d == nil || d.kind != debt || max.Cmp(d.n) < 0 {
		return refuse(swap.NotAsAccepted, "amountIn", "at most %s of %s is settled, which is not what the swaps take", max, currency)
	}
	return u.settle(currency, new(big.Int), true)
}

// credited returns what swaps paid of a currency, and refuses if that is nothing.
func (u *unlockedMachine) credited(currency common.Address) (*delta, error) {
	if d := u.deltas[currency]; d != nil && d.kind == credit {
		return d, nil
	}
	return nil, refuse(swap.Undecodable, "actions", "there is no %s to be taken at this point", currency)
}

// take takes all of a credit. A stated amount could leave a rest, or exceed the credit.
func (u *unlockedMachine) take(currency, to common.Address, n *big.Int) error {
	d, err := u.credited(currency)
	switch {
	case err != nil:
		return err
	case n.Sign() != 0:
		return refuse(swap.Undecodable, "amount", "a part of the output is taken, and not all of it")
	case u.destinationOf(to) == toRouter:
		delete(u.deltas, currency)
		u.holding(currency).some = true
		return nil
	case u.destinationOf(to) != toRecipient:
		return u.wrongRecipient(currency, to)
	case d.shared:
		return refuse(swap.NotAsAccepted, "minOut", "no minimum is enforced of what the fee leaves")
	}
	return u.receive(currency, d, d.n)
}

// takeAll takes all of a credit to the account, at least min. What others may add to the
// credit arrives with it, so no payment counts twice.
func (u *unlockedMachine) takeAll(currency common.Address, min *big.Int) error {
	d, err := u.credited(currency)
	switch {
	case err != nil:
		return err
	case u.destinationOf(msgSender) != toRecipient:
		return u.wrongRecipient(currency, msgSender)
	case !d.shared && min.Cmp(d.n) < 0:
		min = d.n
	}
	return u.receive(currency, d, min)
}

// receive records the recipient's part, of which at least min is enforced.
func (u *unlockedMachine) receive(currency common.Address, d *delta, min *big.Int) error {
	if currency != u.t.TokenOut {
		return refuse(swap.NotAsAccepted, "recipient", "%s is handed over, which is not the output token", currency)
	}
	delete(u.deltas, currency)
	u.minOut.Add(u.minOut, min)
	u.direct = u.direct || !d.shared
	return nil
}

// takePortion takes a fee from a credit that is the whole output: the router holds no other
// part of it, and no swap may follow.
func (u *unlockedMachine) takePortion(currency, to common.Address, bips *big.Int) error {
	d, err := u.credited(currency)
	if err != nil {
		return err
	}
	for _, form := range []common.Address{u.t.TokenOut, u.out()} {
		if other := u.deltas[form]; !u.holding(form).empty() || other != nil && other != d {
			return refuse(swap.NotAsAccepted, "fee", "a fee is taken where the output is only in part")
		}
	}
	d.shared = true
	return u.fee(currency, to, bips)
}
