package sandboxtest

import (
	"context"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/network"
)

// scamTick is the tick spacing of the fake token's pool, whose fee is 0.05 %.
const (
	scamFee  = 500
	scamTick = 10
	scamUSDC = 60_000_000 // whole tokens that the pool sells
)

// DeployFakeUSDC deploys an ERC-20 token that calls itself USDC, and a Uniswap V3 pool that sells
// it for ether at 3,000 per ether and holds nothing but the fake. The token is worthless,
// but every query of a pool shows a correct price. The DEX simulator routes through the
// pool; price sources do not know the token.
func DeployFakeUSDC(t testing.TB, s *sandbox.Sandbox, chain uint64) common.Address {
	t.Helper()
	set, err := contracts.Open("")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Chain(chain)
	crook := txSender{t, c, s.Accounts()[5]}
	token := crook.get(set, "MockERC20")
	init, err := token.Init("USD Coin", "USDC", uint8(6))
	if err != nil {
		t.Fatal(err)
	}
	fake := crook.send(nil, init).ContractAddress
	amount, manager := Units(scamUSDC, 6), c.Network.Contracts.PositionManager
	crook.send(&fake, crook.pack(token, "mint", crook.who.Address, amount))
	crook.send(&fake, crook.pack(token, "approve", manager, amount))

	wrapped := c.Network.Wrapped.Address
	p := position{Token0: fake, Token1: wrapped, Fee: big.NewInt(scamFee), Amount0Desired: amount, Amount1Desired: new(big.Int),
		Amount0Min: new(big.Int), Amount1Min: new(big.Int), Recipient: crook.who.Address, Deadline: big.NewInt(time.Now().Add(24 * time.Hour).Unix())}
	price := 1e18 / 3000e6 // wei per base unit of the fake
	tick := int64(math.Floor(math.Log(price)/math.Log(1.0001)/scamTick)) * scamTick
	lower, upper := tick+scamTick, tick+21*scamTick // above the price lie the tokens that ether buys
	if fake.Cmp(wrapped) > 0 {
		p.Token0, p.Token1, p.Amount0Desired, p.Amount1Desired = wrapped, fake, p.Amount1Desired, amount
		price = 1 / price
		tick = int64(math.Floor(math.Log(price)/math.Log(1.0001)/scamTick)) * scamTick
		lower, upper = tick-20*scamTick, tick
	}
	p.TickLower, p.TickUpper = big.NewInt(lower), big.NewInt(upper)
	root, _ := new(big.Float).Mul(big.NewFloat(math.Sqrt(price)), new(big.Float).SetMantExp(big.NewFloat(1), 96)).Int(nil)
	pools := crook.get(set, "PositionManager")
	crook.send(&manager, crook.pack(pools, "createAndInitializePoolIfNecessary", p.Token0, p.Token1, p.Fee, root))
	crook.send(&manager, crook.pack(pools, "mint", p))
	if err := s.DEX().ListToken(t.Context(), chain, network.Token{Address: fake, Symbol: "USDC", Name: "USD Coin", Decimals: 6, MicroUSD: 1_000_000}); err != nil {
		t.Fatal(err)
	}
	return fake
}

// A position is the position manager's MintParams.
type position struct {
	Token0, Token1                                         common.Address
	Fee, TickLower, TickUpper                              *big.Int
	Amount0Desired, Amount1Desired, Amount0Min, Amount1Min *big.Int
	Recipient                                              common.Address
	Deadline                                               *big.Int
}

// A txSender sends transactions from an account on one chain.
type txSender struct {
	t     testing.TB
	chain *sandbox.Chain
	who   sandbox.Account
}

func (m txSender) get(set *contracts.Set, name string) *contracts.Contract {
	m.t.Helper()
	c, err := set.Get(name)
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

func (m txSender) pack(c *contracts.Contract, method string, args ...any) []byte {
	m.t.Helper()
	data, err := c.ABI.Pack(method, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

// send sends a transaction and waits for the receipt; nil to deploys a contract.
func (m txSender) send(to *common.Address, data []byte) *types.Receipt {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 20*time.Second)
	defer cancel()
	client := m.chain.Client()
	nonce, err := client.PendingNonceAt(ctx, m.who.Address)
	if err != nil {
		m.t.Fatal(err)
	}
	tx, err := types.SignNewTx(m.who.Key, types.LatestSignerForChainID(new(big.Int).SetUint64(m.chain.ID)), &types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(m.chain.ID), Nonce: nonce, GasTipCap: big.NewInt(2e9), GasFeeCap: big.NewInt(1e11), Gas: 6_000_000, To: to, Data: data})
	if err == nil {
		err = client.SendTransaction(ctx, tx)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	receipt, err := m.chain.MineTransaction(ctx, tx.Hash())
	if err != nil || receipt.Status != types.ReceiptStatusSuccessful {
		m.t.Fatalf("transaction of the fraud: %+v, %v", receipt, err)
	}
	return receipt
}
