package market

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// abis are the ABIs of the contracts that the market reads and moves.
type abis struct {
	market, v3Factory, v3Pool, v2Factory, v2Pair, slipstream abi.ABI
}

func loadABIs(set *contracts.Set) (abis, error) {
	var a abis
	for name, to := range map[string]*abi.ABI{
		"SandboxMarket": &a.market, "V3Factory": &a.v3Factory, "V3Pool": &a.v3Pool,
		"V2Factory": &a.v2Factory, "V2Pair": &a.v2Pair, "SlipstreamPool": &a.slipstream,
	} {
		c, err := set.Get(name)
		if err != nil {
			return abis{}, err
		}
		*to = c.ABI
	}
	return a, nil
}

// A kind is a kind of pool, by its number in the market's contract.
type kind uint8

const (
	v3 kind = iota
	v2
	slipstreamPool
)

func (k kind) String() string { return [...]string{"v3", "v2", "slipstream"}[k] }

// A pool trades two tokens.
type pool struct {
	kind           kind
	at             common.Address
	fee            int64 // millionths; the tick spacing of a Slipstream pool
	of, in         network.Token
	token0, token1 network.Token
}

func poolOf(k kind, at common.Address, fee int64, of, in network.Token) pool {
	p := pool{kind: k, at: at, fee: fee, of: of, in: in}
	p.token0, p.token1 = sorted(of, in)
	return p
}

// A chainPools is a running chain with its pools.
type chainPools struct {
	operator.Chain
	abis abis

	finding sync.Mutex
	pools   []pool // filled by the first find

	lastTx         common.Hash // the drift's latest transaction
	oraclesChanged bool        // whether the mode of any oracle was changed
}

// candidates returns the Uniswap pools that a chain may have at genesis, without
// addresses.
func (s *chainPools) candidates() []pool {
	base := s.Tokens[0]
	all := []pool{poolOf(v2, common.Address{}, 3000, s.Wrapped, base)}
	for _, t := range s.Tokens {
		all = append(all, poolOf(v3, common.Address{}, 500, s.Wrapped, t), poolOf(v3, common.Address{}, 3000, s.Wrapped, t))
		if t.Address != base.Address {
			all = append(all, poolOf(v3, common.Address{}, 100, t, base))
		}
	}
	return all
}

// find gets the pools' addresses from the factories, once.
func (s *chainPools) find(ctx context.Context) ([]pool, error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	if s.pools != nil {
		return s.pools, nil
	}
	var found []pool
	for _, p := range s.candidates() {
		var out []any
		var err error
		if p.kind == v2 {
			out, err = s.read(ctx, s.Contracts.V2Factory, s.abis.v2Factory, "getPair", p.of.Address, p.in.Address)
		} else {
			out, err = s.read(ctx, s.Contracts.V3Factory, s.abis.v3Factory, "getPool", p.of.Address, p.in.Address, big.NewInt(p.fee))
		}
		if err != nil {
			return nil, err
		}
		if p.at = out[0].(common.Address); p.at != (common.Address{}) {
			found = append(found, p)
		}
	}
	o := s.Oracles()
	for _, p := range o.Pools {
		of, _ := o.Token(s.Network, p.A)
		in, _ := o.Token(s.Network, p.B)
		found = append(found, poolOf(slipstreamPool, p.At, p.Spacing, of, in))
	}
	s.pools = found
	return found, nil
}

// read calls a view method.
func (s *chainPools) read(ctx context.Context, at common.Address, a abi.ABI, method string, args ...any) ([]any, error) {
	data, err := a.Pack(method, args...)
	if err != nil {
		return nil, err
	}
	out, err := s.Client.CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %s of %s: %w", s.ID, method, at, err)
	}
	return a.Unpack(method, out)
}

// A target is the price to set in a pool, as the market's contract takes it.
type target struct {
	Kind         uint8
	Pool         common.Address
	SqrtPriceX96 *big.Int
	Tick         *big.Int
}

// call returns the call that reports prices to the chain's oracles and moves its pools to
// them.
func (s *chainPools) call(ctx context.Context, prices map[string]int64) (operator.Call, error) {
	pools, err := s.find(ctx)
	if err != nil {
		return operator.Call{}, err
	}
	keys, answers := contractAnswers(prices)
	targets := make([]target, len(pools))
	for i, p := range pools {
		sqrt := sqrtPriceX96(p.token0, p.token1, prices)
		targets[i] = target{uint8(p.kind), p.at, sqrt, tickAt(sqrt)}
	}
	data, err := s.abis.market.Pack("move", keys, answers, targets)
	return operator.Call{To: network.Market, Data: data, Gas: moveGas}, err
}

// moveGas is fixed rather than estimated, as others and the drift may move the pools
// before the call runs. It is three times what a thousandfold move of chain 1's prices
// takes.
const moveGas = 6_000_000

// A Pool is a pool's state as reported.
type Pool struct {
	Address eip55.Address `json:"address"`
	Kind    string        `json:"kind"` // v3, v2 or slipstream
	Fee     int64         `json:"fee"`  // millionths; the tick spacing of slipstream
	Of      string        `json:"of"`
	In      string        `json:"in"`
	// Price is the value of one Of in units of In; MicroUSD is that at In's price.
	Price    float64 `json:"price"`
	MicroUSD float64 `json:"microUsd"`
}

func (s *chainPools) report(ctx context.Context, prices map[string]int64) ([]Pool, error) {
	pools, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Pool, len(pools))
	for i, p := range pools {
		price, err := s.price(ctx, p)
		if err != nil {
			return nil, err
		}
		all[i] = Pool{eip55.Address(p.at), p.kind.String(), p.fee, p.of.Symbol, p.in.Symbol, price, price * float64(prices[p.in.Symbol])}
	}
	return all, nil
}

// price returns the value of one p.of in units of p.in.
func (s *chainPools) price(ctx context.Context, p pool) (float64, error) {
	var sqrt *big.Int
	switch p.kind {
	case v2:
		out, err := s.read(ctx, p.at, s.abis.v2Pair, "getReserves")
		if err != nil {
			return 0, err
		}
		r0, r1 := out[0].(*big.Int), out[1].(*big.Int)
		sqrt = new(big.Int).Lsh(r1, 192)
		sqrt.Sqrt(sqrt.Div(sqrt, r0)) // reserves are above zero, as nobody removes liquidity
	default:
		slot0 := map[kind]abi.ABI{v3: s.abis.v3Pool, slipstreamPool: s.abis.slipstream}[p.kind]
		out, err := s.read(ctx, p.at, slot0, "slot0")
		if err != nil {
			return 0, err
		}
		sqrt = out[0].(*big.Int)
	}
	price := priceAt(sqrt, p.token0, p.token1)
	if p.of.Address != p.token0.Address {
		price = 1 / price
	}
	return price, nil
}
