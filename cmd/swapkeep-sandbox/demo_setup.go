package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

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
	)
	return s.reservePrices()
}

// simulators describes the sandbox's providers for people.
var simulators = []struct{ kind, is string }{
	{"dex", "simulates the Uniswap Trading API, with auctions; requires an API key"},
	{"bridge", "simulates Relay; pays from its own account on every chain"},
	{"intent", "simulates Khalani HyperStream; pays from its own account too"},
	{"gasless", "simulates Bebop's JAM and RFQ; settles the signed orders"},
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
	s.onCleanup("sandbox", func(context.Context) (string, error) {
		return "the chains, the providers and the key proxy are stopped", box.Close()
	})
	s.onCleanup("audit", s.judgeMoney) // after the daemon has ended
	var names []string
	for _, c := range box.Chains() {
		names = append(names, fmt.Sprintf("%s (%d)", c.Network.Name, c.ID))
	}
	s.out.Fact("chains", fmt.Sprintf("%s; a block every %s, final after %d blocks; ready in %s",
		strings.Join(names, ", "), seconds(s.period), sandbox.Depth, seconds(time.Since(began))))
	s.out.Fact("contracts", "Uniswap V2, V3 and X, Universal Router, Permit2, and simple versions of the other providers' contracts, at the addresses of the real chains")
	for _, p := range simulators {
		s.out.Fact(p.kind, p.is+", "+box.BaseURL(p.kind))
	}
	s.out.Fact("key proxy", "adds the DEX's API key, "+box.url+"; the daemon has a token for it and never sees the key")
	s.out.Fact("directory", s.dir+", removed at the end")
	s.started(box.Sandbox)
	return nil
}

// startDaemon starts the daemon by a command, as any command does, and shows its status.
func (s *demoRun) startDaemon(ctx context.Context) error {
	s.out.Heading("Daemon")
	s.onCleanup("daemon", s.stop)
	if _, err := s.typed(ctx, step{line: "swapkeep keys", want: "create a wallet with swapkeep keys create"}); err != nil {
		return err
	}
	return s.showStatus(ctx)
}

// wallet creates a wallet and unlocks it. It does not print the recovery phrase, because a
// demo's output ends up in logs.
func (s *demoRun) wallet(ctx context.Context) error {
	s.out.Heading("Wallet")
	s.password = protocol.Secret(rand.Text())
	var made protocol.CreateResult
	if _, err := s.typed(ctx, step{line: "swapkeep keys create --name Demo --password-fd 0 --json < password", into: &made}); err != nil {
		return err
	}
	words := len(bytes.Fields(made.Words))
	made.Words.Zero()
	if len(made.Wallet.Accounts) != 1 {
		return fmt.Errorf("the new wallet has %d accounts, expected 1", len(made.Wallet.Accounts))
	}
	s.account = made.Wallet.Accounts[0].Address
	s.out.Fact("created", fmt.Sprintf("account %s (%s)", s.account, made.Wallet.Accounts[0].Path))
	s.out.Fact("phrase", fmt.Sprintf("%d words, shown only once, omitted here", words))
	kept, err := s.describeKept(ctx)
	if err != nil {
		return err
	}
	s.out.Fact("stored", kept)
	_, err = s.typed(ctx, unlockStep())
	return err
}

// fund has the sandbox's faucet pay the account on every chain: the tokens to swap, and
// native coin for gas.
func (s *demoRun) fund(ctx context.Context) error {
	s.out.Fact("faucet", "the sandbox pays the account on every chain")
	for _, c := range s.box.Chains() {
		sums := paidOn(append([]plan{s.hostile.plan}, s.swaps...), c.ID)
		sums[""] = milliEther(5_000)
		var want []string
		for _, symbol := range slices.Sorted(maps.Keys(sums)) {
			coin, known := coinNamed(c.Network, symbol)
			if !known {
				return fmt.Errorf("%s has no %s", c.Network.Name, symbol)
			}
			if err := c.Fund(ctx, common.HexToAddress(string(s.account)), coin.address(), sums[symbol]); err != nil {
				return err
			}
			number, _, _ := strings.Cut(coin.Text(sums[symbol]), " ")
			want = append(want, coin.Symbol+` +`+regexp.QuoteMeta(number)+` `)
		}
		out, err := s.typed(ctx, step{line: "swapkeep tokens balances --network " + networkWord(c), show: matching(`verified$`)})
		if err != nil {
			return err
		}
		for _, balance := range want {
			if !regexp.MustCompile(balance).MatchString(out) {
				return fmt.Errorf("the balances on %s do not match %q", c.Network.Name, balance)
			}
		}
	}
	return nil
}
