package market

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/operator"
)

// Options configure a market.
type Options struct {
	Mover *operator.Account // sends the transactions that move pools and oracles
	// Settle mines blocks on a chain until one includes the transaction.
	Settle func(ctx context.Context, chain uint64, tx common.Hash) (*types.Receipt, error)
	// Seed determines the prices before the start.
	Seed uint64
	Now  func() time.Time // nil = clock.Now
}

// ErrNoChain means that a chain is not running in this sandbox.
var ErrNoChain = errors.New("no such chain runs here")

// A Market holds the prices and makes the chains follow them. Its methods may be called
// concurrently.
type Market struct {
	*Prices
	Options
	chains []*chainPools

	chainMu     sync.Mutex // held for each change of the chains; taken before mu
	pricesMoved bool       // guarded by moving; whether chains may differ from the starting prices

	mu        sync.Mutex
	drift     Drift
	stopDrift func() // stops the walk; nil if there is none
	walks     sync.WaitGroup
	driftErr  error // of the walk's latest step
}

// New returns a market for the running chains, which must be at the starting prices.
func New(set *contracts.Set, chains []operator.Chain, o Options) (*Market, error) {
	loaded, err := loadABIs(set)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = clock.Now
	}
	m := &Market{Prices: NewPrices(o.Seed, o.Now()), Options: o, drift: noDrift}
	for _, c := range chains {
		if c.IsRunning() {
			m.chains = append(m.chains, &chainPools{Chain: c, abis: loaded})
		}
	}
	return m, nil
}

func (m *Market) site(chain uint64) (*chainPools, error) {
	for _, s := range m.chains {
		if s.ID == chain {
			return s, nil
		}
	}
	return nil, fmt.Errorf("chain %d: %w", chain, ErrNoChain)
}

// Move moves prices, and with them the pools and oracles of every chain. It mines blocks.
// The error is ErrMove if the moves are invalid and nothing was done. After any other
// error some chains may have moved, but the prices have not; Move may be repeated.
func (m *Market) Move(ctx context.Context, moves ...Move) error {
	m.chainMu.Lock()
	defer m.chainMu.Unlock()
	to, err := m.now().afterMoves(moves)
	if err != nil {
		return err
	}
	return m.moveTo(ctx, to)
}

// Restart moves everything to the starting prices. It otherwise works as Move does.
func (m *Market) Restart(ctx context.Context) error {
	m.chainMu.Lock()
	defer m.chainMu.Unlock()
	return m.restart(ctx)
}

// restart is Restart for callers that hold moving.
func (m *Market) restart(ctx context.Context) error {
	err := m.moveTo(ctx, starting())
	m.pricesMoved = err != nil
	return err
}

// moveTo moves all chains, then the prices. The caller holds moving.
func (m *Market) moveTo(ctx context.Context, to rates) error {
	m.pricesMoved = true
	errs := make([]error, len(m.chains))
	var all sync.WaitGroup
	prices := to.prices()
	for i, s := range m.chains {
		all.Go(func() {
			call, err := s.call(ctx, prices)
			if err == nil {
				err = m.sendAndMine(ctx, s, call)
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	m.put(to, m.Now())
	return nil
}

// sendAndMine sends a call, mines until it is included and returns an error if it reverted.
func (m *Market) sendAndMine(ctx context.Context, s *chainPools, call operator.Call) error {
	hash, err := m.Mover.Send(ctx, s.Chain, call)
	if err != nil {
		return err
	}
	receipt, err := m.Settle(ctx, s.ID, hash)
	if err != nil {
		return err
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		return fmt.Errorf("chain %d: transaction %s reverted", s.ID, hash)
	}
	return nil
}

// Drift returns the parameters of the current drift.
func (m *Market) Drift() Drift {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drift
}

// SetDrift starts, changes or stops the drift. Its steps are transactions that wait for
// the chains' own blocks; a chain that makes none falls behind meanwhile.
func (m *Market) SetDrift(d Drift) error {
	if err := d.check(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopDrift != nil {
		m.stopDrift()
		m.stopDrift = nil
	}
	m.drift, m.driftErr = d, nil
	if d.BpsPerMinute > 0 {
		ctx, end := context.WithCancel(context.Background())
		m.stopDrift = end
		m.walks.Go(func() { m.walk(ctx, d) })
	}
	return nil
}

func (m *Market) walk(ctx context.Context, d Drift) {
	random := rand.New(rand.NewPCG(d.Seed, pseudoRandom("walk", d.Seed)))
	tick := time.NewTicker(d.every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := m.step(ctx, d, random)
		m.mu.Lock()
		if ctx.Err() == nil {
			m.driftErr = err
		}
		m.mu.Unlock()
	}
}

// step takes one step of the walk.
func (m *Market) step(ctx context.Context, d Drift, random *rand.Rand) error {
	m.chainMu.Lock()
	defer m.chainMu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.pricesMoved = true
	to := d.step(m.now(), random)
	var errs []error
	prices := to.prices()
	for _, s := range m.chains {
		errs = append(errs, m.follow(ctx, s, prices))
	}
	m.put(to, m.Now())
	return errors.Join(errs...)
}

// follow sends the transaction that moves a chain to the prices, unless the previous one
// is still pending.
func (m *Market) follow(ctx context.Context, s *chainPools, prices map[string]int64) error {
	if s.lastTx != (common.Hash{}) {
		_, waits, err := s.Client.TransactionByHash(ctx, s.lastTx)
		if waits {
			return nil
		}
		if err != nil && !errors.Is(err, ethereum.NotFound) {
			return err
		}
	}
	call, err := s.call(ctx, prices)
	if err != nil {
		return err
	}
	s.lastTx, err = m.Mover.Send(ctx, s.Chain, call)
	return err
}

// Reset stops the drift, restores the starting prices if they were left, and repairs
// oracles that were changed. It mines blocks only if there is something to do.
func (m *Market) Reset(ctx context.Context) error {
	errs := []error{m.SetDrift(noDrift)}
	m.chainMu.Lock()
	defer m.chainMu.Unlock()
	if m.pricesMoved {
		errs = append(errs, m.restart(ctx))
	}
	for _, s := range m.chains {
		if !s.oraclesChanged {
			continue
		}
		err := m.setOracles(ctx, s, Change{At: "all", Mode: modes[0].name, Seconds: resetUptime})
		s.oraclesChanged = err != nil
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Close stops the drift and waits for its goroutine. It must be called once only.
func (m *Market) Close() error {
	err := m.SetDrift(noDrift)
	m.walks.Wait()
	return err
}

// A Report holds the market's prices and those of the chains' pools.
type Report struct {
	Prices map[string]int64 `json:"prices"` // by symbol, in millionths of a US dollar
	Drift  Drift            `json:"drift"`
	// DriftError is the error of the drift's latest step.
	DriftError string        `json:"trouble,omitempty"`
	Chains     []ChainReport `json:"chains"`
}

// A ChainReport holds the prices of the pools of one chain.
type ChainReport struct {
	Chain uint64 `json:"chain"`
	Pools []Pool `json:"pools"`
}

// Report reads every pool.
func (m *Market) Report(ctx context.Context) (Report, error) {
	r := Report{Prices: m.Current(), Chains: []ChainReport{}}
	m.mu.Lock()
	r.Drift = m.drift
	if m.driftErr != nil {
		r.DriftError = m.driftErr.Error()
	}
	m.mu.Unlock()
	for _, s := range m.chains {
		pools, err := s.report(ctx, r.Prices)
		if err != nil {
			return Report{}, err
		}
		r.Chains = append(r.Chains, ChainReport{s.ID, pools})
	}
	return r, nil
}
