//go:build browser

// Package browser has real browsers start the host. Run it with
//
//	go test -tags browser ./test/browser
//
// which builds swapkeep with a stand-in for the daemon beside it, or with
// -args -bin=DIR for the programs in DIR.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/manifest"
)

const (
	firefoxID = "test@swapkeep.invalid"
	patience  = 60 * time.Second // for a browser to start on a busy machine
)

var binFlag = flag.String("bin", "", "folder with swapkeep and swapkeepd; built with a stand-in daemon when empty")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// programs is the folder of the host under test.
func programs(t *testing.T) string {
	t.Helper()
	if *binFlag != "" {
		return *binFlag
	}
	dir := t.TempDir()
	for name, source := range map[string]string{"swapkeep": "../../cmd/swapkeep", "swapkeepd": "../fakedaemon"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), source).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return dir
}

// A desk is a user's throw-away home directory, with a browser in it soon.
type desk struct {
	t        *testing.T
	dir      string
	swapkeep string
	place    transport.Place
	env      []string
}

func newDesk(t *testing.T, extensions string) *desk {
	t.Helper()
	dir := t.TempDir()
	d := &desk{t: t, dir: dir, swapkeep: filepath.Join(programs(t), "swapkeep"), place: transport.Place{Home: filepath.Join(dir, "state")}}
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"SWAPKEEP_HOME=" + d.place.Home, "SWAPKEEP_PRICES_DISABLED=true", extensions, // prices would be asked of the real services
	}
	d.folder("run")
	t.Cleanup(d.leaveNothing)
	return d
}

// folder makes a private folder in the desk.
func (d *desk) folder(path string) string {
	d.t.Helper()
	full := filepath.Join(d.dir, path)
	if err := os.MkdirAll(full, 0o700); err != nil {
		d.t.Fatal(err)
	}
	return full
}

func (d *desk) run(args ...string) {
	d.t.Helper()
	cmd := exec.Command(d.swapkeep, args...)
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("swapkeep %q: %v\n%s", args, err, out)
	}
}

// leaveNothing waits for the relays, which end with their browser, and stops
// the daemon, which does not.
func (d *desk) leaveNothing() {
	deadline := time.Now().Add(10 * time.Second)
	for len(d.relays()) > 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if left := d.relays(); len(left) > 0 {
		d.t.Errorf("relays outlived their browser: %v", left)
	}
	if _, err := transport.Dial(context.Background(), d.place); err == nil {
		d.run("stop")
	}
}

// relays are the processes of our program that work in this desk.
func (d *desk) relays() []string {
	var found []string
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		exe, err := os.Readlink(filepath.Join(process, "exe"))
		if err != nil || exe != d.swapkeep {
			continue
		}
		env, _ := os.ReadFile(filepath.Join(process, "environ"))
		if strings.Contains(string(env), "SWAPKEEP_HOME="+d.place.Home+"\x00") {
			found = append(found, filepath.Base(process))
		}
	}
	return found
}

// extension puts the test extension of a family together in a folder.
func (d *desk) extension(family manifest.Family) string {
	d.t.Helper()
	dir := d.folder("extension")
	for to, from := range map[string]string{
		"manifest.json": string(family) + ".json", "background.js": "background.js", "page.html": "page.html", "page.js": "page.js",
	} {
		b, err := os.ReadFile(filepath.Join("extension", from))
		if err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	return dir
}

// heard is what the extension reports.
type heard struct {
	Error    string
	Messages []struct {
		Method string
		Params json.RawMessage
		ID     json.RawMessage
		Result json.RawMessage
		Error  *protocol.Error
	}
}

// check wants a greeting for this very extension, and an answer.
func (h heard) check(t *testing.T, origin string) {
	t.Helper()
	if h.Error != "" || len(h.Messages) != 2 {
		t.Fatalf("the extension heard %+v", h)
	}
	greeting, answer := h.Messages[0], h.Messages[1]
	var hello protocol.Hello
	if err := json.Unmarshal(greeting.Params, &hello); err != nil || greeting.Method != "host.hello" {
		t.Fatalf("greeted with %s %s: %v", greeting.Method, greeting.Params, err)
	}
	if hello.Product != "swapkeep" || hello.Connection.Kind != protocol.KindBrowser || hello.Connection.Origin != origin {
		t.Errorf("hello is %s", greeting.Params)
	}
	if string(answer.ID) != "1" || answer.Error != nil || len(answer.Result) == 0 {
		t.Errorf("the request got %+v", answer)
	}
	t.Logf("hello: %s", greeting.Params)
}
