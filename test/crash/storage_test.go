//go:build faults && linux

package crash

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
	"swapkeep/test/await"
	"swapkeep/test/processes"
	"swapkeep/test/requests"
)

// limit simulates a full disk for a process; 0 frees it again.
func (d *desk) limit(pid int, size uint64) {
	d.t.Helper()
	if err := processes.LimitFileSize(pid, size); err != nil {
		d.t.Fatal(err)
	}
}

// Ways in which a full disk ends.
var reliefs = map[string]func(*desk, int){
	"lifted":    func(d *desk, pid int) { d.limit(pid, 0) },
	"restarted": (*desk).kill,
}

// kill kills the daemon, waits until the relay has started another, and unlocks that.
func (d *desk) kill(pid int) {
	d.t.Helper()
	d.crash(pid)
	d.awaitSuccessor()
	d.unlock()
}

// checkDiskFull checks that status reports the full disk and that the account sent nothing.
func (p *flowRun) checkDiskFull(when string) {
	p.t.Helper()
	if s := p.status(); len(s.Problems) != 1 || s.Problems[0].Name != "database_full" || s.Problems[0].Remedy == "" {
		p.t.Errorf("%s: status names %+v, want database_full", when, s.Problems)
	}
	if s := p.observe(); len(s.sent) != 0 {
		p.t.Errorf("%s: %d transactions were sent without a journal", when, len(s.sent))
	}
}

// Moments at which the disk becomes full.
var fullWhen = map[string]func(*flowRun){
	"before consent": (*flowRun).refuseConsent,
	"before signing": (*flowRun).holdSigning,
}

// TestDiskFull checks that consent is refused if it cannot be stored, and that nothing is
// signed that cannot be journaled. With free space again everything continues.
func TestDiskFull(t *testing.T) {
	for when, fill := range fullWhen {
		for name, relieve := range reliefs {
			t.Run(when+"/"+name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, takeLane(t))
				d.open()
				p := begin(d, flowNamed("swap"), "")
				if err := p.look(); err != nil {
					t.Fatal(err)
				}
				fill(p)
				p.checkDiskFull(when)
				relieve(d, d.pid())
				if name == "restarted" && p.id == "" {
					p.digest = "" // plans are lost with the daemon, so the user looks again
				}
				if err := p.drive(); err != nil {
					t.Fatal(err)
				}
				p.checkOutcome()
				p.checkNextSwap(1)
				d.shut()
				p.checkAudit()
			})
		}
	}
}

func (p *flowRun) refuseConsent() {
	p.t.Helper()
	p.limit(p.pid(), processes.TinyFileLimit)
	if err := p.drive(); !named(err, "database_full") && !named(err, "journal_failed") {
		p.t.Fatalf("execute with a full disk: %v", err)
	}
	if orders := p.orders(); len(orders) != 0 {
		p.t.Errorf("%d orders", len(orders))
	}
}

func (p *flowRun) holdSigning() {
	p.t.Helper()
	p.acceptHeld(func(pid int) { p.limit(pid, processes.TinyFileLimit) })
	time.Sleep(2500 * time.Millisecond) // more than twice the engine's pause
	if o, err := p.order(p.id); err != nil || o.Order.Ended {
		p.t.Errorf("the order is %s, %v", o.Order.State, err)
	}
}

// acceptHeld executes the plan and calls do while the daemon is held as it simulates again.
func (p *flowRun) acceptHeld(do func(pid int)) { p.acceptHeldAt("eth_simulateV1", do) }

// acceptHeldAt is acceptHeld at any call to the node.
func (p *flowRun) acceptHeldAt(method string, do func(pid int)) {
	p.t.Helper()
	pid, faults := p.pid(), p.lane.Chain(p.flow.chain).Faults
	rule, err := faults.Add(inject.Rule{Target: method, Kind: inject.Hold})
	if err != nil {
		p.t.Fatal(err)
	}
	var o protocol.Order
	p.must("swap.execute", protocol.ExecuteParams{Request: p.request, Digest: p.digest, Acknowledge: priceAcks, Password: []byte(requests.Password)}, &o)
	p.id = o.ID
	await.Until(p.t, longTimeout, "the node is asked for "+method, func() bool { return faults.Held() > 0 })
	do(pid)
	faults.Remove(rule)
}

