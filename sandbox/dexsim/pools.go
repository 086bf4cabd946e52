package dexsim

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// abis are the ABIs of the contracts that the simulator calls.
type abis struct {
	quoter, pool, v3Factory, v2Factory, v2Router, pair, permit2, erc20, reactor, orderQuoter, v4Quoter abi.ABI
}

func loadABIs(set *contracts.Set) (abis, error) {
	var a abis
	for name, to := range map[string]*abi.ABI{
		"QuoterV2": &a.quoter, "V3Pool": &a.pool, "V3Factory": &a.v3Factory, "V2Factory": &a.v2Factory,
		"V2Router": &a.v2Router, "V2Pair": &a.pair, "Permit2": &a.permit2, "MockERC20": &a.erc20, "V2DutchOrderReactor": &a.reactor, "OrderQuoter": &a.orderQuoter, "V4Quoter": &a.v4Quoter,
	} {
		c, err := set.Get(name)
		if err != nil {
			return abis{}, err
		}
		*to = c.ABI
	}
	return a, nil
}

// A market is a chain with the pools found on it.
type market struct {
	operator.Chain
	abis abis

	posted chan struct{} // signals a new order

	mu    sync.Mutex
	pools []pool
}

// A pool trades two tokens. Fee is in millionths.
type pool struct {
	v2, v4  bool
	address common.Address // zero for V4
	token0  common.Address
	token1  common.Address
	fee     int64
	spacing int64 // tick spacing of V4
}

var feeTiers = []int64{100, 500, 3000, 10000}

const v2Fee = 3000

func (p pool) joins(a, b common.Address) bool {
	return (p.token0 == a && p.token1 == b) || (p.token0 == b && p.token1 == a)
}

// read calls a view method and returns its results.
func (m *market) read(ctx context.Context, at common.Address, contract abi.ABI, method string, args ...any) ([]any, error) {
	data, err := contract.Pack(method, args...)
	if err != nil {
		return nil, err
	}
	out, err := m.Client.CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		return nil, err
	}
	return contract.Unpack(method, out)
}

// discover finds the pools between the chain's tokens, once.
func (m *market) discover(ctx context.Context) ([]pool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools != nil {
		return m.pools, nil
	}
	var found []pool
	tokens := append([]network.Token{m.Wrapped}, m.Tokens...)
	for i, a := range tokens {
		for _, b := range tokens[i+1:] {
			some, err := m.poolsBetween(ctx, a.Address, b.Address)
			if err != nil {
				return nil, fmt.Errorf("find the pools of %s and %s: %w", a.Symbol, b.Symbol, err)
			}
			found = append(found, some...)
		}
	}
	found = append(found, m.v4Pools()...)
	m.pools = found
	return found, nil
}

func (m *market) poolsBetween(ctx context.Context, a, b common.Address) ([]pool, error) {
	if a.Cmp(b) > 0 {
		a, b = b, a
	}
	candidates := []pool{{v2: true, token0: a, token1: b, fee: v2Fee}}
	for _, fee := range feeTiers {
		candidates = append(candidates, pool{token0: a, token1: b, fee: fee})
	}
	var found []pool
	for _, p := range candidates {
		var out []any
		var err error
		if p.v2 {
			out, err = m.read(ctx, m.Contracts.V2Factory, m.abis.v2Factory, "getPair", a, b)
		} else {
			out, err = m.read(ctx, m.Contracts.V3Factory, m.abis.v3Factory, "getPool", a, b, big.NewInt(p.fee))
		}
		if err != nil {
			return nil, err
		}
		if p.address = out[0].(common.Address); p.address != (common.Address{}) {
			found = append(found, p)
		}
	}
	return found, nil
}

// A path goes through one or more pools of one protocol or, if mixed, of V3 and then V2.
type path struct {
	tokens []common.Address // one more than pools
	pools  []pool
	out    *big.Int
	gas    *big.Int // of the swap alone, without the rest of the transaction
}

func (p path) v2() bool    { return p.pools[0].v2 }
func (p path) v4() bool    { return p.pools[0].v4 }
func (p path) mixed() bool { return len(p.pools) == 2 && !p.v2() && !p.v4() && p.pools[1].v2 }

// halves returns the two parts of a mixed path.
func (p path) halves() (v3, v2 path) {
	return path{tokens: p.tokens[:2], pools: p.pools[:1]}, path{tokens: p.tokens[1:], pools: p.pools[1:]}
}

