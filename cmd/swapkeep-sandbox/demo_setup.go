package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// extensionID is the id of the extension that the demo plays.
const extensionID = "abcdefghijklmnopabcdefghijklmnop"

// startTime limits how long the sandbox may take to start.
const startTime = 30 * time.Second

// directory creates the temporary directory for everything, and the environment for the
// product's processes, without the SWAPKEEP_ settings of the calling shell.
func (s *demoRun) directory(context.Context) error {
	for _, program := range []string{"swapkeep", "swapkeepd"} {
		if _, err := exec.LookPath(filepath.Join(s.bin, program)); err != nil {
			return fmt.Errorf("%s is not in %s: run `make build` first, or name its directory with --bin", program, s.bin)
		}
	}
	dir, err := os.MkdirTemp(s.temporary, "swapkeep-demo-")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	s.dir = dir
	s.onCleanup("directory", func(context.Context) (string, error) { return dir + " removed", os.RemoveAll(dir) })
	for _, entry := range s.environ {
		if !strings.HasPrefix(entry, "SWAPKEEP_") {
			s.env = append(s.env, entry)
		}
	}
	s.env = append(s.env,
		"SWAPKEEP_HOME="+filepath.Join(dir, "home"),
		"SWAPKEEP_CONFIG="+filepath.Join(dir, "config.toml"),
		"SWAPKEEP_EXTENSIONS_CHROMIUM="+extensionID,
	)
	return s.reservePrices()
}

// simulators describes the sandbox's providers for people.
var simulators = []struct{ kind, is string }{
	{"dex", "speaks the Uniswap Trading API's format, auctions included; wants an API key"},
	{"bridge", "speaks Relay's format, and pays from an account of its own on every chain"},
	{"intent", "speaks Khalani HyperStream's format, and pays so too"},
	{"gasless", "speaks Bebop's formats, JAM and RFQ, and settles what was signed"},
}

// sandbox starts the chains that the swaps need, in this process.
func (s *demoRun) sandbox(ctx context.Context) error {
	s.out.Heading("Sandbox")
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	began := time.Now()
	box, err := openWorld(ctx, sandbox.Options{Chains: chainsOf(append([]plan{s.hostile.plan}, s.swaps...)), Contracts: s.contracts, Period: s.period}, s.dir, zerolog.Nop())
	if err != nil {
		return err
	}
	s.box = box.Sandbox
	s.onCleanup("sandbox", func(context.Context) (string, error) { return "chains, providers and key proxy ended", box.Close() })
	var names []string
	for _, c := range box.Chains() {
		names = append(names, fmt.Sprintf("%s (%d)", c.Network.Name, c.ID))
	}
	s.out.Fact("chains", fmt.Sprintf("%s; a block every %s, final at depth %d; ready in %s",
		strings.Join(names, ", "), seconds(s.period), sandbox.Depth, seconds(time.Since(began))))
	s.out.Fact("contracts", "Uniswap V2, V3 and X, Universal Router and Permit2, and stand-ins of the other providers' contracts, at their addresses on the real chains")
	for _, p := range simulators {
		s.out.Fact(p.kind, p.is+", "+box.BaseURL(p.kind))
	}
	s.out.Fact("key proxy", "holds the DEX's API key, "+box.url+"; the daemon calls it with a token of its own and never sees the key")
	s.out.Fact("directory", s.dir+", removed at the end")
	s.started(box.Sandbox)
	return nil
}

// connect starts the product as a browser does and waits for its greeting.
func (s *demoRun) connect(ctx context.Context) error {
	s.out.Heading("Host")
	origin := "chrome-extension://" + extensionID + "/"
	log, err := os.Create(filepath.Join(s.dir, "relay.log"))
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "swapkeep"), origin)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = s.env, log, ownGroup()
	s.onCleanup("host", s.endHost) // also stops a daemon whose relay is gone
	process, err := client.Start(cmd)
	_ = log.Close()
	if err != nil {
		return err
	}
	s.port = &port{Process: process}
	if err := s.port.greeted(ctx); err != nil {
		return err
	}
	status, err := s.status(ctx)
	if err != nil {
		return err
	}
	hello := s.port.hello
	s.out.Fact("started", "swapkeep "+origin+", as a browser does")
	s.out.Fact("", fmt.Sprintf("a keyless relay, pid %d, which started the daemon, pid %d", process.PID(), status.PID))
	s.out.Fact("hello", fmt.Sprintf("%s %s, protocol %d, %d methods for this extension, home %s",
		hello.Product, hello.Version, hello.Protocol.Selected, len(hello.Capabilities), hello.Home))
	if !hello.Sandbox {
		return fmt.Errorf("the daemon does not say that it is in a sandbox: nothing was done with it")
	}
	s.out.Styled(screen.Warn, "banner", hello.Banner)
	return nil
}

