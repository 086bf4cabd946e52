package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rogpeppe/go-internal/testscript"

	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
	"swapkeep/test/programs"
)

// realPrograms builds the real swapkeep and swapkeepd and returns their directory.
var realPrograms = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(bin), "real")
	return dir, programs.Build(dir, "", "")
})

// faultPrograms are the same, built with a clock that a script moves.
var faultPrograms = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(bin), "clock")
	return dir, programs.Build(dir, "faults", "")
})

// binary returns the path of one of the real programs.
func binary(name string) string {
	dir, err := realPrograms()
	if err != nil {
		return err.Error() // no file has this name
	}
	return filepath.Join(dir, name)
}

// TestScripts runs every command with the real programs, each script with its own home
// and, if it needs chains, its own sandbox.
func TestScripts(t *testing.T) {
	dir, err := realPrograms()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("SWAPKEEP_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("SWAPKEEP_KEYS_BACKEND", "file")
			e.Setenv("SWAPKEEP_PRICES_DISABLED", "true") // unless a script needs prices: without a sandbox the real services would be asked
			e.Setenv("TERM", "xterm")
			e.Setenv("WORDS", sandbox.Mnemonic)
			e.Values["t"] = e.T()
			e.Defer(func() { endDaemon(e) })
			return os.WriteFile(filepath.Join(e.WorkDir, "pw"), []byte("correct horse batteries\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"person": cmdPerson, "exits": cmdExits, "sandbox": cmdSandbox, "provider": cmdProvider, "chain": cmdChain, "field": cmdField, "until": cmdUntil,
			"tree": cmdTree, "clock": cmdClock, "ends": cmdEnds, "browser": cmdBrowser, "display": cmdDisplay,
		},
	})
}

// scriptBinary returns the path of one of the programs that a script runs.
func scriptBinary(getenv func(string) string, name string) string {
	return filepath.Join(filepath.SplitList(getenv("PATH"))[0], name)
}

// endDaemon stops the script's daemon and waits until its home is free.
func endDaemon(e *testscript.Env) {
	cmd := exec.Command(scriptBinary(e.Getenv, "swapkeep"), "stop")
	cmd.Env = e.Vars
	if out, err := cmd.CombinedOutput(); err != nil {
		e.T().Log("swapkeep stop:", err, string(out))
	}
}

// cmdExits runs a command that must fail with this status:
//
//	exits STATUS command...
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: exits STATUS command...")
	}
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("ended with %v, want exit status %d", err, want)
	}
}

// cmdSandbox starts the sandbox's default chains and configures the daemon for them. With
// "sandbox real" the daemon takes the first for the real chain; with "sandbox without ID"
// it has no configuration for that chain, although providers support it; "sandbox chains ID..."
// starts those chains instead.
func cmdSandbox(ts *testscript.TestScript, neg bool, args []string) {
	t, ok := ts.Value("t").(testing.TB)
	if !ok || neg {
		ts.Fatalf("usage: sandbox [real|without ID|chains ID...]")
	}
	options := sandbox.Options{Period: time.Second}
	if len(args) > 1 && args[0] == "chains" {
		for _, arg := range args[1:] {
			id, err := strconv.ParseUint(arg, 10, 64)
			ts.Check(err)
			options.Chains = append(options.Chains, id)
		}
	}
	box := sandboxtest.StartWith(t, options)
	ts.Check(box.WriteKeys(t.TempDir()))
	config := box.Config()
	if len(args) == 1 && args[0] == "real" {
		config = []byte("[networks.1]\nrpc = [\"" + box.Chain(1).RPC() + "\"]\n[chains]\nallow_loopback = [1]\n")
	}
	if len(args) == 2 && args[0] == "without" {
		head, rest, ok := strings.Cut(string(config), "[networks."+args[1]+"]\n")
		_, tail, ok2 := strings.Cut(rest, "\n\n")
		if !ok || !ok2 {
			ts.Fatalf("the sandbox has no chain %s", args[1])
		}
		config = []byte(head + tail)
	}
	ts.Check(os.WriteFile(ts.MkAbs("config.toml"), config, 0o600))
	ts.Setenv("SWAPKEEP_CONFIG", ts.MkAbs("config.toml"))
	boxes.Store(ts.MkAbs("."), box)
}

