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

// v4Key is a pool of v4, all of which have no hook here.
type v4Key struct {
	Currency0, Currency1 common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
}

func (p pool) key() v4Key {
	return v4Key{p.token0, p.token1, big.NewInt(p.fee), big.NewInt(p.spacing), common.Address{}}
}

var keyArguments = arguments("address", "address", "uint24", "int24", "address")

// id is the pool's at the manager.
func (p pool) id() common.Hash {
	k := p.key()
	packed, err := keyArguments.Pack(k.Currency0, k.Currency1, k.Fee, k.TickSpacing, k.Hooks)
	if err != nil {
		panic(fmt.Sprintf("a pool's key: %v", err)) // of fixed types
	}
	return crypto.Keccak256Hash(packed)
}

// v4Pools is the one pool of the chain from its beginning, or none.
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

// priceV4 asks the chain what a path through one pool pays for the amount.
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

// poolsSlot is where the manager's storage has its pools; a pool begins with its price
// and tick, and has its liquidity three words after.
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

// v4Hop is a pool by what it pays out.
type v4Hop struct {
	IntermediateCurrency common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
	HookData             []byte
}

// v4Path is a swap as router 2.1.2 takes it, with a list of least prices which is left
// empty, as 2.1.0 has it too.
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
		panic(fmt.Sprintf("abi type of a path: %v", err)) // a literal of this file
	}
	return abi.Arguments{{Type: t}}
}()

// addV4 adds a swap, its settling, and the taking of all that it pays.
func (p *program) addV4(route path, recipient common.Address, in, least *big.Int, payerIsUser bool) error {
	swap := v4Path{CurrencyIn: route.tokens[0], MinHopPriceX36: []*big.Int{}, AmountIn: in, AmountOutMinimum: least}
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
