package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/config"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
)

// statuses returns the status of each check by its id.
func statuses(checks []protocol.Check) map[string]string {
	out := map[string]string{}
	for _, c := range checks {
		out[c.ID] = c.Status
	}
	return out
}

func wantStatuses(t *testing.T, when string, checks []protocol.Check, want map[string]string) {
	t.Helper()
	got := statuses(checks)
	if len(got) != len(examinations) {
		t.Errorf("%s: %d checks", when, len(got))
	}
	for id := range got {
		if w := want[id]; got[id] != w && (w != "" || got[id] != protocol.CheckOK) {
			t.Errorf("%s: %s is %s: %+v", when, id, got[id], checks)
		}
	}
}

// A running daemon examines itself and queries the networks only if asked to.
func TestDiagnoseADaemon(t *testing.T) {
	world := sandboxtest.StartWith(t, sandbox.Options{Period: time.Second})
	d, term, _ := begin(t, world, filepath.Join(t.TempDir(), "home"), func(c *config.Config) { c.Prices.Disabled = true })
	var found protocol.Diagnosis
	term.must("host.diagnose", nil, &found)
	wantStatuses(t, "offline", found.Checks, map[string]string{
		"database.prices": protocol.CheckSkipped, "clock": protocol.CheckSkipped, "networks": protocol.CheckSkipped, "networks.hosts": protocol.CheckSkipped,
	})
	term.must("host.diagnose", protocol.DiagnoseParams{Online: true}, &found)
	wantStatuses(t, "online", found.Checks, map[string]string{"database.prices": protocol.CheckSkipped})
	if said, err := os.ReadDir(filepath.Join(d.home.Dir, "keys")); err != nil || len(said) != 0 {
		t.Errorf("the probe of the keychain left %v, %v", said, err)
	}
}

// A home without a daemon is examined, and a missing directory is not created.
func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	env := []string{"SWAPKEEP_HOME=" + dir, "SWAPKEEP_KEYS_BACKEND=file", "SWAPKEEP_PRICES_LISTEN=off", "XDG_CONFIG_HOME=" + t.TempDir()}
	look := func() protocol.Diagnosis {
		t.Helper()
		var out bytes.Buffer
		if err := check(t.Context(), &out, []string{"--json"}, env); err != nil {
			t.Fatal(err)
		}
		var d protocol.Diagnosis
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	offline := map[string]string{"clock": protocol.CheckSkipped, "networks": protocol.CheckSkipped, "networks.hosts": protocol.CheckSkipped}
	wantStatuses(t, "nothing there", look().Checks, offline)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking made the home")
	}
	own, err := owner.Acquire(transport.Instance{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(t.Context(), &bytes.Buffer{}, nil, env); err == nil || !strings.Contains(err.Error(), "swapkeep doctor") {
		t.Errorf("beside a daemon: %v", err)
	}
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "home.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "prices.db"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantStatuses(t, "damaged", look().Checks, map[string]string{
		"clock": protocol.CheckSkipped, "networks": protocol.CheckSkipped, "networks.hosts": protocol.CheckSkipped, "home.stamp": protocol.CheckFail, "database.prices": protocol.CheckWarn,
	})
	var said bytes.Buffer
	if err := check(t.Context(), &said, nil, env); !errors.Is(err, errChecksFailed) || !strings.Contains(said.String(), "what to do: restore ") {
		t.Errorf("%v in words: %s", err, said.String())
	}
}

// The check names the program that holds the port, and leaves a free port free.
func TestPortOfADaemonThatDoesNotRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := examined{cfg: config.Default()}
	s.cfg.Prices.Listen = l.Addr().String()
	if c := s.port(t.Context()); c.Status != protocol.CheckWarn || !strings.Contains(c.Remedy, "prices.listen") {
		t.Errorf("taken: %+v", c)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if c := s.port(t.Context()); c.Status != protocol.CheckOK {
			t.Errorf("free: %+v", c)
		}
	}
}

// The clock is compared with the newest block of any network.
func TestClock(t *testing.T) {
	home := t.TempDir()
	for name, row := range map[string]struct {
		heads []time.Duration // relative to now
		want  string
	}{
		"right":             {[]time.Duration{-12 * time.Second, -time.Hour}, protocol.CheckOK},
		"a block too early": {[]time.Duration{5 * time.Second}, protocol.CheckOK},
		"behind":            {[]time.Duration{-time.Hour, 2 * time.Minute}, protocol.CheckFail},
		"ahead":             {[]time.Duration{-time.Hour, -2 * time.Hour}, protocol.CheckWarn},
		"no answer":         {nil, protocol.CheckSkipped},
	} {
		s := examined{cfg: config.Default(), place: transport.Instance{Home: home}, online: true, probes: func() (out []probedNetwork, err error) {
			for _, after := range row.heads {
				out = append(out, probedNetwork{probes: []chain.Probe{{Age: -after}}})
			}
			return append(out, probedNetwork{probes: []chain.Probe{{Err: errors.New("no answer")}}}), nil
		}}
		if c := s.clock(t.Context()); c.Status != row.want {
			t.Errorf("%s: %+v", name, c)
		}
	}
	file, later := filepath.Join(home, "orders.db"), time.Now().Add(time.Hour)
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, later, later)); err != nil {
		t.Fatal(err)
	}
	if c := (examined{place: transport.Instance{Home: home}}).clock(t.Context()); c.Status != protocol.CheckWarn || !strings.Contains(c.Evidence, "orders.db") {
		t.Errorf("a file of the future: %+v", c)
	}
}

// Networks that answer are counted, silent ones are named.
func TestNetworksAnswer(t *testing.T) {
	network := func(name string, errs ...error) probedNetwork {
		n := probedNetwork{Network: chain.Network{Name: name}}
		for _, err := range errs {
			n.probes = append(n.probes, chain.Probe{Err: err})
		}
		return n
	}
	silence := errors.New("no answer")
	for want, found := range map[string][]probedNetwork{
		protocol.CheckOK:   {network("Base", nil), network("Optimism", silence, nil)},
		protocol.CheckWarn: {network("Base", nil), network("Optimism", silence)},
		protocol.CheckFail: {network("Base", silence), network("Optimism", silence)},
	} {
		c := examined{online: true, probes: func() ([]probedNetwork, error) { return found, nil }}.networks(t.Context())
		if c.Status != want || want != protocol.CheckOK && c.Remedy == "" || want == protocol.CheckWarn && !strings.Contains(c.Evidence, "Optimism") {
			t.Errorf("%s: %+v", want, c)
		}
	}
}
