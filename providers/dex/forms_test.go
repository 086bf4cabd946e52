package dex

import (
	"math/big"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A Form is a kind of program that spends exactly the terms' input and involves a token
// whose transfers may run any code.
type Form struct {
	Name    string
	Refused swap.Code // "" = accepted, and then its minimum must hold
	Native  bool      // the output is the native coin
	First   bool      // that token is the input; otherwise it is in the middle of the route
	list    func(t swap.Terms, in, mid, out common.Address) []op
}

// Program returns the calldata of a form.
func (f Form) Program(t *testing.T, terms swap.Terms, mid common.Address) []byte {
	t.Helper()
	d, err := deploymentOn(terms.SrcChain)
	if err != nil {
		t.Fatal(err)
	}
	return program(t, terms.Deadline.Unix(), f.list(terms, d.pooled(terms.TokenIn), mid, d.pooled(terms.TokenOut)))
}

// Checked decodes calldata and checks its effect against the terms.
func Checked(terms swap.Terms, data []byte) (swap.Effect, error) { return checked(terms, data) }

// SweepTo is a router call with which anybody takes what the router holds.
func SweepTo(t *testing.T, to, token common.Address) []byte {
	return SweepWithMin(t, to, token, common.Big0)
}

// SweepWithMin is SweepTo with a minimum.
func SweepWithMin(t *testing.T, to, token common.Address, min *big.Int) []byte {
	return program(t, 1<<40, ops(op{0x04, 0, []any{token, to, min}}))
}

// The commands with a minimum of up to 256 bits.
func v2For(to common.Address, in, min *big.Int, fromUser bool, path ...common.Address) op {
	return op{0x08, 0, []any{to, in, min, path, fromUser}}
}
func v3For(to common.Address, in, min *big.Int, fromUser bool, path ...common.Address) op {
	o := v3Op(to, in, 0, fromUser, path...)
	o.args[2] = min
	return o
}
func sweepFor(token common.Address, min *big.Int) op {
	return op{0x04, 0, []any{token, msgSender, min}}
}
func unwrapFor(to common.Address, min *big.Int) op { return op{0x0c, 0, []any{to, min}} }

// halves returns the two halves of an amount.
func halves(n *big.Int) (first, rest *big.Int) {
	first = new(big.Int).Rsh(n, 1)
	return first, new(big.Int).Sub(n, first)
}

// Forms are all ways in which the supported commands can take a route over a token that is
// neither end, and those over one pool whose input is such a token.
var Forms = []Form{
	{"V2 over two pools to the account", swap.NotAsAccepted, false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v2For(msgSender, t.AmountIn, t.MinOut, true, in, mid, out))
	}},
	{"half by V2 over two pools to the account", swap.NotAsAccepted, false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		a, b := halves(t.AmountIn)
		minimum, rest := halves(t.MinOut)
		return ops(v3For(msgSender, a, minimum, true, in, mid, out), v2For(msgSender, b, rest, true, in, mid, out))
	}},
	{"V3, then V2 over one pool to the account", swap.NotAsAccepted, false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(addressThis, t.AmountIn, common.Big0, true, in, mid), v2For(msgSender, contractBalance, t.MinOut, false, mid, out))
	}},
	{"V2 over two pools, swept", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, mid, out), sweepFor(out, t.MinOut))
	}},
	{"V2 over two pools, a fee, swept", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, mid, out), portionOp(out, testMaker, 20), sweepFor(out, t.MinOut))
	}},
	{"V2 over two pools, unwrapped", "", true, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, mid, out), unwrapFor(msgSender, t.MinOut))
	}},
	{"V2 over two pools, unwrapped, a fee, swept", "", true, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, mid, out), unwrapFor(addressThis, common.Big0), portionOp(nativeCoin, testMaker, 20), sweepFor(nativeCoin, t.MinOut))
	}},
	{"V3 over two pools to the account", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(msgSender, t.AmountIn, t.MinOut, true, in, mid, out))
	}},
	{"V3 over two pools, swept", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(addressThis, t.AmountIn, common.Big0, true, in, mid, out), sweepFor(out, t.MinOut))
	}},
	{"V3 over two pools, a fee, unwrapped", "", true, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(addressThis, t.AmountIn, common.Big0, true, in, mid, out), portionOp(out, testMaker, 20), unwrapFor(msgSender, t.MinOut))
	}},
	{"V2, then V3 to the account", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, mid), v3For(msgSender, contractBalance, t.MinOut, false, mid, out))
	}},
	{"V3, then V2, swept", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(addressThis, t.AmountIn, common.Big0, true, in, mid), v2For(addressThis, contractBalance, common.Big0, false, mid, out), sweepFor(out, t.MinOut))
	}},
	{"V3 to the pool of V2, swept", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(pairs.of(mid, out), t.AmountIn, common.Big0, true, in, mid), v2For(addressThis, contractBalance, common.Big0, false, mid, out), sweepFor(out, t.MinOut))
	}},
	{"V3 to the pool of V2, a fee, unwrapped", "", true, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(pairs.of(mid, out), t.AmountIn, common.Big0, true, in, mid), v2For(addressThis, common.Big0, common.Big0, false, mid, out), portionOp(out, testMaker, 20), unwrapFor(msgSender, t.MinOut))
	}},
	{"V3 to the pool of V2, to the account", swap.NotAsAccepted, false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		return ops(v3For(pairs.of(mid, out), t.AmountIn, common.Big0, true, in, mid), v2For(msgSender, contractBalance, t.MinOut, false, mid, out))
	}},
	{"two halves by V3 to the account", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		a, b := halves(t.AmountIn)
		minimum, rest := halves(t.MinOut)
		return ops(v3For(msgSender, a, minimum, true, in, mid, out), v3For(msgSender, b, rest, true, in, mid, out))
	}},
	{"two halves by V2 and V3, swept", "", false, false, func(t swap.Terms, in, mid, out common.Address) []op {
		a, b := halves(t.AmountIn)
		return ops(v2For(addressThis, a, common.Big0, true, in, mid, out), v3For(addressThis, b, common.Big0, true, in, mid, out), sweepFor(out, t.MinOut))
	}},
	{"the input by V2 to the account", "", false, true, func(t swap.Terms, in, _, out common.Address) []op {
		return ops(v2For(msgSender, t.AmountIn, t.MinOut, true, in, out))
	}},
	{"the input by V2, swept", "", false, true, func(t swap.Terms, in, _, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, out), sweepFor(out, t.MinOut))
	}},
	{"the input by V3 to the account", "", false, true, func(t swap.Terms, in, _, out common.Address) []op {
		return ops(v3For(msgSender, t.AmountIn, t.MinOut, true, in, out))
	}},
	{"halves of the input by V2 and V3 to the account", "", false, true, func(t swap.Terms, in, _, out common.Address) []op {
		a, b := halves(t.AmountIn)
		minimum, rest := halves(t.MinOut)
		return ops(v2For(msgSender, a, minimum, true, in, out), v3For(msgSender, b, rest, true, in, out))
	}},
	{"the input by V2, unwrapped", "", true, true, func(t swap.Terms, in, _, out common.Address) []op {
		return ops(v2For(addressThis, t.AmountIn, common.Big0, true, in, out), unwrapFor(msgSender, t.MinOut))
	}},
}
