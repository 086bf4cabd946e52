//go:build faults && linux

package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/host/relay"
	"swapkeep/host/transport"
	"swapkeep/test/await"
	"swapkeep/test/programs"
)

// oldVersion and newVersion are installed one over the other. All programs built for tests
// have oldVersion.
const oldVersion, newVersion = "0.1.0", "0.2.0"

// newerBins builds the same programs as a newer version.
var newerBins = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(root, "newer")
	return dir, programs.Build(dir, "faults", "-X main.version="+newVersion)
})

func newer(t *testing.T) string {
	t.Helper()
	dir, err := newerBins()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// programsIn returns the directory of a version in a user's installation.
func (d *desk) programsIn(version string) string {
	return filepath.Join(d.Dir, ".local", "lib", "swapkeep", version)
}

// runInstall runs swapkeep install from unpacked programs.
func (d *desk) runInstall(from string, extra ...string) (string, error) {
	present := d.Bin
	d.Bin = from
	defer func() { d.Bin = present }()
	out, err := d.Command(extra, "install", "--browser", "chromium").CombinedOutput()
	return string(out), err
}

// installed gives the desk an installed copy, from which everything is started.
func (d *desk) installed(from string) {
	d.t.Helper()
	if out, err := d.runInstall(from); err != nil {
		d.t.Fatalf("install: %v\n%s", err, out)
	}
	d.Bin = d.programsIn("current")
}

// TestUpdate installs a newer version while an order is in progress. The running daemon
// stops, the browser's relay finds the new one, which answers a request sent in between,
// and the order is executed once.
func TestUpdate(t *testing.T) {
	for name, method := range map[string]string{"before a signature": "eth_simulateV1", "while it is sent": "eth_sendRawTransaction"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := newer(t)
			d := newDesk(t, takeLane(t))
			d.installed(bins.faults)
			d.open()
			p := begin(d, flowNamed("swap"), "")
			if err := p.look(); err != nil {
				t.Fatal(err)
			}
			between := make(chan error, 1)
			p.acceptHeldAt(method, func(int) {
				go func() { between <- d.askBetween() }()
				out, err := d.runInstall(next)
				if err != nil || !strings.Contains(out, "The daemon of "+oldVersion+" was replaced by that of "+newVersion+"; open orders: 1.") || !strings.Contains(out, "Unlock your wallet again") {
					t.Errorf("install: %v\n%s", err, out)
				}
			})
			if h, err := programs.AwaitHello(d.relay, relay.DefaultWindow); err != nil || h.Version != newVersion {
				t.Fatalf("the relay came back to %q, %v", h.Version, err)
			}
			if err := <-between; err != nil {
				t.Errorf("a request between the daemons: %v", err)
			}
			d.unlock()
			if err := p.drive(); err != nil {
				t.Fatal(err)
			}
			p.checkOutcome()
			p.checkNextSwap(1)
			d.checkOldVersionKept()
			p.checkAudit()
		})
	}
}

