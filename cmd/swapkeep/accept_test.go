//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/client"
	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// A fakeDaemon answers a command's requests from a table and records them. An answer may be a
// function of the request's parameters, and may be an error.
type fakeDaemon struct {
	answers map[string]any
	asked   map[string]json.RawMessage
}

func (d *fakeDaemon) serve(conn net.Conn) {
	in, out := frame.NewReader(conn), frame.NewWriter(conn)
	for {
		body, err := in.Read()
		if err != nil {
			return
		}
		var q struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(body, &q) != nil {
			return
		}
		d.asked[q.Method] = q.Params
		answer := d.answers[q.Method]
		if made, ok := answer.(func(json.RawMessage) any); ok {
			answer = made(q.Params)
		}
		response := protocol.Response{JSONRPC: protocol.Version, ID: q.ID}
		if response.Error, _ = answer.(*protocol.Error); response.Error == nil {
			if response.Result, err = json.Marshal(answer); err != nil {
				return
			}
		}
		reply, err := json.Marshal(response)
		if err != nil || out.Write(reply) != nil {
			return
		}
	}
}

// at returns a command's connection to d, and the command's output.
func (d *fakeDaemon) at(t *testing.T) (l *daemonConn, out *bytes.Buffer) {
	t.Helper()
	d.asked = map[string]json.RawMessage{}
	ours, theirs := net.Pipe()
	go d.serve(theirs)
	c, out := client.New(ours), &bytes.Buffer{}
	t.Cleanup(func() { _, _ = c.Close(), theirs.Close() })
	nobody, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nobody.Close() })
	s := screen.New(out, os.Getenv).Labelled(factLabel)
	return &daemonConn{Client: c, t: &terminal{in: nobody, out: out, err: out, result: s, talk: s}, tokens: map[tokenID]protocol.Token{}}, out
}

const (
	accepted = protocol.Hash("0x1111111111111111111111111111111111111111111111111111111111111111")
	proposed = protocol.Hash("0x2222222222222222222222222222222222222222222222222222222222222222")
)

// needy returns an order whose accepted terms cannot be kept, with the finding of its
// proposal.
func needy(severity string) protocol.Order {
	const account, ether = protocol.Address("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"), "1000000000000000000"
	o := protocol.Order{ID: "01", Request: newRequest(), Digest: accepted, State: "executing", Condition: "needs_consent", Revision: 3}
	o.Terms = protocol.Terms{Provider: "dex", Account: account, SrcChainID: 1, DstChainID: 1, TokenIn: protocol.Native, TokenOut: usdc.Address,
		AmountIn: ether, MinimumReceived: "2990000000", Recipient: account, RefundTo: account, GasCeiling: "50000000000000000"}
	o.Offer = protocol.Offer{Account: account, TokenIn: protocol.Native, AmountIn: ether, TokenOut: usdc.Address, AmountOut: "2600000000",
		MinAmountOut: "2500000000", Recipient: account, RefundTo: account, Slippage: 50}
	review := protocol.Review{Digest: proposed, Terms: o.Terms, Offer: o.Offer, Gas: protocol.Gas{Expected: "0", Max: "0", Balance: "0"},
		Findings: []protocol.Finding{{Code: "price_impact", Severity: severity, Text: "far off"}}}
	review.Terms.MinimumReceived = "2500000000"
	o.Proposal = &protocol.Proposal{Reason: "the quote is below the accepted minimum", Review: review}
	return o
}

var usdc = protocol.Token{ChainID: 1, Address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", Symbol: "USDC", Decimals: 6, Verified: true}

func deskFor(o protocol.Order) *fakeDaemon {
	ether := protocol.Token{ChainID: 1, Address: protocol.Native, Symbol: "ETH", Decimals: 18, Verified: true}
	filled := o
	filled.State, filled.Final, filled.Revision = "filled", true, 9
	return &fakeDaemon{answers: map[string]any{
		"networks.list": protocol.NetworksResult{Active: 1, Networks: []protocol.Network{{ChainID: 1, Name: "Ethereum", Symbol: "ETH", Decimals: 18, GasCeiling: "0"}}},
		"tokens.search": protocol.SearchResult{Tokens: []protocol.Token{ether, usdc}},
		"swap.order":    protocol.OrderResult{Order: o},
		"keys.status":   protocol.KeysStatus{State: protocol.KeysUnlocked},
		"keys.unlock":   protocol.KeysStatus{State: protocol.KeysUnlocked},
		"swap.accept":   filled,
	}}
}

// scriptFlags are the flags of a script, with its password on a file descriptor.
func scriptFlags(t *testing.T, digest protocol.Hash) *consentFlags {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write.WriteString("correct horse batteries\n"); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(read.Fd())) // the command closes its own descriptor
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	return &consentFlags{digest: string(digest), detach: true, acknowledge: []string{"price_impact"},
		password: &secretFlag{name: "password-fd", fd: fd}}
}

