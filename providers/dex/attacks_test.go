package dex

import (
	"math/big"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// half is half of the input.
var half = new(big.Int).Rsh(oneEther, 1)

// attacks are programs that a lying provider could send for ethToUSDC. Each is
// one idea; each must be refused.
var attacks = map[string][]op{
	"nothing is enforced": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 0)),
	"below the floor": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1_999_999_999)),
	"the sweep pays somebody else": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, testAttacker, 2_000_000_000)),
	"the swap pays somebody else": ops(wrapOp(routerItself, oneEther), v3Op(testAttacker, oneEther, 2_000_000_000, false, base.wrapped, testUSDC)),
	"half is swapped for somebody else": ops(wrapOp(routerItself, oneEther), v3Op(testAttacker, half, 0, false, base.wrapped, testUSDC),
		v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"half stays in the router as wrapped coin": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"half stays in the router as native coin": ops(wrapOp(routerItself, half), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"half is wrapped for somebody else": ops(wrapOp(testAttacker, half), wrapOp(routerItself, half), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the input is sent back with the output": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC),
		unwrapOp(msgSender, 0), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"more is swapped than was brought": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, new(big.Int).Add(oneEther, big.NewInt(1)), 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"wrapped coin of the account is pulled": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		v3Op(routerItself, oneEther, 0, true, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"another token of the account is pulled": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		v3Op(routerItself, oneEther, 0, true, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"all of the router's balance is pulled from the account": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, contractBalance, 0, true, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"an intermediate token is handed over": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testDAI),
		sweepOp(testDAI, msgSender, 2_000_000_000)),
	"an intermediate token stays in the router": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, half, 0, false, base.wrapped, testDAI),
		v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"an intermediate token is swept before its swap": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testDAI),
		sweepOp(testDAI, msgSender, 0), v3Op(routerItself, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the minimum is of another token": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 2_000_000_000, false, base.wrapped, testDAI),
		v3Op(routerItself, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 0)),
	"the minimum is of the part before the fee": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 2_000_000_000, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 0)),
	"a minimum is promised of nothing": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a sweep before the swap": ops(sweepOp(testUSDC, msgSender, 2_000_000_000), wrapOp(routerItself, oneEther),
		v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1)),
	"the output is swept into the router": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, routerItself, 2_000_000_000)),
	"the output stays in the router": ops(wrapOp(routerItself, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC),
		v3Op(routerItself, half, 0, false, base.wrapped, testUSDC)),
	"no fee for us": ops(wrapOp(routerItself, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testUSDC)),
	"a smaller fee for us": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 19), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"our fee is larger": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 21), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"our whole fee is taken twice": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"our fee is taken twice": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 10), portionOp(testUSDC, testFeeTo, 10), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the provider takes more": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testMaker, 21), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the provider takes twice": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testMaker, 20), portionOp(testUSDC, testMaker, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"two take what one may": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testMaker, 15), portionOp(testUSDC, testAttacker, 15), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the fee is all of it": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testAttacker, 10_000), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a fee of the input": ops(wrapOp(routerItself, oneEther), portionOp(base.wrapped, testMaker, 20), v3Op(routerItself, contractBalance, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a fee of the native input": ops(portionOp(nativeCoin, testMaker, 20), wrapOp(routerItself, contractBalance), v3Op(routerItself, contractBalance, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a fee of an intermediate token": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testDAI), portionOp(testDAI, testMaker, 20),
		v3Op(routerItself, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"our fee of a part only": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, big.NewInt(1000), 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20),
		v3Op(routerItself, contractBalance, 0, false, base.wrapped, testUSDC), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"our fee of what did not go past the router": ops(wrapOp(routerItself, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC),
		v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1)),
	"a fee after the sweep": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		sweepOp(testUSDC, msgSender, 2_000_000_000), portionOp(testUSDC, testFeeTo, 20)),
	"a fee to the router": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, routerItself, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path that returns": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path through the output and back": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		v3Op(routerItself, contractBalance, 0, false, testUSDC, testDAI), v3Op(routerItself, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path of one token": ops(wrapOp(routerItself, oneEther), v2Op(routerItself, oneEther, 0, false, base.wrapped),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path of no token": ops(wrapOp(routerItself, oneEther), v2Op(routerItself, oneEther, 0, false),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path that is too long": ops(wrapOp(routerItself, oneEther), v2Op(routerItself, oneEther, 0, false, base.wrapped, testDAI, testFriend, testMaker, testFeeTo, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path cut short": ops(wrapOp(routerItself, oneEther), op{0x00, 0, []any{routerItself, oneEther, new(big.Int), v3Bytes(base.wrapped, testUSDC)[:42], false}},
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a path with a tail": ops(wrapOp(routerItself, oneEther), op{0x00, 0, []any{routerItself, oneEther, new(big.Int), append(v3Bytes(base.wrapped, testUSDC), 0, 1, 0xf4), false}},
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the pair is paid already": ops(wrapOp(routerItself, oneEther), v2Op(routerItself, new(big.Int), 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"one pair is paid already": ops(wrapOp(routerItself, oneEther), v2Op(routerItself, new(big.Int), 0, false, base.wrapped, testUSDC), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"a swap after the fee": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20),
		v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"the output is unwrapped": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000), unwrapOp(testAttacker, 0)),
	"nothing but fees": ops(portionOp(testUSDC, testFeeTo, 20)),
	"a permit for the native coin": ops(op{0x0a, 0, []any{nativeCoin, oneEther, big.NewInt(1_800_000_000), new(big.Int), base.router, big.NewInt(1_800_000_000), make([]byte, 65)}},
		wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
}

// feeless are attacks on the same swap without a fee, which no missing fee
// gives away.
var feeless = map[string][]op{
	"the input is wrapped for the account":         ops(wrapOp(msgSender, oneEther)),
	"half of the input is wrapped for the account": ops(wrapOp(msgSender, half), wrapOp(routerItself, half), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC)),
	"another token arrives":                        ops(wrapOp(routerItself, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testDAI)),
	"a path that passes a token twice":             ops(wrapOp(routerItself, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testDAI, testFriend, testDAI, testUSDC)),
	"a path that returns to the input": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testDAI),
		v3Op(msgSender, contractBalance, 2_000_000_000, false, testDAI, base.wrapped, testUSDC)),
	"a path from the native coin":     ops(v2Op(msgSender, oneEther, 2_000_000_000, false, nativeCoin, testUSDC)),
	"a path through the router":       ops(wrapOp(routerItself, oneEther), v2Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, base.router, testUSDC)),
	"a pool without a fee":            ops(wrapOp(routerItself, oneEther), op{0x00, 0, []any{msgSender, oneEther, big.NewInt(2_000_000_000), make([]byte, 43), false}}),
	"two legs, one for somebody else": ops(wrapOp(routerItself, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC), v2Op(testAttacker, half, 0, false, base.wrapped, testUSDC)),
	"wrapped coin is left for later":  ops(wrapOp(routerItself, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC), unwrapOp(routerItself, 0)),
	"the maker takes from one leg":    ops(wrapOp(routerItself, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testMaker, 20), sweepOp(testUSDC, msgSender, 1)),
	"wrapping again after the output": ops(wrapOp(routerItself, half), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), sweepOp(testUSDC, msgSender, 2_000_000_000), wrapOp(routerItself, half)),
}

