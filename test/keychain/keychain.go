//go:build linux

// Package keychain runs a Secret Service on a bus of its own, which tests lock, freeze
// and take away.
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
)

// name is what the service is called on its bus.
const name = "org.freedesktop.secrets"

// BusVariable is what programs find the bus by.
const BusVariable = "DBUS_SESSION_BUS_ADDRESS"

// How long bus and service may take to be there, and the pause between two looks.
const (
	patience = 20 * time.Second
	pause    = 30 * time.Millisecond
)

// A State is what becomes of a keychain. What it holds stays in all of them.
type State string

// The states.
const (
	Open   State = "open"
	Locked State = "locked" // and nobody answers its prompt
	Denied State = "denied" // its bus lets nobody ask it
	Gone   State = "gone"
)

// busConfig is a bus that starts no service by itself: its socket, and more rules.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>%s</policy></busconfig>`

// A Service is a Secret Service and its bus. It is for one goroutine.
type Service struct {
	dir     string
	env     []string
	bus     *exec.Cmd
	service *exec.Cmd // nil = it does not run
}

// Start begins an open one, which keeps what it holds in dir, an absolute path that is
// short enough for a socket.
func Start(dir string) (*Service, error) {
	s := &Service{dir: dir}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, BusVariable + "=" + s.Address()}
	err := s.allow("")
	if err == nil {
		s.bus, err = s.run("", "dbus-daemon", "--config-file="+s.config(), "--nofork", "--nopidfile")
	}
	if err == nil {
		err = until("bus", func() bool { return s.ask("GetId") })
	}
	if err == nil {
		err = s.Be(Open)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Address is its bus's.
func (s *Service) Address() string { return "unix:path=" + s.socket() }

// Be has it be in a state from now on.
func (s *Service) Be(state State) error {
	end(s.service)
	s.service = nil
	if err := s.allow(""); err != nil {
		return err
	}
	switch state {
	case Open:
		return s.serve("--unlock")
	case Locked:
		return s.serve()
	case Denied:
		return errors.Join(s.serve("--unlock"), s.allow(`<deny send_destination="`+name+`"/>`))
	}
	return nil
}

// Freeze stops it in whatever it does; Thaw lets it go on.
func (s *Service) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw lets it go on.
func (s *Service) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Service) signal(what os.Signal) error {
	if s.service == nil {
		return errors.New("the keychain does not run")
	}
	return s.service.Process.Signal(what)
}

// Revive starts a service again that has ended by itself, open, as a session does; it
// reports whether it did.
func (s *Service) Revive() (revived bool, err error) {
	if s.ask("NameHasOwner", "string:"+name) {
		return false, nil
	}
	return true, s.Be(Open)
}

// Close ends service and bus. It may be repeated.
func (s *Service) Close() {
	end(s.service)
	end(s.bus)
	s.service, s.bus = nil, nil
}

func (s *Service) socket() string { return filepath.Join(s.dir, "bus") }
func (s *Service) config() string { return filepath.Join(s.dir, "bus.conf") }

// serve starts the Secret Service; unlocked, if its arguments say so.
func (s *Service) serve(args ...string) (err error) {
	s.service, err = s.run("desk", "gnome-keyring-daemon", append([]string{"--foreground", "--components=secrets"}, args...)...)
	if err != nil {
		return err
	}
	return until("keychain", func() bool { return s.ask("NameHasOwner", "string:"+name) })
}

// allow sets the bus's rules besides those that allow all.
func (s *Service) allow(rules string) error {
	if err := os.WriteFile(s.config(), fmt.Appendf(nil, busConfig, s.socket(), rules), 0o600); err != nil {
		return err
	}
	if s.bus != nil && !s.ask("ReloadConfig") {
		return errors.New("the bus does not take its rules")
	}
	return nil
}

// ask calls the bus itself, and reports whether it answers and does not say false.
func (s *Service) ask(method string, args ...string) bool {
	cmd := exec.Command("dbus-send", append([]string{"--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus." + method}, args...)...)
	cmd.Env = s.env
	out, err := cmd.Output()
	return err == nil && !bytes.Contains(out, []byte("boolean false"))
}

// run starts a program that ends with the test's process, whatever becomes of that.
func (s *Service) run(input, program string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdin = s.env, strings.NewReader(input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

func end(cmd *exec.Cmd) {
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func until(what string, is func() bool) error {
	for late := time.Now().Add(patience); !is(); time.Sleep(pause) {
		if time.Now().After(late) {
			return fmt.Errorf("there is no %s in %s", what, patience)
		}
	}
	return nil
}
