package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/devnet"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/operator"
)

// A Chain is a running chain of the sandbox. Mine, Pause, Resume, Reorg, Shift, AskTip,
// Forget and Head come from [devnet.Chain].
type Chain struct {
	*devnet.Chain
	Network Network
	// Faults holds the fault rules of the RPC endpoint, by method.
	Faults *inject.Book

	front    *devnet.Endpoint
	servers  [2]*server // two hosts, as the wallet has for every network
	client   *ethclient.Client
	treasury *operator.Account
	erc20    abi.ABI
}

// genesisAge is how far the genesis time lies in the past, so that the first blocks need
// no future timestamps.
const genesisAge = 60 * time.Second

func (s *Sandbox) startChain(ctx context.Context, n Network, set *contracts.Set, o Options) (*Chain, error) {
	owner, err := treasury()
	if err != nil {
		return nil, err
	}
	token, err := set.Get("MockERC20")
	if err != nil {
		return nil, err
	}
	began := uint64(clock.Now().Add(-genesisAge).Unix())
	alloc, err := s.buildGenesis(n, set, began)
	if err != nil {
		return nil, err
	}
	dev, err := devnet.Start(devnet.Config{ID: n.ID, Alloc: alloc, Genesis: began, Period: o.Period, Instant: o.Instant})
	if err != nil {
		return nil, err
	}
	c := &Chain{Chain: dev, Network: n, Faults: &inject.Book{}, treasury: operator.NewAccount(owner.Key), erc20: token.ABI}
	c.front = devnet.NewEndpoint(dev, c.Faults)
	c.client = ethclient.NewClient(dev.Dial())
	for i := range c.servers {
		if c.servers[i], err = listen(ctx, o.Host, c.front); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// RPC returns the URL of the chain's first JSON-RPC endpoint. Faults and counters apply to it.
func (c *Chain) RPC() string { return "http://" + c.servers[0].addr }

// RPCs returns the URLs of two endpoints, which share faults and counters.
func (c *Chain) RPCs() []string { return []string{c.RPC(), "http://" + c.servers[1].addr} }

// WS returns the URL of the first endpoint over WebSocket. No faults apply to it.
func (c *Chain) WS() string { return "ws://" + c.servers[0].addr }

// Client returns a client that bypasses the endpoint: requests meet no faults and are not
// counted.
func (c *Chain) Client() *ethclient.Client { return c.client }

// Transactions lists the raw transactions that were sent to RPC, oldest first.
func (c *Chain) Transactions() []devnet.RawTransaction { return c.front.Transactions() }

// Reset removes the faults, clears the counts and recorded transactions, restores the
// default minimum tip and resumes block production. Chain state stays.
func (c *Chain) Reset() {
	c.Faults.Reset()
	c.front.Reset()
	_ = c.SetMinTip(nil) // the default is never refused
	c.Resume()
}

// Fund gives an account an amount of a token, in base units, or of the native coin for
// the zero address. It mines a block even if the chain is paused, and pays the minimum
// tip that is in force.
func (c *Chain) Fund(ctx context.Context, to, token common.Address, amount *big.Int) error {
	if amount == nil || amount.Sign() <= 0 {
		return errors.New("amount: want more than zero")
	}
	call, err := c.fundCall(to, token, amount)
	if err != nil {
		return err
	}
	hash, err := c.treasury.Send(ctx, c.operatorChain(), call)
	if err != nil {
		return fmt.Errorf("fund %s: %w", to, err)
	}
	receipt, err := c.MineTransaction(ctx, hash)
	if err != nil {
		return fmt.Errorf("fund %s: %w", to, err)
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		return fmt.Errorf("fund %s: transaction %s reverted", to, receipt.TxHash)
	}
	return nil
}

func (c *Chain) fundCall(to, token common.Address, amount *big.Int) (operator.Call, error) {
	if token == (common.Address{}) {
		return operator.Call{To: to, Value: amount, Gas: 100_000}, nil
	}
	method := "mint"
	if token == c.Network.Wrapped.Address {
		method = "transfer" // from the treasury, as the wrapped coin cannot be minted
	} else if !c.knows(token) {
		return operator.Call{}, fmt.Errorf("chain %d has no token %s", c.ID, token)
	}
	data, err := c.erc20.Pack(method, to, amount)
	return operator.Call{To: token, Data: data, Gas: 200_000}, err
}

func (c *Chain) knows(token common.Address) bool {
	for _, t := range c.Network.Tokens {
		if t.Address == token {
			return true
		}
	}
	return false
}

// operatorChain returns the chain as the operators of the providers see it.
func (c *Chain) operatorChain() operator.Chain {
	return operator.Chain{Network: c.Network, Client: c.client, MinTip: c.MinTip, WithMiningPaused: c.WithMiningPaused}
}

// Close stops the endpoint and the chain.
func (c *Chain) Close() error {
	var errs []error
	for _, s := range c.servers {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	c.client.Close()
	return errors.Join(append(errs, c.Chain.Close())...)
}
