package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/devnet"
)

// Permit2's address follows from its creation code, this factory and this salt.
var (
	create2Factory = params.DeterministicFactoryAddress
	permit2Salt    = common.HexToHash("0x0000000000000000000000000000000000000000d3af2663da51c10215000000")
)

// Liquidity in US dollars, on each side of a pool.
const (
	deepPool    = 300_000_000
	shallowPool = 30_000_000
	v2Pool      = 3_000_000
)

// Starting balances of the mnemonic's accounts, of the service accounts and of the
// treasury.
var (
	accountNative  = whole(10_000)
	accountDollars = int64(100_000) // of each token
	serviceNative  = whole(1_000_000)
	serviceDollars = int64(50_000_000) // of each token
	treasuryNative = new(big.Int).Mul(whole(1_000_000_000), big.NewInt(1_000_000))
)

// maxTick is the largest tick of a pool, as in Uniswap's TickMath.
const maxTick = 887272

var maxUint256 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

func whole(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(params.Ether)) }

// A genesis builds the genesis state of a chain.
type genesis struct {
	*devnet.GenesisBuilder
	network  Network
	set      *contracts.Set
	treasury common.Address
	accounts []Account
	services map[string]Account
	time     uint64
	// layout seeds the argument layout of stand-ins for contracts whose interface is not
	// published.
	layout uint64
}

// buildGenesis returns a genesis allocation with a network's contracts, tokens, pools and funded
// accounts.
func (s *Sandbox) buildGenesis(n Network, set *contracts.Set, time uint64) (types.GenesisAlloc, error) {
	owner, err := treasury()
	if err != nil {
		return nil, err
	}
	g := &genesis{
		GenesisBuilder: devnet.NewGenesisBuilder(n.ID, time), network: n, set: set, treasury: owner.Address,
		accounts: s.accounts, services: s.services, time: time, layout: s.layout,
	}
	g.Fund(g.treasury, treasuryNative)
	g.permit2()
	g.deploy("Multicall3", n.Contracts.Multicall3)
	g.tokens()
	g.uniswap()
	g.pools()
	g.fundAccounts()
	for _, p := range providers {
		if p.deploy != nil {
			p.deploy(g)
		}
	}
	g.market()
	alloc, err := g.Alloc()
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", n.ID, err)
	}
	return alloc, nil
}

func (g *genesis) contract(name string) *contracts.Contract {
	c, err := g.set.Get(name)
	if err != nil {
		g.Fail(err)
		return &contracts.Contract{}
	}
	return c
}

func (g *genesis) deploy(name string, at common.Address, args ...any) {
	init, err := g.contract(name).Init(args...)
	if err != nil {
		g.Fail(fmt.Errorf("%s: %w", name, err))
	}
	g.Deploy(at, g.treasury, init)
}

// call calls a method of the named contract at an address, from the treasury.
func (g *genesis) call(name string, at common.Address, value *big.Int, method string, args ...any) []byte {
	data, err := g.contract(name).ABI.Pack(method, args...)
	if err != nil {
		g.Fail(fmt.Errorf("%s.%s: %w", name, method, err))
	}
	return g.Call(g.treasury, at, value, data)
}

// permit2 deploys Permit2 as on every chain: through the CREATE2 factory.
func (g *genesis) permit2() {
	g.Install(create2Factory, core.SystemContractAllocs()[create2Factory].Code)
	code := g.contract("Permit2").Code
	if crypto.CreateAddress2(create2Factory, permit2Salt, crypto.Keccak256(code)) != g.network.Contracts.Permit2 {
		g.Fail(errors.New("the Permit2 code of the sandbox's contracts is not the canonical one"))
		return
	}
	g.Call(g.treasury, create2Factory, new(big.Int), append(permit2Salt.Bytes(), code...))
}