func TestAttacksWithoutFee(t *testing.T) {
	terms := ethToUSDC()
	terms.FeeBps, terms.FeeReceiver = 0, common.Address{}
	if _, err := checked(terms, program(t, testDeadline.Unix(), ops(wrapOp(routerItself, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testUSDC)))); err != nil {
		t.Fatal(err)
	}
	for name, list := range feeless {
		if f, err := checked(terms, program(t, testDeadline.Unix(), list)); err == nil {
			t.Errorf("%s: accepted as %+v", name, f)
		}
	}
}

func TestAttacks(t *testing.T) {
	for name, list := range attacks {
		if f, err := checked(ethToUSDC(), program(t, testDeadline.Unix(), list)); err == nil {
			t.Errorf("%s: accepted as %+v", name, f)
		} else if codeOf(err) == "" {
			t.Errorf("%s: no reason with a code: %v", name, err)
		}
	}
}

// harmlessPrograms differ from the plain one in ways that change nothing for
// the worse; real routes have them.
var harmlessPrograms = map[string][]op{
	"a split": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, half, 0, false, base.wrapped, testUSDC), v2Op(routerItself, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"two versions in a row": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testDAI), v2Op(routerItself, contractBalance, 0, false, testDAI, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, testAccount, 2_000_000_000)),
	"change is sent back": ops(wrapOp(routerItself, contractBalance), v3Op(routerItself, contractBalance, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000), unwrapOp(msgSender, 0), sweepOp(nativeCoin, msgSender, 0)),
	"the maker's fee": ops(wrapOp(routerItself, oneEther), v3Op(routerItself, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testMaker, 20), op{0x07, 0, []any{testUSDC, testFeeTo, big.NewInt(20 * 1e14)}}, sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"price bounds": ops(wrapOp(routerItself, oneEther), op{0x00, 1, []any{routerItself, oneEther, big.NewInt(5), v3Bytes(base.wrapped, testUSDC), false, []*big.Int{big.NewInt(7)}}},
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_001)),
}

