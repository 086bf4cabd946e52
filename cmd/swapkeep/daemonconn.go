package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// connectTime limits how long starting and connecting to a daemon may take.
const connectTime = 20 * time.Second

// errNotStarted means that no daemon was running and none could be started.
var errNotStarted = errors.New("no daemon")

// A daemonConn is a command's connection to the daemon.
type daemonConn struct {
	*client.Client
	t     *terminal
	hello protocol.Hello

	networks         map[uint64]protocol.Network // nil until loaded
	active           uint64
	tokens           map[tokenID]protocol.Token // cache, see coins.go
	destinationNames map[uint64]string          // names of destination chains that are not in networks
}

// withDaemon wraps do into a cobra RunE that connects to the daemon first, and starts one if
// none is running.
func (t *terminal) withDaemon(do func(ctx context.Context, l *daemonConn, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		l, err := t.dial(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }()
		if l.hello.Banner != "" && !t.json {
			t.talk.Paragraph(screen.Warn, l.hello.Banner)
		}
		return do(cmd.Context(), l, args)
	}
}

// dial connects to the daemon, starts one if none is running, and exchanges the hello.
func (t *terminal) dial(ctx context.Context) (*daemonConn, error) {
	cfg, err := t.load()
	if err != nil {
		return nil, err
	}
	launch, err := launchOf(cfg, t.environ())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := owner.Ensure(ctx, launch)
	if err != nil {
		return nil, notStarted(launch.Place, err)
	}
	c, err := client.Terminal(ctx, conn, version)
	if err != nil {
		return nil, err
	}
	l := &daemonConn{Client: c, t: t, tokens: map[tokenID]protocol.Token{}, destinationNames: map[uint64]string{}}
	speaks := protocol.Range{Min: protocol.MinVersion, Max: protocol.MaxVersion}
	if l.hello, err = ask[protocol.Hello](ctx, l, "host.hello", protocol.HelloParams{Protocol: &speaks}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return l, nil
}

// notStarted explains why there is no daemon, with an error of the right class.
func notStarted(place transport.Instance, err error) error {
	if pid, held := owner.Holder(place); held && notRunning(err) {
		return silent(pid)
	}
	var failed *owner.StartError
	if !errors.As(err, &failed) {
		return err
	}
	if name := startFaults[failed.Exit]; name != "" { // a database error
		return protocol.New(name, failed.Error())
	}
	return fmt.Errorf("%w: %w", errNotStarted, failed)
}

// ask calls a method and returns its result. It waits as long as the daemon may take.
func ask[T any](ctx context.Context, l *daemonConn, method string, params any) (result T, err error) {
	ctx, cancel := context.WithTimeout(ctx, protocol.RequestTimeout+answerTime)
	defer cancel()
	err = l.Call(ctx, method, params, &result)
	return result, err
}

// rawResult is a result together with the JSON that the daemon wrote.
type rawResult[T any] struct {
	value T
	raw   json.RawMessage
}

// UnmarshalJSON stores both the JSON and the decoded value.
func (e *rawResult[T]) UnmarshalJSON(b []byte) error {
	e.raw = bytes.Clone(b)
	return json.Unmarshal(b, &e.value)
}

// show calls a method and prints its result: the daemon's JSON with --json, otherwise
// with tell.
func show[T any](ctx context.Context, l *daemonConn, method string, params any, tell func(T) error) error {
	got, err := ask[rawResult[T]](ctx, l, method, params)
	defer clear(got.raw) // it may contain recovery words or a key
	if err != nil {
		return err
	}
	if l.t.json {
		return writeRaw(l.t.out, got.raw)
	}
	return tell(got.value)
}

// shower is show for a command without arguments and parameters.
func shower[T any](t *terminal, method string, tell func(ctx context.Context, l *daemonConn, v T) error) func(*cobra.Command, []string) error {
	return t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
		return show(ctx, l, method, protocol.None{}, func(v T) error { return tell(ctx, l, v) })
	})
}

// writeRaw writes a result's JSON on one line.
func writeRaw(w io.Writer, raw json.RawMessage) error {
	_, err := fmt.Fprintf(w, "%s\n", screen.JSON(raw))
	return err
}

// pages calls a paginated method and passes each page to take, up to maxPages. With
// --json each page is printed on a line.
func pages[T any](ctx context.Context, l *daemonConn, method string, params func(cursor string) any, next func(T) string, take func(T)) error {
	cursor := ""
	for range maxPages {
		got, err := ask[rawResult[T]](ctx, l, method, params(cursor))
		if err != nil {
			return err
		}
		if l.t.json {
			if err := writeRaw(l.t.out, got.raw); err != nil {
				return err
			}
		}
		take(got.value)
		if cursor = next(got.value); cursor == "" {
			return nil
		}
	}
	return fmt.Errorf("%s: no end after %d pages", method, maxPages)
}

// maxPages limits the pages of a list.
const maxPages = 500
