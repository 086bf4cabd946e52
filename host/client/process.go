package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// exitTimeout is the time that Chromium gives a host between closing its pipes and killing
// it.
const exitTimeout = 2 * time.Second

// A Process is a started host with a client on its pipes, as a browser has.
type Process struct {
	*Client
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of the process; valid after exited
}

// Start starts a host and connects to its standard input and output, which cmd must leave
// unset.
func Start(cmd *exec.Cmd) (*Process, error) {
	in, theirIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirOut, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), theirIn.Close())
	}
	cmd.Stdin, cmd.Stdout = in, out
	err = cmd.Start()
	closed := errors.Join(in.Close(), out.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the host: %w", err), theirIn.Close(), theirOut.Close())
	}
	p := &Process{Client: New(pipes{theirOut, theirIn}), cmd: cmd, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, closed
}

func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited returns a channel that is closed when the host has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode waits for the host to end and returns its exit status, -1 after a signal.
func (p *Process) ExitCode() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}

// Stop closes the pipes as a browser does, and kills a host that has not ended after two
// seconds. It returns how long that took and how the host ended. It may be repeated.
func (p *Process) Stop() (time.Duration, error) {
	began := time.Now()
	closed := p.Close()
	select {
	case <-p.exited:
	case <-time.After(exitTimeout):
		closed = errors.Join(closed, errors.New("the host did not exit and was killed"), p.cmd.Process.Kill())
		<-p.exited
	}
	if errors.Is(closed, os.ErrClosed) {
		closed = nil
	}
	return time.Since(began), errors.Join(closed, p.err)
}

// pipes combines the host's two pipes to one stream.
type pipes struct {
	out io.ReadCloser
	in  *os.File
}

func (p pipes) Read(b []byte) (int, error)          { return p.out.Read(b) }
func (p pipes) Write(b []byte) (int, error)         { return p.in.Write(b) }
func (p pipes) Close() error                        { return errors.Join(p.in.Close(), p.out.Close()) }
func (p pipes) SetWriteDeadline(at time.Time) error { return p.in.SetWriteDeadline(at) }