func (g *genesis) tokens() {
	w := g.network.Wrapped
	g.deploy("WETH9", w.Address)
	// WETH9 has its name and symbol in its code; the first two slots override them.
	g.Set(w.Address, common.Hash{}, shortString(w.Name))
	g.Set(w.Address, common.BigToHash(big.NewInt(1)), shortString(w.Symbol))
	for _, t := range g.network.Tokens {
		g.deploy(tokenContract(t), t.Address, t.Name, t.Symbol, t.Decimals)
	}
}

func tokenContract(t Token) string {
	if t.Tether {
		return "TetherToken"
	}
	return "MockERC20"
}

// shortString encodes a string below 32 bytes as Solidity stores it.
func shortString(s string) common.Hash {
	var slot common.Hash
	copy(slot[:31], s)
	slot[31] = byte(2 * len(s))
	return slot
}

func (g *genesis) uniswap() {
	c, weth := g.network.Contracts, g.network.Wrapped.Address
	g.deploy("V2Factory", c.V2Factory, g.treasury)
	g.deploy("V2Router", c.V2Router, c.V2Factory, weth)
	g.deploy("V3Factory", c.V3Factory)
	g.call("V3Factory", c.V3Factory, new(big.Int), "enableFeeAmount", big.NewInt(100), big.NewInt(1))
	g.deploy("PositionManager", c.PositionManager, c.V3Factory, weth, common.Address{})
	g.deploy("QuoterV2", c.QuoterV2, c.V3Factory, weth)
	g.v4()
	if c.UniversalRouter == (common.Address{}) {
		return
	}
	g.deploy("UniversalRouter", c.UniversalRouter, routerParameters{
		Permit2: c.Permit2, Weth9: weth, V2Factory: c.V2Factory, V3Factory: c.V3Factory,
		PairInitCodeHash:     crypto.Keccak256Hash(g.contract("V2Pair").Code),
		PoolInitCodeHash:     crypto.Keccak256Hash(g.contract("V3Pool").Code),
		V4PoolManager:        g.network.V4().Manager,
		V3NFTPositionManager: c.PositionManager,
	})
}

// routerParameters is the Universal Router's constructor argument. These chains have no
// V4 position manager and no bridge, so those addresses stay zero.
type routerParameters struct {
	Permit2, Weth9, V2Factory, V3Factory common.Address
	PairInitCodeHash, PoolInitCodeHash   common.Hash
	V4PoolManager                        common.Address
	V3NFTPositionManager                 common.Address
	V4PositionManager, SpokePool         common.Address
}

// pools creates for every token two pools with the wrapped native coin and a stable pool
// with the first token, and for the first token a V2 pair with the wrapped native coin.
// Where the chain has a V4 pair, it gets a pool too.
func (g *genesis) pools() {
	base := g.network.Tokens[0]
	for _, t := range g.network.Tokens {
		g.pool(g.network.Wrapped, t, 500, deepPool)
		g.pool(g.network.Wrapped, t, 3000, shallowPool)
		if t.Address != base.Address {
			g.pool(base, t, 100, deepPool)
		}
	}
	g.pair(g.network.Wrapped, base, v2Pool)
	if a, ok := g.network.Token(g.network.V4().Pair[0]); ok {
		b, _ := g.network.Token(g.network.V4().Pair[1])
		g.v4Pool(a, b, deepPool)
	}
}

// mintParams is the argument of the position manager's mint.
type mintParams struct {
	Token0, Token1                 common.Address
	Fee, TickLower, TickUpper      *big.Int
	Amount0Desired, Amount1Desired *big.Int
	Amount0Min, Amount1Min         *big.Int
	Recipient                      common.Address
	Deadline                       *big.Int
}

// tickSpacing maps fees to tick spacings, as the V3 factory does.
var tickSpacing = map[int64]int64{100: 1, 500: 10, 3000: 60}

