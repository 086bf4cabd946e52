package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
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

// extensionID is the extension that the demo is.
const extensionID = "abcdefghijklmnopabcdefghijklmnop"

// startTime bounds the start of the sandbox.
const startTime = 30 * time.Second

// directory makes the place that holds everything, and the environment in
// which the product is started: no setting of this shell's reaches it.
func (s *show) directory(context.Context) error {
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
	s.later("directory", func(context.Context) (string, error) { return dir + " removed", os.RemoveAll(dir) })
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
	return nil
}

// sandbox starts the chains that the swaps are on, in this process.
func (s *show) sandbox(ctx context.Context) error {
	s.out.Heading("Sandbox")
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	began := time.Now()
	box, err := openWorld(ctx, sandbox.Options{Chains: chainsOf(s.swaps), Contracts: s.contracts, Period: s.period}, s.dir, zerolog.Nop())
	if err != nil {
		return err
	}
	s.box = box.Sandbox
	s.later("sandbox", func(context.Context) (string, error) { return "chains, provider and key proxy ended", box.Close() })
	var names []string
	for _, c := range box.Chains() {
		names = append(names, fmt.Sprintf("%s (%d)", c.Network.Name, c.ID))
	}
	s.out.Fact("chains", fmt.Sprintf("%s; a block every %s, final at depth %d; ready in %s",
		strings.Join(names, ", "), seconds(s.period), sandbox.Depth, seconds(time.Since(began))))
	s.out.Fact("contracts", "Uniswap V2 and V3, Universal Router, Permit2, at their addresses on the real chains")
	s.out.Fact("provider", "a DEX that speaks the Uniswap Trading API's format, "+box.DEXURL()+"; it wants an API key")
	s.out.Fact("key proxy", "holds that key, "+box.url+"; the daemon calls it with a token of its own and never sees the key")
	s.out.Fact("directory", s.dir+", removed at the end")
	s.started(box.Sandbox)
	return nil
}

// connect starts the product as a browser starts it and greets it.
func (s *show) connect(ctx context.Context) error {
	s.out.Heading("Host")
	origin := "chrome-extension://" + extensionID + "/"
	log, err := os.Create(filepath.Join(s.dir, "relay.log"))
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "swapkeep"), origin)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = s.env, log, ownGroup()
	s.later("host", s.endHost) // also for a daemon without its relay
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

// wallet makes one and unlocks it. Its words are not shown: a demo's output
// ends up in logs.
func (s *show) wallet(ctx context.Context) error {
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
	kept, err := s.kept(ctx)
	if err != nil {
		return err
	}
	s.out.Fact("kept", kept)
	return s.unlock(ctx)
}

func (s *show) unlock(ctx context.Context) error {
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

// fund has the sandbox's faucet pay the account on every chain.
func (s *show) fund(ctx context.Context) error {
	for _, c := range s.box.Chains() {
		amount := new(big.Int).Mul(big.NewInt(5), ether)
		if err := c.Fund(ctx, common.HexToAddress(string(s.account)), common.Address{}, amount); err != nil {
			return err
		}
		native := nativeOf(c.Network)
		seen, err := ask[protocol.BalancesResult](ctx, s.port, "tokens.balances", protocol.BalancesParams{
			Account: s.account, ChainID: c.ID, Tokens: []protocol.Address{protocol.Native},
		})
		if err != nil {
			return err
		}
		if len(seen.Balances) != 1 || seen.Balances[0].Amount.Int() == nil {
			return fmt.Errorf("no balance of %s on %s", native.Symbol, c.Network.Name)
		}
		s.out.Fact("funded", fmt.Sprintf("by the sandbox's faucet: the wallet sees %s on %s", native.Text(seen.Balances[0].Amount.Int()), c.Network.Name))
	}
	return nil
}

func newRequest() protocol.UUID { return protocol.UUID(uuid.NewString()) }
