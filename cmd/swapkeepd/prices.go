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
	"swapkeep/fault"
	"swapkeep/host/protocol"
	"swapkeep/priceapi"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/web"
	"swapkeep/priceapi/valuation"
	"swapkeep/rest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

const (
	listenAgain = 30 * time.Second
	currentFor  = 5 * time.Minute  // without a fetch the service is degraded
	maxWatched  = 5000             // tokens whose prices are kept
	firstWait   = 12 * time.Second // for the first prices, before a swap is judged without
)

// prices are the daemon's price service. Nothing of the wallet waits for it: what of
// it does not work is a problem in the status, and no more.
type prices struct {
	feed    *pricetable.Feed
	desk    valuation.Desk
	history *series.Store // nil = prices are off
	sources *priceapi.Sources
	poller  *poll.Poller
	listen  string
	again   time.Duration // until a port that was taken is tried again
	log     zerolog.Logger
	failed  []protocol.Problem               // when it was opened
	port    atomic.Pointer[protocol.Problem] // why nobody is served; nil = fine
	url     atomic.Pointer[string]           // where the API is; nil = nowhere
	running sync.WaitGroup
}

// openPrices makes the service. It connects to nothing and cannot fail.
func (d *daemon) openPrices() {
	feed := pricetable.NewFeed()
	p := &prices{feed: feed, desk: valuation.Desk{Feed: feed}, listen: d.cfg.Prices.Listen, again: listenAgain, log: d.log}
	d.prices = p
	if d.cfg.Prices.Disabled {
		return
	}
	if err := p.open(d); err != nil {
		p.failed = append(p.failed, protocol.Problem{Name: "prices", Message: "prices are off: " + err.Error(), Remedy: "mend that, then restart; until then no swap can be compared with a price, and each asks for a second act"})
		p.log.Error().Err(err).Msg("prices are off")
		p.shut()
		p.history, p.sources, p.poller = nil, nil, nil
	}
}

func (p *prices) open(d *daemon) error {
	var err error
	if p.sources, err = sourcesOf(d.cfg, d.hub, func(ctx context.Context, name string) (string, error) {
		return d.provided.Get(ctx, keyItem(name, d.cfg))
	}); err != nil {
		return err
	}
	if p.history, err = series.Open(filepath.Join(d.home.Dir, "prices.db"), series.Options{Days: d.cfg.Prices.HistoryDays}); err != nil {
		return err
	}
	if damage := p.history.Damage(); damage != "" {
		p.failed = append(p.failed, protocol.Problem{Name: "prices", Message: "the price history was damaged: " + damage, Remedy: "nothing needs doing: what is missing is asked for again; the file that was set aside may be deleted"})
	}
	p.poller = poll.New(poll.Options{
		Tokens: d.watched, Leading: p.sources.Leading, Further: p.sources.Further, Archives: p.sources.Archives, Almanacs: p.sources.Almanacs,
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

// sourcesOf are the sources that the configuration sets up.
func sourcesOf(cfg config.Config, hub *chain.Hub, key func(context.Context, string) (string, error)) (*priceapi.Sources, error) {
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
		Local: cfg.Sandbox, Key: key, Pro: from.CoinGecko.Plan == "pro", Now: fault.Now,
	}
	if cfg.Sandbox {
		s.Reach = rest.OwnMachineAlone
	}
	if hub != nil {
		s.Chain = hub
	}
	return s.Open()
}

// watched lists the tokens whose prices are kept: the built-in ones of all networks
// first, then the imported, then those of the user's lists, however long these are.
func (d *daemon) watched() []poll.Watched {
	var builtin, imported, listed []poll.Watched
	for _, n := range d.hub.Networks() {
		for _, t := range d.tokens.On(n.ID) {
			w := poll.Watched{Token: t, Public: priceapi.Shows(n.ID)}
			switch {
			case t.Verified:
				builtin = append(builtin, w)
			case t.List != "":
				listed = append(listed, w)
			default:
				w.Public, w.Private = w.Public && d.cfg.Prices.Imported, !d.cfg.Prices.AskImported
				imported = append(imported, w)
			}
		}
	}
	all := slices.Concat(builtin, imported, listed)
	return all[:min(len(all), maxWatched)]
}

// pricedTokens are the registry, whose new tokens get a price soon.
type pricedTokens struct {
	*tokens.Registry
	poke func()
}

// Import is the registry's.
func (t pricedTokens) Import(ctx context.Context, id uint64, address common.Address) (tokens.Token, bool, error) {
	imported, known, err := t.Registry.Import(ctx, id, address)
	if err == nil && !known {
		t.poke()
	}
	return imported, known, err
}

func (p *prices) poke() {
	if p.poller != nil {
		p.poller.Poke()
	}
}

// start begins to poll and to serve, until ctx ends.
func (p *prices) start(ctx context.Context) {
	if p.poller == nil {
		return
	}
	p.running.Go(func() { p.poller.Run(ctx) })
	if p.listen != config.NoListener {
		p.running.Go(func() { p.serve(ctx) })
	}
}

// serve answers on the port. One that is taken is tried again and again.
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
		case <-time.After(p.again):
		}
	}
}

