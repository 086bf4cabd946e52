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

// A hostileProgram must be refused with the code and field, or accepted if it has no code.
type hostileProgram struct {
	code  swap.Code
	field string
	list  []op
}

// attacks are programs that a lying provider could send for ethToUSDC. Each tries one
// thing, and each must be refused.
var attacks = map[string]hostileProgram{
	"nothing is enforced": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 0))},
	"below the minimum": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1_999_999_999))},
	"a minimum that the router cuts": {swap.Undecodable, "minAmountOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepFor(testUSDC, new(big.Int).Lsh(big.NewInt(1), 160)))},
	"the sweep pays somebody else": {swap.NotAsAccepted, "recipient", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, testAttacker, 2_000_000_000))},
	"the swap pays somebody else": {swap.NotAsAccepted, "recipient", ops(wrapOp(addressThis, oneEther), v3Op(testAttacker, oneEther, 2_000_000_000, false, base.wrapped, testUSDC))},
	"half is swapped for somebody else": {swap.NotAsAccepted, "recipient", ops(wrapOp(addressThis, oneEther), v3Op(testAttacker, half, 0, false, base.wrapped, testUSDC),
		v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"half stays in the router as wrapped coin": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"half stays in the router as native coin": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, half), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"half is wrapped for somebody else": {swap.NotAsAccepted, "recipient", ops(wrapOp(testAttacker, half), wrapOp(addressThis, half), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the input is sent back with the output": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC),
		unwrapOp(msgSender, 0), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"more is swapped than was brought": {swap.NotAsAccepted, "amount", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, new(big.Int).Add(oneEther, big.NewInt(1)), 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"wrapped coin of the account is pulled": {swap.NotAsAccepted, "tokenIn", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		v3Op(addressThis, oneEther, 0, true, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"another token of the account is pulled": {swap.NotAsAccepted, "tokenIn", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		v3Op(addressThis, oneEther, 0, true, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"all of the router's balance is pulled from the account": {swap.NotAsAccepted, "tokenIn", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, contractBalance, 0, true, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"an intermediate token is handed over": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI),
		sweepOp(testDAI, msgSender, 2_000_000_000))},
	"an intermediate token stays in the router": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, half, 0, false, base.wrapped, testDAI),
		v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"an intermediate token is swept before its swap": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI),
		sweepOp(testDAI, msgSender, 0), v3Op(addressThis, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the minimum is of another token": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 2_000_000_000, false, base.wrapped, testDAI),
		v3Op(addressThis, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 0))},
	"the minimum is of the part before the fee": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 2_000_000_000, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 0))},
	"a minimum is promised of nothing": {swap.Undecodable, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a sweep before the swap": {swap.Undecodable, "commands", ops(sweepOp(testUSDC, msgSender, 2_000_000_000), wrapOp(addressThis, oneEther),
		v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1))},
	"the output is swept into the router": {swap.NotAsAccepted, "recipient", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, addressThis, 2_000_000_000))},
	"the output stays in the router": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC),
		v3Op(addressThis, half, 0, false, base.wrapped, testUSDC))},
	"no fee for us": {swap.NotAsAccepted, "feeBps", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testUSDC))},
	"a smaller fee for us": {swap.NotAsAccepted, "feeBps", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 19), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"our fee is larger": {swap.NotAsAccepted, "feeBps", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 21), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"our whole fee is taken twice": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"our fee is taken twice": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 10), portionOp(testUSDC, testFeeTo, 10), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the provider takes more": {swap.NotAsAccepted, "makerFeeBps", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testMaker, 21), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the provider takes twice": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testMaker, 20), portionOp(testUSDC, testMaker, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"two recipients each take the maximum fee": {swap.NotAsAccepted, "makerFeeBps", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, testMaker, 15), portionOp(testUSDC, testAttacker, 15), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the fee is the whole output": {swap.NotAsAccepted, "makerFeeBps", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testAttacker, 10_000), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a fee of the input": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), portionOp(base.wrapped, testMaker, 20), v3Op(addressThis, contractBalance, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a fee of the native input": {swap.NotAsAccepted, "fee", ops(portionOp(nativeCoin, testMaker, 20), wrapOp(addressThis, contractBalance), v3Op(addressThis, contractBalance, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a fee of an intermediate token": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI), portionOp(testDAI, testMaker, 20),
		v3Op(addressThis, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"our fee of a part only": {swap.Undecodable, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, big.NewInt(1000), 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20),
		v3Op(addressThis, contractBalance, 0, false, base.wrapped, testUSDC), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"our fee of what did not go past the router": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC),
		v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 1))},
	"a fee after the sweep": {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		sweepOp(testUSDC, msgSender, 2_000_000_000), portionOp(testUSDC, testFeeTo, 20))},
	"a fee to the router": {swap.Undecodable, "fee", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), portionOp(testUSDC, addressThis, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path that returns": {swap.NotAsAccepted, "tokenOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path through the output and back": {swap.NotAsAccepted, "tokenOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		v3Op(addressThis, contractBalance, 0, false, testUSDC, testDAI), v3Op(addressThis, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path of one token": {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), v2Op(addressThis, oneEther, 0, false, base.wrapped),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path of no token": {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), v2Op(addressThis, oneEther, 0, false),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path that is too long": {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), v2Op(addressThis, oneEther, 0, false, base.wrapped, testDAI, testFriend, testMaker, testFeeTo, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path cut short": {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), op{0x00, 0, []any{addressThis, oneEther, new(big.Int), v3Bytes(base.wrapped, testUSDC)[:42], false}},
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a path with a tail": {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), op{0x00, 0, []any{addressThis, oneEther, new(big.Int), append(v3Bytes(base.wrapped, testUSDC), 0, 1, 0xf4), false}},
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the pair is paid already": {swap.Undecodable, "amount", ops(wrapOp(addressThis, oneEther), v2Op(addressThis, new(big.Int), 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"one pair is paid already": {swap.Undecodable, "amount", ops(wrapOp(addressThis, oneEther), v2Op(addressThis, new(big.Int), 0, false, base.wrapped, testUSDC), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"a swap after the fee": {swap.Undecodable, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20),
		v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), sweepOp(testUSDC, msgSender, 2_000_000_000))},
	"the output is unwrapped": {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000), unwrapOp(testAttacker, 0))},
	"nothing but fees": {swap.NotAsAccepted, "fee", ops(portionOp(testUSDC, testFeeTo, 20))},
	"a permit for the native coin": {swap.NotAsAccepted, "token", ops(op{0x0a, 0, []any{nativeCoin, oneEther, big.NewInt(1_800_000_000), new(big.Int), base.router, big.NewInt(1_800_000_000), make([]byte, 65)}},
		wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))},
}

