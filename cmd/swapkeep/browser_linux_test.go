package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/test/await"
	"swapkeep/test/programs"
	"swapkeep/test/requests"
)

// cmdBrowser acts as an extension through a relay of its own:
//
//	browser swap FILE PROVIDER IN AMOUNT OUT    asks to swap base units, in the background
//	browser cancel FILE ORDER DIGEST            likewise asks to cancel an order
//	browser set FILE KEY VALUE                  likewise asks to change a setting
//	browser await FILE                          waits for the answer, which FILE then has
//
// Tokens are addresses. The answer is an order's or a setting's JSON, or an error's.
func cmdBrowser(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: browser swap|cancel|set|await FILE ...")
	}
	file := ts.MkAbs(args[1])
	if args[0] == "await" {
		if !await.Holds(personTime, func() bool { _, err := os.Stat(file); return err == nil }) {
			ts.Fatalf("%s: no answer", args[1])
		}
		return
	}
	cmd := exec.Command(scriptBinary(ts.Getenv, "swapkeep"), programs.Origin)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	p, err := client.Start(cmd)
	ts.Check(err)
	stop := sync.OnceFunc(func() { _, _ = p.Stop() })
	ts.Defer(stop)
	_, err = programs.AwaitHello(p, 20*time.Second)
	ts.Check(err)
	b := page{p, args[2:]}
	ctx, cancel := context.WithTimeout(context.Background(), personTime)
	act := map[string]func(context.Context) (any, error){"swap": b.swap, "cancel": b.cancel, "set": b.set}[args[0]]
	go func() {
		defer cancel()
		defer stop()
		answer, err := act(ctx)
		var refused *protocol.Error
		if errors.As(err, &refused) {
			answer, err = map[string]string{"error": refused.Name, "message": refused.Message}, nil
		}
		if err != nil {
			answer = map[string]string{"failed": err.Error()}
		}
		text, _ := json.Marshal(answer)
		_ = os.WriteFile(file+"~", text, 0o600)
		_ = os.Rename(file+"~", file)
	}()
}

// cmdDisplay gives programs that start from now on a display which takes connections, and the
// programs in a folder before those of the system:
//
//	display FOLDER
func cmdDisplay(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: display FOLDER")
	}
	dir, err := os.MkdirTemp("", "d") // short, for a socket's path
	ts.Check(err)
	l, err := net.Listen("unix", filepath.Join(dir, "wayland-9"))
	ts.Check(err)
	ts.Defer(func() { _, _ = l.Close(), os.RemoveAll(dir) })
	ts.Setenv("XDG_RUNTIME_DIR", dir)
	ts.Setenv("WAYLAND_DISPLAY", "wayland-9")
	first, rest, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	ts.Setenv("PATH", strings.Join([]string{first, ts.MkAbs(args[0]), rest}, string(os.PathListSeparator)))
}

// A page is an extension's page with its arguments.
type page struct {
	*client.Process
	args []string
}

func (b page) unlock(ctx context.Context) error {
	return b.Call(ctx, "keys.unlock", protocol.UnlockParams{Password: []byte("correct horse batteries")}, nil)
}

func (b page) swap(ctx context.Context) (any, error) {
	var accounts protocol.AccountsResult
	var quoted protocol.QuoteResult
	var review protocol.Review
	var order protocol.Order
	if err := errors.Join(b.unlock(ctx), b.Call(ctx, "keys.accounts", nil, &accounts)); err != nil {
		return nil, err
	}
	err := b.Call(ctx, "swap.quote", protocol.QuoteParams{Account: accounts.Accounts[0].Address, TokenIn: protocol.Address(b.args[1]), AmountIn: protocol.Amount(b.args[2]),
		TokenOut: protocol.Address(b.args[3]), Providers: []string{b.args[0]}}, &quoted)
	if err != nil {
		return nil, err
	}
	if len(quoted.Offers) == 0 {
		return nil, errors.New("no offers")
	}
	if err := b.Call(ctx, "swap.prepare", protocol.PrepareParams{Offer: quoted.Offers[0].ID}, &review); err != nil {
		return nil, err
	}
	err = b.Call(ctx, "swap.execute", protocol.ExecuteParams{Request: requests.NewUUID(), Digest: review.Digest}, &order)
	return order, err
}

func (b page) cancel(ctx context.Context) (any, error) {
	var order protocol.Order
	if err := b.unlock(ctx); err != nil {
		return nil, err
	}
	err := b.Call(ctx, "swap.cancel", protocol.CancelParams{Request: requests.NewUUID(), Order: b.args[0], Digest: protocol.Hash(b.args[1])}, &order)
	return order, err
}

func (b page) set(ctx context.Context) (any, error) {
	var done protocol.SetResult
	if err := b.unlock(ctx); err != nil {
		return nil, err
	}
	err := b.Call(ctx, "settings.set", protocol.SetParams{Key: b.args[0], Value: &b.args[1]}, &done)
	return done, err
}
