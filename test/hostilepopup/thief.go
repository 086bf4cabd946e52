//go:build faults && linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"swapkeep/sandbox"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// A thief is the script's author. On each chain he has a token of his own, with the name of
// a verified one and a pool that is entirely his.
type thief struct {
	ctx     context.Context
	account *operator.Account
	set     *contracts.Set
	tokens  map[uint64]network.Token
}

// Sizes of the thief's pool, and his funds for moving other pools.
const (
	ownPool = 100_000_000       // US dollars, on each side, so that victims' payments hardly move it
	ownFee  = 3000              // millionths
	purse   = 1_000_000_000_000 // US dollars, of the coin and of each token
)

func newThief(ctx context.Context, s *sandbox.Sandbox, set *contracts.Set) (*thief, error) {
	t := &thief{ctx: ctx, account: operator.NewAccount(s.Accounts()[1].Key), set: set, tokens: map[uint64]network.Token{}}
	for _, c := range s.Chains() {
		if err := t.open(c); err != nil {
			return nil, fmt.Errorf("the thief on chain %d: %w", c.ID, err)
		}
		if err := s.DEX().ListToken(ctx, c.ID, t.tokens[c.ID]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// open funds the thief on a chain and creates his token and its pool.
func (t *thief) open(c *sandbox.Chain) (err error) {
	if err := c.Fund(t.ctx, t.account.Address, native, c.Network.Wrapped.Units(purse)); err != nil {
		return err
	}
	for _, token := range c.Network.Tokens {
		if err := c.Fund(t.ctx, t.account.Address, token.Address, token.Units(purse)); err != nil {
			return err
		}
	}
	t.tokens[c.ID], err = t.openPool(c)
	return err
}

// openPool deploys the token and creates its pool with the wrapped native coin.
func (t *thief) openPool(c *sandbox.Chain) (network.Token, error) {
	token := network.Token{Symbol: "USDC", Name: "USD Coin", Decimals: 6, MicroUSD: 1_000_000}
	code, err := t.contract("MockERC20").Init(token.Name, token.Symbol, token.Decimals)
	if err != nil {
		return token, err
	}
	salt := crypto.Keccak256Hash([]byte("hostilepopup"))
	token.Address = crypto.CreateAddress2(params.DeterministicFactoryAddress, salt, crypto.Keccak256(code))
	w, n := c.Network.Wrapped, c.Network.Contracts
	coins, tokens := w.Units(ownPool), token.Units(ownPool)
	first, second, amount0, amount1 := w, token, coins, tokens
	if bytes.Compare(w.Address[:], token.Address[:]) > 0 {
		first, second, amount0, amount1 = token, w, tokens, coins
	}
	root := new(big.Int).Lsh(amount1, 192)
	root.Sqrt(root.Div(root, amount0))
	const lowest, highest = -887220, 887220 // the full range, at this fee's spacing
	calls := []operator.Call{
		{To: params.DeterministicFactoryAddress, Data: append(salt.Bytes(), code...)},
		{To: w.Address, Value: coins, Data: selector("deposit()")},
		t.call("MockERC20", token.Address, "mint", t.account.Address, tokens),
		t.call("MockERC20", token.Address, "approve", n.PositionManager, tokens),
		t.call("MockERC20", w.Address, "approve", n.PositionManager, coins),
		t.call("PositionManager", n.PositionManager, "createAndInitializePoolIfNecessary", first.Address, second.Address, big.NewInt(ownFee), root),
		t.call("PositionManager", n.PositionManager, "mint", position{
			first.Address, second.Address, big.NewInt(ownFee), big.NewInt(lowest), big.NewInt(highest),
			amount0, amount1, new(big.Int), new(big.Int), t.account.Address, big.NewInt(math.MaxInt32),
		}),
	}
	return token, t.send(c, calls...)
}

// position is the argument of the position manager's mint.
type position struct {
	Token0, Token1                 common.Address
	Fee, TickLower, TickUpper      *big.Int
	Amount0Desired, Amount1Desired *big.Int
	Amount0Min, Amount1Min         *big.Int
	Recipient                      common.Address
	Deadline                       *big.Int
}

// contract returns one of the sandbox's contracts, all of which exist.
func (t *thief) contract(name string) *contracts.Contract {
	c, err := t.set.Get(name)
	if err != nil {
		panic(err)
	}
	return c
}

func (t *thief) call(name string, at common.Address, method string, args ...any) operator.Call {
	data, err := t.contract(name).ABI.Pack(method, args...)
	if err != nil {
		panic(fmt.Sprintf("%s.%s: %v", name, method, err)) // the call is written in this file
	}
	return operator.Call{To: at, Data: data}
}

// send gets the thief's calls mined, in order and in one block if they fit: each block
// takes the chain's time further ahead of the clock.
func (t *thief) send(c *sandbox.Chain, calls ...operator.Call) error {
	ctx, cancel := context.WithTimeout(t.ctx, 20*time.Second)
	defer cancel()
	c.Pause()
	defer c.Resume()
	var sent []common.Hash
	for _, call := range calls {
		call.Gas = callGas // no estimate, as it would miss the effect of the calls before
		hash, err := t.submit(ctx, c, call)
		if err != nil {
			return err
		}
		sent = append(sent, hash)
	}
	for _, hash := range sent {
		receipt, err := t.mined(ctx, c, hash)
		if err == nil && receipt.Status != types.ReceiptStatusSuccessful {
			err = fmt.Errorf("the thief's transaction %s reverted", hash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// submit submits a call and waits until the chain counts it as pending; otherwise the next
// call would get the same nonce.
func (t *thief) submit(ctx context.Context, c *sandbox.Chain, call operator.Call) (common.Hash, error) {
	nonce, err := c.Client().PendingNonceAt(ctx, t.account.Address)
	if err != nil {
		return common.Hash{}, err
	}
	hash, err := t.account.Send(ctx, operator.Chain{Network: c.Network, Client: c.Client(), MinTip: c.MinTip, WithMiningPaused: c.WithMiningPaused}, call)
	for next := nonce; err == nil && next <= nonce; time.Sleep(time.Millisecond) {
		next, err = c.Client().PendingNonceAt(ctx, t.account.Address)
	}
	return hash, err
}

// callGas is more than any of the thief's calls uses.
const callGas = 6_000_000

// mined returns a transaction's receipt. It makes blocks only if it is not mined yet.
func (t *thief) mined(ctx context.Context, c *sandbox.Chain, hash common.Hash) (*types.Receipt, error) {
	if receipt, err := c.Client().TransactionReceipt(ctx, hash); err == nil {
		return receipt, nil
	}
	return c.MineTransaction(ctx, hash)
}

// Commands of the Universal Router. routerItself is the recipient that stands for it.
const (
	v3SwapExactIn = 0x00
	wrapETH       = 0x0b
)

var (
	routerItself   = common.BigToAddress(big.NewInt(2))
	swapArguments  = arguments("address", "uint256", "uint256", "bytes", "bool", "uint256[]")
	wrapArguments  = arguments("address", "uint256")
	executeArgs    = arguments("bytes", "bytes[]", "uint256")
	executeWithEnd = hexutil.MustDecode("0x3593564c") // execute(bytes,bytes[],uint256)
)

func arguments(names ...string) (all abi.Arguments) {
	for _, name := range names {
		t, err := abi.NewType(name, "", nil)
		if err != nil {
			panic(err) // a literal above
		}
		all = append(all, abi.Argument{Type: t})
	}
	return all
}

func pack(args abi.Arguments, values ...any) []byte {
	b, err := args.Pack(values...)
	if err != nil {
		panic(err) // the call is written in this file
	}
	return b
}

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// swapCalls returns calls that swap the thief's own money through a pool, which moves its price.
// The coin is wrapped on the way; tokens are transferred to the router first.
func (t *thief) swapCalls(c *sandbox.Chain, in, out network.Token, fee int64, amount *big.Int) []operator.Call {
	router := c.Network.Contracts.UniversalRouter
	path := append(append(in.Address.Bytes(), byte(fee>>16), byte(fee>>8), byte(fee)), out.Address.Bytes()...)
	swap := pack(swapArguments, t.account.Address, amount, new(big.Int), path, false, []*big.Int{})
	execute := func(value *big.Int, commands []byte, inputs ...[]byte) operator.Call {
		return operator.Call{To: router, Value: value, Data: append(bytes.Clone(executeWithEnd), pack(executeArgs, commands, inputs, big.NewInt(math.MaxInt32))...)}
	}
	if in == c.Network.Wrapped {
		return []operator.Call{execute(amount, []byte{wrapETH, v3SwapExactIn}, pack(wrapArguments, routerItself, amount), swap)}
	}
	return []operator.Call{
		t.call("MockERC20", in.Address, "transfer", router, amount),
		execute(nil, []byte{v3SwapExactIn}, swap),
	}
}

// cashIn sells as much of his token as victims received, newly minted for free, so that
// what they paid leaves the pool and its price is as before.
func (t *thief) cashIn(c *sandbox.Chain, sold *big.Int) error {
	token := t.tokens[c.ID]
	if sold.Sign() == 0 {
		return nil
	}
	mint := t.call("MockERC20", token.Address, "mint", t.account.Address, sold)
	return t.send(c, append([]operator.Call{mint}, t.swapCalls(c, token, c.Network.Wrapped, ownFee, sold)...)...)
}

// balance is in base units; for the zero address, the native coin, in wei.
func balance(ctx context.Context, c *sandbox.Chain, of, token common.Address) (*big.Int, error) {
	if token == native {
		return c.Client().BalanceAt(ctx, of, nil)
	}
	out, err := view(ctx, c, token, append(selector("balanceOf(address)"), common.BytesToHash(of.Bytes()).Bytes()...))
	return new(big.Int).SetBytes(out), err
}

// view calls a contract without a transaction.
func view(ctx context.Context, c *sandbox.Chain, at common.Address, data []byte) ([]byte, error) {
	return c.Client().CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
}
