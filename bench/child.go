package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// endTime is how long a process that was started here may take to end.
const endTime = 10 * time.Second

// A child is a process with the near ends of its pipes. It ends when its
// standard input does.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
}

// spawn starts a child; its standard error is ours.
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

// close leaves the child as a browser does its host, and waits for its end.
func (c *child) close() error {
	late := time.AfterFunc(endTime, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	return errors.Join(c.stdin.Close(), c.cmd.Wait())
}
