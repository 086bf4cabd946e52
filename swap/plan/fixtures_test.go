package plan

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	account = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	router  = common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85")
	weth    = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdc    = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	usdt    = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")
	permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	partner = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
	thief   = common.HexToAddress("0x000000000000000000000000000000000000dEaD")
	native  = common.Address{}
	noon    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

func testTerms() swap.Terms {
	return swap.Terms{
		Provider: swap.DEX, Account: account, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1000),
		DstChain: 1, TokenOut: usdc, Recipient: account, MinOut: big.NewInt(2900), Deadline: noon.Add(20 * time.Minute),
		RefundTo: account, FeeBps: 20, FeeReceiver: partner, MakerFeeBps: 20, GasCeiling: big.NewInt(1e15),
	}
}

func testSwap() swap.Effect {
	return swap.Effect{Kind: swap.Swap, Chain: 1, Target: router,
		Spends:   []swap.Spend{{Token: native, Amount: big.NewInt(1000)}},
		Receives: []swap.Receive{{Token: usdc, To: account, Min: big.NewInt(2900)}},
		Pays:     []swap.Payment{{Token: usdc, To: partner, Bps: 20}},
		Deadline: noon.Add(10 * time.Minute)}
}

// erc20 returns the same swap with an ERC-20 input: approve, permit, swap.
func erc20() (swap.Terms, []swap.Effect) {
	t, f := testTerms(), testSwap()
	t.TokenIn, t.TokenOut, t.MinOut = usdc, weth, big.NewInt(1)
	f.Spends, f.Receives, f.Pays = []swap.Spend{{Token: usdc, Amount: big.NewInt(1000)}}, []swap.Receive{{Token: weth, To: account, Min: big.NewInt(1)}}, []swap.Payment{{Token: weth, To: partner, Bps: 20}}
	return t, []swap.Effect{
		{Kind: swap.Approve, Chain: 1, Target: usdc, Approves: []swap.Approval{{Token: usdc, Spender: permit2, Amount: big.NewInt(1000)}}},
		{Kind: swap.Permit, Chain: 1, Target: permit2, Deadline: noon.Add(30 * time.Minute),
			Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: big.NewInt(1000), Until: noon.Add(30 * 24 * time.Hour)}}},
		f,
	}
}

func refusedWith(t *testing.T, err error, code swap.Code) {
	t.Helper()
	if !errors.Is(err, &swap.Refusal{Code: code}) {
		t.Errorf("got %v, want a refusal with %s", err, code)
	}
}

func codes(fs []swap.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, f.Code+":"+string(f.Severity))
	}
	return out
}

// acknowledgements returns the codes of findings that each need an acknowledgement.
func acknowledgements(found []swap.Finding) (codes []string) {
	for _, f := range found {
		if f.Severity == swap.Acknowledge {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}