// pool creates a V3 pool at the tokens' starting prices, with liquidity over the whole
// price range.
func (g *genesis) pool(a, b Token, fee int64, dollars int64) {
	if bytes.Compare(a.Address[:], b.Address[:]) > 0 {
		a, b = b, a
	}
	manager := g.network.Contracts.PositionManager
	amountA, amountB := g.mintAndApprove(a, manager, dollars), g.mintAndApprove(b, manager, dollars)
	price := new(big.Int).Lsh(amountB, 192)
	sqrtPrice := price.Sqrt(price.Div(price, amountA))
	g.call("PositionManager", manager, new(big.Int), "createAndInitializePoolIfNecessary",
		a.Address, b.Address, big.NewInt(fee), sqrtPrice)
	tick := maxTick / tickSpacing[fee] * tickSpacing[fee]
	g.call("PositionManager", manager, new(big.Int), "mint", mintParams{
		Token0: a.Address, Token1: b.Address, Fee: big.NewInt(fee),
		TickLower: big.NewInt(-tick), TickUpper: big.NewInt(tick),
		Amount0Desired: amountA, Amount1Desired: amountB,
		Amount0Min: new(big.Int), Amount1Min: new(big.Int),
		Recipient: g.treasury, Deadline: new(big.Int).SetUint64(g.time + 3600),
	})
}

// pair creates a V2 pair at the tokens' starting prices.
func (g *genesis) pair(a, b Token, dollars int64) {
	router := g.network.Contracts.V2Router
	amountA, amountB := g.mintAndApprove(a, router, dollars), g.mintAndApprove(b, router, dollars)
	g.call("V2Router", router, new(big.Int), "addLiquidity", a.Address, b.Address,
		amountA, amountB, new(big.Int), new(big.Int), g.treasury, new(big.Int).SetUint64(g.time+3600))
}

// mintAndApprove gives the treasury tokens of the given value, approves spender for them and
// returns the amount in base units.
func (g *genesis) mintAndApprove(t Token, spender common.Address, dollars int64) *big.Int {
	amount := t.Units(dollars)
	g.give(t, g.treasury, amount)
	g.call("MockERC20", t.Address, new(big.Int), "approve", spender, new(big.Int))
	g.call("MockERC20", t.Address, new(big.Int), "approve", spender, maxUint256)
	return amount
}

func (g *genesis) give(t Token, to common.Address, amount *big.Int) {
	if t.Address != g.network.Wrapped.Address {
		g.call("MockERC20", t.Address, new(big.Int), "mint", to, amount)
		return
	}
	g.call("WETH9", t.Address, amount, "deposit")
	if to != g.treasury {
		g.call("WETH9", t.Address, new(big.Int), "transfer", to, amount)
	}
}

func (g *genesis) fundAccounts() {
	for _, a := range g.accounts {
		g.fundAccount(a, accountNative, accountDollars)
	}
	for _, a := range g.services {
		g.fundAccount(a, serviceNative, serviceDollars)
	}
	g.give(g.network.Wrapped, g.treasury, g.network.Wrapped.Units(deepPool))
}

// fundAccount gives an account native coin, in wei, and every token, in US dollars.
func (g *genesis) fundAccount(a Account, wei *big.Int, dollars int64) {
	g.Fund(a.Address, wei)
	for _, t := range append([]Token{g.network.Wrapped}, g.network.Tokens...) {
		g.give(t, a.Address, t.Units(dollars))
	}
}

// approveAll approves a spender for every token of a service account, named as in services.
func (g *genesis) approveAll(service string, spender common.Address) {
	data, err := g.contract("MockERC20").ABI.Pack("approve", spender, maxUint256)
	if err != nil {
		g.Fail(err)
	}
	for _, t := range append([]Token{g.network.Wrapped}, g.network.Tokens...) {
		g.Call(g.services[service].Address, t.Address, new(big.Int), data)
	}
}

// ErrUnknownChain means that a chain id is not in the table of networks.
var ErrUnknownChain = errors.New("the sandbox has no such chain")

func unknownChain(id uint64) error {
	known := make([]string, 0, len(Networks()))
	for _, n := range Networks() {
		known = append(known, fmt.Sprint(n.ID))
	}
	return fmt.Errorf("chain %d: %w; it has %s", id, ErrUnknownChain, strings.Join(known, ", "))
}
