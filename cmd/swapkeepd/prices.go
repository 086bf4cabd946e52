package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"swapkeep/chain"
	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/priceapi"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/valuation"
	"swapkeep/priceapi/web"
	"swapkeep/rest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

const (
	listenRetry = 30 * time.Second
	currentFor  = 5 * time.Minute  // after this long without a fetch the service is degraded
	maxWatched  = 5000             // limit of tokens whose prices are kept
	firstWait   = 12 * time.Second // for the first prices, before a swap is checked without any
)

// prices is the daemon's price service. The rest of the wallet never waits for it: its
// failures are only problems in the status.
type prices struct {
	feed       *pricetable.Feed
	desk       valuation.Valuer
	history    *series.Store // nil = prices are off
	sources    *priceapi.Sources
	services   bool // some source is a service outside the networks
	poller     *poll.Poller
	listen     string
	retryAfter time.Duration // delay before a taken port is tried again
	log        zerolog.Logger
	failed     []protocol.Problem               // problems when opening
	port       atomic.Pointer[protocol.Problem] // why the API is not served; nil = fine
	url        atomic.Pointer[string]           // URL of the API; nil = not served
	running    sync.WaitGroup
}

// openPrices creates the price service without connecting. A failure turns prices off.
func (d *daemon) openPrices() {
	feed := pricetable.NewFeed()
	p := &prices{feed: feed, desk: valuation.Valuer{Feed: feed}, listen: d.cfg.Prices.Listen, retryAfter: listenRetry, log: d.log}
	d.prices = p
	if d.cfg.Prices.Disabled {
		return
	}
	if err := p.open(d); err != nil {
		p.failed = append(p.failed, protocol.Problem{Name: "prices", Message: "prices are off: " + err.Error(), Remedy: "fix this, then restart; until then swaps cannot be compared with a price, and each needs an acknowledgement"})
		p.log.Error().Err(err).Msg("prices are off")
		p.shut()
		p.history, p.sources, p.poller = nil, nil, nil
	}
}

func (p *prices) open(d *daemon) error {
	var err error
	settings := sourcesOf(d.cfg, d.hub, func(ctx context.Context, name string) (string, error) {
		return d.provided.Get(ctx, keyItem(name, d.cfg))
	})
	if p.sources, err = settings.Open(); err != nil {
		return err
	}
	p.services = settings.Services()
	if p.history, err = series.Open(filepath.Join(d.home.Dir, "prices.db"), series.Options{Days: d.cfg.Prices.HistoryDays}); err != nil {
		return err
	}
	if damage := p.history.Damage(); damage != "" {
		p.failed = append(p.failed, protocol.Problem{Name: "prices", Message: "the price history was damaged: " + damage, Remedy: "nothing needs doing: what is missing is asked for again; the file that was set aside may be deleted"})
	}
	p.poller = poll.New(poll.Options{
		Tokens: d.watched, Leading: p.sources.Leading, Further: p.sources.Further, Archives: p.sources.Archives, MetadataSources: p.sources.MetadataSources,
		History: p.history, Feed: p.feed,
		Log: func(n poll.Notice) {
			e := d.log.Debug().Err(n.Err).Str("from", n.From)
			if n.ID != (price.ID{}) {
				e = e.Uint64("chain", n.ID.Chain).Stringer("token", n.ID.Address)
			}
			e.Msg("price")
		},
	})
	return nil
}

