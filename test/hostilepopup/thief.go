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

// A thief is whom the script works for. He has on each chain a token of his own, which
// bears the name of a verified one, with a pool that is all his.
type thief struct {
	ctx     context.Context
	account *operator.Account
	set     *contracts.Set
	tokens  map[uint64]network.Token
}

// The pool of the thief's token, and what he has besides for moving others' pools.
const (
	ownPool    = 100_000_000 // US dollars, on each side: what victims pay hardly moves it
	ownFee     = 3000        // millionths
	thiefCoins = 400_000
)

func newThief(ctx context.Context, s *sandbox.Sandbox, set *contracts.Set) (*thief, error) {
	t := &thief{ctx: ctx, account: operator.NewAccount(s.Accounts()[1].Key), set: set, tokens: map[uint64]network.Token{}}
	for _, c := range s.Chains() {
		if err := c.Fund(ctx, t.account.Address, native, new(big.Int).Mul(big.NewInt(thiefCoins), big.NewInt(params.Ether))); err != nil {
			return nil, err
		}
		token, err := t.openPool(c)
		if err == nil {
			err = s.DEX().List(ctx, c.ID, token)
		}
		if err != nil {
			return nil, fmt.Errorf("the thief's token on chain %d: %w", c.ID, err)
		}
		t.tokens[c.ID] = token
	}
	return t, nil
}

// openPool deploys the token and makes its pool with the wrapped native coin.
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
	const lowest, highest = -887220, 887220 // all prices, at this fee's spacing
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
	for _, call := range calls {
		if err := t.send(c, call); err != nil {
			return token, err
		}
	}
	return token, nil
}

// position is what the position manager's mint takes.
type position struct {
	Token0, Token1                 common.Address
	Fee, TickLower, TickUpper      *big.Int
	Amount0Desired, Amount1Desired *big.Int
	Amount0Min, Amount1Min         *big.Int
	Recipient                      common.Address
	Deadline                       *big.Int
}

// contract is one of the sandbox's, which are all there: the chains were made of them.
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
		panic(fmt.Sprintf("%s.%s: %v", name, method, err)) // a call that is written here
	}
	return operator.Call{To: at, Data: data}
}

// send has a call of the thief's mined.
func (t *thief) send(c *sandbox.Chain, call operator.Call) error {
	ctx, cancel := context.WithTimeout(t.ctx, 20*time.Second)
	defer cancel()
	hash, err := t.account.Send(ctx, operator.Chain{Network: c.Network, Client: c.Client(), Tip: c.Tip, Still: c.Still}, call)
	if err != nil {
		return err
	}
	receipt, err := c.Settle(ctx, hash)
	if err == nil && receipt.Status != types.ReceiptStatusSuccessful {
		err = fmt.Errorf("the thief's transaction %s reverted", hash)
	}
	return err
}

// Commands of the Universal Router, and the recipient that stands for it.
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
		panic(err) // a call that is written here
	}
	return b
}

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// push swaps the thief's own money through a pool, which moves its price. The coin is
// wrapped on the way; tokens are paid to the router first.
func (t *thief) push(c *sandbox.Chain, in, out network.Token, fee int64, amount *big.Int) error {
	router := c.Network.Contracts.UniversalRouter
	path := append(append(in.Address.Bytes(), byte(fee>>16), byte(fee>>8), byte(fee)), out.Address.Bytes()...)
	commands, inputs := []byte{v3SwapExactIn}, [][]byte{pack(swapArguments, t.account.Address, amount, new(big.Int), path, false, []*big.Int{})}
	swap := operator.Call{To: router}
	if in == c.Network.Wrapped {
		swap.Value = amount
		commands, inputs = append([]byte{wrapETH}, commands...), append([][]byte{pack(wrapArguments, routerItself, amount)}, inputs...)
	} else if err := t.send(c, t.call("MockERC20", in.Address, "transfer", router, amount)); err != nil {
		return err
	}
	swap.Data = append(bytes.Clone(executeWithEnd), pack(executeArgs, commands, inputs, big.NewInt(math.MaxInt32))...)
	return t.send(c, swap)
}

// cashIn sells all of his token that victims were given, which costs him nothing to make,
// so that what they paid leaves the pool and its price is what it was.
func (t *thief) cashIn(c *sandbox.Chain, sold *big.Int) error {
	token := t.tokens[c.ID]
	if sold.Sign() == 0 {
		return nil
	}
	if err := t.send(c, t.call("MockERC20", token.Address, "mint", t.account.Address, sold)); err != nil {
		return err
	}
	return t.push(c, token, c.Network.Wrapped, ownFee, sold)
}

// balance is in base units; of the zero address, the native coin, in wei.
func balance(ctx context.Context, c *sandbox.Chain, of, token common.Address) (*big.Int, error) {
	if token == native {
		return c.Client().BalanceAt(ctx, of, nil)
	}
	out, err := view(ctx, c, token, append(selector("balanceOf(address)"), common.BytesToHash(of.Bytes()).Bytes()...))
	return new(big.Int).SetBytes(out), err
}

// view asks a contract, which changes nothing.
func view(ctx context.Context, c *sandbox.Chain, at common.Address, data []byte) ([]byte, error) {
	return c.Client().CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
}
