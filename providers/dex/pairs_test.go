package dex

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

var (
	ethereum, _ = deploymentOn(1)
	usdc1       = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	dai1        = common.HexToAddress("0x6B175474E89094C44Da98b954EedeAC495271d0F")
	usdt1       = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")
)

// TestPairs checks the addresses of well-known pools.
func TestPairs(t *testing.T) {
	for want, of := range map[string][2]common.Address{
		"0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc": {usdc1, ethereum.wrapped},
		"0xA478c2975Ab1Ea89e8196811F51A7B7Ade33eB11": {ethereum.wrapped, dai1},
	} {
		if got := pairs.of(of[0], of[1]); got != common.HexToAddress(want) || pairs.of(of[1], of[0]) != got {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestMixedRoutes checks what the vendor's SDK produces for routes over V3 and then V2.
func TestMixedRoutes(t *testing.T) {
	raw, err := os.ReadFile("testdata/mixed.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Forms []struct {
			Name    string
			To      common.Address
			Data    hexutil.Bytes
			In, Out common.Address
			Amount  string
			FeeBps  int
		}
	}
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Forms) != 2 {
		t.Fatal(len(v.Forms), err)
	}
	for _, x := range v.Forms {
		terms := usdcToWETH()
		terms.TokenIn, terms.TokenOut, terms.FeeBps, terms.Deadline = x.In, x.Out, x.FeeBps, time.Unix(1_800_000_600, 0)
		terms.AmountIn, _ = new(big.Int).SetString(x.Amount, 10)
		terms.MinOut = big.NewInt(985_050_000) // as the last sweep states it
		f, err := checked(terms, x.Data)
		if err != nil || x.To != ethereum.router || f.Receives[0].Min.Cmp(terms.MinOut) != 0 {
			t.Errorf("%s: %+v, %v", x.Name, f, err)
		}
	}
}

// usdcToWETH are terms on Ethereum, where routes may use V2.
func usdcToWETH() swap.Terms {
	t := ethToUSDC()
	t.SrcChain, t.DstChain, t.TokenIn, t.TokenOut = 1, 1, usdc1, ethereum.wrapped
	t.AmountIn, t.MinOut = big.NewInt(1_000_000_000), big.NewInt(1_000_000)
	return t
}

// mixedPrograms are for usdcToWETH: V3 from the input to DAI, paid to the pool of DAI and
// the output, then V2.
var mixedPrograms = func() map[string]hostileProgram {
	weth := ethereum.wrapped
	all, pool := big.NewInt(1_000_000_000), pairs.of(dai1, weth)
	some, rest := big.NewInt(400_000_000), big.NewInt(600_000_000)
	fee, swept := portionOp(weth, testFeeTo, 20), sweepOp(weth, msgSender, 1_000_000)
	first := v3Op(pool, all, 0, true, usdc1, dai1)
	second := v2Op(addressThis, contractBalance, 0, false, dai1, weth)
	return map[string]hostileProgram{
		"honest":                               {list: ops(first, second, fee, swept)},
		"the amount is marked as already paid": {list: ops(first, v2Op(addressThis, new(big.Int), 0, false, dai1, weth), fee, swept)},
		"together with another part":           {list: ops(v3Op(pool, some, 0, true, usdc1, dai1), second, v3Op(addressThis, rest, 0, true, usdc1, weth), fee, swept)},
		"over two pairs":                       {list: ops(v3Op(pairs.of(dai1, usdt1), all, 0, true, usdc1, dai1), v2Op(addressThis, contractBalance, 0, false, dai1, usdt1, weth), fee, swept)},
		"the pool is an account":               {swap.NotAsAccepted, "recipient", ops(v3Op(testAttacker, all, 0, true, usdc1, dai1), second, fee, swept)},
		"the pool of other tokens":             {swap.NotAsAccepted, "recipient", ops(v3Op(pairs.of(dai1, usdt1), all, 0, true, usdc1, dai1), second, fee, swept)},
		"the second pool of the path":          {swap.NotAsAccepted, "recipient", ops(v3Op(pairs.of(usdt1, weth), all, 0, true, usdc1, dai1), v2Op(addressThis, contractBalance, 0, false, dai1, usdt1, weth), fee, swept)},
		"the pool of another token's path":     {swap.NotAsAccepted, "recipient", ops(first, v2Op(addressThis, contractBalance, 0, false, usdt1, dai1, weth), fee, swept)},
		"nothing follows":                      {swap.NotAsAccepted, "recipient", ops(v3Op(addressThis, some, 0, true, usdc1, weth), v3Op(pool, rest, 0, true, usdc1, dai1))},
		"a fee is between":                     {swap.NotAsAccepted, "recipient", ops(first, fee, second, swept)},
		"a sweep is between":                   {swap.NotAsAccepted, "recipient", ops(first, sweepOp(dai1, msgSender, 0), second, fee, swept)},
		"another V3 swap is between":           {swap.NotAsAccepted, "recipient", ops(v3Op(pool, some, 0, true, usdc1, dai1), v3Op(addressThis, rest, 0, true, usdc1, weth), second, fee, swept)},
		"V3 goes on":                           {swap.NotAsAccepted, "recipient", ops(first, v3Op(addressThis, contractBalance, 0, false, dai1, weth), fee, swept)},
		"the account pays as well":             {swap.NotAsAccepted, "recipient", ops(v3Op(pool, some, 0, true, usdc1, dai1), v2Op(addressThis, rest, 0, true, dai1, weth), fee, swept)},
		"more is paid in":                      {swap.Undecodable, "amount", ops(first, v2Op(addressThis, big.NewInt(1), 0, false, dai1, weth), fee, swept)},
		"paid to the account":                  {swap.NotAsAccepted, "minOut", ops(first, v2Op(msgSender, contractBalance, 1_000_000, false, dai1, weth))},
		"paid to another account":              {swap.NotAsAccepted, "minOut", ops(first, v2Op(testAttacker, contractBalance, 1_000_000, false, dai1, weth), fee, swept)},
		"V2 pays a pool ahead":                 {swap.NotAsAccepted, "recipient", ops(v2Op(pool, all, 0, true, usdc1, dai1), second, fee, swept)},
		"two pools are paid, one is used":      {swap.NotAsAccepted, "recipient", ops(v3Op(pool, some, 0, true, usdc1, dai1), v3Op(pool, rest, 0, true, usdc1, dai1), second, fee, swept)},
		"V2 as if paid, where nothing was":     {swap.Undecodable, "amount", ops(v3Op(addressThis, all, 0, true, usdc1, weth), v2Op(addressThis, new(big.Int), 0, false, dai1, weth), fee, swept)},
		"the output itself is paid onwards":    {swap.NotAsAccepted, "recipient", ops(v3Op(pool, all, 0, true, usdc1, weth), v2Op(addressThis, contractBalance, 0, false, dai1, weth), fee, swept)},
		"no minimum":                           {swap.NotAsAccepted, "minOut", ops(first, second, fee, sweepOp(weth, msgSender, 0))},
	}
}()

func TestMixedPrograms(t *testing.T) {
	for name, p := range mixedPrograms {
		if _, err := checked(usdcToWETH(), program(t, testDeadline.Unix(), p.list)); codeOf(err) != p.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	onBase := ethToUSDC() // V2 is not requested there
	pool := pairs.of(testDAI, testUSDC)
	_, err := checked(onBase, program(t, testDeadline.Unix(), ops(wrapOp(addressThis, oneEther), v3Op(pool, oneEther, 0, false, base.wrapped, testDAI),
		v2Op(addressThis, contractBalance, 0, false, testDAI, testUSDC), portionOp(testUSDC, testFeeTo, 20), sweepOp(testUSDC, msgSender, 2_000_000_000))))
	if codeOf(err) != swap.NotAsAccepted {
		t.Errorf("where V2 is not asked for: %v", err)
	}
}
