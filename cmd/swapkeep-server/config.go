package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"swapkeep/providers/keyproxy"

	"github.com/ethereum/go-ethereum/common"
	"github.com/pelletier/go-toml/v2"
)

// keyVariable is the environment variable that may hold the DEX API key.
const keyVariable = "SWAPKEEP_SERVER_DEX_KEY"

// maxFile limits the bytes read from a file, enough for ten thousand tokens.
const maxFile = 4 << 20

// A proxyFile is the configuration of the proxy command. Unknown keys are errors.
type proxyFile struct {
	Listen   string   `toml:"listen"`   // host:port; not used with a socket from systemd
	Metrics  string   `toml:"metrics"`  // loopback host:port; empty = none
	Upstream string   `toml:"upstream"` // the provider's base URL
	Hosts    []string `toml:"hosts"`    // accepted Host headers
	KeyFile  string   `toml:"key_file"` // mode 0600; or set the environment variable
	TLS      tlsFiles `toml:"tls"`      // required unless on loopback
	Fee      *struct {
		Bips      int    `toml:"bips"`
		Recipient string `toml:"recipient"`
	} `toml:"fee"` // absent = no fee, and requests for one are refused
	Tokens     []token `toml:"tokens"`      // accepted tokens
	TokensFile string  `toml:"tokens_file"` // or a file of tokens, reloaded when it changes
	Limits     struct {
		Rate        float64  `toml:"rate"`
		Burst       int      `toml:"burst"`
		Share       float64  `toml:"share"`
		Running     int      `toml:"running"`
		Bodies      int      `toml:"bodies"`
		Connections int      `toml:"connections"`
		Address     int      `toml:"address"` // connections per client address
		Body        int64    `toml:"body"`
		Reply       int64    `toml:"reply"`
		BodyTime    duration `toml:"body_time"`
		ReplyTime   duration `toml:"reply_time"`
		Drain       duration `toml:"drain"` // time for running requests after SIGTERM
	} `toml:"limits"`
}

// duration is a time.Duration written as text: 10s, 1m30s.
type duration time.Duration

func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = duration(v)
	return err
}

const (
	defaultUpstream    = "https://trade-api.gateway.uniswap.org/v1"
	defaultDrain       = 30 * time.Second
	defaultConnections = 1024
	defaultAddress     = 256
)

func readConfig(path string) (proxyFile, error) {
	f := proxyFile{Listen: "127.0.0.1:5340", Upstream: defaultUpstream}
	f.Limits.Drain, f.Limits.Connections, f.Limits.Address = duration(defaultDrain), defaultConnections, defaultAddress
	if err := decodeFile(path, nil, &f); err != nil {
		return f, err
	}
	if f.Limits.Drain <= 0 || time.Duration(f.Limits.Drain) > 10*time.Minute || f.Limits.Connections < 1 || f.Limits.Connections > 1<<16 || f.Limits.Address < 1 {
		return f, fmt.Errorf("%s: limits.drain must be up to 10m, limits.connections 1 to 65536 and limits.address above 0", path)
	}
	if (f.Tokens == nil) == (f.TokensFile == "") {
		return f, fmt.Errorf("%s: list the installations either in [[tokens]] or in tokens_file", path)
	}
	if err := f.TLS.check(); err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// decodeFile decodes TOML into the value that into points to. Unknown keys are errors.
func decodeFile(path string, check func(os.FileInfo) error, into any) error {
	raw, err := readFile(path, check)
	if err != nil {
		return err
	}
	err = toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(into)
	var unknown *toml.StrictMissingError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		return fmt.Errorf("%s: unknown key %s", path, strings.Join(unknown.Errors[0].Key(), "."))
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// proxyConfig converts the file to the proxy's configuration, with the key.
func (f proxyFile) proxyConfig(sandbox bool, key string) (keyproxy.Config, error) {
	l := f.Limits
	c := keyproxy.Config{Upstream: f.Upstream, Sandbox: sandbox, Key: key, Hosts: f.Hosts, Limits: keyproxy.Limits{
		Rate: l.Rate, Burst: l.Burst, Share: l.Share, Running: l.Running, Bodies: l.Bodies, Body: l.Body, Reply: l.Reply,
		BodyTime: time.Duration(l.BodyTime), ReplyTime: time.Duration(l.ReplyTime)}}
	if f.Fee != nil {
		a, err := common.NewMixedcaseAddressFromString(f.Fee.Recipient)
		if err != nil || !a.ValidChecksum() {
			return c, errors.New("fee.recipient: must be an address with its checksum (EIP-55)")
		}
		c.Fee = &keyproxy.Fee{Bips: f.Fee.Bips, Recipient: a.Address()}
	}
	return c, nil
}

// readKey reads the API key from the environment or its file. Errors never contain any of
// it.
func readKey(path string) (string, error) {
	key, err := secret{"api key", keyVariable, "key_file", path}.read()
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", fmt.Errorf("no api key: set %s, or key_file to a file of mode 0600", keyVariable)
	}
	return key, keyproxy.CheckKey(key)
}

// A secret is read from the environment or from a file that only its owner can read,
// never from an argument, which every process of the machine can see.
type secret struct {
	what, variable string
	setting, path  string
}

// read returns the secret, "" if there is none, and unsets its environment variable, so
// that no child process inherits it. Errors never contain any of it.
func (s secret) read() (string, error) {
	value := os.Getenv(s.variable)
	if err := os.Unsetenv(s.variable); err != nil {
		return "", err
	}
	switch {
	case value != "" && s.path != "":
		return "", fmt.Errorf("the %s is set twice, in %s and in %s; keep one", s.what, s.variable, s.setting)
	case s.path == "":
		return value, nil
	}
	raw, err := readFile(s.path, refuseReadableByOthers)
	if err != nil {
		return "", err
	}
	if value = strings.TrimSpace(string(raw)); value == "" {
		return "", fmt.Errorf("%s: empty", s.path)
	}
	return value, nil
}

// refuseReadableByOthers accepts mode 0600 and stricter, such as systemd's 0400 for credentials.
func refuseReadableByOthers(s os.FileInfo) error {
	if s.Mode().Perm()&^0o600 != 0 {
		return fmt.Errorf("has mode %04o: must be 0600, so that nobody else reads the key", s.Mode().Perm())
	}
	return nil
}

// readFile reads a regular file of at most maxFile bytes that check, unless nil, accepts.
func readFile(path string, check func(os.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	s, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !s.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case check != nil:
		if err := check(s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s: above %d bytes", path, maxFile)
	}
	return raw, err
}