// wallet creates a wallet and unlocks it. It does not print the recovery words, because a
// demo's output ends up in logs.
func (s *demoRun) wallet(ctx context.Context) error {
	s.out.Heading("Wallet")
	s.password = protocol.Secret(rand.Text())
	made, err := ask[protocol.CreateResult](ctx, s.port, "keys.create", protocol.CreateParams{
		Request: newRequest(), Password: s.password, Name: "Demo",
	})
	if err != nil {
		return err
	}
	words := len(bytes.Fields(made.Words))
	made.Words.Zero()
	if len(made.Wallet.Accounts) != 1 {
		return fmt.Errorf("the new wallet has %d accounts, want 1", len(made.Wallet.Accounts))
	}
	s.account = made.Wallet.Accounts[0].Address
	s.out.Fact("created", fmt.Sprintf("account %s (%s)", s.account, made.Wallet.Accounts[0].Path))
	s.out.Fact("words", fmt.Sprintf("%d, shown this once to be written down, and not printed here", words))
	kept, err := s.describeKept(ctx)
	if err != nil {
		return err
	}
	s.out.Fact("kept", kept)
	return s.unlock(ctx)
}

func (s *demoRun) unlock(ctx context.Context) error {
	status, err := ask[protocol.KeysStatus](ctx, s.port, "keys.unlock", protocol.UnlockParams{Password: s.password})
	if err != nil {
		return err
	}
	if status.State != protocol.KeysUnlocked || !status.Session {
		return fmt.Errorf("unlocking left the wallet %s", status.State)
	}
	s.out.Fact("unlocked", fmt.Sprintf("by password; a session on this connection alone; locks itself after %d idle minutes",
		status.AutoLockSeconds/60))
	return nil
}

// fund has the sandbox's faucet pay the account on every chain: the tokens to swap, and
// native coin for gas.
func (s *demoRun) fund(ctx context.Context) error {
	for _, c := range s.box.Chains() {
		sums := paidOn(append([]plan{s.hostile.plan}, s.swaps...), c.ID)
		sums[""] = milliEther(5_000)
		var has []string
		for _, symbol := range slices.Sorted(maps.Keys(sums)) {
			text, err := s.funded(ctx, c, symbol, sums[symbol])
			if err != nil {
				return err
			}
			has = append(has, text)
		}
		s.out.Fact("funded", fmt.Sprintf("by the sandbox's faucet: the wallet sees %s on %s", strings.Join(has, " and "), c.Network.Name))
	}
	return nil
}

// funded pays the account and returns the balance that the wallet then reports.
func (s *demoRun) funded(ctx context.Context, on *sandbox.Chain, symbol string, amount *big.Int) (string, error) {
	c, known := coinNamed(on.Network, symbol)
	if !known {
		return "", fmt.Errorf("%s has no %s", on.Network.Name, symbol)
	}
	if err := on.Fund(ctx, common.HexToAddress(string(s.account)), c.address(), amount); err != nil {
		return "", err
	}
	seen, err := ask[protocol.BalancesResult](ctx, s.port, "tokens.balances", protocol.BalancesParams{
		Account: s.account, ChainID: on.ID, Tokens: []protocol.Address{c.token},
	})
	if err != nil {
		return "", err
	}
	if len(seen.Balances) != 1 || seen.Balances[0].Amount.Int() == nil {
		return "", fmt.Errorf("no balance of %s on %s", c.Symbol, on.Network.Name)
	}
	return c.Text(seen.Balances[0].Amount.Int()), nil
}

func newRequest() protocol.UUID { return protocol.UUID(uuid.NewString()) }
