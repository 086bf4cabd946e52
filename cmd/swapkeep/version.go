package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
)

func newVersion(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of this program, the protocol and a running daemon",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return t.version(cmd.Context()) },
	}
}

// versions is what version --json writes.
type versions struct {
	Version  string         `json:"version"`
	Protocol protocol.Range `json:"protocol"`
	System   string         `json:"system"`
	Daemon   string         `json:"daemon,omitempty"` // absent when none runs
}

func (t *terminal) version(ctx context.Context) error {
	v := versions{
		Version:  version,
		Protocol: protocol.Range{Min: protocol.MinVersion, Max: protocol.MaxVersion},
		System:   runtime.GOOS + "/" + runtime.GOARCH,
		Daemon:   t.daemonVersion(ctx),
	}
	if t.json {
		return writeJSON(t.out, v)
	}
	daemon := v.Daemon
	if daemon == "" {
		daemon = "not running"
	}
	_, err := fmt.Fprintf(t.out, "swapkeep %s (%s), protocol %d to %d, daemon %s\n", v.Version, v.System, v.Protocol.Min, v.Protocol.Max, daemon)
	return err
}

// daemonVersion is "" when there is no daemon to ask: a version is known
// without one.
func (t *terminal) daemonVersion(ctx context.Context) string {
	place, err := t.place()
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c, err := dialDaemon(ctx, place)
	if err != nil {
		return ""
	}
	defer func() { _ = c.Close() }()
	var hello protocol.Hello
	if err := c.Call(ctx, "host.hello", nil, &hello); err != nil {
		return ""
	}
	return printable(hello.Version)
}
