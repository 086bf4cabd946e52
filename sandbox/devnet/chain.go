package devnet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/catalyst"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"

	// Tracers that debug_traceCall and similar methods find by name.
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
)

const (
	gasLimit = 60_000_000
	cacheMB  = 16
	// maxBlocks limits one request to mine or to reorganise.
	maxBlocks = 1000
	// maxTipBits limits the minimum tip.
	maxTipBits = 128
)

// Config describes a chain.
type Config struct {
	ID    uint64
	Alloc types.GenesisAlloc
	// Genesis is the timestamp of block 0, in Unix seconds.
	Genesis uint64
	// Period is the time between blocks; 0 mines on request only. Block timestamps are
	// whole seconds and strictly increase, so mining on request and periods below a
	// second make chain time run ahead of the clock.
	Period time.Duration
	// Instant also mines a block as soon as a transaction arrives.
	Instant bool
}

// A Chain is a running EVM chain. Its methods may be called concurrently.
type Chain struct {
	ID uint64

	stack  *node.Node
	eth    *eth.Ethereum
	beacon *catalyst.SimulatedBeacon
	server *rpc.Server

	mining sync.Mutex // held for one block, reorganisation or time shift
	paused bool       // guarded by mining
	minTip *big.Int   // guarded by mining; minimum tip of a mined transaction, in wei per gas
	stop   chan struct{}
	done   chan struct{}
}

// Start starts a chain. It listens on no port: requests go through [Chain.Server] or
// [Chain.Dial].
func Start(cfg Config) (*Chain, error) {
	stack, err := node.New(nodeConfig(cfg.ID))
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", cfg.ID, err)
	}
	c := &Chain{ID: cfg.ID, stack: stack, server: rpc.NewServer(), minTip: defaultMinTip(), stop: make(chan struct{}), done: make(chan struct{})}
	if err := c.start(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("chain %d: %w", cfg.ID, err), stack.Close())
	}
	go c.mine(cfg.Period, cfg.Instant)
	return c, nil
}

func (c *Chain) start(cfg Config) error {
	var err error
	if c.eth, err = eth.New(c.stack, ethConfig(cfg)); err != nil {
		return err
	}
	c.eth.SetSynced()
	// Period 0 and no beacon APIs: only mine and the methods of Chain make blocks.
	if c.beacon, err = catalyst.NewSimulatedBeacon(0, common.Address{}, c.eth); err != nil {
		return err
	}
	c.stack.RegisterLifecycle(c.beacon)
	if err := c.stack.Start(); err != nil {
		return err
	}
	if err := c.registerAPIs(); err != nil {
		return err
	}
	return c.firstBlock()
}

