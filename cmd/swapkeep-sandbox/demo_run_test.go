package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
)

// programs returns the directory of swapkeep and swapkeepd as shipped.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, "swapkeep/cmd/swapkeep", "swapkeep/cmd/swapkeepd").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// quick returns the demo with short blocks and with the file keychain, so that a test
// does not use the machine's keychain.
func quick(t *testing.T, bin string) demoOptions {
	return demoOptions{
		bin: bin, keychain: "file", period: 200 * time.Millisecond, swaps: demoSwaps, hostile: demoLie, temporary: t.TempDir(),
		environ: append(os.Environ(), "SWAPKEEP_KEYS_BACKEND=cloud"), // must not reach the product
		started: func(*sandbox.Sandbox) {},
	}
}

// A page records the output and calls do when it contains the text on.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
	on   string
	do   func()
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on != "" && strings.Contains(string(b), p.on) {
		p.do()
	}
	return p.text.Write(b)
}

// told runs the demo and checks what must hold however it ends: the last line is the
// tally, no process is left and the directory is removed.
func told(t *testing.T, ctx context.Context, o demoOptions, p *page) (text string, err error) {
	t.Helper()
	err = o.run(ctx, screen.New(p, os.Getenv))
	text = p.text.String()
	t.Log("\n" + text)
	for _, m := range regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(text, -1) {
		if pid, _ := strconv.Atoi(m[1]); alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if left := ofHome(o.temporary); len(left) > 0 {
		t.Errorf("processes left: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(o.temporary, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, l := range strings.Split(text, "\n") {
		if len([]rune(l)) > screen.PageWidth && !strings.HasPrefix(l, "  | ") {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
	return text, err
}

// ofHome returns the programs whose environment names a home below dir, where the system
// exposes that.
func ofHome(dir string) (names []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte("SWAPKEEP_HOME="+dir)) {
			names = append(names, f)
		}
	}
	return names
}

// oneLine joins wrapped lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestDemo(t *testing.T) {
	bin := programs(t)
	interrupted := func(moment, last string) func(*testing.T, string) {
		return func(t *testing.T, bin string) { interruptDemo(t, bin, moment, last) }
	}
	for name, test := range map[string]func(*testing.T, string){
		"a swap fails":            demoWithAFailure,
		"a lie is believed":       demoWithoutALie,
		"interrupted in an act":   interrupted("Wallet", "demo: 2 swaps, 0 filled, 0 refunded, 0 failed, 2 not tried"),
		"interrupted at the kill": interrupted("SIGKILL to the daemon", "demo: 2 swaps, 0 filled, 0 refunded, 0 failed, 1 interrupted, 1 not tried"),
		"interrupted by the lie":  interrupted("A hostile answer", "demo: 2 swaps, 2 filled, 0 refunded, 0 failed, the hostile answer was not refused"),
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, bin) })
	}
}

// some is the demo with only those swaps, to keep a test short: the auction, with a kill,
// and the fastest one.
func some(t *testing.T, bin string) demoOptions {
	o := quick(t, bin)
	o.swaps = []plan{planned(t, func(p plan) bool { return p.routing == "DUTCH_V3" }), planned(t, func(p plan) bool { return p.routing == "RFQ" })}
	return o
}

// demoWithAFailure: the provider refuses its first quote. The next swap continues, and
// the lie is refused.
func demoWithAFailure(t *testing.T, bin string) {
	o := some(t, bin)
	o.started = func(s *sandbox.Sandbox) {
		if _, err := s.DEX().Faults.Add(inject.Rule{Target: "/quote", Kind: inject.HTTP, Status: 400, Times: 1}); err != nil {
			t.Error(err)
		}
	}
	text, err := told(t, t.Context(), o, &page{})
	if !errors.Is(err, errDemo) {
		t.Errorf("ended with %v", err)
	}
	if want := "demo: 2 swaps, 1 filled, 0 refunded, 1 failed"; lastLine(text) != want {
		t.Errorf("last line %q, want %q", lastLine(text), want)
	}
	for _, want := range []string{"provider_", "the last lines of swapkeepd.log", "1,000 USDC left the account; payments to the account: 1; allowance left: 0 USDC",
		"the provider's simulator has 1 order for this swap: ", "another receiver than was asked for", "nothing was signed"} {
		if !strings.Contains(oneLine(text), want) {
			t.Errorf("nothing of %q", want)
		}
	}
}