// cmdProvider changes settings of a simulated provider; those left out stay:
//
//	provider KIND JSON
func cmdProvider(ts *testscript.TestScript, neg bool, args []string) {
	box, ok := boxes.Load(ts.MkAbs("."))
	if neg || !ok || len(args) != 2 {
		ts.Fatalf("usage: provider KIND JSON, after sandbox")
	}
	reply, err := http.Post(box.(*sandbox.Sandbox).ControlURL()+"/"+args[0], "application/json", strings.NewReader(args[1]))
	ts.Check(err)
	said, err := io.ReadAll(reply.Body)
	ts.Check(errors.Join(err, reply.Body.Close()))
	if reply.StatusCode != http.StatusOK {
		ts.Fatalf("the sandbox says %s", said)
	}
}

// environ returns the script's environment variables that the programs read.
func environ(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TERM", "NO_COLOR", "SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "SWAPKEEP_KEYS_BACKEND", "SWAPKEEP_PRICES_DISABLED", "SWAPKEEP_EXTENSIONS_CHROMIUM", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", clockVariable} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// boxes maps a script's directory to its sandbox.
var boxes sync.Map

// cmdChain controls a chain:
//
//	chain ID pause|resume|mine N|fund ADDRESS TOKEN AMOUNT
func cmdChain(ts *testscript.TestScript, neg bool, args []string) {
	box, ok := boxes.Load(ts.MkAbs("."))
	id, err := strconv.ParseUint(args[0], 10, 64)
	if neg || !ok || err != nil || len(args) < 2 {
		ts.Fatalf("usage: chain ID pause|resume|mine N|fund ADDRESS TOKEN AMOUNT, after sandbox")
	}
	c := box.(*sandbox.Sandbox).Chain(id)
	switch args[1] {
	case "pause":
		c.Pause()
	case "resume":
		c.Resume()
	case "mine":
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		ts.Check(c.Mine(n))
	case "fund":
		amount, _ := new(big.Int).SetString(args[4], 10)
		ts.Check(c.Fund(ts.Value("t").(testing.TB).Context(), common.HexToAddress(args[2]), common.HexToAddress(args[3]), amount))
	default:
		ts.Fatalf("chain: no %s", args[1])
	}
}

// clockVariable has the file with the distance of the programs' clock; only programs built for
// fault tests know it.
const clockVariable = "SWAPKEEP_CLOCK_SHIFT"

// cmdClock sets how far the clock of the script's programs is ahead from now on. Its first use
// is before any program runs, and gives the script programs with such a clock:
//
//	clock DURATION
func cmdClock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: clock DURATION")
	}
	file := ts.MkAbs("clock")
	ts.Check(os.WriteFile(file+"~", []byte(args[0]), 0o600)) // renamed into place, as a program may read at any time
	ts.Check(os.Rename(file+"~", file))
	if ts.Getenv(clockVariable) != "" {
		return
	}
	dir, err := faultPrograms()
	ts.Check(err)
	ts.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ts.Setenv(clockVariable, "@"+file)
}

// cmdField sets a variable to a field of the last JSON value in a file; the whole file
// must be JSON:
//
//	field VARIABLE FILE name.0.name
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: field VARIABLE FILE PATH")
	}
	var last any
	for d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[1]))); ; {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		last = v
	}
	for _, name := range strings.Split(args[2], ".") {
		switch v := last.(type) {
		case map[string]any:
			last = v[name]
		case []any:
			n, err := strconv.Atoi(name)
			ts.Check(err)
			if n >= len(v) {
				ts.Fatalf("%s: there are %d", args[2], len(v))
			}
			last = v[n]
		}
	}
	if last == nil {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	text, ok := last.(string)
	if !ok {
		b, err := json.Marshal(last)
		ts.Check(err)
		text = string(b)
	}
	ts.Setenv(args[0], text)
}

// cmdUntil repeats a command until its output contains a text:
//
//	until TEXT command...
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until TEXT command...")
	}
	if !await.Holds(30*time.Second, func() bool {
		cmd := exec.Command(scriptBinary(ts.Getenv, args[1]), args[2:]...)
		cmd.Env = environ(ts)
		out, err := cmd.Output()
		return err == nil && bytes.Contains(out, []byte(args[0]))
	}) {
		ts.Fatalf("%q was never said", args[0])
	}
}
