package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/home"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

const (
	loads    = 10
	first    = 10               // orders that poll at once after a start; the others are scheduled later
	loadTime = 30 * time.Second // maximum for one load

	readAlone = "bbolt alone, the same file read"
)

// loadOrders times a start with count orders whose transactions are sent and not proven:
// from opening the database until the engine has read and scheduled every order and
// polled the first ones' transactions. The limit is reading the same file completely.
func loadOrders(count int) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		dir := l.newHome()
		if err := fillJournal(dir, count); err != nil {
			return nil, err
		}
		all := make(sides, 2)
		for range l.sampleCount(loads) {
			took, err := load(ctx, dir, count)
			if err != nil {
				return nil, err
			}
			bare, err := timed(nil, func() error { return readWhole(filepath.Join(dir, "orders.db"), count) })
			if err != nil {
				return nil, err
			}
			all[0], all[1] = append(all[0], float64(took)), append(all[1], bare)
		}
		return all, nil
	}
}

// readWhole reads every value of a database, of which there must be at least that many.
func readWhole(path string, least int) (err error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var values [][]byte
	var read func(b *bolt.Bucket) error
	read = func(b *bolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			if v == nil {
				return read(b.Bucket(k))
			}
			values = append(values, bytes.Clone(v))
			return nil
		})
	}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return read(b) })
	})
	if err == nil && len(values) < least {
		err = fmt.Errorf("%s holds %d values", path, len(values))
	}
	return err
}

// fillJournal creates a home whose journal has count orders.
func fillJournal(dir string, count int) (err error) {
	h, err := home.Open(dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.DB.Sync(), h.Close()) }()
	h.DB.NoSync = true // no need to wait for the disk a thousand times
	j, err := journal.Open(h.DB)
	if err != nil {
		return err
	}
	for n := range count {
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

// sentOrder returns an order with the plan of measureCheck that waits for its proof.
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
	now, t := time.Now().UTC(), p.terms
	asked := swap.QuoteRequest{
		Account: t.Account, SrcChain: t.SrcChain, TokenIn: t.TokenIn, AmountIn: t.AmountIn, DstChain: t.DstChain, TokenOut: t.TokenOut,
		Recipient: t.Recipient, RefundTo: t.RefundTo, SlippageBps: swap.DefaultSlippageBps,
	}
	o := swap.Order{
		ID: id.String(),
		Consent: swap.Consent{Request: uuid.NewString(), Digest: common.Hash{1, byte(n >> 8), byte(n)}, Origin: origin, Terms: t,
			Offer: swap.Offer{
				ID: uuid.NewString(), Provider: swap.DEX, Request: asked, Routing: "CLASSIC", Route: "bench", AmountOut: new(big.Int).Set(t.MinOut), MinOut: t.MinOut,
				Expires: now, Raw: json.RawMessage(upstreams[dexPath+"/quote"].at(time.Now())),
			},
			Plan: swap.Plan{Steps: p.steps, Settlement: swap.ByOwnCall}},
		Progress: swap.Progress{State: swap.Settling, Step: len(p.steps)},
		Created:  now, Updated: now,
	}
	for i := range o.Plan.Steps {
		o.Plan.Steps[i].Effect = effects[i]
		o.Results = append(o.Results, swap.Result{Tx: common.Hash{2, byte(i), byte(n >> 8), byte(n)}})
	}
	return o, nil
}

// load opens the home as the daemon does and waits for its orders.
func load(ctx context.Context, dir string, count int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	began := time.Now()
	h, err := home.Open(dir, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	w := &idleChain{first: min(count, first), seen: map[common.Hash]bool{}, asked: make(chan struct{})}
	s, err := w.service(h.DB, count)
	if err != nil {
		return 0, err
	}
	if err := s.Resume(ctx); err != nil {
		return 0, err
	}
	defer func() { cancel(); s.Wait() }()
	select {
	case <-w.asked:
		return time.Since(began), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%d of %d orders, of which %d were to ask first: %w", w.count(), count, w.first, ctx.Err())
	}
}

// idleChain simulates chains on which nothing has happened yet, and counts the transactions
// that are polled.
type idleChain struct {
	engine.Nodes
	engine.Sender

	first int // transactions to be polled

	mu    sync.Mutex
	seen  map[common.Hash]bool
	asked chan struct{} // closed when they were
}

func (w *idleChain) service(db *bolt.DB, orders int) (*engine.Service, error) {
	j, err := journal.Open(db)
	if err != nil {
		return nil, err
	}
	return engine.NewService(engine.Options{
		Journal: j, Nodes: w, Sender: w, Fees: swap.DefaultFees(), OpenOrders: orders, Now: time.Now,
		Unlocked: func() bool { return false }, IsLocked: func(error) bool { return false },
	})
}

func (w *idleChain) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// Evidence never has any, and counts the transaction.
func (w *idleChain) Evidence(_ context.Context, _ uint64, tx common.Hash) (chain.Evidence, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen[tx] {
		w.seen[tx] = true
		if len(w.seen) == w.first {
			close(w.asked)
		}
	}
	return chain.Evidence{}, false, nil
}

// Poll returns no change.
func (w *idleChain) Poll(context.Context, string) (chain.Tx, *chain.Evidence, error) {
	return chain.Tx{}, nil, nil
}
