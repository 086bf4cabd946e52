package main

import (
	"context"
	"errors"
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

// versions is the output of version --json.
type versions struct {
	Version  string         `json:"version"`
	Protocol protocol.Range `json:"protocol"`
	System   string         `json:"system"`
	Daemon   string         `json:"daemon,omitempty"` // absent if none is running
}

func (t *terminal) version(ctx context.Context) error {
	v := versions{
		Version:  version,
		Protocol: protocol.Range{Min: protocol.MinVersion, Max: protocol.MaxVersion},
		System:   runtime.GOOS + "/" + runtime.GOARCH,
	}
	var err error
	v.Daemon, err = t.daemonVersion(ctx)
	if t.json {
		return writeJSON(t.out, v)
	}
	daemon := v.Daemon
	switch {
	case errors.Is(err, errSilent):
		daemon = "not answering"
	case daemon == "":
		daemon = "not running"
	}
	_, err = fmt.Fprintf(t.out, "swapkeep %s (%s), protocol %d to %d, daemon %s\n", v.Version, v.System, v.Protocol.Min, v.Protocol.Max, daemon)
	return err
}

// daemonVersion returns the running daemon's version; an error if none answers.
func (t *terminal) daemonVersion(ctx context.Context) (string, error) {
	place, err := t.place()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c, _, err := dialDaemon(ctx, place)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	var hello protocol.Hello
	err = c.Call(ctx, "host.hello", nil, &hello)
	return printable(hello.Version), err
}