// protocol returns the API's name for the protocol of the path's pools.
func (p path) protocol() string {
	switch {
	case p.mixed():
		return "MIXED"
	case p.v2():
		return "V2"
	case p.v4():
		return "V4"
	}
	return "V3"
}

// bytes encodes the path as V3 does: token, fee, token, …
func (p path) bytes() []byte {
	packed := p.tokens[0].Bytes()
	for i, hop := range p.pools {
		packed = append(packed, byte(hop.fee>>16), byte(hop.fee>>8), byte(hop.fee))
		packed = append(packed, p.tokens[i+1].Bytes()...)
	}
	return packed
}

// best returns the path that pays most over the allowed protocols, or errNoRoute.
func (m *market) best(ctx context.Context, in, out common.Address, amount *big.Int, protocols []string) (path, error) {
	pools, err := m.discover(ctx)
	if err != nil {
		return path{}, err
	}
	var best path
	for _, p := range m.paths(pools, in, out) {
		if !slices.Contains(protocols, p.protocol()) {
			continue
		}
		err := m.price(ctx, &p, amount)
		if reverted(err) {
			continue // this path cannot take the amount
		}
		if err != nil {
			return path{}, err
		}
		if best.out == nil || p.out.Cmp(best.out) > 0 {
			best = p
		}
	}
	if best.out == nil || best.out.Sign() == 0 {
		return path{}, errNoRoute
	}
	return best, nil
}

// paths returns the direct paths and those through one intermediate token.
func (m *market) paths(pools []pool, in, out common.Address) []path {
	var all []path
	for _, p := range pools {
		if p.joins(in, out) {
			all = append(all, path{tokens: []common.Address{in, out}, pools: []pool{p}})
		}
	}
	for _, via := range append([]network.Token{m.Wrapped}, m.Tokens...) {
		if via.Address == in || via.Address == out {
			continue
		}
		for _, first := range pools {
			for _, second := range pools {
				if first.joins(in, via.Address) && second.joins(via.Address, out) && (!first.v2 || second.v2) && !first.v4 && !second.v4 {
					all = append(all, path{tokens: []common.Address{in, via.Address, out}, pools: []pool{first, second}})
				}
			}
		}
	}
	return all
}

// price sets the path's output and gas for the amount, from the chain.
func (m *market) price(ctx context.Context, p *path, amount *big.Int) error {
	if p.mixed() {
		v3, v2 := p.halves()
		if err := m.price(ctx, &v3, amount); err != nil {
			return err
		}
		err := m.price(ctx, &v2, v3.out)
		p.out, p.gas = v2.out, v3.gas
		return err
	}
	if p.v2() {
		out, err := m.read(ctx, m.Contracts.V2Router, m.abis.v2Router, "getAmountsOut", amount, p.tokens)
		if err != nil {
			return err
		}
		amounts := out[0].([]*big.Int)
		p.out, p.gas = amounts[len(amounts)-1], big.NewInt(int64(70_000*len(p.pools)))
		return nil
	}
	if p.v4() {
		return m.priceV4(ctx, p, amount)
	}
	out, err := m.read(ctx, m.Contracts.QuoterV2, m.abis.quoter, "quoteExactInput", p.bytes(), amount)
	if err != nil {
		return err
	}
	p.out, p.gas = out[0].(*big.Int), out[3].(*big.Int)
	return nil
}

// reverted distinguishes a reverted call from one that did not reach the chain.
func reverted(err error) bool {
	var data interface{ ErrorData() any }
	return errors.As(err, &data)
}

// state is a pool's state as quotes show it.
type state struct {
	liquidity, sqrtPrice, tick string   // V3 and V4
	reserves                   []string // V2
}

func (m *market) state(ctx context.Context, p pool) (state, error) {
	if p.v2 {
		out, err := m.read(ctx, p.address, m.abis.pair, "getReserves")
		if err != nil {
			return state{}, err
		}
		return state{reserves: []string{out[0].(*big.Int).String(), out[1].(*big.Int).String()}}, nil
	}
	if p.v4 {
		return m.stateV4(ctx, p)
	}
	slot, err := m.read(ctx, p.address, m.abis.pool, "slot0")
	if err != nil {
		return state{}, err
	}
	liquidity, err := m.read(ctx, p.address, m.abis.pool, "liquidity")
	if err != nil {
		return state{}, err
	}
	return state{liquidity: liquidity[0].(*big.Int).String(), sqrtPrice: slot[0].(*big.Int).String(), tick: slot[1].(*big.Int).String()}, nil
}
