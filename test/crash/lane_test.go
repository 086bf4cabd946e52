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
	"swapkeep/sandbox/contracts"
)

const (
	mainnet = 1
	base    = 8453
)

// period between blocks. A transaction is mined as it arrives and is deep
// enough at the next look of the daemon. Chain time runs ahead of the clock by
// half a second a second, and must not reach a swap's deadline.
const period = 500 * time.Millisecond

// A lane is a sandbox for one case at a time, so that a case may stop its
// chains or break them.
type lane struct {
	*sandbox.Sandbox
	config string // path of the daemon's configuration for it
}

var lanes = make(chan *lane, atOnce)

func openLanes() error {
	for i := range atOnce {
		s, err := sandbox.Start(context.Background(), sandbox.Options{Chains: []uint64{mainnet, base}, Period: period, Instant: true})
		if errors.Is(err, contracts.ErrMissing) {
			return fmt.Errorf("run `make contracts` first: %w", err)
		}
		if err != nil {
			return err
		}
		dir := filepath.Join(root, fmt.Sprint("lane", i))
		lanes <- &lane{s, filepath.Join(dir, "config.toml")}
		if err := s.WriteFiles(dir); err != nil {
			return err
		}
	}
	return nil
}

func closeLanes() error {
	close(lanes)
	var err error
	for l := range lanes {
		err = errors.Join(err, l.Close())
	}
	return err
}

// takeLane has a lane to itself until the test ends.
func takeLane(t *testing.T) *lane {
	t.Helper()
	l := <-lanes
	l.Reset()
	t.Cleanup(func() { lanes <- l })
	return l
}

// A sighting is all that the world outside the daemon saw an account do on one
// chain since a block.
type sighting struct {
	offered []*types.Transaction // raw transactions handed to the node, in order, repeats included
	mined   []*types.Transaction // in order
	passed  []bool               // by mined: its receipt says success
	spent   *big.Int             // wei of fees, by receipt
	next    uint64               // the account's next nonce, mined
	pending uint64               // the same, with what waits for a block
}

// see reads chain and record beside the endpoint that the daemon uses.
func (l *lane) see(t *testing.T, chain uint64, since uint64, account common.Address) sighting {
	t.Helper()
	c, s := l.Chain(chain), sighting{spent: new(big.Int)}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(chain))
	for _, raw := range c.Transactions() {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(raw.Raw); err != nil {
			t.Fatalf("the daemon sent bytes that are no transaction: %v", err)
		}
		if from, err := types.Sender(signer, tx); err == nil && from == account {
			s.offered = append(s.offered, tx)
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

// distinct are the different transactions that were handed to the node.
func (s sighting) distinct() (out []*types.Transaction) {
	seen := map[common.Hash]bool{}
	for _, tx := range s.offered {
		if !seen[tx.Hash()] {
			seen[tx.Hash()] = true
			out = append(out, tx)
		}
	}
	return out
}

// balance of a token, or of the native coin for the zero address.
func (l *lane) balance(t *testing.T, chain uint64, token, account common.Address) *big.Int {
	t.Helper()
	c := l.Chain(chain).Client()
	if token == (common.Address{}) {
		b, err := c.BalanceAt(t.Context(), account, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	balanceOf := append(common.FromHex("0x70a08231"), common.LeftPadBytes(account[:], 32)...)
	out, err := c.CallContract(t.Context(), callTo(token, balanceOf), nil)
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(out)
}