// serveAt answers on a port. An API serves once.
func (p *prices) serveAt(ctx context.Context, l net.Listener) error {
	api, err := web.New(web.Config{Feed: p.feed, Charts: p.history, Health: p.health, Version: version})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return api.Serve(ctx, l)
}

// portProblem names who holds the port, where that can be told.
func portProblem(at string, err error) *protocol.Problem {
	said := fmt.Sprintf("the price API is not served at %s: %v", at, err)
	if who := holderOf(at); who != "" {
		said = fmt.Sprintf("the price API is not served at %s, which %s holds", at, who)
	}
	return &protocol.Problem{Name: "prices.listen", Message: said, Remedy: "stop that program, or choose another address (prices.listen; off for none); the wallet, swaps and swapkeep prices work all the same"}
}

// wait is for when ctx has ended. What is shut is still asked by requests that came late.
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

// health is what GET /health tells.
func (p *prices) health(ctx context.Context) web.Health {
	h := web.Health{Status: web.Healthy, Database: "bbolt: ok", Cache: "in-process: ok"}
	state := p.poller.Health()
	if err := p.history.Check(ctx); err != nil {
		h.Status, h.Database = web.Degraded, "bbolt: failing"
	}
	if state.History != nil || fault.Now().Sub(state.Fetched).Abs() > currentFor {
		h.Status = web.Degraded
	}
	if state.Fetched.IsZero() && h.Database != "bbolt: ok" {
		h.Status = web.Unhealthy
	}
	return h
}

// problems are what does not work.
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
		out = append(out, protocol.Problem{Name: "prices", Message: "prices cannot be kept: " + state.History.Error(), Remedy: "free disk space, or mend the permissions of the state directory; current prices are shown meanwhile"})
	}
	if age := fault.Now().Sub(state.Fetched); len(state.Sources) > 0 && age.Abs() > currentFor {
		out = append(out, protocol.Problem{Name: "prices", Message: "no source of prices answers", Remedy: "look at the network connection; old prices are marked stale and nothing is valued by them"})
	}
	return out
}

// Status is what the host tells besides the board.
func (p *prices) Status() (out protocol.PricesStatus) {
	if at := p.url.Load(); at != nil {
		out.URL = *at
	}
	if p.poller != nil {
		out.Sources = p.poller.Health().Sources
	}
	return out
}

// awaitFirst waits a short while for the first prices since the daemon's start, which a
// browser may have begun with the very swap.
func (p *prices) awaitFirst(ctx context.Context) {
	if p.poller == nil {
		return
	}
	select {
	case <-p.poller.First():
	case <-fault.After(firstWait):
	case <-ctx.Done():
	}
}

// Next is the newest board.
func (p *prices) Next() (*pricetable.Board, <-chan struct{}) { return p.feed.Next() }

// Dollars is what an amount is worth, for people.
func (p *prices) Dollars(id price.ID, amount *big.Int) (price.Value, error) {
	return p.desk.Shown(id, amount)
}

// Chart is a token's.
func (p *prices) Chart(ctx context.Context, id price.ID, period price.Period) ([]price.Candle, error) {
	if p.history == nil {
		return nil, errors.New("prices are off")
	}
	return p.history.Chart(ctx, id, period, fault.Now())
}
