package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"swapkeep/chain"
	"swapkeep/host/transport"
	"swapkeep/priceapi/pricetable"
)

const (
	extension = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	origin    = "chrome-extension://" + extension + "/"

	// upTime is how long a daemon may take to listen.
	upTime = 10 * time.Second
)

// places are the directories of what is measured.
type places struct {
	bin      string // the programs under test
	node     string // the peers in Node
	c        string // the sources of the peers in C
	packages string // the extension's packages
}

// A lab is the temporary environment in which everything is measured.
type lab struct {
	places
	dir          string // everything is written here
	outside      *outside
	short        bool // few samples, see few
	homes        int
	made         map[string]bool   // by compilers, see make
	monthHistory *monthHistory     // see (*lab).history
	covered      *pricetable.Table // see coveredTable
	coveredAt    time.Time
	charted      string                   // the history's file, once charts are served from it
	seen         map[string]browserResult // browser measurements, see inBrowser
}

// openLab starts the outside services and writes a daemon configuration that uses all of
// them.
func openLab(ctx context.Context, at places, short bool) (*lab, error) {
	for _, name := range []string{"swapkeep", "swapkeepd", "swapkeep-sandbox"} {
		if _, err := os.Stat(filepath.Join(at.bin, name)); err != nil {
			return nil, fmt.Errorf("%w; run make build first", err)
		}
	}
	l := &lab{places: at, short: short, made: map[string]bool{}, seen: map[string]browserResult{}}
	var err error
	if l.bin, err = filepath.Abs(at.bin); err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp("", "swapkeep-bench-"); err != nil {
		return nil, err
	}
	if l.outside, err = openOutside(); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, errors.Join(os.WriteFile(l.config(), []byte(l.configuration()), 0o600), ctx.Err())
}

func (l *lab) close() (err error) {
	if l.outside != nil {
		err = l.outside.close()
	}
	if l.monthHistory != nil && l.monthHistory.own != nil {
		err = errors.Join(err, l.monthHistory.own.Close())
	}
	return errors.Join(err, os.RemoveAll(l.dir))
}

// sampleCount returns how many samples to take where a full run takes that many.
func (l *lab) sampleCount(samples int) int {
	if l.short {
		return min(samples, max(2, samples/20))
	}
	return samples
}

func (l *lab) config() string { return filepath.Join(l.dir, "config.toml") }

func (l *lab) configuration() string {
	text := fmt.Sprintf("sandbox = true\n[keys]\nbackend = \"file\"\n[extensions]\nchromium = [%q]\n", extension)
	for kind, path := range map[string]string{"dex": dexPath, "bridge": bridgePath, "intent": intentPath, "gasless": gaslessPath} {
		text += fmt.Sprintf("[providers.%s]\nbase_url = %q\n", kind, l.outside.base+path)
	}
	for _, n := range chain.Networks() {
		text += fmt.Sprintf("[networks.%d]\nrpc = [%q]\n", n.ID, l.outside.rpcURL(n.ID))
	}
	return text
}

// newHome returns a directory that no daemon has used yet.
func (l *lab) newHome() string {
	l.homes++
	return filepath.Join(l.dir, fmt.Sprint("home", l.homes))
}

// environ returns the whole environment of a relay or daemon for a home.
func (l *lab) environ(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "SWAPKEEP_HOME=" + home, "SWAPKEEP_CONFIG=" + l.config()}
}

// A daemon is a running daemon with its own home.
type daemon struct {
	cmd   *exec.Cmd
	home  string
	ended chan error
}

// start runs a daemon program with a new home until it listens.
func (l *lab) start(ctx context.Context, exe string) (*daemon, error) {
	home := l.newHome()
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	return l.startAt(ctx, exe, home)
}

func (l *lab) startAt(ctx context.Context, exe, home string) (*daemon, error) {
	d := &daemon{cmd: exec.Command(exe), home: home, ended: make(chan error, 1)}
	d.cmd.Env = l.environ(d.home)
	d.cmd.Stderr = os.Stderr
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { d.ended <- d.cmd.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, upTime)
	defer cancel()
	for {
		conn, err := transport.Dial(ctx, transport.Instance{Home: d.home})
		if err == nil {
			return d, conn.Close()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s does not listen: %w", filepath.Base(exe), err), d.stop())
		case ended := <-d.ended:
			return nil, fmt.Errorf("%s ended at once: %w", filepath.Base(exe), ended)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// swapkeepd starts the daemon under test.
func (l *lab) swapkeepd(ctx context.Context) (*daemon, error) {
	return l.start(ctx, filepath.Join(l.bin, "swapkeepd"))
}

// stop ends the daemon, by force if it takes too long.
func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-d.ended:
		return err
	case <-time.After(endTime):
		return errors.Join(errors.New("a daemon did not end: killed"), d.cmd.Process.Kill(), <-d.ended)
	}
}
