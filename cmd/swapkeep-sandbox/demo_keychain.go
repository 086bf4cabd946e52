package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// uncounted is the number of items of a keychain that cannot be searched.
const uncounted = -1

// A keychain stores the demo's wallet.
type keychain struct {
	name   string // for people
	env    []string
	system bool // not in the demo's own directory
}

// A keychainRow is one kind of keychain. The error of open says why it is unavailable
// here.
type keychainRow struct {
	name string
	open func(context.Context) (keychain, error)
}

var keychains = []keychainRow{
	{"system", openSystemKeychain},
	{"file", func(context.Context) (keychain, error) {
		return keychain{name: `files in the demo's directory (keys.backend = "file")`, env: []string{"SWAPKEEP_KEYS_BACKEND=file"}}, nil
	}},
}

func keychainNamed(name string) bool {
	return name == "auto" || slices.ContainsFunc(keychains, func(r keychainRow) bool { return r.name == name })
}

// firstKeychain opens the first available keychain, or only the named one. why says why
// those before it were not available.
func firstKeychain(ctx context.Context, rows []keychainRow, name string) (k keychain, why string, err error) {
	var reasons []string
	for _, row := range rows {
		if name != "auto" && name != row.name {
			continue
		}
		k, err = row.open(ctx)
		if err == nil {
			return k, strings.Join(reasons, "; "), nil
		}
		if ctx.Err() != nil {
			return k, "", ctx.Err()
		}
		reasons = append(reasons, err.Error())
	}
	return k, "", errors.New("no keychain: " + strings.Join(reasons, "; "))
}

// privateKeyring is set by the script that runs the demo in a private D-Bus session.
const privateKeyring = "SWAPKEEP_TEST_KEYRING"

// needsKeyring reports whether the demo should run under the script: no system keychain
// can be used without a prompt, and the script has what it needs.
func (o demoOptions) needsKeyring(ctx context.Context) bool {
	if o.withKeyring == "" || o.keychain != "auto" {
		return false
	}
	for _, tool := range []string{"dbus-run-session", "dbus-send", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(tool); err != nil {
			return false
		}
	}
	_, err := openSystemKeychain(ctx)
	return err != nil
}

// underKeyring runs the demo under the script. The script is not in the terminal's
// process group, so that Ctrl-C does not end the keyring before the demo has cleaned up;
// the demo ends when its standard input does.
func (o demoOptions) underKeyring(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(o.withKeyring, append(append([]string{exe, "demo"}, args...), "--keychain", "system", "--with-stdin")...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = stdout, stderr, ownGroup()
	alive, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = alive.Close() })()
	if err := cmd.Wait(); err != nil {
		return errDemo // the demo has printed why
	}
	return nil
}

// withStdin cancels the context when standard input ends.
func withStdin(ctx context.Context, in io.Reader) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel(errors.New("interrupt signal received"))
	}()
	return ctx, cancel
}

func (s *demoRun) chooseKeychain(ctx context.Context) error {
	s.out.Heading("Keychain")
	k, why, err := firstKeychain(ctx, keychains, s.demoOptions.keychain)
	if err != nil {
		return err
	}
	s.keychain, s.env = k, append(s.env, k.env...)
	s.onCleanup("keychain", s.emptyKeychain)
	s.out.Fact("chosen", k.name)
	switch {
	case k.system && os.Getenv(privateKeyring) != "":
		why = "this session has no Secret Service that is running and unlocked"
	case s.demoOptions.keychain != "auto":
		why = "chosen with --keychain"
	case why == "":
		why = "it is running and unlocked"
	}
	s.out.Fact("because", why)
	return nil
}

// emptyKeychain deletes the items of the demo's own home, whose service name is random.
// It touches no other item.
func (s *demoRun) emptyKeychain(ctx context.Context) (string, error) {
	if !s.keychain.system {
		return "the files are removed with the directory", nil
	}
	service, err := s.service()
	if errors.Is(err, os.ErrNotExist) {
		return "nothing was stored in it", nil
	}
	if err != nil {
		return "", err
	}
	if err := deleteItems(ctx, service); err != nil {
		return "", err
	}
	left, err := itemsOf(ctx, service)
	if err == nil && left > 0 {
		err = fmt.Errorf("the keychain still has %s of %s", count(left, "item"), service)
	}
	return "the items of " + service + " are deleted", err
}

// service returns the name under which the daemon of the demo's home stores its items.
func (s *demoRun) service() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "home", "home.json"))
	if err != nil {
		return "", err
	}
	var home struct {
		Namespace string `json:"namespace"`
	}
	if err := json.Unmarshal(b, &home); err != nil || home.Namespace == "" {
		return "", errors.New("home.json does not name the keychain's namespace")
	}
	return "swapkeep/sandbox." + home.Namespace, nil
}

// describeKept describes what the keychain has of the wallet; an error if it has nothing.
func (s *demoRun) describeKept(ctx context.Context) (string, error) {
	service, err := s.service()
	if err != nil {
		return "", err
	}
	n := 0
	if s.keychain.system {
		n, err = itemsOf(ctx, service)
	} else {
		var entries []os.DirEntry
		entries, err = os.ReadDir(filepath.Join(s.dir, "home", "keys"))
		n = len(entries)
	}
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "", fmt.Errorf("%s has nothing of %s", s.keychain.name, service)
	case n == uncounted:
		return fmt.Sprintf("encrypted under the password in %s, as %s", s.keychain.name, service), nil
	}
	return fmt.Sprintf("%s of %s, encrypted under the password", count(n, "item"), service), nil
}
