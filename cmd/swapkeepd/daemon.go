package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/config"
	"swapkeep/confirm"
	"swapkeep/confirm/dialog"
	"swapkeep/home"
	"swapkeep/host"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/settings"
	"swapkeep/host/transport"
	"swapkeep/internal/clock"
	"swapkeep/keys"
	"swapkeep/providers/refused"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

// A daemon has everything that lives as long as the process.
type daemon struct {
	cfg        config.Config // including settings of earlier runs once they are read
	log        zerolog.Logger
	home       *home.Home
	settings   *settings.Settings
	hub        *chain.MultiClient
	vault      *keys.Vault
	provided   *keys.ProviderKeys
	tokens     *tokens.Registry
	incoming   *tokens.Incoming
	lists      []protocol.Problem // token lists that cannot be used
	explorer   explorer
	prices     *prices
	desk       *confirm.Desk
	displays   dialog.Displays
	swaps      *engine.Service
	server     *host.Server
	background sync.WaitGroup     // repair of the installation, and dialogs: they must end before the daemon does
	stop       context.CancelFunc // makes the daemon stop
}

// serve opens the home, resumes open orders, and serves connections until ctx ends or a
// client stops it.
func serve(ctx context.Context, cfg config.Config, own *owner.Owner) error {
	place := transport.Instance{Home: cfg.Home}
	file, err := owner.OpenLog(place)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &daemon{cfg: cfg, stop: stop, log: zerolog.New(file).With().Timestamp().Logger()}
	if err := d.build(); err != nil {
		return errors.Join(err, d.close())
	}
	l, err := own.Listen()
	if err != nil {
		return errors.Join(err, d.close())
	}
	if err := d.swaps.Resume(ctx); err != nil {
		return errors.Join(err, d.close())
	}
	d.prices.start(ctx)
	d.log.Info().Str("version", version).Bool("sandbox", cfg.Sandbox).Msg("ready")
	d.background.Go(func() { repairInstallation(d.log) })
	d.background.Go(func() { d.showDialogs(ctx) })
	err = d.accept(ctx, l)
	d.log.Info().Msg("stopping")
	return errors.Join(err, d.close())
}

// build creates the parts, those that others depend on first.
func (d *daemon) build() (err error) {
	if d.home, err = home.Open(d.cfg.Home, d.cfg.Sandbox); err != nil {
		return err
	}
	if err := d.openSettings(); err != nil {
		return err
	}
	if err := d.openKeys(); err != nil {
		return err
	}
	if d.hub, err = dialNetworks(d.cfg); err != nil {
		return err
	}
	providers, err := openProviders(d.cfg, d.provided.Get, providerDeps{
		ownPrice: func(ctx context.Context, chainID uint64, in, out common.Address, amount *big.Int) (*big.Int, error) {
			return d.prices.desk.Out(ctx, chainID, in, chainID, out, amount)
		},
		unusual: func(what string) { d.log.Info().Str("provider", string(swap.DEX)).Msg(what) },
	})
	if err != nil {
		return err
	}
	if err := d.openTokens(providers); err != nil {
		return err
	}
	d.explorer = explorer{d.hub, d.tokens}
	d.desk = confirm.NewDesk()
	d.displays.Add(dialog.FromEnviron())
	d.openPrices()
	if err := d.openSwaps(providers); err != nil {
		return err
	}
	d.server, err = d.newServer()
	return err
}

// isOwnAccount reports whether an account is one of a wallet here, or may be: it is true if the
// keychain cannot be read.
func (d *daemon) isOwnAccount(a common.Address) bool {
	accounts, err := d.vault.Accounts(context.Background())
	return err != nil || slices.ContainsFunc(accounts, func(x keys.Account) bool { return x.Address == a })
}

// openSwaps creates the service that executes orders.
func (d *daemon) openSwaps(providers map[swap.Kind]swap.Provider) error {
	sender, err := chain.NewSender(d.home.DB, d.hub, d.vault, chain.SenderOptions{})
	if err != nil {
		return err
	}
	journal, err := journal.Open(d.home.DB)
	if err != nil {
		return err
	}
	fees, err := feesOf(d.cfg)
	if err != nil {
		return err
	}
	d.swaps, err = engine.NewService(engine.Options{
		Journal: journal, Providers: providers, Nodes: d.hub, Sender: sender, Signer: d.vault, Sealer: d.vault, Isolated: isolated{d.vault}, Pricer: d.prices.desk, GasPrice: gasMeter{d.hub}.price,
		Valuer: d.prices.desk, Limits: d.limits,
		Tokens:    d.grantable,
		Decimals:  d.tokens.DecimalsConfirmed,
		Recognize: d.recognize, AwaitPrices: d.prices.awaitFirst, Confirmer: confirmer{d.desk, d.confirms}, Fees: fees, Mine: d.isOwnAccount, Unlocked: d.vault.Unlocked, IsLocked: func(err error) bool { return errors.Is(err, keys.ErrLocked) },
		Lines:      d.lines(providers),
		OrderLines: d.orderLines(providers),
		Keep:       refused.New(d.home.Dir, version, clock.Now).Watch,
		OpenOrders: d.cfg.Limits.OpenOrders, Now: clock.Now,
		Log: func(o swap.Order, err error) {
			d.log.Warn().Err(err).Str("order", o.ID).Str("state", string(o.State)).Msg("order waits")
		},
	})
	if err != nil {
		return err
	}
	d.vault.Subscribe(func(c keys.Change) {
		switch {
		case c.Kind == keys.Unlocked:
			d.swaps.Wake()
		case c.Kind == keys.IsolatedSearched && len(c.Discovery.Isolated) > 0:
			if err := d.swaps.SweepFound(addressesOf(c.Discovery.Isolated)); err != nil {
				d.log.Warn().Err(err).Msg("isolated accounts that were found are not looked at")
			}
		}
	})
	return nil
}

