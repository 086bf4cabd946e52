package dexsim

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/network"
)

// v4Key is a V4 PoolKey. No pool here has hooks.
type v4Key struct {
	Currency0, Currency1 common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
}

func (p pool) key() v4Key {
	return v4Key{p.token0, p.token1, big.NewInt(p.fee), big.NewInt(p.spacing), common.Address{}}
}

var keyArguments = arguments("address", "address", "uint24", "int24", "address")

// id returns the pool's id in the pool manager.
func (p pool) id() common.Hash {
	k := p.key()
	packed, err := keyArguments.Pack(k.Currency0, k.Currency1, k.Fee, k.TickSpacing, k.Hooks)
	if err != nil {
		panic(fmt.Sprintf("a pool's key: %v", err)) // impossible, the types are fixed
	}
	return crypto.Keccak256Hash(packed)
}

// v4Pools returns the V4 pool that the chain has at genesis, if any.
func (m *market) v4Pools() []pool {
	pair := m.V4().Pair
	a, ok := m.Token(pair[0])
	b, also := m.Token(pair[1])
	if !ok || !also {
		return nil
	}
	p := pool{v4: true, token0: a.Address, token1: b.Address, fee: network.V4Fee, spacing: network.V4TickSpacing}
	if p.token0.Cmp(p.token1) > 0 {
		p.token0, p.token1 = p.token1, p.token0
	}
	return []pool{p}
}

// priceV4 sets the output and gas of a path through one pool, from the chain.
func (m *market) priceV4(ctx context.Context, p *path, amount *big.Int) error {
	type single struct {
		PoolKey     v4Key
		ZeroForOne  bool
		ExactAmount *big.Int
		HookData    []byte
	}
	out, err := m.read(ctx, m.V4().Quoter, m.abis.v4Quoter, "quoteExactInputSingle", single{p.pools[0].key(), p.tokens[0] == p.pools[0].token0, amount, nil})
	if err != nil {
		return err
	}
	p.out, p.gas = out[0].(*big.Int), out[1].(*big.Int)
	return nil
}

// poolsSlot is the storage slot of the manager's mapping of pools. A pool starts with its
// price and tick; its liquidity is three words after.
const poolsSlot = 6

func (m *market) stateV4(ctx context.Context, p pool) (state, error) {
	at := new(big.Int).SetBytes(crypto.Keccak256(p.id().Bytes(), common.BigToHash(big.NewInt(poolsSlot)).Bytes()))
	first, err := m.Client.StorageAt(ctx, m.V4().Manager, common.BigToHash(at), nil)
	if err != nil {
		return state{}, err
	}
	liquidity, err := m.Client.StorageAt(ctx, m.V4().Manager, common.BigToHash(at.Add(at, big.NewInt(3))), nil)
	if err != nil {
		return state{}, err
	}
	slot := new(big.Int).SetBytes(first)
	tick := new(big.Int).And(new(big.Int).Rsh(slot, 160), big.NewInt(1<<24-1))
	if tick.Bit(23) == 1 {
		tick.Sub(tick, big.NewInt(1<<24))
	}
	price := slot.And(slot, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1)))
	return state{liquidity: new(big.Int).SetBytes(liquidity).String(), sqrtPrice: price.String(), tick: tick.String()}, nil
}

// A v4Hop is a pool of a path, named by the token it pays out (PathKey).
type v4Hop struct {
	IntermediateCurrency common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
	HookData             []byte
}

// A v4Path is a swap as router 2.1.2 takes it. Its list of minimum prices is left empty,
// so that 2.1.0 takes it too.
type v4Path struct {
	CurrencyIn                 common.Address
	Path                       []v4Hop
	MinHopPriceX36             []*big.Int
	AmountIn, AmountOutMinimum *big.Int
}

var pathArguments = func() abi.Arguments {
	t, err := abi.NewType("tuple", "", []abi.ArgumentMarshaling{
		{Name: "currencyIn", Type: "address"},
		{Name: "path", Type: "tuple[]", Components: []abi.ArgumentMarshaling{
			{Name: "intermediateCurrency", Type: "address"}, {Name: "fee", Type: "uint24"}, {Name: "tickSpacing", Type: "int24"},
			{Name: "hooks", Type: "address"}, {Name: "hookData", Type: "bytes"},
		}},
		{Name: "minHopPriceX36", Type: "uint256[]"}, {Name: "amountIn", Type: "uint128"}, {Name: "amountOutMinimum", Type: "uint128"},
	})
	if err != nil {
		panic(fmt.Sprintf("abi type of a path: %v", err)) // a literal above
	}
	return abi.Arguments{{Type: t}}
}()

// addV4 adds a swap, the settlement of its input and the taking of all its output.
func (p *program) addV4(route path, recipient common.Address, in, minimum *big.Int, payerIsUser bool) error {
	swap := v4Path{CurrencyIn: route.tokens[0], MinHopPriceX36: []*big.Int{}, AmountIn: in, AmountOutMinimum: minimum}
	for i, pool := range route.pools {
		swap.Path = append(swap.Path, v4Hop{route.tokens[i+1], big.NewInt(pool.fee), big.NewInt(pool.spacing), common.Address{}, nil})
	}
	var params [][]byte
	for _, a := range []struct {
		form   abi.Arguments
		values []any
	}{
		{pathArguments, []any{swap}},
		{arguments("address", "uint256", "bool"), []any{route.tokens[0], new(big.Int), payerIsUser}},
		{arguments("address", "address", "uint256"), []any{route.tokens[len(route.tokens)-1], recipient, new(big.Int)}},
	} {
		packed, err := a.form.Pack(a.values...)
		if err != nil {
			return err
		}
		params = append(params, packed)
	}
	p.add(v4Swap, []byte{0x07, 0x0b, 0x0e}, params) // SWAP_EXACT_IN, SETTLE, TAKE
	return nil
}