// demoWithoutALie: the provider does not lie, so nothing is refused, and the demo reports
// that.
func demoWithoutALie(t *testing.T, bin string) {
	o := some(t, bin)
	o.swaps, o.hostile.rules = o.swaps[1:], nil
	text, err := told(t, t.Context(), o, &page{})
	if want := "demo: 1 swaps, 1 filled, 0 refunded, 0 failed, the hostile answer was not refused"; !errors.Is(err, errDemo) || lastLine(text) != want {
		t.Errorf("ended with %v; last line %q, want %q", err, lastLine(text), want)
	}
	if !strings.Contains(oneLine(text), "it got a review") {
		t.Error("it is not told why")
	}
}

// interruptDemo: Ctrl-C at that moment leaves no process running.
func interruptDemo(t *testing.T, bin, moment, last string) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupt signal received")
	text, err := told(t, ctx, some(t, bin), &page{on: moment, do: func() { cancel(interrupt) }})
	if !errors.Is(err, errDemo) || lastLine(text) != last || !strings.Contains(text, interrupt.Error()) {
		t.Errorf("at %q: %v, last line %q, want %q", moment, err, lastLine(text), last)
	}
}

func TestDemoWithoutItsPrograms(t *testing.T) {
	text, err := told(t, t.Context(), quick(t, t.TempDir()), &page{})
	if !errors.Is(err, errDemo) || !strings.Contains(oneLine(text), "run `make build` first") {
		t.Errorf("ended with %v", err)
	}
	if want := "demo: 7 swaps, 0 filled, 0 refunded, 0 failed, 7 not tried"; lastLine(text) != want {
		t.Errorf("last line %q, want %q", lastLine(text), want)
	}
}

// A command line is run as a shell would run it: the digest of the review is filled in,
// and the password is on standard input, never an argument.
func TestCommandLine(t *testing.T) {
	s := &demoRun{demoOptions: demoOptions{bin: "/bin"}, digest: "0xd1", password: []byte("secret"), env: []string{"A=b"}}
	cmd := s.command(t.Context(), acceptLine)
	if want := []string{"/bin/swapkeep", "swap", "--accept", "0xd1", "--password-fd", "0"}; !slices.Equal(cmd.Args, want) || cmd.Stdin == nil {
		t.Errorf("%q, want %q", cmd.Args, want)
	}
	cmd = s.command(t.Context(), "swapkeep swap 1 ETH USDC --review-only --json > review.json")
	if n := len(cmd.Args); cmd.Args[n-1] != "--json" || cmd.Stdin != nil || !slices.Equal(cmd.Env, s.env) {
		t.Errorf("%q", cmd.Args)
	}
}

// A wrapped line is shown if the line that it continues is; the banner never is.
func TestShownLines(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	const said = "SANDBOX: local\n  minimum      1 USDC received,\n               reverts below this\n\n  sources      one\n               source\n"
	if _, err := w.WriteString(said); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	var b bytes.Buffer
	s := &demoRun{out: screen.New(&b, os.Getenv)}
	lines, err := s.read(r, step{show: matching("^  minimum ")})
	if want := "  |   minimum      1 USDC received,\n  |                reverts below this\n"; err != nil || b.String() != want || len(lines) != 5 {
		t.Errorf("%d lines, %v, shown\n%s", len(lines), err, &b)
	}
}

// The demo in a private session ends with its standard input, which its parent holds.
func TestEndsWithStdin(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := withStdin(t.Context(), r)
	defer cancel(nil)
	if ctx.Err() != nil {
		t.Fatal(ctx.Err())
	}
	_ = w.Close()
	<-ctx.Done()
}
