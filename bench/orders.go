package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/home"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

const (
	openOrders = 1000
	loads      = 10
	loadTime   = 30 * time.Second // most that one load may take
)

// measureOrders times a start that finds 1,000 orders whose transaction is sent
// and not proven: from the opening of the database until the engine has read
// every order and asked the chain about its transaction.
func measureOrders(ctx context.Context, l *lab) (ours, _ []float64, err error) {
	dir := l.newHome()
	if err := fillJournal(dir); err != nil {
		return nil, nil, err
	}
	for range loads {
		took, err := load(ctx, dir)
		if err != nil {
			return nil, nil, err
		}
		ours = append(ours, float64(took))
	}
	return ours, nil, nil
}

// fillJournal makes a home whose journal holds the orders.
func fillJournal(dir string) (err error) {
	h, err := home.Open(dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.DB.Sync(), h.Close()) }()
	h.DB.NoSync = true // nothing here is worth a thousand waits for the disk
	j, err := swap.OpenJournal(h.DB)
	if err != nil {
		return err
	}
	for n := range openOrders {
		o, err := sentOrder(n)
		if err != nil {
			return err
		}
		if _, _, err := j.Create(o, common.Hash{byte(n >> 8), byte(n)}); err != nil {
			return err
		}
	}
	return nil
}

// sentOrder is an order of the plan that check measures, waiting for its proof.
func sentOrder(n int) (swap.Order, error) {
	p, err := readPlan()
	if err != nil {
		return swap.Order{}, err
	}
	effects, err := p.decode()
	if err != nil {
		return swap.Order{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return swap.Order{}, err
	}
	now := time.Now().UTC()
	o := swap.Order{
		ID: id.String(), Request: uuid.NewString(), Digest: common.Hash{1, byte(n >> 8), byte(n)}, Origin: origin, Terms: p.terms,
		Offer: swap.Offer{
			ID: uuid.NewString(), Provider: swap.DEX, Routing: "CLASSIC", Route: "bench", AmountOut: new(big.Int).Set(p.terms.FloorOut), MinOut: p.terms.FloorOut,
			Expires: now, Raw: json.RawMessage(upstreams[dexPath+"/quote"].at(time.Now())),
		},
		Plan: swap.Plan{Steps: p.steps, Settlement: swap.ByOwnCall}, State: swap.Settling, Step: len(p.steps), Created: now, Updated: now,
	}
	for i := range o.Plan.Steps {
		o.Plan.Steps[i].Effect = effects[i]
		o.Results = append(o.Results, swap.Result{Tx: common.Hash{2, byte(i), byte(n >> 8), byte(n)}})
	}
	return o, nil
}

// load opens the home as the daemon does and waits for its orders.
func load(ctx context.Context, dir string) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	began := time.Now()
	h, err := home.Open(dir, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	w := &waiting{seen: map[common.Hash]bool{}, all: make(chan struct{})}
	s, err := w.service(h.DB)
	if err != nil {
		return 0, err
	}
	if err := s.Resume(ctx); err != nil {
		return 0, err
	}
	defer func() { cancel(); s.Wait() }()
	select {
	case <-w.all:
		return time.Since(began), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%d of %d orders loaded: %w", w.count(), openOrders, ctx.Err())
	}
}

// waiting stands for chains on which nothing has happened yet, and counts the
// transactions that are asked about.
type waiting struct {
	swap.Nodes
	swap.Sender

	mu   sync.Mutex
	seen map[common.Hash]bool
	all  chan struct{} // closed when every order's was
}

func (w *waiting) service(db *bolt.DB) (*swap.Service, error) {
	j, err := swap.OpenJournal(db)
	if err != nil {
		return nil, err
	}
	return swap.NewService(swap.Options{
		Journal: j, Nodes: w, Sender: w, Fees: swap.DefaultFees(), OpenOrders: openOrders, Now: time.Now,
		Unlocked: func() bool { return false }, IsLocked: func(error) bool { return false },
	})
}

func (w *waiting) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// Evidence of a transaction: none yet.
func (w *waiting) Evidence(_ context.Context, _ uint64, tx common.Hash) (chain.Evidence, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen[tx] {
		w.seen[tx] = true
		if len(w.seen) == openOrders {
			close(w.all)
		}
	}
	return chain.Evidence{}, false, nil
}

// Poll finds the transaction as it was.
func (w *waiting) Poll(context.Context, string) (chain.Tx, *chain.Evidence, error) {
	return chain.Tx{}, nil, nil
}
