//go:build browser

package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/browser/ui"
)

// Chains of the sandbox.
const (
	Mainnet  = 1
	Base     = 8453
	Arbitrum = 42161
	Monad    = 143 // not in the shared world: Options.Chains
)

// period is the time between blocks; transactions are mined at once besides. Each block
// adds a second to the chain's time, which therefore runs ahead of the clock. A world that
// is more than maxAhead ahead is replaced before the next test: from a chain that is two
// minutes ahead prices are not read, nor are swaps judged by them.
const (
	period   = time.Second
	maxAhead = time.Minute
)

// A World is a sandbox that belongs to one desk at a time. Except for the chains everything
// in it is reset for each.
type World struct {
	*sandbox.Sandbox
	t *testing.T

	built map[ui.Kind]string // our extension; nil: not yet
}

var world = &shared{}

// shared is the world of all desks.
type shared struct {
	mu sync.Mutex // held by the desk that has it
	w  *World
}

func (s *shared) close() error {
	if s.w == nil {
		return nil
	}
	w := s.w
	s.w = nil
	return w.Close()
}

// takeWorld reserves the world until the test ends. With other chains than those of the shared
// world it starts one that ends with the test, so that no other test waits for those chains.
func takeWorld(t *testing.T, chains []uint64) *World {
	t.Helper()
	world.mu.Lock()
	t.Cleanup(world.mu.Unlock)
	if len(chains) > 0 {
		w, err := startWorld(chains)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		w.t = t
		return w
	}
	err := world.renew()
	if err != nil {
		t.Fatal(err)
	}
	world.w.t = t
	return world.w
}

func startWorld(chains []uint64) (*World, error) {
	box, err := sandbox.Start(context.Background(), sandbox.Options{Chains: chains, Period: period, Instant: true})
	if err != nil {
		return nil, err
	}
	return &World{Sandbox: box}, nil
}

// renew resets the world, or starts a new one if there is none or it is too far ahead.
func (s *shared) renew() error {
	if s.w != nil && !s.w.tooFarAhead() {
		return s.w.Reset()
	}
	if err := s.close(); err != nil {
		return err
	}
	w, err := startWorld([]uint64{Mainnet, Base, Arbitrum})
	s.w = w
	return err
}

func (w *World) tooFarAhead() bool {
	return slices.ContainsFunc(w.Chains(), func(c *sandbox.Chain) bool { return time.Until(c.Time()) > maxAhead })
}

// extension builds our extension once for a world.
func (w *World) extension() (map[ui.Kind]string, error) {
	if w.built != nil {
		return w.built, nil
	}
	dir, err := os.MkdirTemp(root, "x")
	if err != nil {
		return nil, err
	}
	w.built, err = buildExtension(dir, w.Sandbox)
	return w.built, err
}

// Chain returns a chain of the sandbox: it can be paused, resumed, mined and reorganised,
// and its RPC has Faults.
func (w *World) Chain(id uint64) *sandbox.Chain {
	w.t.Helper()
	c := w.Sandbox.Chain(id)
	if c == nil {
		w.t.Fatalf("chain %d does not run", id)
	}
	return c
}

// Mine makes blocks, paused or not.
func (w *World) Mine(chain uint64, blocks int) {
	w.t.Helper()
	if err := w.Chain(chain).Mine(blocks); err != nil {
		w.t.Fatal(err)
	}
}

// Fault makes a provider (dex, bridge, intent, gasless), a price service or a chain's RPC
// (rpc-8453) answer as the rule says, until the test ends or end is called.
func (w *World) Fault(server string, r inject.Rule) (end func()) {
	w.t.Helper()
	book := w.Faults(server)
	var chain uint64
	if _, err := fmt.Sscanf(server, "rpc-%d", &chain); err == nil {
		book = w.Chain(chain).Faults
	}
	if book == nil {
		w.t.Fatalf("the sandbox has no server %s", server)
	}
	id, err := book.Add(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return func() { book.Remove(id) }
}

// Lie replaces one value of a server's answers; pointer is a JSON pointer.
func (w *World) Lie(server, target, pointer string, value any) (end func()) {
	w.t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Fault(server, inject.Rule{Target: target, Kind: inject.Lie, Pointer: pointer, Value: b})
}

// Control sends a request to the sandbox's control endpoint, which sandbox/README.md
// describes, and decodes the answer into out, which may be nil. POST /dex and the like
// change a provider's settings.
func (w *World) Control(method, path string, body, out any) {
	w.t.Helper()
	if err := w.control(method, path, body, out); err != nil {
		w.t.Fatalf("sandbox: %s %s: %v", method, path, err)
	}
}

func (w *World) control(method, path string, body, out any) error {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.ControlURL()+path, &sent)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: patience}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, b)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(b, out)
}

// Price sets an asset's market price, in US dollars.
func (w *World) Price(symbol string, dollars float64) {
	w.t.Helper()
	if err := w.Market().Move(w.t.Context(), market.Move{Symbol: symbol, MicroUSD: int64(dollars * 1e6)}); err != nil {
		w.t.Fatal(err)
	}
}

// Fund gives an account a decimal amount of a token, such as "1.5". "" is the native coin.
func (w *World) Fund(chain uint64, to common.Address, symbol, amount string) {
	w.t.Helper()
	c := w.Chain(chain)
	if err := c.Fund(w.t.Context(), to, sandboxtest.Token(w.t, c, symbol), w.Units(chain, symbol, amount)); err != nil {
		w.t.Fatal(err)
	}
}

// Units converts a decimal amount of a token to base units.
func (w *World) Units(chain uint64, symbol, amount string) *big.Int {
	w.t.Helper()
	decimals := uint8(18)
	if token, ok := w.Chain(chain).Network.Token(symbol); ok {
		decimals = token.Decimals
	}
	r, ok := new(big.Rat).SetString(amount)
	if !ok {
		w.t.Fatalf("%q is no amount", amount)
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	if !r.IsInt() {
		w.t.Fatalf("%s of %s has too many decimals", amount, symbol)
	}
	return r.Num()
}

// Balance returns an account's balance in base units. Symbol "" is the native coin.
func (w *World) Balance(chain uint64, of common.Address, symbol string) *big.Int {
	w.t.Helper()
	c := w.Chain(chain)
	return sandboxtest.Balance(w.t, c, of, sandboxtest.Token(w.t, c, symbol))
}
