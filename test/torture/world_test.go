//go:build faults && linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/sandbox"
	"swapkeep/test/audit"
	"swapkeep/test/keychain"
	"swapkeep/test/processes"
	"swapkeep/test/programs"
	"swapkeep/test/requests"
	"swapkeep/test/secretscan"
)

const (
	windows       = 3 // of the browser: relays
	accounts      = 2 // shared by the windows
	confirmations = 2 // confirmations in the sandbox
)

// chains are all that there are.
var chains = []uint64{1, 10, 56, 8453, 42161, 143, 43114, 5330, 39}

// A world is one round's chains, providers, home, keychain and users' windows.
type world struct {
	*sandbox.Sandbox
	*programs.Home
	*report
	ctx      context.Context
	end      context.CancelFunc
	said     *os.File   // the programs' standard error
	desk     sync.Mutex // for the keychain
	keychain *keychain.Service
	accounts []common.Address
	secrets  []secretscan.Secret // must not be found anywhere
	audit    *audit.Audit
	route    []uint64 // the networks that the users work on, in turn
	began    time.Time
	peace    chan struct{} // closed when no more harm is done

	mu       sync.Mutex
	leapt    []int                   // daemons whose clock leapt by days
	relays   map[int]*client.Process // by process id
	consents []*consent
	drawn    map[string]bool // trades, so that no two are alike
	lastOpen int             // open orders when a user last looked
}

// newWorld starts chains, keychain and daemon, and funds the accounts.
func newWorld(ctx context.Context, r *report) (w *world, err error) {
	w = &world{
		report: r, began: time.Now(), peace: make(chan struct{}),
		relays: map[int]*client.Process{}, drawn: map[string]bool{},
	}
	w.ctx, w.end = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := w.makeHome(); err != nil {
		return w, err
	}
	bridgeKey := newAccessKey()
	w.secrets = append(w.secrets, secretscan.Text("key of the bridge", bridgeKey))
	if w.Sandbox, err = sandbox.Start(ctx, sandbox.Options{Chains: chains, BridgeKey: bridgeKey, Layout: r.seed | 1, Seed: r.seed | 1}); err != nil {
		return w, err
	}
	if err := w.WriteFiles(w.Dir); err != nil {
		return w, err
	}
	if err := w.hideAccess(); err != nil {
		return w, err
	}
	if w.keychain, err = keychain.Start(filepath.Join(w.Dir, "k")); err != nil {
		return w, err
	}
	measured, err := w.FiguresEnv()
	if err != nil {
		return w, err
	}
	w.Env = append(w.Env, keychain.BusVariable+"="+w.keychain.Address(), "SWAPKEEP_CHEAP_KDF=1", "SWAPKEEP_CLOCK_SHIFT=@"+w.clockFile(),
		"SWAPKEEP_LOG_LEVEL=debug", "SWAPKEEP_FAILPOINT_DEATHS="+w.deaths(), measured)
	w.route = slices.DeleteFunc(slices.Clone(chains), func(c uint64) bool { return len(providersOn(c)) == 0 })
	rand.New(rand.NewPCG(r.seed, 0)).Shuffle(len(w.route), func(i, j int) { w.route[i], w.route[j] = w.route[j], w.route[i] })
	if err := w.makeWallet(); err != nil {
		return w, err
	}
	return w, w.fund()
}

