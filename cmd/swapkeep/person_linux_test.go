package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// personTime limits one dialogue.
const personTime = 60 * time.Second

// cmdPerson simulates a user at a terminal:
//
//	person TALK SCREEN swapkeep ARGUMENT...
//
// The lines of the file TALK are what the user waits for ("< text") and then types (">
// text", or "^ C" for a control character). The terminal's output and the exit status are
// written to the file SCREEN.
func cmdPerson(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: person TALK SCREEN command...")
	}
	cmd := exec.Command(binary(args[2]), args[3:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	screen, err := talk(cmd, strings.Split(ts.ReadFile(args[0]), "\n"))
	ts.Logf("%s", screen)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(screen), 0o600))
	ts.Check(err)
}

// talk runs a command on its own terminal.
func talk(cmd *exec.Cmd, lines []string) (string, error) {
	master, slave, err := openTerminal()
	if err != nil {
		return "", err
	}
	defer func() { _ = master.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = slave.Close()
	if err != nil {
		return "", err
	}
	late := time.AfterFunc(personTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var seen screenful
	read := make(chan struct{})
	go func() {
		defer close(read)
		seen.readFrom(master)
	}()
	said := seen.answer(master, lines, read)
	<-read
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return seen.text(), err
	}
	return fmt.Sprintf("%s\nexit %d\n", seen.text(), cmd.ProcessState.ExitCode()), said
}

// openTerminal opens a pseudo terminal with 100 columns.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		_ = master.Close()
	}
	return master, slave, err
}

// A screenful is all output of a terminal.
type screenful struct {
	mu    sync.Mutex
	sent  []byte
	taken int // length that find has consumed
}

func (s *screenful) readFrom(master *os.File) {
	b := make([]byte, 4096)
	for {
		n, err := master.Read(b)
		s.mu.Lock()
		s.sent = append(s.sent, b[:n]...)
		s.mu.Unlock()
		if err != nil { // the other side was closed
			return
		}
	}
}

func (s *screenful) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.sent)
}

// find reports whether text occurs after the last match, and consumes it.
func (s *screenful) find(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := bytes.Index(s.sent[s.taken:], []byte(text))
	if at >= 0 {
		s.taken += at + len(text)
	}
	return at >= 0
}

func (s *screenful) answer(master *os.File, lines []string, ended <-chan struct{}) error {
	for _, line := range lines {
		what, text, _ := strings.Cut(line, " ")
		var err error
		switch what {
		case "<":
			err = s.await(text, ended)
		case ">":
			_, err = master.WriteString(text + "\n")
		case "^":
			_, err = master.Write([]byte{text[0] & 31})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *screenful) await(text string, ended <-chan struct{}) error {
	for !s.find(text) {
		select {
		case <-ended:
			if s.find(text) {
				return nil
			}
			return fmt.Errorf("%q never stood on the terminal", text)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// The terminal's mode is restored however the password question ends.
func TestTerminalIsLeftAsItWas(t *testing.T) {
	master, slave, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = slave.Close(), master.Close() }()
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	cmd := m.command(binary("swapkeep"), "keys", "unlock")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen screenful
	go seen.readFrom(master)
	if err := seen.await("Password", nil); err != nil {
		t.Fatal(err)
	}
	if echoes(t, slave) {
		t.Fatal("the terminal shows what is typed as soon as it asks")
	}
	if !marked(t, cmd.Path) {
		t.Error("a command that hides which program it is does not hold it: an update would remove its folder")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitSignal {
		t.Fatalf("ended with %v", err)
	}
	after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Fatalf("%v: %+v, was %+v", err, after, before)
	}
}

// The terminal's mode is restored whenever the signal arrives.
func TestTerminalIsLeftAsItWasAtAnyMoment(t *testing.T) {
	master, slave, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = slave.Close(), master.Close() }()
	var seen screenful
	go seen.readFrom(master)
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGINT}
	until := time.Now().Add(personTime)
	runs := 0
	for ; runs < 60 && time.Now().Before(until); runs++ {
		cmd := m.command(binary("swapkeep"), "keys", "unlock")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for late := time.Now().Add(personTime); echoes(t, slave) && time.Now().Before(late); {
			time.Sleep(50 * time.Microsecond)
		}
		time.Sleep(rand.N(2 * time.Millisecond))
		signal := signals[runs%len(signals)]
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitSignal {
			t.Fatalf("%v: ended with %v\n%s", signal, err, seen.text())
		}
		if after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS); err != nil || *after != *before {
			t.Fatalf("%v, run %d: %v: %+v, was %+v", signal, runs, err, after, before)
		}
	}
	t.Logf("%d signals", runs)
}

// marked reports whether a process holds the lock on a program that it runs.
func marked(t *testing.T, program string) bool {
	t.Helper()
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}