// sourcesOf returns the price sources of the configuration.
func sourcesOf(cfg config.Config, hub *chain.MultiClient, key func(context.Context, string) (string, error)) priceapi.Settings {
	from := cfg.Prices.Sources
	s := priceapi.Settings{
		Of: map[string]priceapi.Setting{
			priceapi.DefiLlama: {Disabled: from.DefiLlama.Disabled, Base: from.DefiLlama.BaseURL}, priceapi.OnChain: {Disabled: from.OnChain.Disabled},
			priceapi.GeckoTerminal: {Disabled: from.GeckoTerminal.Disabled, Base: from.GeckoTerminal.BaseURL},
			priceapi.CoinGecko:     {Disabled: from.CoinGecko.Disabled, Base: from.CoinGecko.BaseURL},
			priceapi.DexScreener:   {Disabled: from.DexScreener.Disabled, Base: from.DexScreener.BaseURL},
			priceapi.Blockscout:    {Disabled: from.Blockscout.Disabled, Base: from.Blockscout.BaseURL},
			priceapi.GoPlus:        {Disabled: from.GoPlus.Disabled, Base: from.GoPlus.BaseURL},
			priceapi.Hosted:        {Disabled: from.Hosted.Disabled, Base: from.Hosted.BaseURL},
		},
		Local: cfg.Sandbox, Key: key, Pro: from.CoinGecko.Plan == "pro", Now: clock.Now,
	}
	if cfg.Sandbox {
		s.Reach = rest.LoopbackOnly
	}
	if hub != nil {
		s.Chain = hub
	}
	return s
}

// watched returns the tokens whose prices are kept: the verified tokens of all networks
// first, then imported ones, then the rest of the built-in list, then those of the user's
// lists, at most maxWatched.
func (d *daemon) watched() []poll.Watched {
	var verified, imported, recognized, listed []poll.Watched
	for _, n := range d.hub.Networks() {
		for _, t := range d.tokens.On(n.ID) {
			w := poll.Watched{Token: t, Public: priceapi.Shows(n.ID), Ended: n.HasEnded()}
			switch {
			case t.Verified:
				verified = append(verified, w)
			case t.Recognized:
				w.Slow = true
				recognized = append(recognized, w)
			case t.List != "":
				listed = append(listed, w)
			default:
				w.Public, w.Private = w.Public && d.cfg.Prices.Imported, !d.cfg.Prices.AskImported
				imported = append(imported, w)
			}
		}
	}
	all := slices.Concat(verified, imported, recognized, listed)
	return all[:min(len(all), maxWatched)]
}

// pricedTokens is the token registry, with the search for unknown tokens; it requests prices
// for new tokens.
type pricedTokens struct {
	*tokens.Registry
	incoming *tokens.Incoming
	poke     func()
}

// Incoming looks for unknown tokens that an account was sent. No price is requested of them.
func (t pricedTokens) Incoming(ctx context.Context, id uint64, account common.Address) ([]tokens.Token, error) {
	return t.incoming.Look(ctx, id, account)
}

// Import imports a token and requests its price.
func (t pricedTokens) Import(ctx context.Context, id uint64, address common.Address) (tokens.Token, bool, error) {
	imported, known, err := t.Registry.Import(ctx, id, address)
	if err == nil && !known {
		t.poke()
	}
	return imported, known, err
}

func (p *prices) poke() {
	if p.poller != nil {
		p.poller.FetchSoon()
	}
}

// start publishes the stored prices, then polls and serves until ctx ends.
func (p *prices) start(ctx context.Context) {
	if p.poller == nil {
		return
	}
	p.poller.Resume(ctx)
	p.running.Go(func() { p.poller.Run(ctx) })
	if p.listen != config.NoListener {
		p.running.Go(func() { p.serve(ctx) })
	}
}

// serve serves the price API and retries while the port is taken.
func (p *prices) serve(ctx context.Context) {
	for ctx.Err() == nil {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.listen)
		if err == nil {
			at := "http://" + l.Addr().String()
			p.port.Store(nil)
			p.url.Store(&at)
			p.log.Info().Str("at", at).Msg("prices are served")
			err = p.serveAt(ctx, l)
			p.url.Store(nil)
		}
		if ctx.Err() != nil {
			return
		}
		if p.port.Swap(portProblem(p.listen, err)) == nil {
			p.log.Warn().Err(err).Msg("prices are not served")
		}
		select {
		case <-ctx.Done():
		case <-time.After(p.retryAfter):
		}
	}
}

