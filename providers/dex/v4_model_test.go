package dex

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"
)

// unlock executes the actions of a V4_SWAP concretely, as v4-periphery's source does
// (V4Router, DeltaResolver): it keeps the router's deltas by currency, which must all be
// zero in the end.
func (m *model) unlock(o op) error {
	deltas := map[common.Address]*big.Int{}
	for i, code := range o.args[0].([]byte) {
		vals, err := actions[code].form.Unpack(o.args[1].([][]byte)[i])
		if err != nil {
			return errRevert
		}
		if err := m.act(deltas, code, vals); err != nil {
			return err
		}
	}
	for _, d := range deltas {
		if d.Sign() != 0 {
			return errRevert // CurrencyNotSettled
		}
	}
	return nil
}

func (m *model) act(deltas map[common.Address]*big.Int, code byte, vals []any) error {
	at := func(c common.Address) *big.Int {
		if deltas[c] == nil {
			deltas[c] = new(big.Int)
		}
		return deltas[c]
	}
	switch code {
	case 0x06:
		s := *abi.ConvertType(vals[0], new(v4ExactInSingle)).(*v4ExactInSingle)
		in, out := s.PoolKey.Currency0, s.PoolKey.Currency1
		if !s.ZeroForOne {
			in, out = out, in
		}
		return m.through(at, s.AmountIn, s.AmountOutMinimum, in, out)
	case 0x07:
		s := *abi.ConvertType(vals[0], new(v4ExactIn)).(*v4ExactIn)
		route := []common.Address{s.CurrencyIn}
		for _, h := range s.Path {
			route = append(route, h.IntermediateCurrency)
		}
		return m.through(at, s.AmountIn, s.AmountOutMinimum, route...)
	case 0x0b, 0x0c:
		return m.settle(at(vals[0].(common.Address)), code, vals)
	}
	return m.taken(at(vals[0].(common.Address)), code, vals)
}

// through swaps along currencies. Another payment to the caller, from within a pool of
// testDAI, is in nobody's delta. A hook may pay or take anything, so the rate is arbitrary.
func (m *model) through(at func(common.Address) *big.Int, in, min *big.Int, route ...common.Address) error {
	n := new(big.Int).Set(in)
	if n.Sign() == 0 {
		n.Set(at(route[0]))
	}
	if n.Sign() <= 0 || len(route) < 2 {
		return errRevert
	}
	for i, out := range route[1:] {
		at(route[i]).Sub(at(route[i]), n)
		n = new(big.Int).Mul(n, big.NewInt(m.rate()))
		n.Div(n, big.NewInt(1e12))
		at(out).Add(at(out), n)
		if n.Sign() == 0 && i+2 < len(route) {
			return errRevert
		}
	}
	last := route[len(route)-1]
	if slices.Contains(route, testDAI) {
		paid := big.NewInt(m.other())
		if m.others[last] == nil {
			m.others[last] = new(big.Int)
		}
		m.others[last].Add(m.others[last], paid)
		m.balance(m.caller, last).Add(m.balance(m.caller, last), paid)
	}
	if n.Cmp(min) < 0 {
		return errRevert
	}
	pooled := base.pooled(last)
	if m.gross[pooled] == nil {
		m.gross[pooled] = new(big.Int)
	}
	m.gross[pooled].Add(m.gross[pooled], n)
	return nil
}

func (m *model) settle(d *big.Int, code byte, vals []any) error {
	currency, n, payer := vals[0].(common.Address), vals[1].(*big.Int), m.caller
	debt := new(big.Int).Neg(d)
	switch {
	case code == 0x0c:
		if debt.Sign() < 0 || debt.Cmp(n) > 0 {
			return errRevert
		}
		n = debt
	case !vals[2].(bool):
		payer = base.router
	}
	if code == 0x0b && n.Cmp(contractBalance) == 0 {
		n = m.balance(base.router, currency)
	} else if n.Sign() == 0 {
		if n = debt; n.Sign() < 0 {
			return errRevert
		}
	}
	if currency == nativeCoin {
		payer = base.router
	}
	d.Add(d, n)
	return m.move(currency, payer, testPool, n)
}

