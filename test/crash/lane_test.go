//go:build faults && linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
)

const (
	mainnet = 1
	base    = 8453
)

const (
	// period is the time between blocks. A transaction is mined when it arrives and is deep
	// enough by the daemon's next poll. Chain time gains half a second a second on the
	// clock and must not reach a swap's deadline, which is ten minutes away.
	period   = 500 * time.Millisecond
	maxAhead = 5 * time.Minute
)

// A lane is a sandbox for one case at a time, which may stop or break its chains.
type lane struct {
	*sandbox.Sandbox
	dir    string
	config string // path of the daemon's configuration for it
}

var lanes = make(chan *lane, atOnce)

func openLanes() error {
	for i := range atOnce {
		l := &lane{dir: filepath.Join(root, fmt.Sprint("lane", i))}
		l.config = filepath.Join(l.dir, "config.toml")
		if err := l.open(); err != nil {
			return err
		}
		lanes <- l
	}
	return nil
}

func (l *lane) open() error {
	s, err := sandbox.Start(context.Background(), sandbox.Options{Chains: []uint64{mainnet, base}, Period: period, Instant: true})
	if err != nil {
		return err
	}
	l.Sandbox = s
	return s.WriteFiles(l.dir)
}

func closeLanes() error {
	close(lanes)
	var err error
	for l := range lanes {
		err = errors.Join(err, l.Close())
	}
	return err
}

// takeLane reserves a lane until the test ends. One that is too far ahead is restarted.
func takeLane(t *testing.T) *lane {
	t.Helper()
	l := <-lanes
	t.Cleanup(func() { lanes <- l })
	l.Reset()
	for _, c := range l.Chains() {
		if time.Until(c.Time()) < maxAhead {
			continue
		}
		if err := errors.Join(l.Close(), l.open()); err != nil {
			t.Fatal(err)
		}
		break
	}
	return l
}

// A observation is all that the world saw an account do on one chain since a block.
type observation struct {
	sent    []*types.Transaction // raw transactions sent to the node, in order, with repeats
	mined   []*types.Transaction // in order
	passed  []bool               // for each mined: whether its receipt says success
	spent   *big.Int             // fees in wei, by the receipts
	next    uint64               // the account's next nonce by mined transactions
	pending uint64               // the same, including pending transactions
}

// observe reads chain and recorded transactions without the endpoint that the daemon uses.
func (l *lane) observe(t *testing.T, chain uint64, since uint64, account common.Address) observation {
	t.Helper()
	c, s := l.Chain(chain), observation{spent: new(big.Int)}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(chain))
	for _, raw := range c.Transactions() {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(raw.Raw); err != nil {
			t.Fatalf("the daemon sent bytes that are no transaction: %v", err)
		}
		if from, err := types.Sender(signer, tx); err == nil && from == account {
			s.sent = append(s.sent, tx)
		}
	}
	head := c.Head().Number.Uint64()
	for n := since + 1; n <= head; n++ {
		block, err := c.Client().BlockByNumber(t.Context(), new(big.Int).SetUint64(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range block.Transactions() {
			from, err := types.Sender(signer, tx)
			if err != nil || from != account {
				continue
			}
			r, err := c.Client().TransactionReceipt(t.Context(), tx.Hash())
			if err != nil {
				t.Fatal(err)
			}
			s.mined, s.passed = append(s.mined, tx), append(s.passed, r.Status == types.ReceiptStatusSuccessful)
			s.spent.Add(s.spent, new(big.Int).Mul(r.EffectiveGasPrice, new(big.Int).SetUint64(r.GasUsed)))
		}
	}
	var err error
	if s.next, err = c.Client().NonceAt(t.Context(), account, nil); err != nil {
		t.Fatal(err)
	}
	if s.pending, err = c.Client().PendingNonceAt(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return s
}

// distinct returns the different transactions that were sent to the node.
func (s observation) distinct() (out []*types.Transaction) {
	seen := map[common.Hash]bool{}
	for _, tx := range s.sent {
		if !seen[tx.Hash()] {
			seen[tx.Hash()] = true
			out = append(out, tx)
		}
	}
	return out
}

// without leaves out transactions that somebody else signed for the account.
func (s observation) without(hashes map[common.Hash]bool) observation {
	var mined []*types.Transaction
	var passed []bool
	for i, tx := range s.mined {
		if !hashes[tx.Hash()] {
			mined, passed = append(mined, tx), append(passed, s.passed[i])
		}
	}
	s.mined, s.passed = mined, passed
	return s
}
