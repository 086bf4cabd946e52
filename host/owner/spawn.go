package owner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"swapkeep/host/transport"
)

// maxReason is how many bytes from the log's end a StartError quotes.
const maxReason = 300

// A Launch describes how to start the daemon of a place.
type Launch struct {
	Place transport.Instance
	Exe   string   // absolute path of the daemon
	Args  []string // after the program's name
	Env   []string // environment to select the daemon's from: os.Environ()
}

// StartError means that the daemon ended before it answered.
type StartError struct {
	Exit   int    // exit status; -1 after a signal
	Reason string // last line of its log, for display in a terminal
	Log    string // path of its log
}

func (e *StartError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the daemon did not start (exit status %d); see %s", e.Exit, e.Log)
	}
	return fmt.Sprintf("the daemon did not start (exit status %d): %s; see %s", e.Exit, e.Reason, e.Log)
}

// killed is the Exit of a daemon that was ended by a signal.
const killed = -1

// A Child is a daemon that this process started and that outlives it.
type Child struct {
	PID  int
	done chan struct{}
	err  *StartError // valid after done
}

// Spawn starts the daemon in a session of its own, with the root as its directory, none
// of our descriptors, a umask that excludes others, and its standard error in the place's
// log. The place's directories must exist. Each call starts one more process; the lock
// lets only one of them stay.
func Spawn(l Launch) (*Child, error) {
	log, err := OpenLog(l.Place)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	before, err := log.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	cmd := exec.Command(l.Exe, l.Args...)
	cmd.Dir = rootDir
	cmd.Env = daemonEnviron(l.Env, l.Place)
	cmd.Stderr = log.file
	if err := startDetached(cmd); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	child := &Child{PID: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		child.err = &StartError{Exit: exitStatus(cmd.Wait()), Log: l.Place.LogPath()}
		child.err.Reason = lastLine(child.err.Log, before)
		close(child.done)
	}()
	return child, nil
}

func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return killed
}

// ReasonPrefix starts the last line that a daemon writes if it cannot stay.
const ReasonPrefix = "swapkeepd: "

// StartProblem returns why there is no daemon, as far as can be found out without starting one:
// the state directory is unsafe or cannot be written, or the last start failed. "" means
// that nothing is known to prevent a start.
func StartProblem(p transport.Instance) string {
	if _, err := os.Lstat(p.Home); err == nil {
		if err := transport.Prepare(p); err != nil {
			return err.Error()
		}
	}
	lock, err := os.OpenFile(p.LockPath(), os.O_RDWR, 0)
	switch {
	case err == nil:
		_ = lock.Close()
	case !errors.Is(err, os.ErrNotExist):
		return err.Error()
	case unwritable(p.Home) != nil:
		return unwritable(p.Home).Error()
	}
	reason, failed := strings.CutPrefix(lastLine(p.LogPath(), 0), ReasonPrefix)
	if !failed {
		return ""
	}
	return reason
}

// lastLine returns the last line written to the log since an offset.
func lastLine(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	tail, err := io.ReadAll(io.NewSectionReader(f, max(from, info.Size()-maxReason), maxReason))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(tail), "")), "\n")
	return lines[len(lines)-1]
}
