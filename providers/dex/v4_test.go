package dex

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// An act is one action of a V4_SWAP.
type act struct {
	code byte
	args []any
}

// The structs of the actions, as the router declares them.
type (
	v4Key struct {
		Currency0, Currency1 common.Address
		Fee, TickSpacing     *big.Int
		Hooks                common.Address
	}
	v4Hop struct {
		IntermediateCurrency common.Address
		Fee, TickSpacing     *big.Int
		Hooks                common.Address
		HookData             []byte
	}
	v4ExactInSingle struct {
		PoolKey                                    v4Key
		ZeroForOne                                 bool
		AmountIn, AmountOutMinimum, MinHopPriceX36 *big.Int
		HookData                                   []byte
	}
	v4ExactIn struct {
		CurrencyIn                 common.Address
		Path                       []v4Hop
		MinHopPriceX36             []*big.Int
		AmountIn, AmountOutMinimum *big.Int
	}
)

// testHook is the hook of every pool in these tests.
var testHook = common.HexToAddress("0xC6C965BD164C483E87D0B550671798E9A3602840")

func v4Op(list ...act) op {
	codes, params := []byte{}, [][]byte{}
	for _, a := range list {
		packed, err := actions[a.code].form.Pack(a.args...)
		if err != nil {
			panic(err) // a test's own table
		}
		codes, params = append(codes, a.code), append(params, packed)
	}
	return op{0x10, 0, []any{codes, params}}
}

func v4Path(in, min *big.Int, route ...common.Address) v4ExactIn {
	s := v4ExactIn{CurrencyIn: route[0], MinHopPriceX36: []*big.Int{}, AmountIn: in, AmountOutMinimum: min}
	for _, c := range route[1:] {
		s.Path = append(s.Path, v4Hop{c, big.NewInt(500), big.NewInt(10), testHook, nil})
	}
	return s
}

func v4For(in, min *big.Int, route ...common.Address) act {
	return act{0x07, []any{v4Path(in, min, route...)}}
}

// v4One swaps through one pool.
func v4One(in, min *big.Int, from, to common.Address) act {
	key := v4Key{from, to, big.NewInt(1 << 23), big.NewInt(60), testHook}
	if from.Cmp(to) > 0 {
		key.Currency0, key.Currency1 = to, from
	}
	return act{0x06, []any{v4ExactInSingle{key, key.Currency0 == from, in, min, big.NewInt(7), nil}}}
}

func settles(c common.Address, n *big.Int, fromUser bool) act {
	return act{0x0b, []any{c, n, fromUser}}
}
func settlesAll(c common.Address, max *big.Int) act { return act{0x0c, []any{c, max}} }
func takes(c, to common.Address, n int64) act       { return act{0x0e, []any{c, to, big.NewInt(n)}} }
func takesAll(c common.Address, min int64) act      { return act{0x0f, []any{c, big.NewInt(min)}} }
func takesPortion(c, to common.Address, bips int64) act {
	return act{0x10, []any{c, to, big.NewInt(bips)}}
}

var (
	open   = new(big.Int)
	minOut = big.NewInt(2_000_000_000)
)

// withoutFee are the terms of 1 ETH for USDC without a fee of ours.
func withoutFee() swap.Terms {
	t := ethToUSDC()
	t.FeeBps, t.FeeReceiver = 0, common.Address{}
	return t
}

// tokenIn are the terms of 1 DAI (18 decimals) for USDC without a fee of ours.
func tokenIn() swap.Terms {
	t := withoutFee()
	t.TokenIn = testDAI
	return t
}

// toNative are the terms of DAI for the native coin.
func toNative() swap.Terms {
	t := tokenIn()
	t.TokenOut = nativeCoin
	return t
}

