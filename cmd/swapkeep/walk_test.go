//go:build linux || darwin

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
)

// expiringQuotes returns a connection to a desk whose quotes expire late times while they are
// read, with typed as the user's input. Each plan has its own digest and minimum.
func expiringQuotes(t *testing.T, late int, typed string) (l *daemonConn, f *swapFlags, d *fakeDaemon, executed *[]protocol.Hash, said func() string) {
	t.Helper()
	order := needy("acknowledge")
	d = deskFor(order)
	digests, executed := []protocol.Hash{}, &[]protocol.Hash{}
	d.answers["swap.quote"] = protocol.QuoteResult{Offers: []protocol.Offer{order.Offer}}
	d.answers["swap.prepare"] = func(json.RawMessage) any {
		r := order.Proposal.Review
		digests = append(digests, protocol.Hash("0x"+strings.Repeat(string("123456789abcdef"[len(digests)]), 64)))
		r.Digest, r.Expires = digests[len(digests)-1], time.Now().Add(9*time.Second)
		return r
	}
	d.answers["swap.execute"] = func(params json.RawMessage) any {
		var p protocol.ExecuteParams
		if err := json.Unmarshal(params, &p); err != nil {
			t.Error(err)
		}
		if *executed = append(*executed, p.Digest); p.Digest != digests[len(digests)-1] || len(p.Acknowledge) != 1 {
			t.Errorf("consent to %s with %v, shown was %s", p.Digest, p.Acknowledge, digests[len(digests)-1])
		}
		if len(*executed) <= late {
			return protocol.New("quote_expired", "")
		}
		return order
	}
	l, out := d.at(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() { _ = read.Close() })
	l.t.in = read
	f = &swapFlags{detach: true}
	f.password = scriptFlags(t, accepted).password
	return l, f, d, executed, out.String
}

const agrees = "price_impact\nyes\n"

// TestQuoteRunsOutWhileItIsRead: only the plan that was shown last is accepted, and only
// after the user consented to it again, with its findings.
func TestQuoteRunsOutWhileItIsRead(t *testing.T) {
	l, f, d, executed, said := expiringQuotes(t, 2, agrees+agrees+agrees)
	if err := l.swapInteractively(t.Context(), trade{}, f); err != nil {
		t.Fatalf("%v\n%s", err, said())
	}
	var asked struct{ Providers []string }
	if err := json.Unmarshal(d.asked["swap.quote"], &asked); err != nil || len(asked.Providers) != 1 || asked.Providers[0] != "dex" {
		t.Errorf("asked %v, %v", asked.Providers, err)
	}
	if got := *executed; len(got) != 3 || got[0] == got[1] || got[1] == got[2] || strings.Count(said(), "Swap as reviewed?") != 3 || strings.Count(said(), "The quote expired, so nothing was accepted") != 2 {
		t.Errorf("consent to %v\n%s", got, said())
	}
}

// TestRenewedReviewIsDeclined: consent to an expired plan is not consent to the next one.
func TestRenewedReviewIsDeclined(t *testing.T) {
	for name, typed := range map[string]string{"no": agrees + "price_impact\nno\n", "nothing more": agrees, "not acknowledged": agrees + "yes\nyes\n"} {
		l, f, _, executed, said := expiringQuotes(t, 1, typed)
		if err := l.swapInteractively(t.Context(), trade{}, f); err == nil || len(*executed) != 1 {
			t.Errorf("%s: %v, consent to %v\n%s", name, err, *executed, said())
		}
	}
}

// TestRenewalsAreBounded: the command gives up after maxReviews.
func TestRenewalsAreBounded(t *testing.T) {
	l, f, _, executed, said := expiringQuotes(t, 100, strings.Repeat(agrees, 100))
	if err := l.swapInteractively(t.Context(), trade{}, f); !quoteExpired(err) || len(*executed) != maxReviews {
		t.Errorf("%v after %d\n%s", err, len(*executed), said())
	}
}
