// Package devnet runs EVM chains in this process for tests and demos: real go-ethereum
// nodes with any chain ids, whose contracts and balances are in place from block 0.
package devnet

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// A GenesisBuilder executes constructors and calls on an in-memory state and turns the result into
// a genesis allocation. This puts a contract at its mainnet address, with the immutables
// and created contracts that depend on that address. A Baker keeps its first error; later
// calls do nothing.
type GenesisBuilder struct {
	state *state.StateDB
	cfg   runtime.Config
	err   error

	touched map[common.Address]struct{}
	slots   map[common.Address]map[common.Hash]struct{}
}

// NewGenesisBuilder returns a GenesisBuilder with an empty state. Time is the block time, in Unix seconds,
// that the executed code sees.
func NewGenesisBuilder(chainID uint64, time uint64) *GenesisBuilder {
	b := &GenesisBuilder{
		touched: map[common.Address]struct{}{},
		slots:   map[common.Address]map[common.Hash]struct{}{},
	}
	b.state, b.err = state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	b.cfg = runtime.Config{
		ChainConfig: chainConfig(chainID),
		State:       b.state,
		BlockNumber: big.NewInt(0),
		Time:        time,
		GasLimit:    1 << 40,
		BaseFee:     new(big.Int),
		EVMConfig:   vm.Config{Tracer: b.hooks()},
	}
	return b
}

// hooks record which accounts and slots are written, as a StateDB cannot list them.
func (b *GenesisBuilder) hooks() *tracing.Hooks {
	return &tracing.Hooks{
		OnEnter: func(_ int, _ byte, _, to common.Address, _ []byte, _ uint64, _ *big.Int) {
			b.touched[to] = struct{}{}
		},
		OnOpcode: func(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
			if vm.OpCode(op) != vm.SSTORE {
				return
			}
			stack := scope.StackData()
			b.slot(scope.Address(), stack[len(stack)-1].Bytes32())
		},
	}
}

func (b *GenesisBuilder) slot(account common.Address, key common.Hash) {
	if b.slots[account] == nil {
		b.slots[account] = map[common.Hash]struct{}{}
	}
	b.slots[account][key] = struct{}{}
}

// Fund adds wei to an account.
func (b *GenesisBuilder) Fund(account common.Address, wei *big.Int) {
	if b.err != nil {
		return
	}
	b.state.AddBalance(account, uint256.MustFromBig(wei), tracing.BalanceChangeUnspecified)
	b.touched[account] = struct{}{}
}

// Call executes a call and returns its return data.
func (b *GenesisBuilder) Call(from, to common.Address, value *big.Int, data []byte) []byte {
	if b.err != nil {
		return nil
	}
	cfg := b.cfg
	cfg.Origin, cfg.Value = from, value
	ret, _, err := runtime.Call(to, data, &cfg)
	if err != nil {
		b.err = fmt.Errorf("bake a call to %s: %w (returned %x)", to, err, ret)
		return nil
	}
	b.finalise()
	return ret
}

// Deploy runs creation code as if `at` were the created address, and installs the
// returned code there.
func (b *GenesisBuilder) Deploy(at, from common.Address, init []byte) {
	if b.err != nil {
		return
	}
	b.state.CreateAccount(at)
	b.state.SetNonce(at, 1, tracing.NonceChangeUnspecified)
	b.state.SetCode(at, init, tracing.CodeChangeUnspecified)
	code := b.Call(from, at, new(big.Int), nil)
	if b.err != nil {
		return
	}
	b.state.SetCode(at, code, tracing.CodeChangeUnspecified)
	b.finalise()
}

// Install sets runtime code at an address without running a constructor.
func (b *GenesisBuilder) Install(at common.Address, code []byte) {
	if b.err != nil {
		return
	}
	b.state.CreateAccount(at)
	b.state.SetNonce(at, 1, tracing.NonceChangeUnspecified)
	b.state.SetCode(at, code, tracing.CodeChangeUnspecified)
	b.touched[at] = struct{}{}
	b.finalise()
}

// Set writes one storage slot.
func (b *GenesisBuilder) Set(account common.Address, key, value common.Hash) {
	if b.err != nil {
		return
	}
	b.state.SetState(account, key, value)
	b.slot(account, key)
	b.touched[account] = struct{}{}
}

func (b *GenesisBuilder) finalise() {
	b.state.Finalise(b.cfg.ChainConfig.Rules(b.cfg.BlockNumber, true, b.cfg.Time))
}

// Fail records an error of the caller unless there already is one.
func (b *GenesisBuilder) Fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Alloc returns the genesis allocation of the current state, or the first error.
func (b *GenesisBuilder) Alloc() (types.GenesisAlloc, error) {
	if b.err != nil {
		return nil, b.err
	}
	alloc := types.GenesisAlloc{}
	for a := range b.touched {
		account := types.Account{
			Balance: b.state.GetBalance(a).ToBig(),
			Nonce:   b.state.GetNonce(a),
			Code:    b.state.GetCode(a),
			Storage: map[common.Hash]common.Hash{},
		}
		for key := range b.slots[a] {
			if value := b.state.GetState(a, key); value != (common.Hash{}) {
				account.Storage[key] = value
			}
		}
		if account.Balance.Sign() != 0 || account.Nonce != 0 || len(account.Code) != 0 {
			alloc[a] = account
		}
	}
	return alloc, nil
}

// chainConfig returns the current mainnet rules with another chain id.
func chainConfig(id uint64) *params.ChainConfig {
	cfg := *params.AllDevChainProtocolChanges
	cfg.ChainID = new(big.Int).SetUint64(id)
	// The development rules enable a fork that no network has activated yet. Under its
	// gas schedule an ERC-20 approval costs more than 100,000 gas.
	cfg.BogotaTime = nil
	return &cfg
}