// feeless are attacks on the same swap without a fee, which a missing fee cannot reveal.
var feeless = map[string]hostileProgram{
	"the input is wrapped for the account":         {swap.NotAsAccepted, "recipient", ops(wrapOp(msgSender, oneEther))},
	"half of the input is wrapped for the account": {swap.NotAsAccepted, "recipient", ops(wrapOp(msgSender, half), wrapOp(addressThis, half), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC))},
	"another token arrives":                        {swap.NotAsAccepted, "recipient", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testDAI))},
	"a path that passes a token twice":             {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testDAI, testFriend, testDAI, testUSDC))},
	"a path that returns to the input": {swap.NotAsAccepted, "tokenIn", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI),
		v3Op(msgSender, contractBalance, 2_000_000_000, false, testDAI, base.wrapped, testUSDC))},
	"a path from the native coin":                                   {swap.Undecodable, "path", ops(v2Op(msgSender, oneEther, 2_000_000_000, false, nativeCoin, testUSDC))},
	"a path through the router":                                     {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), v2Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, base.router, testUSDC))},
	"a pool without a fee":                                          {swap.Undecodable, "path", ops(wrapOp(addressThis, oneEther), op{0x00, 0, []any{msgSender, oneEther, big.NewInt(2_000_000_000), make([]byte, 43), false}})},
	"two legs, one for somebody else":                               {swap.NotAsAccepted, "recipient", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC), v2Op(testAttacker, half, 0, false, base.wrapped, testUSDC))},
	"wrapped coin is left for later":                                {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC), unwrapOp(addressThis, 0))},
	"the maker takes from one leg":                                  {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 2_000_000_000, false, base.wrapped, testUSDC), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), portionOp(testUSDC, testMaker, 20), sweepOp(testUSDC, msgSender, 1))},
	"the minimum is of the account's balance, over a token between": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v2Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testDAI, testUSDC))},
	"half of the output is wrapped":                                 {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 1_000_000_000, false, base.wrapped, testUSDC), v2Op(msgSender, half, 1_000_000_000, false, base.wrapped, testDAI, testUSDC))},
	"it is, with bounds on every pool":                              {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), op{0x08, 1, []any{msgSender, oneEther, big.NewInt(2_000_000_000), []common.Address{base.wrapped, testDAI, testUSDC}, false, []*big.Int{common.Big1, common.Big1}}})},
	"it is, from a token between": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI),
		v2Op(msgSender, contractBalance, 2_000_000_000, false, testDAI, testUSDC))},
	"it is, of an account that is named": {swap.NotAsAccepted, "minOut", ops(wrapOp(addressThis, oneEther), v2Op(testAccount, oneEther, 2_000_000_000, false, base.wrapped, testDAI, testUSDC))},
	"wrapping again after the output":    {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, half), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), sweepOp(testUSDC, msgSender, 2_000_000_000), wrapOp(addressThis, half))},
}

