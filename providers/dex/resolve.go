package dex

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// A cosigning is what the cosigner adds to an order after it was signed: when the decay
// begins, who may fill before that, and better amounts. Zero keeps the order's own.
type cosigning struct {
	begins, ends *big.Int // V2: seconds; V3: begins is a block, ends is nil
	filler       common.Address
	overrideBps  *big.Int // what other fillers must pay on top until it begins
	input        *big.Int
	outputs      []*big.Int
}

func cosigningOf(v values) cosigning {
	c := cosigning{filler: v["exclusiveFiller"].(common.Address), overrideBps: v["exclusivityOverrideBps"].(*big.Int), input: v["inputAmount"].(*big.Int)}
	for _, n := range v["outputAmounts"].([]any) {
		c.outputs = append(c.outputs, n.(*big.Int))
	}
	for name, to := range map[string]**big.Int{"decayStartTime": &c.begins, "decayStartBlock": &c.begins, "decayEndTime": &c.ends} {
		if n, ok := v[name].(*big.Int); ok {
			*to = n
		}
	}
	return c
}

// resolve returns what the order takes and pays at a moment (V2: seconds, V3: a block), for
// the exclusive filler, or for any filler once exclusivity has ended.
func (o dutchOrder) resolve(c cosigning, at *big.Int) (in *big.Int, out []*big.Int) {
	in = o.input.at(c, c.input, at, true)
	for i, l := range o.outputs {
		better := new(big.Int)
		if i < len(c.outputs) {
			better = c.outputs[i]
		}
		out = append(out, l.at(c, better, at, false))
	}
	return in, out
}

// at returns a line's amount at a moment. Rounding favours the swapper, except that a V2
// input is rounded up.
func (l dutchLine) at(c cosigning, better, at *big.Int, input bool) *big.Int {
	start := l.start
	if better != nil && better.Sign() != 0 {
		start = better
	}
	if l.curve == nil {
		return linear(start, l.end, c, at, input)
	}
	n := new(big.Int).Sub(start, l.curve.decay(new(big.Int).Sub(at, c.begins), input))
	if beyond := n.Cmp(l.end); input && beyond > 0 || !input && beyond < 0 {
		return new(big.Int).Set(l.end)
	}
	return n
}

// linear goes from start to end while the decay lasts. Outputs and rising inputs are
// rounded up.
func linear(start, end *big.Int, c cosigning, at *big.Int, up bool) *big.Int {
	switch {
	case at.Cmp(c.ends) >= 0:
		return new(big.Int).Set(end)
	case at.Cmp(c.begins) <= 0:
		return new(big.Int).Set(start)
	}
	return between(start, end, new(big.Int).Sub(at, c.begins), new(big.Int).Sub(c.ends, c.begins), !up || end.Cmp(start) > 0)
}

// between returns start + (end - start) × part / whole, rounded up or down.
func between(start, end, part, whole *big.Int, up bool) *big.Int {
	n := new(big.Int).Sub(end, start)
	n.Mul(n, part)
	n.Add(n, new(big.Int).Mul(start, whole))
	if up {
		n.Add(n, new(big.Int).Sub(whole, big.NewInt(1)))
	}
	return n.Div(n, whole) // whole is positive, so this rounds down
}

// point returns the n-th relative block.
func (c *curve) point(n int) *big.Int {
	p := new(big.Int).Rsh(c.blocks, uint(n*blockBits))
	return p.And(p, big.NewInt(1<<blockBits-1))
}

// decay returns how far an amount has moved after so many blocks, rounded in the swapper's
// favour: down for an output, up for an input.
func (c *curve) decay(blocks *big.Int, input bool) *big.Int {
	if len(c.amounts) == 0 || blocks.Sign() <= 0 {
		return new(big.Int)
	}
	from, was := new(big.Int), new(big.Int)
	for i, n := range c.amounts {
		to := c.point(i)
		if to.Cmp(blocks) >= 0 {
			return between(was, n, new(big.Int).Sub(blocks, from), new(big.Int).Sub(to, from), input)
		}
		from, was = to, n
	}
	return was
}

// lastBlock returns the relative block after which no output changes.
func (o dutchOrder) lastBlock() int64 {
	last := int64(0)
	for _, l := range o.outputs {
		if n := len(l.curve.amounts); n > 0 {
			last = max(last, l.curve.point(n-1).Int64())
		}
	}
	return last
}

// outputsAtPoints returns the outputs' amounts at the order's beginning and at every point where a
// curve bends; between those they move linearly.
func (o dutchOrder) outputsAtPoints() [][]*big.Int {
	c := cosigning{begins: new(big.Int), ends: big.NewInt(1)}
	at := []*big.Int{c.begins}
	if first := o.outputs[0].curve; first == nil {
		at = append(at, c.ends)
	} else {
		for i := range first.amounts {
			at = append(at, first.point(i))
		}
	}
	out := make([][]*big.Int, len(at))
	for i, n := range at {
		_, out[i] = o.resolve(c, n)
	}
	return out
}