// serveAt serves the price API on a listener. A [web.API] serves only once.
func (p *prices) serveAt(ctx context.Context, l net.Listener) error {
	api, err := web.New(web.Config{Feed: p.feed, Charts: p.history, Health: p.health, Version: version})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return api.Serve(ctx, l)
}

// portProblem names the process that holds the port, if it can be determined.
func portProblem(at string, err error) *protocol.Problem {
	said := fmt.Sprintf("the price API is not served at %s: %v", at, err)
	if who := holderOf(at); who != "" {
		said = fmt.Sprintf("the price API is not served at %s, which %s holds", at, who)
	}
	return &protocol.Problem{Name: "prices.listen", Message: said, Remedy: "stop that program, or choose another address (prices.listen; off for none); the wallet, swaps and swapkeep prices work all the same"}
}

// wait waits after ctx ended, then closes all. Late requests may query closed parts.
func (p *prices) wait() {
	p.running.Wait()
	p.shut()
}

func (p *prices) shut() {
	if p.sources != nil {
		p.sources.Close()
	}
	if p.history != nil {
		if err := p.history.Close(); err != nil {
			p.log.Error().Err(err).Msg("close the price history")
		}
	}
}

// health answers GET /health.
func (p *prices) health(ctx context.Context) web.Health {
	h := web.Health{Status: web.Healthy, Database: "bbolt: ok", Cache: "in-process: ok"}
	state := p.poller.Health()
	if err := p.history.Check(ctx); err != nil {
		h.Status, h.Database = web.Degraded, "bbolt: failing"
	}
	if now := clock.Now(); state.History != nil || now.Sub(state.Fetched).Abs() > currentFor || p.services && !p.feed.Now().Served(now) {
		h.Status = web.Degraded
	}
	if state.Fetched.IsZero() && h.Database != "bbolt: ok" {
		h.Status = web.Unhealthy
	}
	return h
}

func (p *prices) problems() []protocol.Problem {
	out := append([]protocol.Problem(nil), p.failed...)
	if at := p.port.Load(); at != nil {
		out = append(out, *at)
	}
	if p.poller == nil {
		return out
	}
	state := p.poller.Health()
	if state.History != nil {
		out = append(out, protocol.Problem{Name: "prices", Message: "prices cannot be kept: " + state.History.Error(), Remedy: "free disk space, or fix the permissions of the state directory; current prices are shown meanwhile"})
	}
	if age := clock.Now().Sub(state.Fetched); len(state.Sources) > 0 && age.Abs() > currentFor {
		out = append(out, protocol.Problem{Name: "prices", Message: "no source of prices answers", Remedy: "look at the network connection; old prices are marked stale and nothing is valued by them"})
	}
	return out
}

// Status returns the state of the price service, without the prices.
func (p *prices) Status() (out protocol.PricesStatus) {
	if at := p.url.Load(); at != nil {
		out.URL = *at
	}
	if p.poller != nil {
		out.Sources = p.poller.Health().Sources
	}
	return out
}

// awaitFirst waits at most firstWait for the first prices since the daemon's start, since
// a browser may have started the daemon with this swap.
func (p *prices) awaitFirst(ctx context.Context) {
	if p.poller == nil {
		return
	}
	select {
	case <-p.poller.First():
	case <-clock.After(firstWait):
	case <-ctx.Done():
	}
}

// Next returns the newest price table and a channel that closes when it is replaced.
func (p *prices) Next() (*pricetable.Table, <-chan struct{}) { return p.feed.Next() }

// Dollars returns the value of an amount for display.
func (p *prices) Dollars(id price.ID, amount *big.Int) (price.Value, error) {
	return p.desk.DisplayValue(id, amount)
}

// Chart returns a token's candles.
func (p *prices) Chart(ctx context.Context, id price.ID, period price.Period) ([]price.Candle, error) {
	if p.history == nil {
		return nil, errors.New("prices are off")
	}
	return p.history.Chart(ctx, id, period, clock.Now())
}
