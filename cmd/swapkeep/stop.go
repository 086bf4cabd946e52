package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/transport"
)

// How often and how long to retry a daemon that does not answer.
const (
	silentPause = 50 * time.Millisecond
	silentTime  = 10 * time.Second
)

func newStop(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon; accepted orders continue at its next start",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return t.stop(cmd.Context()) },
	}
}

func (t *terminal) stop(ctx context.Context) error {
	place, err := t.place()
	if err != nil {
		return err
	}
	was, err := ensureStopped(ctx, place, answerTime)
	switch {
	case err != nil:
		return err
	case !was:
		return t.say("not running", "swapkeepd is not running")
	}
	return t.say("stopped", "swapkeepd has stopped")
}

// ensureStopped makes sure that no daemon is running and reports whether one was. It gives a
// daemon the time patience to finish what it is signing.
func ensureStopped(ctx context.Context, place transport.Instance, patience time.Duration) (was bool, err error) {
	dialing, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	until := time.Now().Add(silentTime)
	c, pid, err := dialDaemon(dialing, place)
	for errors.Is(err, errSilent) && time.Now().Before(until) {
		time.Sleep(silentPause) // it may be starting or exiting
		c, pid, err = dialDaemon(dialing, place)
	}
	if notRunning(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }()
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	return true, stopDaemon(ctx, place, c, pid)
}

// stopDaemon asks the daemon to stop and waits until the home is free.
func stopDaemon(ctx context.Context, place transport.Instance, c *client.Client, pid int) error {
	// A daemon that exits at once may not deliver its answer.
	if err := c.Call(ctx, "host.stop", nil, nil); err != nil && !errors.Is(err, client.ErrClosed) {
		return err
	}
	if err := owner.WaitFree(ctx, place); err != nil {
		return fmt.Errorf("the daemon (pid %d) did not stop: %w; try again, then end that process", pid, err)
	}
	return nil
}

// say prints a result of one word, as JSON or as a sentence.
func (t *terminal) say(state, sentence string) error {
	if t.json {
		return writeJSON(t.out, map[string]string{"state": state})
	}
	_, err := fmt.Fprintln(t.out, sentence)
	return err
}
