package sandbox

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/params"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/devnet"
)

// TestV4Vectors runs paths without bounds, as the vendor's package encodes them for
// router 2.1.2, on the published router 2.1.0. They must do the same there: the array of
// bounds takes the same place in both.
func TestV4Vectors(t *testing.T) {
	raw, err := os.ReadFile("../providers/dex/testdata/v4.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Account common.Address
		Vectors []struct {
			Name              string
			Calldata          hexutil.Bytes
			Value             string
			TokenIn, TokenOut common.Address
			Floor             string
		}
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, x := range v.Vectors {
		switch x.Name {
		case "a token in, one pool", "native in", "native out", "native out, unwrapped", "two routes", "native in, wrapped for the pool":
		default: // bounds, hooks, or structs that only 2.1.2 has
			continue
		}
		ran++
		g := v4Genesis(t, v.Account)
		before := g.balance(x.TokenOut, v.Account)
		value := new(big.Int).SetBytes(common.FromHex(x.Value))
		g.Call(v.Account, g.network.Contracts.UniversalRouter, value, x.Calldata)
		got := g.balance(x.TokenOut, v.Account)
		minimum, _ := new(big.Int).SetString(x.Floor, 10)
		if _, err := g.Alloc(); err != nil || got.Sub(got, before).Cmp(minimum) < 0 {
			t.Errorf("%s: %s arrived, want %s: %v", x.Name, got, minimum, err)
		}
	}
	if ran != 6 {
		t.Errorf("%d vectors ran", ran)
	}
}

// v4Genesis returns Base with V4 pools in which one DAI or ether is worth 3,000 USDC, and
// one ether one DAI.
func v4Genesis(t *testing.T, account common.Address) *genesis {
	set, err := contracts.Open("")
	if err != nil {
		t.Fatal(err)
	}
	owner, err := treasury()
	if err != nil {
		t.Fatal(err)
	}
	var n Network
	for _, x := range Networks() {
		if x.ID == 8453 {
			n = x
		}
	}
	const time = 1_700_000_000
	g := &genesis{GenesisBuilder: devnet.NewGenesisBuilder(n.ID, time), network: n, set: set, treasury: owner.Address, time: time}
	g.Fund(g.treasury, treasuryNative)
	g.Fund(account, whole(10))
	g.permit2()
	g.deploy("Multicall3", n.Contracts.Multicall3)
	g.tokens()
	g.uniswap()
	usdc, dai, ether := n.Tokens[0], n.Tokens[2], Token{}
	many, dollars := whole(1000), new(big.Int).Mul(big.NewInt(3_000_000), big.NewInt(1e6))
	for _, p := range []struct {
		a, b     Token
		ofA, ofB *big.Int
	}{{dai, usdc, many, dollars}, {ether, usdc, many, dollars}, {ether, dai, many, many}, {n.Wrapped, usdc, many, dollars}, {n.Wrapped, dai, many, many}} {
		g.v4Fund(p.a, p.ofA)
		g.v4Fund(p.b, p.ofB)
		g.v4Make(p.a, p.ofA, p.b, p.ofB, 500, 10)
	}
	g.give(dai, account, whole(1))
	data, err := g.contract("MockERC20").ABI.Pack("approve", n.Contracts.Permit2, maxUint256)
	if err != nil {
		t.Fatal(err)
	}
	g.Call(account, dai.Address, new(big.Int), data)
	if data, err = g.contract("Permit2").ABI.Pack("approve", dai.Address, n.Contracts.UniversalRouter, big.NewInt(params.Ether), big.NewInt(time+3600)); err != nil {
		t.Fatal(err)
	}
	g.Call(account, n.Contracts.Permit2, new(big.Int), data)
	return g
}

// v4Fund gives the treasury twice an amount and approves the contract that makes pools.
func (g *genesis) v4Fund(t Token, n *big.Int) {
	if t.Address == (common.Address{}) {
		return
	}
	g.give(t, g.treasury, new(big.Int).Add(n, n))
	g.call("MockERC20", t.Address, new(big.Int), "approve", g.network.V4().Liquidity, maxUint256)
}

// balance returns a balance; the native coin's through Multicall3.
func (g *genesis) balance(token, who common.Address) *big.Int {
	if token == (common.Address{}) {
		return new(big.Int).SetBytes(g.call("Multicall3", g.network.Contracts.Multicall3, new(big.Int), "getEthBalance", who))
	}
	return new(big.Int).SetBytes(g.call("MockERC20", token, new(big.Int), "balanceOf", who))
}
