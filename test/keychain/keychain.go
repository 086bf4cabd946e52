//go:build linux

// Package keychain runs a Secret Service on a private bus, for tests to lock, freeze and
// stop.
package keychain

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"swapkeep/test/await"
)

// busName is the service's bus name.
const busName = "org.freedesktop.secrets"

// BusVariable is the environment variable that gives programs the bus address.
const BusVariable = "DBUS_SESSION_BUS_ADDRESS"

// startTimeout is how long bus and service may take to start.
const startTimeout = 20 * time.Second

// A State is the state of a keychain. Its contents stay in all of them.
type State string

const (
	Open   State = "open"
	Locked State = "locked" // and nobody answers its prompt
	Denied State = "denied" // the bus denies access to it
	Gone   State = "gone"
)

// busConfig configures a bus that starts no services. Its arguments are socket and rules.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>%s</policy></busconfig>`

// A Service is a Secret Service and its bus. It must not be used concurrently.
type Service struct {
	dir     string
	env     []string
	bus     *exec.Cmd
	service *exec.Cmd // nil: not running
}

// Start starts an open Service that stores its contents in dir, an absolute path that is
// short enough for a socket.
func Start(dir string) (*Service, error) {
	s := &Service{dir: dir}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, BusVariable + "=" + s.Address()}
	err := s.setPolicy("")
	if err == nil {
		s.bus, err = s.run("", "dbus-daemon", "--config-file="+s.config(), "--nofork", "--nopidfile")
	}
	if err == nil {
		err = waitUntil("bus", func() bool { return s.callBus("GetId") })
	}
	if err == nil {
		err = s.SetState(Open)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Address returns the bus address.
func (s *Service) Address() string { return "unix:path=" + s.socket() }

// SetState restarts the service in the given state.
func (s *Service) SetState(state State) error {
	kill(s.service)
	s.service = nil
	if err := s.setPolicy(""); err != nil {
		return err
	}
	switch state {
	case Open:
		return s.serve("--unlock")
	case Locked:
		return s.serve()
	case Denied:
		return errors.Join(s.serve("--unlock"), s.setPolicy(`<deny send_destination="`+busName+`"/>`))
	}
	return nil
}

// Freeze stops the service with SIGSTOP, whatever it is doing. Thaw lets it continue.
func (s *Service) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw continues a frozen service.
func (s *Service) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Service) signal(what os.Signal) error {
	if s.service == nil {
		return errors.New("the keychain does not run")
	}
	return s.service.Process.Signal(what)
}

// Revive restarts, as open, a service that has ended by itself, as a session does. It
// reports whether it did.
func (s *Service) Revive() (revived bool, err error) {
	if s.callBus("NameHasOwner", "string:"+busName) {
		return false, nil
	}
	return true, s.SetState(Open)
}

// Close ends the service and the bus. It may be repeated.
func (s *Service) Close() {
	kill(s.service)
	kill(s.bus)
	s.service, s.bus = nil, nil
}

func (s *Service) socket() string { return filepath.Join(s.dir, "bus") }
func (s *Service) config() string { return filepath.Join(s.dir, "bus.conf") }

// serve starts the Secret Service, unlocked if its arguments say so.
func (s *Service) serve(args ...string) (err error) {
	s.service, err = s.run("desk", "gnome-keyring-daemon", append([]string{"--foreground", "--components=secrets"}, args...)...)
	if err != nil {
		return err
	}
	return waitUntil("keychain", func() bool { return s.callBus("NameHasOwner", "string:"+busName) })
}

// setPolicy sets the bus's rules that are added to the default, which allows all.
func (s *Service) setPolicy(rules string) error {
	if err := os.WriteFile(s.config(), fmt.Appendf(nil, busConfig, s.socket(), rules), 0o600); err != nil {
		return err
	}
	if s.bus != nil && !s.callBus("ReloadConfig") {
		return errors.New("the bus does not take its rules")
	}
	return nil
}

// callBus calls the bus itself and reports whether it answers with anything but false.
func (s *Service) callBus(method string, args ...string) bool {
	cmd := exec.Command("dbus-send", append([]string{"--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus." + method}, args...)...)
	cmd.Env = s.env
	out, err := cmd.Output()
	return err == nil && !bytes.Contains(out, []byte("boolean false"))
}

// run starts a program that ends with the test's process, however that ends.
func (s *Service) run(input, program string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdin = s.env, strings.NewReader(input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

func kill(cmd *exec.Cmd) {
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func waitUntil(what string, is func() bool) error {
	if !await.Holds(startTimeout, is) {
		return fmt.Errorf("there is no %s in %s", what, startTimeout)
	}
	return nil
}
