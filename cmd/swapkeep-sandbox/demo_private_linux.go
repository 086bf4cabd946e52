package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
)

// busConfig configures a bus without service activation: everything on it was started by
// the demo, which can stop it.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`

const (
	ownPause = 20 * time.Millisecond // between polls for the bus name
	termTime = 2 * time.Second       // from SIGTERM to SIGKILL
)

// openPrivateKeychain starts a private Secret Service: a bus, and a gnome-keyring with a
// random password, with their home below dir.
func openPrivateKeychain(ctx context.Context, dir string) (k keychain, err error) {
	for _, program := range []string{"dbus-daemon", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			return k, fmt.Errorf("%s is not installed, so no private one either", program)
		}
	}
	home := filepath.Join(dir, "keyring")
	if err := os.Mkdir(home, 0o700); err != nil {
		return k, err
	}
	p := &privateService{home: home}
	if err := p.start(ctx); err != nil {
		return k, fmt.Errorf("a private Secret Service did not start: %w", errors.Join(err, p.end()))
	}
	k = p.secrets.keychain("a private Secret Service: gnome-keyring on a bus of its own, for this demo only")
	k.end = func(context.Context, string) (string, error) {
		return "keyring and bus ended; its items go with the directory", p.end()
	}
	return k, nil
}

// A privateService is a running bus and keyring.
type privateService struct {
	home         string
	bus, keyring *child
	secrets      *secrets
}

func (p *privateService) start(ctx context.Context) error {
	address, err := p.startBus(ctx)
	if err != nil {
		return err
	}
	cmd := exec.Command("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
	cmd.Stdin = strings.NewReader(rand.Text())
	cmd.Env = p.environ("DBUS_SESSION_BUS_ADDRESS=" + address)
	if p.keyring, err = startChild(cmd); err != nil {
		return err
	}
	return p.await(ctx, address)
}

// startBus starts a bus and returns its address.
func (p *privateService) startBus(ctx context.Context) (string, error) {
	var listen bytes.Buffer
	socket := "unix:path=" + dbus.EscapeBusAddressValue(filepath.Join(p.home, "bus"))
	if err := xml.EscapeText(&listen, []byte(socket)); err != nil {
		return "", err
	}
	config := filepath.Join(p.home, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, &listen), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--print-address=1")
	cmd.Env = p.environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if p.bus, err = startChild(cmd); err != nil {
		return "", err
	}
	return firstLine(ctx, out)
}

// environ returns the whole environment of the two processes.
func (p *privateService) environ(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "XDG_RUNTIME_DIR=" + p.home}, more...)
}

func firstLine(ctx context.Context, r io.Reader) (string, error) {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(io.LimitReader(r, 4096)).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		if text == "" {
			return "", errors.New("the bus gave no address")
		}
		return text, nil
	case <-time.After(busTime):
		return "", errors.New("the bus did not start in time")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// await waits until the keyring owns its bus name and its collection is unlocked, which
// takes a moment after its start.
func (p *privateService) await(ctx context.Context, address string) (err error) {
	if p.secrets, err = dialSecrets(address); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	for {
		if err = p.secrets.usable(ctx); err == nil {
			return nil
		}
		select {
		case <-p.keyring.done:
			return fmt.Errorf("gnome-keyring-daemon ended: %w", p.keyring.err)
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(ownPause):
		}
	}
}

func (p *privateService) end() error {
	if p.secrets != nil {
		p.secrets.close()
	}
	return errors.Join(p.keyring.stop(), p.bus.stop())
}

// A child is a process that the demo started and stops by its id.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done
}

func startChild(cmd *exec.Cmd) (*child, error) {
	cmd.SysProcAttr = ownGroup()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, done: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// stop terminates the process and waits for it. It does nothing if c is nil.
func (c *child) stop() error {
	if c == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
		return nil
	case <-time.After(termTime):
	}
	_ = c.cmd.Process.Kill()
	select {
	case <-c.done:
		return nil
	case <-time.After(termTime):
		return fmt.Errorf("process %d did not end", c.cmd.Process.Pid)
	}
}
