package main

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/clock"
	"swapkeep/priceapi"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/postgres"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/shared"
	"swapkeep/priceapi/web"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

func pricesCommand() *cobra.Command {
	var file string
	var sandbox bool
	c := &cobra.Command{
		Use: "prices [--config FILE]", Short: "Serve the token price API, with PostgreSQL and Redis", Args: cobra.NoArgs,
		Long: `prices serves the token price API from PostgreSQL and Redis. Any number of
processes can share the two; one of them at a time polls the sources, and
another takes over when it ends or stops responding.

The URLs of both come from ` + postgresVariable + ` and
` + redisVariable + `, or from files of mode 0600 that the
configuration names. On SIGTERM it finishes running requests and stops. If
systemd passes a socket (LISTEN_FDS) it uses that. On SIGHUP, and when keys_file
changes, it reloads the API keys.`,
		RunE: func(c *cobra.Command, _ []string) error {
			log := zerolog.New(os.Stderr).Level(zerolog.InfoLevel).With().Timestamp().Logger()
			return prices(c.Context(), file, sandbox, log)
		},
	}
	c.Flags().StringVar(&file, "config", "", "configuration file (TOML)")
	c.Flags().BoolVar(&sandbox, "sandbox", false, "the sources are simulators on this machine")
	return c
}

// A service is one process of the hosted price API.
type service struct {
	f        pricesFile
	log      zerolog.Logger
	store    *postgres.Store
	redis    *shared.Redis
	follower *shared.Follower
	sources  *priceapi.Sources // nil = this process never polls
	watched  []poll.Watched
	keys     *keyring // nil = no key is required
	services bool     // some source is a service outside the networks
	health   health
	failures failureLog
}

// prices serves until ctx ends, then finishes running requests.
func prices(ctx context.Context, path string, sandbox bool, log zerolog.Logger) error {
	f, err := readPricesConfig(path)
	if err != nil {
		return err
	}
	s := &service{f: f, log: log, failures: failureLog{log: log}}
	defer s.close()
	who := tokenSource{path, f.KeysFile}
	seen := who.stamp() // before reading, so that a change during the read is noticed
	if err := errors.Join(s.openKeys(who), s.openSources(sandbox)); err != nil {
		return err
	}
	if err := s.openBackends(ctx); err != nil {
		return err
	}
	api, err := s.newAPI()
	if err != nil {
		return err
	}
	secured, err := f.TLS.config("http/1.1")
	if err != nil {
		return err
	}
	ln, err := open(f.Listen, secured, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	if s.keys != nil {
		beside.Go(func() { who.follow(ctx, s.keys.admit, seen, hangup, log) })
	}
	s.follower.Poll(ctx) // load the current prices before answering requests
	beside.Go(func() { s.follower.Run(ctx) })
	if s.sources != nil {
		beside.Go(func() { s.lead(ctx) })
	}
	log.Info().Stringer("address", ln.Addr()).Bool("poll", f.Poll).Bool("sandbox", sandbox).Int("tokens", len(s.watched)).Msg("serving")
	return api.Serve(ctx, ln)
}

func (s *service) close() {
	if s.sources != nil {
		s.sources.Close()
	}
	if s.redis != nil {
		s.redis.Close()
	}
	if s.store != nil {
		s.store.Close()
	}
}

// openKeys reads the API keys, if a file is configured.
func (s *service) openKeys(who tokenSource) error {
	if who.file == "" {
		return nil
	}
	list, err := who.read()
	if err == nil {
		s.keys, err = newKeyring(list)
	}
	return err
}

// openSources opens the price sources if this process may poll.
func (s *service) openSources(sandbox bool) error {
	settings, err := s.f.settings(sandbox)
	s.services = settings.Services()
	if err != nil || !s.f.Poll {
		return err
	}
	list, err := s.f.monitored()
	if err != nil {
		return err
	}
	for _, t := range list {
		n, _ := chain.NetworkByID(t.Chain)
		s.watched = append(s.watched, poll.Watched{Token: t, Public: priceapi.Shows(t.Chain), Ended: n.HasEnded() && !sandbox, Slow: t.Recognized && !t.Verified})
	}
	s.sources, err = settings.Open()
	return err
}

// openBackends connects to PostgreSQL, which is required, and to Redis, which may be
// down: then each process works on its own.
func (s *service) openBackends(ctx context.Context) error {
	at, err := s.f.Postgres.read("postgres", postgresVariable)
	if err != nil {
		return err
	}
	cache, err := s.f.Redis.read("redis", redisVariable)
	if err != nil {
		return err
	}
	if s.store, err = postgres.Open(ctx, postgres.Options{URL: at, Days: s.f.HistoryDays, Connections: s.f.Postgres.Connections}); err != nil {
		return err
	}
	s.redis, err = shared.Open(shared.Options{URL: cache, Secret: s.store.Secret(), Prefix: s.f.Redis.Prefix})
	if err != nil {
		return err
	}
	s.follower = &shared.Follower{
		Feed: pricetable.NewFeed(), Redis: s.redis, Database: s.store, Now: clock.Now,
		Log: func(err error) { s.failures.record("price tables", err) },
	}
	s.health = health{
		now: clock.Now, fetched: func() time.Time { return s.follower.Feed.Now().Fetched },
		served:   func() bool { return !s.services || s.follower.Feed.Now().Served(clock.Now()) },
		database: s.store.Check, redis: s.redis.Check, failures: &s.failures,
	}
	return nil
}

func (s *service) newAPI() (*web.API, error) {
	trusted, err := s.f.trusted()
	if err != nil {
		return nil, err
	}
	limiter, err := s.redis.Limiter(s.f.keyed(), s.f.keyless())
	if err != nil {
		return nil, fmt.Errorf("limits: %w", err)
	}
	c := web.Config{
		Feed: s.follower.Feed, Charts: s.store, Health: s.health.check, Version: version,
		Hosts: s.f.Hosts, Origins: s.f.Origins, TrustForwarded: trusted, Limiter: limiter, Cache: s.redis.Cache(),
		Limits: web.Limits{Connections: s.f.Limits.Connections, Streams: s.f.Limits.Streams, Drain: time.Duration(s.f.Limits.Drain)},
		Log:    stdlog.New(debugLog{s.log}, "", 0),
	}
	if s.keys != nil {
		c.Keys, c.Keyless = s.keys.owner, s.f.Anonymous
	}
	return web.New(c)
}