// harmlessPrograms differ from the plain one in harmless ways that real routes have.
var harmlessPrograms = map[string][]op{
	"a split": ops(wrapOp(addressThis, oneEther), v3Op(addressThis, half, 0, false, base.wrapped, testUSDC), v2Op(addressThis, half, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"two versions in a row": ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testDAI), v2Op(addressThis, contractBalance, 0, false, testDAI, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, testAccount, 2_000_000_000)),
	"change is sent back": ops(wrapOp(addressThis, contractBalance), v3Op(addressThis, contractBalance, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000), unwrapOp(msgSender, 0), sweepOp(nativeCoin, msgSender, 0)),
	"the maker's fee": ops(wrapOp(addressThis, oneEther), v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testMaker, 20), op{0x07, 0, []any{testUSDC, testFeeTo, big.NewInt(20 * 1e14)}}, sweepOp(testUSDC, msgSender, 2_000_000_000)),
	"price bounds": ops(wrapOp(addressThis, oneEther), op{0x00, 1, []any{addressThis, oneEther, big.NewInt(5), v3Bytes(base.wrapped, testUSDC), false, []*big.Int{big.NewInt(7)}}},
		portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_001)),
}

func TestHarmlessPrograms(t *testing.T) {
	for name, list := range harmlessPrograms {
		if _, err := checked(ethToUSDC(), program(t, testDeadline.Unix(), list)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// encodings are the honest commands in other encodings than the canonical one, or with
// commands that are not understood.
func encodings(t testing.TB) map[string][]byte {
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
		"an additional input": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
			return c, append(i, inputs[3])
		}),
		"a missing input": with(func(c []byte, i [][]byte) ([]byte, [][]byte) { return c, i[:3] }),
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
		"a command that may fail": with(func(c []byte, i [][]byte) ([]byte, [][]byte) {
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
	return bad
}

func bytesOf(b byte, n int) []byte { return slices.Repeat([]byte{b}, n) }

// nativeOut are the terms of swapping an ERC-20 token to the native coin.
func nativeOut() swap.Terms {
	t := ethToUSDC()
	t.TokenIn, t.TokenOut = testUSDC, nativeCoin
	t.AmountIn, t.MinOut = big.NewInt(1_000_000_000), big.NewInt(1_000_000)
	return t
}

// allUSDC and halfUSDC are the input of nativeOut and half of it.
var (
	allUSDC, halfUSDC = big.NewInt(1_000_000_000), big.NewInt(500_000_000)
	swapUSDC          = v3Op(addressThis, allUSDC, 0, true, testUSDC, base.wrapped)
)

// nativePrograms are for nativeOut. Those without a code are honest.
var nativePrograms = map[string]hostileProgram{
	"unwrapped to the account":       {"", "", ops(swapUSDC, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
	"unwrapped, then swept":          {"", "", ops(swapUSDC, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(addressThis, 0), sweepOp(nativeCoin, msgSender, 1_000_000))},
	"the fee in native coin":         {"", "", ops(swapUSDC, unwrapOp(addressThis, 0), portionOp(nativeCoin, testFeeTo, 20), sweepOp(nativeCoin, msgSender, 1_000_000))},
	"left in the router":             {swap.NotAsAccepted, "commands", ops(swapUSDC, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(addressThis, 1_000_000))},
	"left wrapped":                   {swap.NotAsAccepted, "commands", ops(swapUSDC, portionOp(base.wrapped, testFeeTo, 20), sweepOp(base.wrapped, msgSender, 1_000_000))},
	"wrapped to the account":         {swap.NotAsAccepted, "recipient", ops(v3Op(msgSender, allUSDC, 1_000_000, true, testUSDC, base.wrapped))},
	"unwrapped to somebody else":     {swap.NotAsAccepted, "recipient", ops(swapUSDC, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(testAttacker, 1_000_000))},
	"the fee of one half only":       {swap.NotAsAccepted, "fee", ops(v3Op(addressThis, big.NewInt(999_999_999), 0, true, testUSDC, base.wrapped), unwrapOp(addressThis, 0), v3Op(addressThis, big.NewInt(1), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 0), sweepOp(nativeCoin, msgSender, 1_000_000))},
	"wrapped again in between":       {swap.NotAsAccepted, "commands", ops(v3Op(addressThis, halfUSDC, 0, true, testUSDC, base.wrapped), unwrapOp(addressThis, 0), wrapOp(addressThis, contractBalance), v3Op(addressThis, halfUSDC, 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
	"another token is pulled":        {swap.NotAsAccepted, "tokenIn", ops(v3Op(addressThis, allUSDC, 0, true, testDAI, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
	"one leg is paid already":        {swap.NotAsAccepted, "amountIn", ops(swapUSDC, v2Op(addressThis, new(big.Int), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
	"all that the router has":        {swap.NotAsAccepted, "amountIn", ops(swapUSDC, v3Op(addressThis, contractBalance, 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
	"more than the amount is pulled": {swap.NotAsAccepted, "amountIn", ops(swapUSDC, swapUSDC, portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
	"less than the amount is pulled": {swap.NotAsAccepted, "amountIn", ops(v3Op(addressThis, big.NewInt(999_999_999), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
}

// routerWrap are the terms of a wrap without a fee.
func routerWrap() swap.Terms {
	t := ethToUSDC()
	t.TokenOut, t.MinOut, t.FeeBps, t.FeeReceiver = base.wrapped, oneEther, 0, common.Address{}
	return t
}

// wrapPrograms are for routerWrap: the API may wrap through the router instead of calling
// the wrapped coin. Those without a code are honest.
var wrapPrograms = map[string]hostileProgram{
	"to the account":     {"", "", ops(wrapOp(msgSender, oneEther))},
	"all to the account": {"", "", ops(wrapOp(msgSender, contractBalance))},
	"and swept":          {"", "", ops(wrapOp(addressThis, oneEther), op{0x04, 0, []any{base.wrapped, msgSender, oneEther}})},
	"half":               {swap.NotAsAccepted, "commands", ops(wrapOp(msgSender, half))},
	"left there":         {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther))},
	"to somebody else":   {swap.NotAsAccepted, "recipient", ops(wrapOp(testAttacker, oneEther))},
	"and back":           {swap.NotAsAccepted, "commands", ops(wrapOp(addressThis, oneEther), unwrapOp(msgSender, 0))},
	"with a fee":         {swap.NotAsAccepted, "fee", ops(wrapOp(addressThis, oneEther), portionOp(base.wrapped, testMaker, 20), op{0x04, 0, []any{base.wrapped, msgSender, oneEther}})},
}

// TestRecipient checks that a recipient other than the account is paid by its address: the
// router's constant for the caller then means somebody else.
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
	for _, a := range []common.Address{msgSender, testAccount, addressThis, testAttacker} {
		if _, err := checked(terms, to(a)); err == nil {
			t.Errorf("%s is paid instead", a)
		}
	}
	for _, a := range []common.Address{msgSender, addressThis, base.router, base.wrapped, permit2, {}} {
		terms.Recipient = a
		if _, err := checked(terms, to(a)); err == nil {
			t.Errorf("%s is accepted as recipient", a)
		}
	}
}