// v4Programs are accepted: the forms that the vendor's SDK and wallets produce.
var v4Programs = []struct {
	name  string
	terms func() swap.Terms
	list  []op
}{
	{"swap, settle, take", tokenIn, ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	{"over two pools and the native coin", tokenIn, ops(v4Op(v4For(oneEther, minOut, testDAI, nativeCoin, testUSDC), settles(testDAI, open, true), takes(testUSDC, testAccount, 0)))},
	{"one pool, settled and taken whole", tokenIn, ops(v4Op(v4One(oneEther, minOut, testDAI, testUSDC), settlesAll(testDAI, oneEther), takesAll(testUSDC, 0)))},
	{"the minimum in the end", tokenIn, ops(v4Op(v4One(oneEther, open, testDAI, testUSDC), settlesAll(testDAI, oneEther), takesAll(testUSDC, 2_000_000_000)))},
	{"the settled amount is written down", tokenIn, ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, oneEther, true), takes(testUSDC, msgSender, 0)))},
	{"settled first", tokenIn, ops(v4Op(settles(testDAI, oneEther, true), v4For(open, minOut, testDAI, testUSDC), takes(testUSDC, msgSender, 0)))},
	{"two routes of one command", tokenIn, ops(v4Op(v4For(half, big.NewInt(1e9), testDAI, testUSDC), v4For(half, big.NewInt(1e9), testDAI, nativeCoin, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	{"two commands", tokenIn, ops(
		v4Op(v4For(half, big.NewInt(1e9), testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)),
		v3Op(msgSender, half, 1e9, true, testDAI, testUSDC))},
	{"native in", withoutFee, ops(v4Op(v4For(oneEther, minOut, nativeCoin, testUSDC), settles(nativeCoin, open, true), takes(testUSDC, msgSender, 0)), sweepOp(nativeCoin, msgSender, 0))},
	{"wrapped in", withoutFee, ops(wrapOp(addressThis, oneEther), v4Op(v4For(oneEther, minOut, base.wrapped, testUSDC), settles(base.wrapped, open, false), takes(testUSDC, msgSender, 0)))},
	{"native in, a fee, swept", ethToUSDC, ops(v4Op(v4For(oneEther, open, nativeCoin, testUSDC), settles(nativeCoin, open, true), takes(testUSDC, addressThis, 0)), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	{"fees of the credit", ethToUSDC, ops(v4Op(v4For(oneEther, open, nativeCoin, testUSDC), settles(nativeCoin, open, true), takesPortion(testUSDC, testMaker, 20), takesPortion(testUSDC, testFeeTo, 20), takesAll(testUSDC, 2_000_000_000)))},
	{"one fee of the credit, one of the router's", ethToUSDC, ops(v4Op(v4For(oneEther, open, nativeCoin, testUSDC), settles(nativeCoin, open, true), takesPortion(testUSDC, testMaker, 20), takes(testUSDC, addressThis, 0)), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	{"native out", toNative, ops(v4Op(v4For(oneEther, minOut, testDAI, nativeCoin), settles(testDAI, open, true), takes(nativeCoin, msgSender, 0)))},
	{"native out, unwrapped", toNative, ops(v4Op(v4For(oneEther, open, testDAI, base.wrapped), settles(testDAI, open, true), takes(base.wrapped, addressThis, 0)), unwrapOp(msgSender, 2_000_000_000))},
	{"native out, a fee", toNative, ops(v4Op(v4For(oneEther, open, testDAI, nativeCoin), settles(testDAI, open, true), takes(nativeCoin, addressThis, 0)), portionOp(nativeCoin, testMaker, 20), sweepOp(nativeCoin, msgSender, 2_000_000_000))},
	{"V3, then V4", withoutFee, ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI), v4Op(settles(testDAI, contractBalance, false), v4For(open, minOut, testDAI, testUSDC), takes(testUSDC, msgSender, 0)))},
	{"V4, then V3", withoutFee, ops(v4Op(settles(nativeCoin, oneEther, false), v4For(open, open, nativeCoin, testDAI), takes(testDAI, addressThis, 0)), v3Op(msgSender, contractBalance, 2e9, false, testDAI, testUSDC))},
	{"V4 to the coin, wrapped, V3", tokenIn, ops(toCoin, wrapOp(addressThis, contractBalance), v3Op(msgSender, contractBalance, 2e9, false, base.wrapped, testUSDC))},
	{"V3 to the wrapped coin, unwrapped, V4", tokenIn, ops(toWrapped, unwrapOp(addressThis, 0), v4Op(settles(nativeCoin, contractBalance, false), v4For(open, minOut, nativeCoin, testUSDC), takes(testUSDC, msgSender, 0)))},
}

// The first halves of routes from DAI over the coin, in one form or the other.
var (
	toCoin    = v4Op(v4For(oneEther, open, testDAI, nativeCoin), settles(testDAI, open, true), takes(nativeCoin, addressThis, 0))
	toWrapped = v3Op(addressThis, oneEther, 0, true, testDAI, base.wrapped)
)

func TestV4Programs(t *testing.T) {
	for _, p := range v4Programs {
		if _, err := checked(p.terms(), program(t, testDeadline.Unix(), p.list)); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// v4Attacks are programs of a lying provider for 1 DAI. Each tries one thing.
var v4Attacks = map[string]struct {
	code  swap.Code
	field string
	list  []op
}{
	"the coin between is wrapped for the account": {swap.NotAsAccepted, "commands",
		ops(toCoin, wrapOp(msgSender, contractBalance))},
	"the coin between is wrapped for somebody else": {swap.NotAsAccepted, "commands",
		ops(toCoin, wrapOp(testAttacker, contractBalance))},
	"a part of the coin between is wrapped": {swap.NotAsAccepted, "commands",
		ops(toCoin, wrapOp(addressThis, half), v3Op(msgSender, contractBalance, 2e9, false, base.wrapped, testUSDC))},
	"the coin between stays in its other form": {swap.NotAsAccepted, "commands",
		ops(v4Op(v4For(half, open, testDAI, nativeCoin), v4For(half, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(nativeCoin, addressThis, 0), takes(testUSDC, msgSender, 0)), wrapOp(addressThis, contractBalance))},
	"what is wrapped between has no minimum": {swap.NotAsAccepted, "minOut",
		ops(toCoin, wrapOp(addressThis, contractBalance), v3Op(msgSender, contractBalance, 1, false, base.wrapped, testUSDC))},
	"the coin between is unwrapped for the account": {swap.NotAsAccepted, "commands",
		ops(toWrapped, unwrapOp(msgSender, 0))},
	"the coin between is unwrapped for somebody else": {swap.NotAsAccepted, "commands",
		ops(toWrapped, unwrapOp(testAttacker, 0))},
	"nothing is wrapped between": {swap.NotAsAccepted, "commands",
		ops(wrapOp(addressThis, contractBalance), toCoin, v3Op(msgSender, contractBalance, 2e9, false, base.wrapped, testUSDC))},
	"nothing is enforced": {swap.NotAsAccepted, "minOut",
		ops(v4Op(v4For(oneEther, open, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"less than the minimum": {swap.NotAsAccepted, "minOut",
		ops(v4Op(v4For(oneEther, big.NewInt(1_999_999_999), testDAI, testUSDC), settles(testDAI, open, true), takesAll(testUSDC, 1_999_999_999)))},
	"the output goes elsewhere": {swap.NotAsAccepted, "recipient",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, testAttacker, 0)))},
	"half of the output goes elsewhere": {swap.NotAsAccepted, "fee",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takesPortion(testUSDC, testAttacker, 10_001), takesAll(testUSDC, 2_000_000_000)))},
	"a fee above the bound": {swap.NotAsAccepted, "makerFeeBps",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takesPortion(testUSDC, testMaker, 21), takesAll(testUSDC, 2_000_000_000)))},
	"a fee is taken from the minimum": {swap.NotAsAccepted, "minOut",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takesPortion(testUSDC, testMaker, 20), takes(testUSDC, msgSender, 0)))},
	"a fee is taken and the rest has no minimum": {swap.NotAsAccepted, "minOut",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takesPortion(testUSDC, testMaker, 20), takesAll(testUSDC, 0)))},
	"a fee of a part only": {swap.NotAsAccepted, "fee",
		ops(v3Op(addressThis, half, 0, true, testDAI, testUSDC), v4Op(v4For(half, open, testDAI, testUSDC), settles(testDAI, open, true), takesPortion(testUSDC, testMaker, 20), takes(testUSDC, addressThis, 0)), sweepOp(testUSDC, msgSender, 2e9))},
	"a swap after the fee": {swap.Undecodable, "commands",
		ops(v4Op(v4For(half, open, testDAI, testUSDC), takesPortion(testUSDC, testMaker, 20), v4For(half, open, testDAI, testUSDC), settles(testDAI, open, true), takesAll(testUSDC, 2e9)))},
	"more is settled than is swapped": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(half, minOut, testDAI, testUSDC), settles(testDAI, oneEther, true), takes(testUSDC, msgSender, 0)))},
	"more is swapped than was accepted": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(new(big.Int).Add(oneEther, common.Big1), minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"twice the amount": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"twice the amount in two commands": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)),
			v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"half of the amount": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(half, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"no amount is written down": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(open, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"no amount is written down ahead": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(settles(testDAI, open, true), v4For(open, minOut, testDAI, testUSDC), takes(testUSDC, msgSender, 0)))},
	"the router's balance is pulled from the account": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(settles(testDAI, contractBalance, true), v4For(open, minOut, testDAI, testUSDC), takes(testUSDC, msgSender, 0)))},
	"another token leaves the account": {swap.NotAsAccepted, "tokenIn",
		ops(v4Op(v4For(oneEther, minOut, base.wrapped, testUSDC), settles(base.wrapped, open, true), takes(testUSDC, msgSender, 0)))},
	"the router pays, who has nothing": {swap.Undecodable, "amount",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, false), takes(testUSDC, msgSender, 0)))},
	"the router pays the native coin, who has none": {swap.Undecodable, "amount",
		ops(v4Op(v4For(oneEther, minOut, nativeCoin, testUSDC), settles(nativeCoin, open, true), takes(testUSDC, msgSender, 0)))},
	"a token between is handed over": {swap.NotAsAccepted, "recipient",
		ops(v4Op(v4For(oneEther, minOut, testDAI, base.wrapped), settles(testDAI, open, true), takes(base.wrapped, msgSender, 0)))},
	"a token between stays in the router": {swap.NotAsAccepted, "commands",
		ops(v4Op(v4For(half, minOut, testDAI, base.wrapped), v4For(half, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(base.wrapped, addressThis, 0), takes(testUSDC, msgSender, 0)))},
	"the minimum is of another token": {swap.NotAsAccepted, "minOut",
		ops(v4Op(v4For(oneEther, minOut, testDAI, base.wrapped), settles(testDAI, open, true), takes(base.wrapped, addressThis, 0)), v3Op(msgSender, contractBalance, 1, false, base.wrapped, testUSDC))},
	"the output is left at the manager": {swap.Undecodable, "actions",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true)))},
	"the input is not settled": {swap.Undecodable, "actions",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), takes(testUSDC, msgSender, 0)))},
	"a part of the output is taken": {swap.Undecodable, "amount",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 2_000_000_000)))},
	"the output is taken before the swap": {swap.Undecodable, "actions",
		ops(v4Op(takes(testUSDC, msgSender, 0), v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true)))},
	"the path returns to the input": {swap.Undecodable, "path",
		ops(v4Op(v4For(oneEther, minOut, testDAI, nativeCoin, testDAI), settles(testDAI, open, true), takes(testDAI, msgSender, 0)))},
	"the path leads through the output": {swap.NotAsAccepted, "tokenOut",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC, base.wrapped, testAttacker), settles(testDAI, open, true), takes(testAttacker, addressThis, 0)))},
	"both forms of the coin": {swap.Undecodable, "path",
		ops(v4Op(v4For(oneEther, minOut, testDAI, nativeCoin, base.wrapped, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"the router as a token": {swap.Undecodable, "path",
		ops(v4Op(v4For(oneEther, minOut, testDAI, base.router, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"no pool": {swap.Undecodable, "path",
		ops(v4Op(v4For(oneEther, minOut, testDAI), settles(testDAI, open, true)))},
	"five pools": {swap.Undecodable, "path",
		ops(v4Op(v4For(oneEther, minOut, testDAI, nativeCoin, testHook, testMaker, testFeeTo, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
	"less than the input is settled": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settlesAll(testDAI, half), takes(testUSDC, msgSender, 0)))},
	"no action": {swap.Undecodable, "actions", ops(v4Op())},
	"a credit is spent on": {swap.NotAsAccepted, "amountIn",
		ops(v4Op(v4For(oneEther, open, testDAI, base.wrapped), v4For(open, minOut, base.wrapped, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))},
}

func TestV4Attacks(t *testing.T) {
	for name, a := range v4Attacks {
		_, err := checked(tokenIn(), program(t, testDeadline.Unix(), a.list))
		var r *swap.Refusal
		if !errors.As(err, &r) || r.Code != a.code || r.Field != a.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	friends := tokenIn()
	friends.Recipient = testFriend
	list := ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takesAll(testUSDC, 2e9)))
	if _, err := checked(friends, program(t, testDeadline.Unix(), list)); !errors.Is(err, &swap.Refusal{Code: swap.NotAsAccepted}) {
		t.Errorf("TAKE_ALL pays the account, not the recipient: %v", err)
	}
}

// TestV4Encodings checks the honest actions in other encodings, and unknown actions.
func TestV4Encodings(t *testing.T) {
	good := ops(v4Op(v4For(oneEther, minOut, testDAI, testUSDC), settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))
	codes, params := good[0].args[0].([]byte), good[0].args[1].([][]byte)
	with := func(change func(codes []byte, params [][]byte) ([]byte, [][]byte)) []op {
		c, p := slices.Clone(codes), make([][]byte, len(params))
		for i := range params {
			p[i] = slices.Clone(params[i])
		}
		c, p = change(c, p)
		return ops(op{0x10, 0, []any{c, p}})
	}
	word := func(action, n, at int, b byte) []op {
		return with(func(c []byte, p [][]byte) ([]byte, [][]byte) { p[action][32*n+at] = b; return c, p })
	}
	replaced := func(code byte, packed []byte) []op {
		return with(func(c []byte, p [][]byte) ([]byte, [][]byte) { c[0], p[0] = code, packed; return c, p })
	}
	bounds := func(n int) []op {
		s := v4Path(oneEther, minOut, testDAI, nativeCoin, testUSDC)
		for range n {
			s.MinHopPriceX36 = append(s.MinHopPriceX36, common.Big1)
		}
		return ops(v4Op(act{0x07, []any{s}}, settles(testDAI, open, true), takes(testUSDC, msgSender, 0)))
	}
	for name, c := range map[string]struct {
		list    []op
		refused bool
	}{
		"unchanged":                    {good, false},
		"no bounds":                    {bounds(0), false},
		"a bound for each pool":        {bounds(2), false},
		"a bound for one pool of two":  {bounds(1), true},
		"more bounds than pools":       {bounds(3), true},
		"trailing bytes":               {with(func(c []byte, p [][]byte) ([]byte, [][]byte) { p[0] = append(p[0], make([]byte, 32)...); return c, p }), true},
		"dirty bits of an amount":      {word(0, 4, 0, 1), true},
		"dirty bits of a minimum":      {word(0, 5, 15, 1), true},
		"dirty bits of a fee":          {word(0, 9, 0, 1), true},
		"dirty bits of a tick spacing": {word(0, 10, 1, 1), true},
		"dirty bits of a currency":     {word(1, 0, 0, 1), true},
		"a payer flag of two":          {word(1, 2, 31, 2), true},
		"fewer inputs":                 {with(func(c []byte, p [][]byte) ([]byte, [][]byte) { return c, p[:2] }), true},
		"another action":               {replaced(0x09, params[0]), true},
		"a liquidity action":           {replaced(0x02, params[0]), true},
		"another struct":               {replaced(0x06, params[0]), true},
		"the path of router 2.0":       {replaced(0x07, oldPath(t)), true},
		"the pool of router 2.0":       {replaced(0x06, oldSingle(t)), true},
		"currencies out of order": {ops(v4Op(act{0x06, []any{v4ExactInSingle{v4Key{testUSDC, testDAI, common.Big1, common.Big1, testHook}, false, oneEther, minOut, open, nil}}},
			settles(testDAI, open, true), takes(testUSDC, msgSender, 0))), true},
	} {
		_, err := checked(tokenIn(), program(t, testDeadline.Unix(), c.list))
		if refused := errors.Is(err, &swap.Refusal{Code: swap.Undecodable}); refused != c.refused || err != nil != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// oldStruct packs a struct of router 2.0, which lacks the bounds.
func oldStruct(t *testing.T, name, without string, v any) []byte {
	t.Helper()
	types := map[string][]abi.ArgumentMarshaling{}
	for n := range v4Types {
		types[n] = components(v4Types, n)
	}
	members := slices.DeleteFunc(types[name], func(a abi.ArgumentMarshaling) bool { return a.Name == without })
	typ, err := abi.NewType("tuple", "", members)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := abi.Arguments{{Type: typ}}.Pack(v)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func oldPath(t *testing.T) []byte {
	return oldStruct(t, "ExactInput", "minHopPriceX36", struct {
		CurrencyIn                 common.Address
		Path                       []v4Hop
		AmountIn, AmountOutMinimum *big.Int
	}{testDAI, v4Path(oneEther, minOut, testDAI, testUSDC).Path, oneEther, minOut})
}

func oldSingle(t *testing.T) []byte {
	one := v4One(oneEther, minOut, testDAI, testUSDC).args[0].(v4ExactInSingle)
	return oldStruct(t, "ExactInputSingle", "minHopPriceX36", struct {
		PoolKey                    v4Key
		ZeroForOne                 bool
		AmountIn, AmountOutMinimum *big.Int
		HookData                   []byte
	}{one.PoolKey, one.ZeroForOne, oneEther, minOut, nil})
}
