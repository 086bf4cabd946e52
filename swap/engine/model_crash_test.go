package engine

import (
	"context"
	"errors"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// A modelCrash is the end of the process between two commits or effects: everything
// outside the file is gone.
type modelCrash struct{}

// modelFaults schedule what happens at one of the next places. Engine and sender pass a
// place at each call to a node, provider, signer or clock and after each recorded change,
// so there is one between any two commits or effects.
type modelFaults struct {
	crashIn int        // places until the process ends; 0 = it does not
	fullIn  int        // places until the disk is full; 0 = it does not fill up
	fullFor int        // places until there is room again; 0 = there is
	actIn   int        // places until act is called; 0 = it is not
	act     func(bool) // gets whether the sender is at work
	places  int        // passed so far
	quiet   bool       // several goroutines are running: nothing happens
	busy    bool       // act is running
}

// fullDisk makes every write of this process fail, or none; nil where a test cannot do
// that.
var fullDisk func(full bool)

// hook is a place where something may happen. deep means that the sender is at work and
// may have locked the account's nonces.
func (m *model) hook(deep bool) {
	m.place()
	f := &m.faults
	if f.quiet || f.busy || f.actIn == 0 {
		return
	}
	if f.actIn--; f.actIn == 0 {
		f.busy = true
		defer func() { f.busy = false }()
		f.act(deep)
	}
}

// place is a hook where locks are held, so that only a fault may happen.
func (m *model) place() {
	f := &m.faults
	if f.quiet {
		return
	}
	f.places++
	switch {
	case f.fullFor == 1:
		f.fullFor = 0
		fullDisk(false)
	case f.fullFor > 0:
		f.fullFor--
	case f.fullIn > 0:
		if f.fullIn--; f.fullIn == 0 {
			m.count("disk full")
			f.fullFor = 1 + m.faults.places%3
			fullDisk(true)
		}
	}
	if f.crashIn > 0 {
		if f.crashIn--; f.crashIn == 0 {
			panic(modelCrash{})
		}
	}
}

// calm cancels what was scheduled.
func (m *model) calm() {
	m.free()
	m.faults = modelFaults{places: m.faults.places}
}

// free makes room on the disk.
func (m *model) free() {
	if m.faults.fullFor > 0 {
		m.faults.fullFor = 0
		fullDisk(false)
	}
}

// tokens returns the tokens that the wallet lists.
func (m *model) tokens(id uint64) []common.Address {
	c, err := m.chainOf(id)
	if err != nil {
		return nil
	}
	return c.tokens[:]
}

// guard runs something during which the process may end.
func (m *model) guard(f func()) {
	defer m.free()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, ok := p.(modelCrash); !ok {
			panic(p)
		}
		m.calm()
		m.count("crashed")
		m.restart()
	}()
	f()
}

// restart is a restart of the process, which keeps only the file.
func (m *model) restart() {
	if m.db != nil {
		if err := m.db.Close(); err != nil {
			m.t.Fatal(err)
		}
	}
	var err error
	if m.db, err = bolt.Open(m.path, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true, NoFreelistSync: true}); err != nil {
		m.t.Fatal(err)
	}
	if m.journal, err = journal.Open(m.db); err != nil {
		m.t.Fatal(err)
	}
	if m.sender, err = chain.NewSender(m.db, modelNodes{m: m, deep: true}, m.signer, chain.SenderOptions{}); err != nil {
		m.t.Fatal(err)
	}
	m.service, err = NewService(Options{
		Journal: m.journal, Providers: map[swap.Kind]swap.Provider{swap.DEX: m.dealer, swap.Intent: m.broker}, Nodes: modelNodes{m: m}, Sender: m.sender, Signer: m.signer, Sealer: m.signer, Pricer: modelPricer{m},
		Confirmer: ByCall{}, Fees: swap.DefaultFees(), OpenOrders: 50, Tokens: m.tokens,
		Recognize: func(context.Context, uint64, common.Address) swap.Recognition { return swap.Recognition{Listed: true} },
		Unlocked:  func() bool { m.place(); return !m.signer.locked },
		IsLocked:  func(err error) bool { return errors.Is(err, errLocked) },
		Now:       func() time.Time { m.place(); return time.Now() },
		Log:       func(o swap.Order, err error) { m.note(o, err) },
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.service.Subscribe(func(swap.Order) { m.place() })
	m.reviews = nil
}