func (w *world) makeHome() (err error) {
	dir := filepath.Join(root, fmt.Sprint("r", w.number))
	w.Home = programs.NewHome(dir, filepath.Join(dir, "config.toml"))
	for _, d := range []string{dir, filepath.Join(dir, "k")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if w.said, err = os.OpenFile(filepath.Join(dir, "said"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	return errors.Join(w.Install(built()), w.setClock(0))
}

// config is the path of the daemon's configuration.
func (w *world) config() string { return filepath.Join(w.Dir, "config.toml") }

func (w *world) clockFile() string { return filepath.Join(w.Dir, "clock") }

// deaths is the file to which a daemon writes the point where it dies.
func (w *world) deaths() string { return filepath.Join(w.Dir, "deaths") }

// setClock sets how far the daemon's clock is ahead.
func (w *world) setClock(ahead time.Duration) error {
	return clock.SetShift(w.clockFile(), ahead)
}

// command returns swapkeep with its standard error recorded.
func (w *world) command(extra []string, args ...string) *exec.Cmd {
	cmd := w.Command(extra, args...)
	cmd.Stderr = w.said
	return cmd
}

// stop ends the daemon as the command line does.
func (w *world) stop() (out []byte, err error) { return w.command(nil, "stop").Output() }

// makeWallet creates the wallet and its accounts, and makes the daemon store secrets.
func (w *world) makeWallet() error {
	u := w.newUser("owner", 0)
	defer u.leave()
	var made protocol.CreateResult
	if err := u.retryUntilAnswered("keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}, &made); err != nil {
		return err
	}
	for range accounts - 1 {
		if err := u.retryUntilAnswered("keys.add", protocol.AddParams{Request: requests.NewUUID()}, nil); err != nil {
			return err
		}
	}
	var all protocol.AccountsResult
	if err := u.retryUntilAnswered("keys.accounts", nil, &all); err != nil {
		return err
	}
	for _, a := range all.Accounts {
		w.accounts = append(w.accounts, common.HexToAddress(string(a.Address)))
	}
	if len(w.accounts) != accounts {
		return fmt.Errorf("%d accounts, want %d", len(w.accounts), accounts)
	}
	return w.addSecrets(u, string(made.Words))
}

// fund funds each account with every token, sets all chains to one time, and starts
// recording their history.
func (w *world) fund() error {
	var wg sync.WaitGroup
	errs := make([]error, len(chains))
	for i, c := range w.Chains() {
		wg.Go(func() { errs[i] = w.fundOn(c) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := w.align(0); err != nil {
		return err
	}
	w.audit = audit.New(w.ctx, w.Sandbox, 2*confirmations, w.accounts...)
	w.audit.Find, w.audit.Count = w.find, w.count
	for _, c := range w.Chains() {
		if err := c.Mine(confirmations); err != nil { // so that the chain's first block is not reorganised
			return err
		}
	}
	return nil
}

func (w *world) fundOn(c *sandbox.Chain) error {
	for _, a := range w.accounts {
		coins := usd(200_000)
		if err := c.Fund(w.ctx, a, native, coins.of(c.Network.Wrapped)); err != nil {
			return err
		}
		for _, t := range append([]sandbox.Token{c.Network.Wrapped}, c.Network.Tokens...) {
			if err := c.Fund(w.ctx, a, t.Address, coins.of(t)); err != nil {
				return fmt.Errorf("%s: %w", t.Symbol, err)
			}
		}
	}
	return nil
}

// align brings all chains to the time of the latest one, and further ahead: a payment dated
// before its deposit would not count.
func (w *world) align(further time.Duration) error {
	latest := slices.MaxFunc(w.Chains(), func(a, b *sandbox.Chain) int { return a.Time().Compare(b.Time()) }).Time()
	for _, c := range w.Chains() {
		if err := c.ShiftTo(latest.Add(further)); err != nil {
			return err
		}
	}
	return nil
}

// activeNetwork returns the network that the users work on now.
func (w *world) activeNetwork() uint64 {
	const stay = 5 * time.Second
	return w.route[int(time.Since(w.began)/stay)%len(w.route)]
}

// atPeace reports whether there is peace.
func (w *world) atPeace() bool {
	select {
	case <-w.peace:
		return true
	default:
		return false
	}
}

// openCount returns about how many orders have not ended.
func (w *world) openCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastOpen
}

// accepted counts the swaps that became orders.
func (w *world) accepted() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.consents {
		if c.id != "" {
			n++
		}
	}
	return n
}

// close ends everything that the world runs.
func (w *world) close() error {
	w.end()
	w.mu.Lock()
	for _, p := range w.relays {
		_, _ = p.Stop()
	}
	w.mu.Unlock()
	if left, err := processes.RunningFrom(w.Bin); err == nil { // of an aborted round
		for _, pid := range left {
			_ = processes.Kill(pid)
		}
	}
	if w.audit != nil {
		w.audit.Close()
	}
	if w.keychain != nil {
		w.keychain.Close()
	}
	if w.said != nil {
		_ = w.said.Close()
	}
	if w.Sandbox != nil {
		return w.Sandbox.Close()
	}
	return nil
}

// usd is a value in US dollars.
type usd int64

// of returns how much of a token is worth that.
func (d usd) of(t sandbox.Token) *big.Int {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
	n.Mul(n, big.NewInt(int64(d)*1_000_000))
	return n.Div(n, big.NewInt(t.MicroUSD))
}