func TestHarmlessPrograms(t *testing.T) {
	for name, list := range harmlessPrograms {
		if _, err := checked(ethToUSDC(), program(t, testDeadline.Unix(), list)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEncodings: the same honest commands, not in their one encoding or with
// commands that are not understood.
func TestEncodings(t *testing.T) {
	good := program(t, testDeadline.Unix(), honest())
	var codes []byte
	var inputs [][]byte
	for _, o := range honest() {
		in, err := commands[o.code].forms[o.form].Pack(o.args...)
		if err != nil {
			t.Fatal(err)
		}
		codes, inputs = append(codes, o.code), append(inputs, in)
	}
	with := func(change func(codes []byte, inputs [][]byte) ([]byte, [][]byte)) []byte {
		in := make([][]byte, len(inputs))
		for i := range inputs {
			in[i] = slices.Clone(inputs[i])
		}
		c, i := change(slices.Clone(codes), in)
		return executeCall(t, c, i, testDeadline.Unix())
	}
	bad := map[string][]byte{
		"trailing bytes": append(slices.Clone(good), 0),
		"trailing word":  append(slices.Clone(good), make([]byte, 32)...),
		"no deadline":    append([]byte{0x24, 0x85, 0x6b, 0xc3}, good[4:]...),
		"too late":       program(t, testDeadline.Unix()+1, honest()),
		"an input more": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
			return c, append(i, inputs[3])
		}),
		"an input less": with(func(c []byte, i [][]byte) ([]byte, [][]byte) { return c, i[:3] }),
		"input tail": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
			i[3] = append(i[3], make([]byte, 32)...)
			return c, i
		}),
		"input cut": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
			i[3] = i[3][:64]
			return c, i
		}),
		"dirty padding": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
			i[3][0] = 1
			return c, i
		}),
		"may fail": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
			c[3] |= allowRevert
			return c, i
		}),
		"no commands": executeCall(t, nil, nil, testDeadline.Unix()),
		"many commands": with(func([]byte, [][]byte) ([]byte, [][]byte) {
			return bytesOf(0x04, 1000), slices.Repeat([][]byte{inputs[3]}, 1000)
		}),
	}
	for c := range 256 { // every command in the place of the sweep
		if byte(c) == 0x04 {
			continue
		}
		bad["command "+common.Bytes2Hex([]byte{byte(c)})] = with(func(codes []byte, i [][]byte) ([]byte, [][]byte) {
			codes[3] = byte(c)
			return codes, i
		})
	}
	for name, data := range bad {
		if _, err := checked(ethToUSDC(), data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func bytesOf(b byte, n int) []byte { return slices.Repeat([]byte{b}, n) }

// nativeOut are the terms of an ERC-20 swapped to the native coin.
func nativeOut() swap.Terms {
	t := ethToUSDC()
	t.TokenIn, t.TokenOut = testUSDC, nativeCoin
	t.AmountIn, t.FloorOut = big.NewInt(1_000_000_000), big.NewInt(1_000_000)
	return t
}

func TestNativeOut(t *testing.T) {
	in, halfIn := big.NewInt(1_000_000_000), big.NewInt(500_000_000)
	swapIn := v3Op(routerItself, in, 0, true, testUSDC, base.wrapped)
	for name, c := range map[string]struct {
		list []op
		ok   bool
	}{
		"unwrapped to the account":       {ops(swapIn, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), true},
		"unwrapped, then swept":          {ops(swapIn, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(routerItself, 0), sweepOp(nativeCoin, msgSender, 1_000_000)), true},
		"the fee in native coin":         {ops(swapIn, unwrapOp(routerItself, 0), portionOp(nativeCoin, testFeeTo, 20), sweepOp(nativeCoin, msgSender, 1_000_000)), true},
		"left in the router":             {ops(swapIn, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(routerItself, 1_000_000)), false},
		"left wrapped":                   {ops(swapIn, portionOp(base.wrapped, testFeeTo, 20), sweepOp(base.wrapped, msgSender, 1_000_000)), false},
		"wrapped to the account":         {ops(v3Op(msgSender, in, 1_000_000, true, testUSDC, base.wrapped)), false},
		"unwrapped to somebody else":     {ops(swapIn, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(testAttacker, 1_000_000)), false},
		"the fee of one half only":       {ops(v3Op(routerItself, big.NewInt(999_999_999), 0, true, testUSDC, base.wrapped), unwrapOp(routerItself, 0), v3Op(routerItself, big.NewInt(1), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 0), sweepOp(nativeCoin, msgSender, 1_000_000)), false},
		"wrapped again in between":       {ops(v3Op(routerItself, halfIn, 0, true, testUSDC, base.wrapped), unwrapOp(routerItself, 0), wrapOp(routerItself, contractBalance), v3Op(routerItself, halfIn, 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), false},
		"another token is pulled":        {ops(v3Op(routerItself, in, 0, true, testDAI, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), false},
		"one leg is paid already":        {ops(swapIn, v2Op(routerItself, new(big.Int), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), false},
		"all that the router has":        {ops(swapIn, v3Op(routerItself, contractBalance, 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), false},
		"more than the amount is pulled": {ops(swapIn, swapIn, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), false},
		"less than the amount is pulled": {ops(v3Op(routerItself, big.NewInt(999_999_999), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000)), false},
	} {
		if _, err := checked(nativeOut(), program(t, testDeadline.Unix(), c.list)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRouterWrap: the API may wrap through the router instead of the wrapped
// coin's own contract.
func TestRouterWrap(t *testing.T) {
	terms := ethToUSDC()
	terms.TokenOut, terms.FloorOut, terms.FeeBps, terms.FeeReceiver = base.wrapped, oneEther, 0, common.Address{}
	for name, c := range map[string]struct {
		list []op
		ok   bool
	}{
		"to the account":     {ops(wrapOp(msgSender, oneEther)), true},
		"all to the account": {ops(wrapOp(msgSender, contractBalance)), true},
		"and swept":          {ops(wrapOp(routerItself, oneEther), op{0x04, 0, []any{base.wrapped, msgSender, oneEther}}), true},
		"half":               {ops(wrapOp(msgSender, half)), false},
		"left there":         {ops(wrapOp(routerItself, oneEther)), false},
		"to somebody else":   {ops(wrapOp(testAttacker, oneEther)), false},
		"and back":           {ops(wrapOp(routerItself, oneEther), unwrapOp(msgSender, 0)), false},
		"with a fee":         {ops(wrapOp(routerItself, oneEther), portionOp(base.wrapped, testMaker, 20), op{0x04, 0, []any{base.wrapped, msgSender, oneEther}}), false},
	} {
		if _, err := checked(terms, program(t, testDeadline.Unix(), c.list)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRecipient: another recipient than the account is paid by name; the
// caller's constant then is somebody else.
func TestRecipient(t *testing.T) {
	terms := ethToUSDC()
	terms.Recipient = testFriend
	to := func(a common.Address) []byte {
		list := honest()
		list[3] = sweepOp(testUSDC, a, 2_000_000_000)
		return program(t, testDeadline.Unix(), list)
	}
	if _, err := checked(terms, to(testFriend)); err != nil {
		t.Error(err)
	}
	for _, a := range []common.Address{msgSender, testAccount, routerItself, testAttacker} {
		if _, err := checked(terms, to(a)); err == nil {
			t.Errorf("%s is paid instead", a)
		}
	}
	for _, a := range []common.Address{msgSender, routerItself, base.router, base.wrapped, permit2, {}} {
		terms.Recipient = a
		if _, err := checked(terms, to(a)); err == nil {
			t.Errorf("%s is accepted as recipient", a)
		}
	}
}