// firstBlock mines block 1 and waits for the transaction index, which starts with it.
// Until then the node cannot report a transaction as unknown.
func (c *Chain) firstBlock() error {
	if err := c.commit(1); err != nil {
		return err
	}
	for range 2000 {
		if c.eth.BlockChain().TxIndexDone() {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("the transaction index does not get ready")
}

func nodeConfig(id uint64) *node.Config {
	cfg := node.DefaultConfig
	cfg.Name = fmt.Sprintf("sandbox-%d", id)
	cfg.DataDir, cfg.IPCPath = "", "" // everything in memory
	// Nothing opens the key store. Without an existing directory the node would create
	// one, which stays behind if the process is killed.
	cfg.KeyStoreDir = os.TempDir()
	cfg.HTTPHost, cfg.WSHost = "", "" // no ports of its own
	cfg.AuthAddr, cfg.AuthPort = "127.0.0.1", 0
	cfg.P2P = p2p.Config{NoDiscovery: true, NoDial: true, MaxPeers: 0, ListenAddr: ""}
	return &cfg
}

func ethConfig(cfg Config) *ethconfig.Config {
	alloc := core.SystemContractAllocs()
	maps.Copy(alloc, cfg.Alloc)
	ec := ethconfig.Defaults
	ec.Genesis = &core.Genesis{
		Config:    chainConfig(cfg.ID),
		Timestamp: cfg.Genesis,
		GasLimit:  gasLimit,
		BaseFee:   big.NewInt(params.InitialBaseFee),
		Alloc:     alloc,
	}
	ec.NetworkId = cfg.ID
	ec.SyncMode = ethconfig.FullSync
	ec.TxPool.NoLocals = true
	ec.TxPool.Journal = ""
	ec.Miner.GasCeil = gasLimit
	ec.LogNoHistory = true
	ec.DatabaseCache, ec.TrieCleanCache, ec.TrieDirtyCache, ec.SnapshotCache = cacheMB, cacheMB, cacheMB, cacheMB
	ec.FilterLogCacheSize = 32
	return &ec
}

// namespaces are those that a public node offers, without administration.
var namespaces = map[string]bool{"eth": true, "net": true, "txpool": true}

func (c *Chain) registerAPIs() error {
	apis := []rpc.API{
		{Namespace: "eth", Service: filters.NewFilterAPI(filters.NewFilterSystem(c.eth.APIBackend, filters.Config{}))},
		{Namespace: "web3", Service: clientVersion{}},
	}
	for _, api := range c.eth.APIs() {
		if namespaces[api.Namespace] {
			apis = append(apis, api)
		}
	}
	apis = append(apis, tracers.APIs(c.eth.APIBackend)...)
	for _, api := range apis {
		if err := c.server.RegisterName(api.Namespace, api.Service); err != nil {
			return err
		}
	}
	return nil
}

type clientVersion struct{}

// ClientVersion answers web3_clientVersion.
func (clientVersion) ClientVersion() string { return "swapkeep-sandbox/go-ethereum" }

// Server answers JSON-RPC requests: eth, net, txpool, web3 and debug_trace….
func (c *Chain) Server() *rpc.Server { return c.server }

// Dial returns an in-process client.
func (c *Chain) Dial() *rpc.Client { return rpc.DialInProc(c.server) }

// Close stops the chain. It must be called once only.
func (c *Chain) Close() error {
	close(c.stop)
	<-c.done
	c.server.Stop()
	return c.stack.Close()
}

func (c *Chain) mine(period time.Duration, instant bool) {
	defer close(c.done)
	var tick <-chan time.Time
	if period > 0 {
		t := time.NewTicker(period)
		defer t.Stop()
		tick = t.C
	}
	arrived := make(chan core.NewTxsEvent, 64)
	if instant {
		sub := c.eth.TxPool().SubscribeTransactions(arrived, true)
		defer sub.Unsubscribe()
	}
	for {
		select {
		case <-c.stop:
			return
		case <-tick:
		case <-arrived:
		}
		c.mining.Lock()
		if !c.paused {
			c.beacon.Commit()
		}
		c.mining.Unlock()
	}
}

// Pause stops block production, except by Mine, Reorg and Shift.
func (c *Chain) Pause() { c.setPaused(true) }

// Resume restarts block production.
func (c *Chain) Resume() { c.setPaused(false) }

// Paused reports whether blocks are mined on request only.
func (c *Chain) Paused() bool {
	c.mining.Lock()
	defer c.mining.Unlock()
	return c.paused
}

func (c *Chain) setPaused(paused bool) {
	c.mining.Lock()
	defer c.mining.Unlock()
	c.paused = paused
}

// Mine mines n blocks now, paused or not.
func (c *Chain) Mine(n int) error {
	if n < 1 || n > maxBlocks {
		return fmt.Errorf("blocks: want 1 to %d, not %d", maxBlocks, n)
	}
	c.mining.Lock()
	defer c.mining.Unlock()
	return c.commit(n)
}

func (c *Chain) commit(n int) error {
	for range n {
		before := c.Head().Number.Uint64()
		c.beacon.Commit()
		if c.Head().Number.Uint64() != before+1 {
			return fmt.Errorf("chain %d: no block was made on top of %d", c.ID, before)
		}
	}
	return nil
}

// Reorg replaces the last n blocks by n+1 others. Their transactions are mined again, or
// dropped if drop is set.
func (c *Chain) Reorg(n int, drop bool) error {
	c.mining.Lock()
	defer c.mining.Unlock()
	head := c.Head().Number.Uint64()
	if n < 1 || n > maxBlocks || uint64(n) > head {
		return fmt.Errorf("cannot abandon %d of %d blocks", n, head)
	}
	chain := c.eth.BlockChain()
	fork := chain.GetBlockByNumber(head - uint64(n))
	if fork == nil {
		return fmt.Errorf("chain %d: no block %d", c.ID, head-uint64(n))
	}
	if _, err := chain.SetCanonical(fork); err != nil {
		return fmt.Errorf("chain %d: %w", c.ID, err)
	}
	if err := c.eth.TxPool().Sync(); err != nil {
		return fmt.Errorf("chain %d: %w", c.ID, err)
	}
	if drop {
		c.eth.TxPool().Clear()
	}
	return c.commit(n + 1)
}

// WithMiningPaused runs f while no block is made or replaced.
func (c *Chain) WithMiningPaused(f func() error) error {
	c.mining.Lock()
	defer c.mining.Unlock()
	return f()
}

// Shift moves chain time forward by whole seconds by making a block. Chain time stays
// ahead from then on.
func (c *Chain) Shift(d time.Duration) error {
	if d < time.Second {
		return errors.New("chain time moves forward only, by at least a second")
	}
	c.mining.Lock()
	defer c.mining.Unlock()
	var err error
	for range shiftTries { // a transaction may arrive between block and shift
		if pending, _ := c.eth.TxPool().Pending(txpool.PendingFilter{}); len(pending) > 0 {
			if err := c.commit(1); err != nil {
				return err
			}
		}
		if err = c.beacon.AdjustTime(d); err == nil {
			return nil
		}
	}
	return fmt.Errorf("chain %d: %w", c.ID, err)
}

// shiftTries is how often Shift tries to empty the pool first.
const shiftTries = 10

// ShiftTo is Shift to a time. It does nothing if the chain is there already, or less than a
// second before.
func (c *Chain) ShiftTo(at time.Time) error {
	if d := at.Sub(c.Time()); d >= time.Second {
		return c.Shift(d)
	}
	return nil
}

// Time returns the latest block's time.
func (c *Chain) Time() time.Time { return time.Unix(int64(c.Head().Time), 0) }

// Head returns the latest block's header.
func (c *Chain) Head() *types.Header { return c.eth.BlockChain().CurrentBlock() }

// defaultMinTip is the default minimum tip, in wei per gas.
func defaultMinTip() *big.Int { return new(big.Int).Set(ethconfig.Defaults.Miner.GasPrice) }

// SetMinTip makes blocks include only transactions that tip at least wei per gas. The others
// stay pending, as under congestion. nil restores the default.
func (c *Chain) SetMinTip(wei *big.Int) error {
	if wei == nil {
		wei = defaultMinTip()
	}
	if wei.Sign() < 0 || wei.BitLen() > maxTipBits {
		return fmt.Errorf("tip: want 0 wei or more, of at most %d bits", maxTipBits)
	}
	c.mining.Lock()
	defer c.mining.Unlock()
	c.minTip = new(big.Int).Set(wei)
	return c.eth.Miner().SetGasTip(c.minTip)
}

// MinTip returns the minimum tip, in wei per gas.
func (c *Chain) MinTip() *big.Int {
	c.mining.Lock()
	defer c.mining.Unlock()
	return new(big.Int).Set(c.minTip)
}

// DropPending drops all pending transactions.
func (c *Chain) DropPending() {
	c.mining.Lock()
	defer c.mining.Unlock()
	c.eth.TxPool().Clear()
}

// MineTransaction mines blocks until one includes the transaction, and returns its receipt. It
// gives up after 20 blocks.
func (c *Chain) MineTransaction(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
	for range 20 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := c.Mine(1); err != nil {
			return nil, err
		}
		at, _ := c.eth.BlockChain().GetCanonicalTransaction(tx)
		if at == nil {
			continue
		}
		receipts := c.eth.BlockChain().GetReceiptsByHash(at.BlockHash)
		if at.Index >= uint64(len(receipts)) {
			return nil, fmt.Errorf("chain %d: block %d has no receipt %d", c.ID, at.BlockIndex, at.Index)
		}
		return receipts[at.Index], nil
	}
	return nil, fmt.Errorf("chain %d: transaction %s does not get mined", c.ID, tx)
}
