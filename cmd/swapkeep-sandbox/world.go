package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"swapkeep/providers/keyproxy"
	"swapkeep/sandbox"
)

// proxyFee is the wallet's fee on DEX swaps in bps, as in the daemon's sandbox
// configuration.
const proxyFee = 20

// A world is a sandbox whose DEX is called through a key proxy, as in production: the DEX
// requires an API key that only the proxy holds, and the daemon's configuration has the
// proxy's URL and a token for it.
type world struct {
	*sandbox.Sandbox
	proxy  *keyproxy.Proxy
	server *http.Server
	url    string
	key    string // API key of the DEX
}

// openWorld starts the sandbox and the proxy and writes the daemon's files to dir.
func openWorld(ctx context.Context, o sandbox.Options, dir string, log zerolog.Logger) (*world, error) {
	w := &world{key: rand.Text()}
	o.DEXKey = w.key
	var err error
	if w.Sandbox, err = sandbox.Start(ctx, o); err != nil {
		return nil, err
	}
	token, err := w.openProxy(ctx, cmp.Or(o.Host, "127.0.0.1"), log)
	if err == nil {
		err = w.writeFiles(dir, token)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// openProxy serves a key proxy in front of the DEX and returns a token for it.
func (w *world) openProxy(ctx context.Context, host string, log zerolog.Logger) (token string, err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	token = rand.Text()
	sum := sha256.Sum256([]byte(token))
	w.proxy, err = keyproxy.New(keyproxy.Config{
		Upstream: w.DEXURL(), Sandbox: true, Key: w.key, Hosts: []string{l.Addr().String()},
		Fee:    &keyproxy.Fee{Bips: proxyFee, Recipient: sandbox.FeeReceiver},
		Tokens: []keyproxy.Token{{Name: "sandbox", SHA256: hex.EncodeToString(sum[:])}},
		Limits: keyproxy.Limits{Rate: 1000, Burst: 1000, Share: 1}, // the simulated DEX has no rate limit
		Log:    log.With().Str("part", "key proxy").Logger(),
	})
	if err != nil {
		return "", errors.Join(err, l.Close())
	}
	w.url = "http://" + l.Addr().String() + "/v1"
	w.server = &http.Server{Handler: w.proxy, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = w.server.Serve(l) }()
	return token, nil
}

// writeFiles writes the token, with mode 0600, and the configuration that names its file.
func (w *world) writeFiles(dir, token string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, "dex-token")
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	w.BehindProxy(w.url, path)
	return w.WriteFiles(dir)
}

// Close stops the proxy and then the sandbox.
func (w *world) Close() error {
	var err error
	if w.server != nil {
		err = w.server.Close()
		w.proxy.Close()
	}
	return errors.Join(err, w.Sandbox.Close())
}
