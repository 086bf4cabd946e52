package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// endTime is how long a started process may take to end.
const endTime = 10 * time.Second

// A child is a process with our ends of its pipes. It ends when its standard input does.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
}

// spawn starts a child that shares our standard error.
func spawn(cmd *exec.Cmd) (*child, error) {
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &child{cmd, stdin, stdout}, cmd.Start()
}

// close closes the child's standard input, as a browser would, and waits for its end.
func (c *child) close() error {
	late := time.AfterFunc(endTime, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	return errors.Join(c.stdin.Close(), c.cmd.Wait())
}
