package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/protocol"

	"github.com/google/uuid"
)

const (
	quotes = 40
	// quotesAtOnce is lower: the bridge allows 50 quotes a minute, and atOncePause, twice
	// per round, stays below that.
	quotesAtOnce = 16
	atOncePause  = 780 * time.Millisecond
	// quotePause, twice per round, stays below the rate at which the daemon asks the DEX.
	// A user's quotes are as far apart.
	quotePause = 270 * time.Millisecond

	// testWords are published and hold nothing outside of sandboxes.
	testWords    = "test test test test test test test test test test test junk"
	testPassword = "correct horse battery staple"
	testAccount  = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
)

// quoteAsked is what the recorded replies answer: one coin for USDC.
var quoteAsked = protocol.QuoteParams{
	Account: testAccount, TokenIn: "0x0000000000000000000000000000000000000000", TokenOut: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
	AmountIn: protocol.AmountOf(big.NewInt(1e18)),
}

const quoteChain = 42161

// measureQuote times swap.quote over relay and daemon, minus the unavoidable exchange
// with the provider, which is repeated alternately with plain net/http and is the limit.
// Provider and node answer at once, so the rest is what the host adds, including the
// balance that it reads from the node meanwhile.
func measureQuote(ctx context.Context, l *lab) (sides, error) {
	return l.quoteBeside(ctx, quoteRun{[]string{"dex"}, dexPath + "/quote", l.sampleCount(quotes), quotePause})
}

// measureAtOnce times the same with all providers, minus the exchange with the slowest.
// One answers at once, the others after 40 to 100 ms.
func measureAtOnce(ctx context.Context, l *lab) (sides, error) {
	return l.quoteBeside(ctx, quoteRun{[]string{"dex", "bridge", "intent", "gasless"}, slowest, l.sampleCount(quotesAtOnce), atOncePause})
}

// A quoteRun is a measurement of quotes and of the one exchange that they need.
type quoteRun struct {
	providers []string
	exchange  string // its path
	rounds    int
	pause     time.Duration
}

func (l *lab) quoteBeside(ctx context.Context, q quoteRun) (_ sides, err error) {
	d, err := l.swapkeepd(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	p, err := l.wallet(ctx, d.home)
	if err != nil {
		return nil, err
	}
	defer func() { _, e := p.Stop(); err = errors.Join(err, e) }()
	quote := func() error { return askQuote(ctx, p, q.providers) }
	asked, err := l.askedBy(quote)
	if err != nil {
		return nil, err
	}
	asked = slices.DeleteFunc(asked, func(a recordedRequest) bool { return a.Path != q.exchange })
	if len(asked) != 1 {
		return nil, fmt.Errorf("a quote asks for %s %d times", q.exchange, len(asked))
	}
	direct := &http.Client{Transport: &http.Transport{}}
	defer direct.CloseIdleConnections()
	pause := func() error { time.Sleep(q.pause); return nil }
	all, err := timeAlternately(ctx, q.rounds, pause, quote, func() error { return l.outside.repeat(direct, asked) })
	if err != nil {
		return nil, err
	}
	for i, alone := range all[1] {
		all[0][i] -= alone
	}
	return all, nil
}

// askedBy returns the requests of a quote once its connections are open.
func (l *lab) askedBy(quote func() error) ([]recordedRequest, error) {
	if err := quote(); err != nil {
		return nil, err
	}
	if _, err := l.outside.asked(); err != nil {
		return nil, err
	}
	if err := quote(); err != nil {
		return nil, err
	}
	return l.outside.asked()
}

// wallet starts a relay with a client on it, imports the test account into the home and
// selects the quote's network.
func (l *lab) wallet(ctx context.Context, home string) (*client.Process, error) {
	cmd := exec.Command(filepath.Join(l.bin, "swapkeep"), origin)
	cmd.Env, cmd.Stderr = l.environ(home), os.Stderr
	p, err := client.Start(cmd)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		method string
		params any
	}{
		{"keys.import", protocol.ImportParams{Request: protocol.UUID(uuid.NewString()), Mnemonic: []byte(testWords), Password: []byte(testPassword)}},
		{"networks.select", protocol.SelectParams{ChainID: quoteChain}},
	} {
		if err := p.Call(ctx, c.method, c.params, nil); err != nil {
			_, stopped := p.Stop()
			return nil, errors.Join(fmt.Errorf("%s: %w", c.method, err), stopped)
		}
	}
	return p, nil
}

// askQuote requires an offer of each provider.
func askQuote(ctx context.Context, p *client.Process, providers []string) error {
	params := quoteAsked
	params.Providers = providers
	var got protocol.QuoteResult
	if err := p.Call(ctx, "swap.quote", params, &got); err != nil {
		return err
	}
	kinds := map[string]bool{}
	for _, o := range got.Offers {
		kinds[o.Provider] = true
	}
	if len(kinds) != len(providers) {
		return fmt.Errorf("offers of %v, failures %v", kinds, got.Failures)
	}
	return nil
}
