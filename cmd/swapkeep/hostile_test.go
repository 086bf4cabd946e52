package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// steering is text with terminal control characters, and with characters that change the
// direction of text.
const steering = "\x1b]0;owned\x07\u009b2J\u202ecod.exe\u200b"

func steers(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}

func onPaper() (*terminal, *bytes.Buffer) {
	var out bytes.Buffer
	return &terminal{out: &out, err: &out, result: screen.New(&out, os.Getenv), talk: screen.New(&out, os.Getenv)}, &out
}

// Text from others never controls the terminal, wherever a command prints it.
func TestTerminalControlSequencesAreRemoved(t *testing.T) {
	for name, tell := range map[string]func(*terminal) error{
		"status": func(t *terminal) error {
			return t.table(protocol.StatusResult{
				Directory: steering, Connections: []protocol.Connection{{Kind: "browser", Origin: steering, Version: steering}},
				Problems: []protocol.Problem{{Name: "setting", Message: steering, Remedy: steering}},
			})
		},
		"absent": func(t *terminal) error { _ = t.sayNotRunning(steering, errSilent); return nil },
		"json":   func(t *terminal) error { return writeRaw(t.out, must(json.Marshal(steering))) },
		"status as json": func(t *terminal) error {
			return writeJSON(t.out, protocol.StatusResult{Problems: []protocol.Problem{{Message: steering}}})
		},
		"keys": func(t *terminal) error {
			return t.keysTable(protocol.KeysStatus{State: "unlocked", Wallets: []protocol.Wallet{{Name: steering, Accounts: []protocol.Account{{Name: steering}}}}})
		},
		"setting": func(t *terminal) error {
			t.printSetting(protocol.Setting{Key: steering, Value: steering, Name: steering})
			return nil
		},
		"networks": func(t *terminal) error {
			return t.networksTable(protocol.NetworksResult{Networks: []protocol.Network{{Name: "x", GasCeiling: "1", RPC: []protocol.RPC{{Host: steering, Failure: steering}}}}})
		},
	} {
		on, out := onPaper()
		if err := tell(on); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if out.Len() == 0 || steers(out.String()) {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// full is a writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A screen reports write errors.
func TestAnswerThatWasNotWritten(t *testing.T) {
	s := screen.New(full{}, os.Getenv)
	s.Line("an answer")
	if !errors.Is(s.Err(), syscall.ENOSPC) {
		t.Error(s.Err())
	}
}

// The question about an approval says which part of it is for other orders.
func TestApprovalWithShares(t *testing.T) {
	const usdc, spender = protocol.Address("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), protocol.Address("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	l := &daemonConn{tokens: map[tokenID]protocol.Token{{1, usdc}: {Symbol: "USDC", Decimals: 6, Address: usdc}}}
	w := reviewer{daemonConn: l, ctx: t.Context()}
	a := protocol.Approval{Token: usdc, Spender: spender, Amount: "300000000", OtherOrders: "200000000"}
	said, err := w.effect(protocol.Effect{ChainID: 1, Approves: []protocol.Approval{a}})
	if err != nil || !strings.Contains(said, "exactly 300 USDC (200 USDC of it for other open orders)") {
		t.Errorf("%q, %v", said, err)
	}
	coin := amount.Coin{Symbol: "USDC", Decimals: 6}
	if said := amountText(coin, a); said != "300 USDC: 100 USDC for this swap and 200 USDC for other open orders" {
		t.Error(said)
	}
	if a.OtherOrders = ""; amountText(coin, a) != "300 USDC, exactly the amount of this swap" {
		t.Error(amountText(coin, a))
	}
}

// Where nobody sees a warning, an unverified token cannot be given by its symbol.
func TestStrangersTokenInAScript(t *testing.T) {
	on, _ := onPaper()
	on.in = os.Stdin
	const address = protocol.Address("0x00000000000000000000000000000000000a11ce")
	for _, c := range []struct {
		token  protocol.Token
		wanted string
		ok     bool
	}{
		{protocol.Token{Symbol: "PEPE", Address: address, Imported: true}, "PEPE", false},
		{protocol.Token{Symbol: "PEPE", Address: address, List: "Mine"}, "pepe", false},
		{protocol.Token{Symbol: "PEPE", Address: address, Imported: true}, string(address), true},
		{protocol.Token{Symbol: "USDC", Address: address, Verified: true}, "USDC", true},
	} {
		if err := on.checkSymbol(c.token, c.wanted); (err == nil) != c.ok || err != nil && !errors.Is(err, errUsage) {
			t.Errorf("%s for %+v: %v", c.wanted, c.token, err)
		}
	}
}

// A terminal is listed by its kind only, a browser with its extension.
func TestConnectionsAreNamedOnce(t *testing.T) {
	on, out := onPaper()
	if err := on.table(protocol.StatusResult{Connections: []protocol.Connection{
		{Kind: "terminal", Origin: "terminal", Version: "1"}, {Kind: "browser", Origin: "an extension", Version: "1"},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" terminal, version 1,", " browser an extension, version 1,"} {
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "terminal terminal") {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
