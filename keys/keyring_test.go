//go:build keyring

package keys_test

// These tests use the real keychain. They run in a private session only:
//
//	scripts/with-keyring.sh go test -tags keyring ./keys/...

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swapkeep/keys"
	"swapkeep/test/await"
)

const (
	childVariable = "SWAPKEEP_KEYS_CHILD"
	busVariable   = "DBUS_SESSION_BUS_ADDRESS"
)

// sentinels are the errors by the names that a child process reports.
var sentinels = map[string]error{
	"no bus": keys.ErrNoBus, "bus disabled": keys.ErrBusDisabled, "no service": keys.ErrNoService,
	"keychain locked": keys.ErrKeychainLocked, "missing": keys.ErrMissingItem, "wrong password": keys.ErrWrongPassword,
	"hung": keys.ErrHung, "too large": keys.ErrTooLarge,
}

// TestMain runs as a child process if told to. A process keeps its first connection to
// the bus, so another bus needs another process.
func TestMain(m *testing.M) {
	if act := os.Getenv(childVariable); act != "" {
		os.Exit(child(act))
	}
	if os.Getenv("SWAPKEEP_TEST_KEYRING") != "1" {
		fmt.Fprintln(os.Stderr, "run this with scripts/with-keyring.sh: it must not touch your own keychain")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A report is the result of one act of a child.
type report struct {
	Error    string   `json:"error,omitempty"` // a key of sentinels, or the error's text
	Millis   int64    `json:"millis"`
	Accounts []string `json:"accounts,omitempty"`
	Signed   string   `json:"signed,omitempty"`
}

// child performs one act per line of standard input, using the real keychain.
func child(namespace string) int {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		begin := time.Now()
		var r report
		if err := act(namespace, lines.Text(), &r); err != nil {
			r.Error = err.Error()
			for name, sentinel := range sentinels {
				if errors.Is(err, sentinel) {
					r.Error = name
				}
			}
		}
		r.Millis = time.Since(begin).Milliseconds()
		_ = json.NewEncoder(os.Stdout).Encode(r)
	}
	return 0
}

func act(namespace, line string, r *report) error {
	ctx := context.Background()
	store, err := keys.NewStore(keys.System(), namespace, keys.Limits{})
	if err != nil {
		return err
	}
	v, err := keys.New(store, keys.Options{Sandbox: true})
	if err != nil {
		return err
	}
	switch line {
	case "create":
		_, words, err := v.Create(ctx, "", 12, password)
		if err == nil {
			words.Zero()
		}
		return err
	case "import":
		_, err := v.ImportMnemonic(ctx, "", []byte(testMnemonic), password)
		return err
	case "rename":
		_, err := v.RenameWallet(ctx, "1", "Another name")
		return err
	case "remove":
		_, err := v.Remove(ctx, "2", password)
		return err
	case "unlock wrongly":
		return v.Unlock(ctx, []byte("some other password"))
	case "get":
		_, err := store.Get(ctx, "nothing")
		return err
	case "set":
		return store.Set(ctx, "something", "value")
	case "probe":
		return store.Probe(ctx)
	case "sign":
		return signAll(ctx, v, r)
	}
	return fmt.Errorf("no act %q", line)
}

func signAll(ctx context.Context, v *keys.Vault, r *report) error {
	if err := v.Unlock(ctx, password); err != nil {
		return err
	}
	accounts, err := v.Accounts(ctx)
	for _, a := range accounts {
		tx, err := v.SignTx(ctx, a.Address, transfer(1), chain(1))
		if err != nil {
			return err
		}
		r.Accounts = append(r.Accounts, a.Address.Hex())
		r.Signed = tx.Hash().Hex()
	}
	v.Lock()
	return err
}

type process struct {
	in  io.WriteCloser
	out *json.Decoder
}

// spawn starts a child with a changed environment; "NAME=" removes NAME.
func spawn(t *testing.T, namespace string, changes ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = environment(append(changes, childVariable+"="+namespace)...)
	cmd.Stderr = os.Stderr
	in := must[io.WriteCloser](t)(cmd.StdinPipe())
	out := must[io.ReadCloser](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &process{in, json.NewDecoder(out)}
}

func environment(changes ...string) []string {
	env := os.Environ()
	for _, c := range changes {
		name, value, _ := strings.Cut(c, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if value != "" {
			env = append(env, c)
		}
	}
	return env
}

func (p *process) do(t *testing.T, line string) report {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := p.out.Decode(&r); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

// want performs an act and compares its error. Every failure except "hung" must be quick.
func (p *process) want(t *testing.T, line, failure string) report {
	t.Helper()
	r := p.do(t, line)
	if r.Error != failure {
		t.Errorf("%s: error %q, want %q", line, r.Error, failure)
	}
	if failure != "hung" && r.Millis > 4000 {
		t.Errorf("%s: took %d ms", line, r.Millis)
	}
	return r
}

func TestSystemKeychain(t *testing.T) {
	store := must[*keys.Store](t)(keys.NewStore(keys.System(), "system-test", keys.Limits{}))
	_, err := store.Get(t.Context(), "none")
	wantErr(t, "get", err, keys.ErrMissingItem)
	wantErr(t, "delete", store.Delete(t.Context(), "none"), keys.ErrMissingItem)
	wantErr(t, "too large", store.Set(t.Context(), "a", strings.Repeat("x", keys.MaxItem+1)), keys.ErrTooLarge)
	for _, value := range []string{"one", strings.Repeat("2", keys.MaxItem)} {
		if err := store.Set(t.Context(), "a", value); err != nil {
			t.Fatal(err)
		}
		if got := must[string](t)(store.Get(t.Context(), "a")); got != value {
			t.Errorf("%d bytes of %d", len(got), len(value))
		}
	}
	if err := store.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

func TestTwentySystemCallsAtOnce(t *testing.T) {
	store := must[*keys.Store](t)(keys.NewStore(keys.System(), "twenty", keys.Limits{}))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			item := fmt.Sprintf("item/%d", i)
			if err := store.Set(t.Context(), item, item); err != nil {
				t.Error(err)
			}
			if got, err := store.Get(t.Context(), item); err != nil || got != item {
				t.Error(got, err)
			}
		})
	}
	wg.Wait()
}

func TestVaultAcrossProcesses(t *testing.T) {
	const home = "processes"
	spawn(t, home).want(t, "import", "")
	spawn(t, home).want(t, "create", "")
	spawn(t, home).want(t, "unlock wrongly", "wrong password")
	first := spawn(t, home).want(t, "sign", "")
	second := spawn(t, home).want(t, "sign", "")
	if len(first.Accounts) != 2 || first.Accounts[0] != testAccount || first.Signed != second.Signed {
		t.Errorf("first %+v, second %+v", first, second)
	}
	other := spawn(t, "another-home").do(t, "sign")
	if other.Error != keys.ErrNoWallet.Error() {
		t.Errorf("another home sees %+v", other)
	}
}

// TestRemovalAcrossProcesses checks that a removed wallet is gone from the keychain and
// for the next process.
func TestRemovalAcrossProcesses(t *testing.T) {
	const home = "removal"
	for _, line := range []string{"import", "create", "rename", "remove"} {
		spawn(t, home).want(t, line, "")
	}
	if r := spawn(t, home).want(t, "sign", ""); !slices.Equal(r.Accounts, []string{testAccount}) {
		t.Errorf("accounts %v", r.Accounts)
	}
	store := must[*keys.Store](t)(keys.NewStore(keys.System(), home, keys.Limits{}))
	_, err := store.Get(t.Context(), "wallet/2")
	wantErr(t, "its item", err, keys.ErrMissingItem)
	if index := must[string](t)(store.Get(t.Context(), "index")); !strings.Contains(index, "Another name") || strings.Contains(index, "pending") {
		t.Errorf("index %s", index)
	}
}

// TestNothingIsLeftInTheKeychain checks that Clear deletes all items of a vault without
// wallets, and none of another home's.
func TestNothingIsLeftInTheKeychain(t *testing.T) {
	const home = "cleared"
	spawn(t, "beside-"+home).want(t, "import", "")
	spawn(t, home).want(t, "import", "")
	system := keys.System()
	store := must[*keys.Store](t)(keys.NewStore(system, home, keys.Limits{}))
	if err := keys.NewProviderKeys(store).SetProviderKey(t.Context(), "dex", []byte("a key")); err != nil {
		t.Fatal(err)
	}
	v := must[*keys.Vault](t)(keys.New(store, keys.Options{Sandbox: true}))
	wantErr(t, "with a wallet", v.Clear(t.Context()), keys.ErrWalletLeft)
	if _, err := v.Remove(t.Context(), "1", password); err != nil {
		t.Fatal(err)
	}
	if err := v.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{"index", "wallet/1", "provider/dex"} {
		_, err := store.Get(t.Context(), item)
		wantErr(t, item, err, keys.ErrMissingItem)
	}
	if r := spawn(t, "beside-"+home).want(t, "sign", ""); len(r.Accounts) != 1 {
		t.Errorf("another home's accounts: %v", r.Accounts)
	}
}

func TestWithoutABus(t *testing.T) {
	empty := "XDG_RUNTIME_DIR=" + t.TempDir()
	for name, c := range map[string]struct{ address, failure string }{
		"absent":      {"", "no bus"},
		"autolaunch":  {"autolaunch:", "no bus"},
		"disabled":    {"disabled:", "bus disabled"},
		"dead socket": {"unix:path=/nonexistent/bus", "no bus"},
		"nonsense":    {"nonsense:", "no bus"},
	} {
		p := spawn(t, "nobus", empty, busVariable+"="+c.address)
		for _, line := range []string{"get", "set", "create", "sign"} {
			if r := p.want(t, line, c.failure); r.Millis > 500 {
				t.Errorf("%s: %s took %d ms", name, line, r.Millis)
			}
		}
	}
}

// TestBusFoundAgain checks that a process whose bus address the browser removed finds the
// session's socket as soon as it exists, even after a failure.
func TestBusFoundAgain(t *testing.T) {
	_, socket, _ := strings.Cut(os.Getenv(busVariable), "unix:path=")
	socket, _, _ = strings.Cut(socket, ",")
	if _, err := os.Stat(socket); err != nil {
		t.Fatal(err)
	}
	for address, failure := range map[string]string{"": "no bus", "disabled:": "bus disabled"} {
		run := t.TempDir()
		p := spawn(t, "found", "XDG_RUNTIME_DIR="+run, busVariable+"="+address)
		p.want(t, "get", failure)
		if err := os.WriteFile(filepath.Join(run, "bus"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p.want(t, "get", failure) // a regular file is not a socket
		if err := os.Remove(filepath.Join(run, "bus")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(socket, filepath.Join(run, "bus")); err != nil {
			t.Fatal(err)
		}
		p.want(t, "get", "missing")
		p.want(t, "set", "")
	}
}

// privateBus starts a bus with its own home and returns the environment for it.
func privateBus(t *testing.T, home, config string) []string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "bus")
	env := []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + t.TempDir(), busVariable + "=unix:path=" + socket, "DISPLAY=", "WAYLAND_DISPLAY="}
	run(t, environment(env...), nil, "dbus-daemon", config, "--nofork", "--nopidfile", "--address=unix:path="+socket)
	await.Until(t, 10*time.Second, "a bus", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return env
}

// run starts a program and kills it at the end of the test.
func run(t *testing.T, env []string, in io.Reader, name string, args ...string) *os.Process {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdin = env, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process
}

// keyring starts a Secret Service on a private bus. Without a password it stays locked.
func keyring(t *testing.T, env []string, password string) *os.Process {
	t.Helper()
	args, in := []string{"--foreground", "--components=secrets"}, io.Reader(nil)
	if password != "" {
		args, in = append(args, "--unlock"), strings.NewReader(password)
	}
	p := run(t, environment(env...), in, "gnome-keyring-daemon", args...)
	await.Until(t, 10*time.Second, "a keyring", func() bool {
		ask := exec.Command("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
			"org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets")
		ask.Env = environment(env...)
		out, _ := ask.Output()
		return bytes.Contains(out, []byte("boolean true"))
	})
	return p
}

func TestNoSecretService(t *testing.T) {
	config := filepath.Join(t.TempDir(), "bus.conf")
	text := `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := spawn(t, "noservice", privateBus(t, t.TempDir(), "--config-file="+config)...)
	p.want(t, "get", "no service")
	p.want(t, "create", "no service")
}

// TestLockedCollection uses a locked keyring on a machine without a display, where no
// prompt can be shown: first one that was never used, then one with a collection from an
// earlier session.
func TestLockedCollection(t *testing.T) {
	home := t.TempDir()
	for _, stage := range []string{"never used", "locked after use"} {
		env := privateBus(t, home, "--session")
		keyring(t, env, "")
		p := spawn(t, "locked", env...)
		for _, line := range []string{"get", "set", "create", "sign", "probe"} {
			p.want(t, line, "keychain locked")
		}
		if stage == "locked after use" {
			return
		}
		used := privateBus(t, home, "--session")
		keyring(t, used, "ci")
		spawn(t, "locked", used...).want(t, "import", "")
	}
}

// TestStoppedSecretService uses a Secret Service that stops answering and later resumes.
func TestStoppedSecretService(t *testing.T) {
	env := privateBus(t, t.TempDir(), "--session")
	daemon := keyring(t, env, "ci")
	p := spawn(t, "stopped", env...)
	p.want(t, "import", "")
	if err := daemon.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if r := p.want(t, "get", "hung"); r.Millis < 4000 || r.Millis > 8000 {
		t.Errorf("gave up after %d ms", r.Millis)
	}
	if err := daemon.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.want(t, "get", "missing")
	if r := p.want(t, "sign", ""); len(r.Accounts) != 1 {
		t.Errorf("accounts %v", r.Accounts)
	}
}