// Accepting a proposal executes the proposal's digest, not the one that was accepted
// first.
func TestAcceptProposal(t *testing.T) {
	d := deskFor(needy("acknowledge"))
	l, out := d.at(t)
	if err := l.acceptProposal(t.Context(), scriptFlags(t, proposed), "01"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var asked protocol.AcceptParams
	if err := json.Unmarshal(d.asked["swap.accept"], &asked); err != nil {
		t.Fatal(err)
	}
	if asked.Digest != proposed || asked.Order != "01" || len(asked.Acknowledge) != 1 || asked.Acknowledge[0] != "price_impact" {
		t.Errorf("asked for %+v", asked)
	}
	for _, want := range []string{"the quote is below the accepted minimum", "2,500 USDC", "far off (price_impact)", string(proposed)} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not shown:\n%s", want, out)
		}
	}
}

func TestAcceptProposalRefuses(t *testing.T) {
	settled := needy("note")
	settled.Proposal = nil
	for name, c := range map[string]struct {
		order  protocol.Order
		digest protocol.Hash
		want   error
	}{
		"the digest that was accepted first": {needy("note"), accepted, errUsage},
		"a finding that forbids it":          {needy("block"), proposed, errBlocked},
		"nobody to ask":                      {needy("note"), "", errUsage},
		"no proposal":                        {settled, proposed, errNoProposal},
	} {
		t.Run(name, func(t *testing.T) {
			d := deskFor(c.order)
			l, out := d.at(t)
			if err := l.acceptProposal(t.Context(), scriptFlags(t, c.digest), "01"); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v\n%s", err, c.want, out)
			}
			if _, acted := d.asked["swap.accept"]; acted {
				t.Error("it was accepted")
			}
		})
	}
}

// The review warns of an unverified token that has another token's symbol.
func TestReviewWarnsOfUnverifiedTokens(t *testing.T) {
	d := deskFor(needy("note"))
	fake := usdc
	fake.Verified, fake.Imitates = false, "0x0000000000000000000000000000000000000001"
	d.answers["tokens.search"] = protocol.SearchResult{Tokens: []protocol.Token{fake}}
	l, out := d.at(t)
	if err := l.printReview(t.Context(), l.t.talk, needy("note").Proposal.Review); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"is not verified", "the verified one is", "0x0000000000000000000000000000000000000001"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not shown:\n%s", want, out)
		}
	}
}

// TestReviewShowsTheQuotesMinimum: a quote's minimum that differs from the enforced one
// is shown next to it.
func TestReviewShowsTheQuotesMinimum(t *testing.T) {
	for told, want := range map[protocol.Amount]bool{"": false, "2600000000": true} {
		l, out := deskFor(needy("note")).at(t)
		r := needy("note").Proposal.Review
		r.StatedMinimum = told
		if err := l.printReview(t.Context(), l.t.talk, r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "a minimum of 2,600 USDC"); got != want {
			t.Errorf("told %q:\n%s", told, out)
		}
	}
}

// TestAcknowledgedInAdvance: acknowledging findings before the proposal was shown is
// refused, and so it is for a swap that is not quoted yet.
func TestAcknowledgedInAdvance(t *testing.T) {
	d := deskFor(needy("acknowledge"))
	l, out := d.at(t)
	if err := l.acceptProposal(t.Context(), scriptFlags(t, ""), "01"); !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), "--digest") {
		t.Errorf("%v\n%s", err, out)
	}
	if d.asked["swap.accept"] != nil {
		t.Error("accepted all the same")
	}
	cmd := newSwap(l.t)
	cmd.SetArgs([]string{"1", "ETH", "USDC", "--acknowledge", "output_unverified,output_lookalike"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err == nil {
		t.Error("a swap is begun with codes of findings that nobody has seen")
	}
}