// checkRefuses expects that the daemon does not start, and that browser and terminal show why.
func (d *desk) checkRefuses(name, reason string) {
	d.t.Helper()
	p, err := d.browse()
	if !named(err, name) {
		d.t.Errorf("the browser was told %v, want %s", err, name)
	}
	if p != nil {
		_, _ = p.Stop() // has exited with its own exit status
	}
	out, code := d.terminal("status")
	if code != 3 || !strings.Contains(out, reason) {
		d.t.Errorf("status: exit %d, %q; want 3 and %q", code, out, reason)
	}
	if left := d.awaitGone(); len(left) != 0 {
		d.t.Errorf("processes %v are left of a refused start", left)
	}
}

// TestDatabaseHeld covers an order database that another process has open.
func TestDatabaseHeld(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.open()
	d.shut()
	db, err := bolt.Open(filepath.Join(d.Instance.Home, "orders.db"), 0o600, &bolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	d.checkRefuses("database_locked", "another process uses the order database; stop it")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d.open()
	d.shut()
}

// TestNewerDatabase covers a downgrade: the older daemon does not touch a newer database.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.open()
	d.shut()
	schema := func(version string) {
		db, err := bolt.Open(filepath.Join(d.Instance.Home, "orders.db"), 0o600, &bolt.Options{Timeout: 5 * time.Second})
		if err == nil {
			err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("version"), []byte(version)) })
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema("3")
	d.checkRefuses("database_newer", "the order database was written by a newer version; update swapkeep")
	schema("2")
	d.open()
	d.shut()
}

// nobody is the unprivileged user that root becomes, as permissions do not restrict root.
const nobody = 65534

// unprivileged gives the desk to a user whom permissions restrict.
func (d *desk) unprivileged() {
	d.t.Helper()
	config := filepath.Join(d.Dir, "config.toml")
	b, err := os.ReadFile(d.lane.config)
	if err == nil {
		err = os.WriteFile(config, b, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.Env = append(d.Env, "SWAPKEEP_CONFIG="+config)
	if os.Getuid() != 0 {
		return
	}
	d.RunAs = &syscall.Credential{Uid: nobody, Gid: nobody}
	for _, path := range []string{d.Dir, config} {
		if err := os.Chown(path, nobody, nobody); err != nil {
			d.t.Fatal(err)
		}
	}
}

// chmodAll sets the modes of the home and everything in it.
func (d *desk) chmodAll(dirs, files os.FileMode) {
	d.t.Helper()
	err := filepath.WalkDir(d.Instance.Home, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.Chmod(path, dirs)
		}
		return os.Chmod(path, files)
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestReadOnlyHome covers a used home and an empty one.
func TestReadOnlyHome(t *testing.T) {
	for _, used := range []bool{true, false} {
		t.Run(map[bool]string{true: "used", false: "empty"}[used], func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, takeLane(t))
			d.unprivileged()
			if used {
				d.open()
				d.shut()
			} else {
				d.makeHome()
			}
			d.chmodAll(0o500, 0o400)
			d.checkRefuses("database_readonly", "permission denied")
			d.chmodAll(0o700, 0o600)
			d.open()
			d.shut()
		})
	}
}

func (d *desk) makeHome() {
	d.t.Helper()
	err := os.Mkdir(d.Instance.Home, 0o700)
	if err == nil && d.RunAs != nil {
		err = os.Chown(d.Instance.Home, int(d.RunAs.Uid), int(d.RunAs.Gid))
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestReadOnlyDatabase covers a home in which only the database is read-only.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.unprivileged()
	d.open()
	d.shut()
	db := filepath.Join(d.Instance.Home, "orders.db")
	if err := os.Chmod(db, 0o400); err != nil {
		t.Fatal(err)
	}
	d.checkRefuses("database_readonly", "cannot write to the order database; fix its permissions")
	if err := os.Chmod(db, 0o600); err != nil {
		t.Fatal(err)
	}
	d.open()
	d.shut()
}