// limits returns how much may be moved without the password, by the current settings.
func (d *daemon) limits() engine.Limits {
	l := d.settings.Config().Limits
	dollars := func(n int) *big.Int { return new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(1e6)) }
	return engine.Limits{Hour: dollars(l.HourlyDollars), Unpriced: dollars(l.UnpricedDay), Outside: d.confirms() == config.ConfirmOutside}
}

// newServer creates the server of the protocol.
func (d *daemon) newServer() (*host.Server, error) {
	return host.New(host.Config{
		Wallet: wallet{d.vault, d.cfg}, Swaps: d.swaps, Networks: d.hub, Tokens: pricedTokens{d.tokens, d.incoming, d.prices.poke},
		Settings: d.settings, Prices: d.prices, ProviderKeys: providerKeys{d.provided, d.settings.Config}, Confirmations: d.desk, Display: func(x protocol.Display) { d.displays.Add(dialog.Display(x)) }, Version: version, Home: shortID(d.home), Directory: d.home.Dir, Sandbox: d.cfg.Sandbox,
		Process: processOf, WithClient: keys.WithClient, AllowUnknown: d.cfg.Extensions.AllowUnknown, Errors: sentinels, Problems: d.problems, Diagnose: d.diagnose, Stop: d.stop, Log: d.log,
	})
}

// processOf returns the process id at the other end of a connection; 0 if unknown.
func processOf(c net.Conn) int {
	peer, err := transport.ClientOf(c)
	if err != nil {
		return 0
	}
	return peer.PID
}

// accept serves connections until ctx ends, then waits for those still open.
func (d *daemon) accept(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer d.server.Close()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // out of file descriptors, for example; open connections continue
			d.log.Warn().Err(err).Msg("accept")
			time.Sleep(100 * time.Millisecond)
			continue
		}
		wg.Go(func() {
			if err := d.server.Serve(ctx, c); err != nil {
				d.log.Debug().Err(err).Msg("connection ended")
			}
		})
	}
}

// close closes the parts in an order in which none uses one that is already closed.
func (d *daemon) close() error {
	d.stop()
	d.background.Wait()
	if d.swaps != nil {
		d.swaps.Wait()
	}
	if d.prices != nil {
		d.prices.wait()
	}
	if d.vault != nil {
		d.vault.Close()
	}
	if d.hub != nil {
		d.hub.Close()
	}
	if d.home != nil {
		return d.home.Close()
	}
	return nil
}

// openKeys opens the keychain that the configuration names. It never falls back to
// another one.
func (d *daemon) openKeys() error {
	store, err := keysOf(d.cfg, home.Stamp{Sandbox: d.home.Sandbox, Namespace: d.home.Namespace}, d.home.Dir, "", keys.Limits{})
	if err != nil {
		return err
	}
	d.provided = keys.NewProviderKeys(store)
	kdf, pace := keyDerivation()
	d.vault, err = keys.New(store, keys.Options{KDF: kdf, AttemptInterval: pace, Sandbox: d.home.Sandbox, AutoLock: time.Duration(d.cfg.Keys.AutoLock), Explorer: &d.explorer})
	return err
}

// keysOf opens the items of a home in the keychain that the configuration names. A suffix
// separates other items from them.
func keysOf(cfg config.Config, stamp home.Stamp, dir, suffix string, limits keys.Limits) (*keys.Store, error) {
	keychain := keys.System()
	if cfg.Keys.Backend == "file" {
		files, err := keys.OpenFiles(filepath.Join(dir, "keys"))
		if err != nil {
			return nil, err
		}
		keychain = files
	}
	namespace := stamp.Namespace + suffix
	if stamp.Sandbox {
		namespace = "sandbox." + namespace
	}
	return keys.NewStore(keychain, namespace, limits)
}

func feesOf(cfg config.Config) (swap.FeeConfig, error) {
	f := swap.DefaultFees()
	f.FeeBps = cfg.Fees.FeeBps
	f.Partner.Name, f.Partner.Website = cfg.Fees.Name, cfg.Fees.Website
	if r := cfg.Fees.Receiver; r != "" {
		if !common.IsHexAddress(r) || !strings.HasPrefix(r, "0x") {
			return f, fmt.Errorf("fees.receiver: %q is not an address", r)
		}
		f.Partner.Receiver = common.HexToAddress(r)
	}
	if err := f.Check(); err != nil {
		return f, fmt.Errorf("fees: %w", err)
	}
	return f, nil
}

// problems returns what does not work, with remedies, for the status.
func (d *daemon) problems() []protocol.Problem {
	out := slices.Concat(d.storageProblems(), d.settingProblems(), d.tokenProblems(), d.prices.problems())
	for _, p := range d.swaps.Providers() {
		if p.Kind == swap.DEX && !p.Ready {
			out = append(out, protocol.Problem{Name: "providers.dex", Message: "the DEX provider is not configured", Remedy: "set providers.dex.base_url to your key proxy"})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	status, _ := d.vault.Status(ctx) // its error shows in the state of the keys
	for _, p := range status.Problems {
		out = append(out, protocol.Problem{Name: "keychain_broken", Message: "wallet " + p.Wallet + ": " + p.Err.Error(), Remedy: keys.Remedy(p.Err)})
	}
	return out
}
