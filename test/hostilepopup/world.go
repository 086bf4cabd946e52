//go:build faults && linux

package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/clock"
	"swapkeep/sandbox"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/dexsim"
)

const (
	mainnet = 1
	base    = 8453
)

// native is the address that stands for a network's native coin.
var native common.Address

// A world is a sandbox, a clock that can run fast, and a thief.
type world struct {
	*sandbox.Sandbox
	ctx       context.Context
	root, bin string
	end       func() // stops following the clock
	thief     *thief
	victims   int
	verbose   bool
}

func openWorld(ctx context.Context, root, bin, contractsDir string) (w *world, err error) {
	w = &world{ctx: ctx, root: root, bin: bin}
	if err := clock.SetPace(w.pace(), 1); err != nil {
		return nil, err
	}
	w.end = clock.Follow(w.pace())
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	set, err := contracts.Open(contractsDir)
	if err != nil {
		return w, err
	}
	w.Sandbox, err = sandbox.Start(ctx, sandbox.Options{Chains: []uint64{mainnet, base}, Contracts: contractsDir, Instant: true, Seed: 1, Layout: 1})
	if err != nil {
		return w, err
	}
	// No filler of auctions would buy a worthless token.
	settings := dexsim.DefaultSettings
	settings.Auctions = dexsim.AuctionsNever
	if err := errors.Join(w.DEX().Set(settings), w.WriteFiles(w.files())); err != nil {
		return w, err
	}
	w.thief, err = newThief(ctx, w.Sandbox, set)
	return w, err
}

func (w *world) pace() string  { return filepath.Join(w.root, "pace") }
func (w *world) files() string { return filepath.Join(w.root, "world") }

func (w *world) close() error {
	w.end()
	if w.Sandbox == nil {
		return nil
	}
	return w.Sandbox.Close()
}

// copyPrograms copies programs that were built with the tag faults; others would not follow the
// given clock.
func copyPrograms(from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, program := range []string{"swapkeep", "swapkeepd"} {
		path := filepath.Join(from, program)
		if err := builtWithFaults(path); err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, program), b, 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func builtWithFaults(path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && s.Value == "faults" {
			return nil
		}
	}
	return fmt.Errorf("%s was built without the tag faults: go build -tags faults -o FOLDER ./cmd/swapkeep ./cmd/swapkeepd", path)
}

// atPace runs do at another pace of the clock.
func (w *world) atPace(pace float64, do func()) error {
	err := clock.SetPace(w.pace(), pace)
	if err == nil {
		do()
		err = clock.SetPace(w.pace(), 1)
	}
	w.align()
	return err
}

// fastPace is the pace of the clock while the script waits.
const fastPace = 300

// wait lets time pass, on the chains too, and repeatedly calls meanwhile.
func (w *world) wait(d time.Duration, meanwhile func() error) error {
	if err := clock.SetPace(w.pace(), fastPace); err != nil {
		return err
	}
	for until := clock.Now().Add(d); clock.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		w.align()
		if err := meanwhile(); err != nil {
			return err
		}
	}
	defer w.align()
	return clock.SetPace(w.pace(), 1)
}

// align brings the chains up to the clock's time.
func (w *world) align() {
	for _, c := range w.Chains() {
		_ = c.ShiftTo(clock.Now()) // refused while a transaction comes in; the next block catches up
	}
}

// catchUp speeds the clock up until no chain is more than seconds ahead of it: each block
// is at least a second later than the previous one, however soon it comes.
func (w *world) catchUp() error {
	ahead := func(c *sandbox.Chain) bool { return c.Time().Sub(clock.Now()) > 3*time.Second }
	if !slices.ContainsFunc(w.Chains(), ahead) {
		return nil
	}
	return w.atPace(30, func() {
		for w.ctx.Err() == nil && slices.ContainsFunc(w.Chains(), ahead) {
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// A holding is the victim's balance of a token.
type holding struct {
	chain   uint64
	symbol  string // "": the native coin
	dollars int64
}

// holdings are every victim's initial balances.
var holdings = []holding{
	{mainnet, "", 30_000}, {mainnet, "WETH", 10_000}, {mainnet, "USDC", 20_000}, {mainnet, "DAI", 5_000}, {mainnet, "USDT", 5_000},
	{base, "", 20_000}, {base, "USDC", 10_000},
}

// token returns the address and description of a holding; the native coin has the
// description of its wrapped form.
func (w *world) token(h holding) (common.Address, sandbox.Token) {
	n := w.Chain(h.chain).Network
	if h.symbol == "" {
		return native, n.Wrapped
	}
	t, ok := n.Token(h.symbol)
	if !ok {
		panic("the sandbox has no " + h.symbol) // a row of the table above
	}
	return t.Address, t
}

// worth returns an amount's worth in US dollars, by the sandbox's prices.
func worth(t sandbox.Token, amount *big.Int) float64 {
	value := new(big.Rat).SetFrac(new(big.Int).Mul(amount, big.NewInt(t.MicroUSD)), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)+6), nil))
	f, _ := value.Float64()
	return f
}

// wealth returns an account's balances of the tokens in holdings, in US dollars. Paid gas
// reduces it, and the thief's tokens count nothing.
func (w *world) wealth(account common.Address) (sum float64, err error) {
	for _, h := range holdings {
		address, t := w.token(h)
		amount, err := balance(w.ctx, w.Chain(h.chain), account, address)
		if err != nil {
			return 0, err
		}
		sum += worth(t, amount)
	}
	return sum, nil
}