func (m *model) taken(d *big.Int, code byte, vals []any) error {
	currency, to, n := vals[0].(common.Address), m.caller, new(big.Int).Set(d)
	if d.Sign() < 0 {
		return errRevert
	}
	switch code {
	case 0x0e:
		to = m.mapped(vals[1].(common.Address))
		if amount := vals[2].(*big.Int); amount.Sign() != 0 {
			n.Set(amount)
		}
	case 0x0f:
		if n.Cmp(vals[1].(*big.Int)) < 0 {
			return errRevert
		}
	case 0x10:
		to = m.mapped(vals[1].(common.Address))
		if vals[2].(*big.Int).Cmp(big.NewInt(10_000)) > 0 {
			return errRevert
		}
		n.Mul(n, vals[2].(*big.Int)).Div(n, big.NewInt(10_000))
	}
	d.Sub(d, n)
	return m.move(currency, testPool, to, n)
}

// randomActs returns actions with arguments that an attacker would think of.
func randomActs(t *rapid.T) []act {
	return rapid.SliceOfN(rapid.Custom(randomAct), 1, 4).Draw(t, "actions")
}

func randomAct(t *rapid.T) act {
	who := rapid.SampledFrom([]common.Address{msgSender, addressThis, testAccount, base.router, testAttacker, testFeeTo, testMaker}).Draw(t, "to")
	currency := rapid.SampledFrom([]common.Address{nativeCoin, base.wrapped, testUSDC, testDAI})
	amount := rapid.SampledFrom([]*big.Int{open, common.Big1, half, oneEther, contractBalance}).Draw(t, "n")
	min := rapid.SampledFrom([]int64{0, 1, 1_000_000, 2_000_000_000}).Draw(t, "min")
	bips := rapid.SampledFrom([]int64{0, 1, 20, 40, 10_000}).Draw(t, "bips")
	c := currency.Draw(t, "currency")
	small := rapid.SampledFrom([]*big.Int{open, common.Big1, half, oneEther}).Draw(t, "in")
	switch rapid.IntRange(0, 6).Draw(t, "action") {
	case 0:
		return settles(c, amount, rapid.Bool().Draw(t, "user"))
	case 1:
		return settlesAll(c, amount)
	case 2:
		return takes(c, who, min*rapid.SampledFrom([]int64{0, 0, 1}).Draw(t, "part"))
	case 3:
		return takesAll(c, min)
	case 4:
		return takesPortion(c, who, bips)
	case 5:
		return v4One(small, big.NewInt(min), c, currency.Draw(t, "other"))
	}
	return v4For(small, big.NewInt(min), rapid.SliceOfN(currency, 2, 3).Draw(t, "route")...)
}

// tamperActs changes, adds, duplicates, drops or moves one action of a V4_SWAP.
func tamperActs(t *rapid.T, o op) op {
	codes, params := slices.Clone(o.args[0].([]byte)), slices.Clone(o.args[1].([][]byte))
	i := rapid.IntRange(0, len(codes)-1).Draw(t, "action at")
	j := rapid.IntRange(0, len(codes)-1).Draw(t, "action with")
	other := v4Op(randomAct(t))
	code, param := other.args[0].([]byte)[0], other.args[1].([][]byte)[0]
	switch rapid.IntRange(0, 4).Draw(t, "kind of action") {
	case 0:
		codes[i], params[i] = code, param
	case 1:
		codes, params = slices.Insert(codes, i, code), slices.Insert(params, i, param)
	case 2:
		codes, params = slices.Insert(codes, i, codes[j]), slices.Insert(params, i, params[j])
	case 3:
		if len(codes) > 1 {
			codes, params = slices.Delete(codes, i, i+1), slices.Delete(params, i, i+1)
		}
	case 4:
		codes[i], codes[j], params[i], params[j] = codes[j], codes[i], params[j], params[i]
	}
	return op{0x10, 0, []any{codes, params}}
}