// askBetween asks the relay while no daemon listens, and waits for the answer. On a
// greeting a client reports earlier requests as lost; then it asks again.
func (d *desk) askBetween() error {
	for end := time.Now().Add(longTimeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		conn, err := transport.Dial(d.t.Context(), d.Instance)
		if errors.Is(err, transport.ErrNoDaemon) {
			if err = d.relay.Call(d.t.Context(), "networks.list", nil, nil); named(err, "daemon_lost") {
				err = d.relay.Call(d.t.Context(), "networks.list", nil, nil)
			}
			return err
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	return errors.New("there was no moment without a daemon")
}

// checkOldVersionKept checks that the old version's programs stay while the relay runs from
// them and are removed at the next start. It leaves the daemon stopped.
func (d *desk) checkOldVersionKept() {
	d.t.Helper()
	old := d.programsIn(oldVersion)
	if _, err := os.Stat(filepath.Join(old, "swapkeepd")); err != nil {
		d.t.Errorf("a relay runs from a version that was removed: %v", err)
	}
	d.shut()
	d.open()
	var err error
	if !await.Holds(shortTimeout, func() bool { _, err = os.Stat(old); return errors.Is(err, os.ErrNotExist) }) {
		d.t.Errorf("%s is still there: %v", old, err)
	}
	d.shut()
}

// TestOldRelayStartsTheNewDaemon crashes the daemon after an update: the relay from before
// the update starts the installed version.
func TestOldRelayStartsTheNewDaemon(t *testing.T) {
	t.Parallel()
	next := newer(t)
	d := newDesk(t, takeLane(t))
	d.installed(bins.faults)
	d.open()
	d.installed(next)
	for _, crashes := range []bool{true, false} {
		if h, err := programs.AwaitHello(d.relay, relay.DefaultWindow); err != nil || h.Version != newVersion {
			t.Fatalf("the relay came back to %q, %v", h.Version, err)
		}
		if crashes {
			d.crash(d.pid())
		}
	}
	d.shut()
}

// TestSameAgain checks that installing the installed version does not stop the daemon.
func TestSameAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.installed(bins.faults)
	d.open()
	before := d.pid()
	if out, err := d.runInstall(bins.faults); err != nil || !strings.Contains(out, "nothing to do") || d.pid() != before {
		t.Errorf("%v\n%s", err, out)
	}
	d.shut()
}

// TestInstallKilledAtEveryPoint kills an install, an update and an uninstall at every
// change: until the end the previous version works, the next try succeeds, and finally
// nothing is left.
func TestInstallKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	next, seen := newer(t), map[string]bool{}
	d := newDesk(t, takeLane(t))
	unpacked := d.Bin
	before := d.listing()
	d.killAtEachPoint(seen, func(extra ...string) error { _, err := d.runInstall(unpacked, extra...); return err }, d.uninstall)
	anew := func() {
		d.uninstall()
		if out, err := d.runInstall(unpacked); err != nil {
			t.Fatalf("install: %v\n%s", err, out)
		}
	}
	anew()
	d.killAtEachPoint(seen, func(extra ...string) error { _, err := d.runInstall(next, extra...); return err }, func() {
		d.Bin = d.programsIn("current")
		d.checkWorks(oldVersion, newVersion)
		d.Bin = unpacked
		anew()
	})
	d.killAtEachPoint(seen, func(extra ...string) error { return d.Command(extra, "uninstall").Run() }, anew)
	d.uninstall()
	if after := d.listing(); !slices.Equal(before, after) {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	expected(t, "TestInstallKilledAtEveryPoint", seen)
}

// killAtEachPoint runs a command that dies at each hit of each point in turn. After each run, after
// restores the initial state.
func (d *desk) killAtEachPoint(seen map[string]bool, command func(extra ...string) error, after func()) {
	d.t.Helper()
	trace := filepath.Join(root, filepath.Base(d.Dir)+"-trace")
	if err := command("SWAPKEEP_FAILPOINT_TRACE=" + trace); err != nil {
		d.t.Fatal(err)
	}
	after()
	hits := map[string]int{}
	for _, point := range readTrace(d.t, trace) {
		if !strings.HasPrefix(point, "installer.") {
			continue
		}
		hits[point]++
		seen[point] = true
		if err := command(fmt.Sprintf("SWAPKEEP_FAILPOINT=%s:%d", point, hits[point])); err == nil || !strings.Contains(err.Error(), "killed") {
			d.t.Errorf("%s:%d: it ended with %v", point, hits[point], err)
		}
		after()
	}
	if err := os.Remove(trace); err != nil {
		d.t.Error(err)
	}
}

// checkWorks checks that a browser reaches a daemon of one of these versions.
func (d *desk) checkWorks(versions ...string) {
	d.t.Helper()
	p, h, err := d.Browse(longTimeout)
	if err != nil {
		d.t.Fatal(err)
	}
	if !slices.Contains(versions, h.Version) {
		d.t.Errorf("greeted by version %q, want one of %q", h.Version, versions)
	}
	if _, err := p.Stop(); err != nil {
		d.t.Error(err)
	}
	if out, code := d.terminal("stop"); code != 0 {
		d.t.Errorf("stop: %s", out)
	}
}

// uninstall uninstalls with the current programs.
func (d *desk) uninstall() {
	d.t.Helper()
	if out, code := d.terminal("uninstall"); code != 0 {
		d.t.Fatalf("uninstall: exit %d: %s", code, out)
	}
}

// listing returns every file and directory of the user except the daemon's state.
func (d *desk) listing() (all []string) {
	d.t.Helper()
	err := filepath.WalkDir(d.Dir, func(path string, e os.DirEntry, err error) error {
		if path == d.Instance.Home {
			return filepath.SkipDir
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}
