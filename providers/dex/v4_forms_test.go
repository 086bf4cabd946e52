package dex

import (
	"math/big"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// V4Forms are all ways in which the supported actions can take a route over a token that is
// neither end, and those over one pool whose input is such a token, through pools with a
// hook. Without a hook only those are listed in which the token is transferred: between
// V4's own pools nothing is.
func V4Forms(hook common.Address) []Form {
	through := func(in, min *big.Int, route ...common.Address) act {
		s := v4Path(in, min, route...)
		for i := range s.Path {
			s.Path[i].Hooks = hook
		}
		return act{0x07, []any{s}}
	}
	type tokens = common.Address
	list := []Form{
		{"V4, then V3 to the account", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid), settles(in, open, true), takes(mid, addressThis, 0)), v3For(msgSender, contractBalance, t.MinOut, false, mid, out))
		}},
		{"V4, then V2, swept", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid), settles(in, open, true), takes(mid, addressThis, 0)), v2For(addressThis, contractBalance, open, false, mid, out), sweepFor(out, t.MinOut))
		}},
		{"V3, then V4 to the account", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v3For(addressThis, t.AmountIn, open, true, in, mid), v4Op(settles(mid, contractBalance, false), through(open, t.MinOut, mid, out), takes(out, msgSender, 0)))
		}},
		{"V2, then V4, swept", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v2For(addressThis, t.AmountIn, open, true, in, mid), v4Op(settles(mid, contractBalance, false), through(open, open, mid, out), takes(out, addressThis, 0)), sweepFor(out, t.MinOut))
		}},
		{"the input by V4 to the account", "", false, true, func(t swap.Terms, in, _, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, t.MinOut, in, out), settles(in, open, true), takes(out, msgSender, 0)))
		}},
		{"the input settled ahead, taken whole", "", false, true, func(t swap.Terms, in, _, out tokens) []op {
			return ops(v4Op(settles(in, t.AmountIn, true), through(open, open, in, out), takesWhole(out, t.MinOut)))
		}},
		{"the input by V4, unwrapped", "", true, true, func(t swap.Terms, in, _, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, out), settles(in, open, true), takes(out, addressThis, 0)), unwrapFor(msgSender, t.MinOut))
		}},
		{"halves of the input by V2 and V4 to the account", "", false, true, func(t swap.Terms, in, _, out tokens) []op {
			a, b := halves(t.AmountIn)
			minimum, rest := halves(t.MinOut)
			return ops(v2For(msgSender, a, minimum, true, in, out), v4Op(through(b, rest, in, out), settles(in, open, true), takes(out, msgSender, 0)))
		}},
	}
	if hook == (common.Address{}) {
		return list
	}
	return slices.Concat(list, []Form{
		{"V4 over two pools to the account", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, t.MinOut, in, mid, out), settles(in, open, true), takes(out, msgSender, 0)))
		}},
		{"V4 over two pools, taken before it is settled", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, t.MinOut, in, mid, out), takes(out, msgSender, 0), settles(in, open, true)))
		}},
		{"V4 over two pools, settled and taken whole", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid, out), settlesAll(in, t.AmountIn), takesWhole(out, t.MinOut)))
		}},
		{"V4 over two pools, a fee of the credit", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid, out), settlesAll(in, t.AmountIn), takesPortion(out, testMaker, 20), takesWhole(out, t.MinOut)))
		}},
		{"V4 over two pools, swept", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid, out), settles(in, open, true), takes(out, addressThis, 0)), sweepFor(out, t.MinOut))
		}},
		{"V4 over two pools, a fee, swept", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid, out), settles(in, open, true), takes(out, addressThis, 0)), portionOp(out, testMaker, 20), sweepFor(out, t.MinOut))
		}},
		{"V4 over two pools, a fee, unwrapped", "", true, false, func(t swap.Terms, in, mid, out tokens) []op {
			return ops(v4Op(through(t.AmountIn, open, in, mid, out), settles(in, open, true), takes(out, addressThis, 0)), portionOp(out, testMaker, 20), unwrapFor(msgSender, t.MinOut))
		}},
		{"two halves in one unlocking", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			a, b := halves(t.AmountIn)
			minimum := new(big.Int).Div(new(big.Int).Mul(t.MinOut, big.NewInt(7)), big.NewInt(10)) // the second one gets a worse price
			rest := new(big.Int).Sub(t.MinOut, minimum)
			return ops(v4Op(through(a, minimum, in, mid, out), through(b, rest, in, mid, out), settles(in, open, true), takes(out, msgSender, 0)))
		}},
		{"two halves by V4 and V3 to the account", "", false, false, func(t swap.Terms, in, mid, out tokens) []op {
			a, b := halves(t.AmountIn)
			minimum, rest := halves(t.MinOut)
			return ops(v4Op(through(a, minimum, in, mid, out), settles(in, open, true), takes(out, msgSender, 0)), v3For(msgSender, b, rest, true, in, mid, out))
		}},
	})
}

func takesWhole(c common.Address, min *big.Int) act { return act{0x0f, []any{c, min}} }
