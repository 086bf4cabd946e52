package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"swapkeep/providers/keyproxy"

	"github.com/pelletier/go-toml/v2"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

// A token is the configuration's entry for one installation.
type token struct {
	Name   string `toml:"name"`
	SHA256 string `toml:"sha256"` // of the token's text, in hex
}

// A tokensFile is the content of a tokens file.
type tokensFile struct {
	Tokens []token `toml:"tokens"`
}

// watchEvery is how often the tokens file is checked for changes.
const watchEvery = 2 * time.Second

// A tokenSource names the files with the accepted tokens: a tokens file or, if that is empty,
// the proxy's configuration.
type tokenSource struct{ config, file string }

// read returns the tokens as they are in the file now.
func (r tokenSource) read() ([]keyproxy.Token, error) {
	var list tokensFile
	if r.file == "" {
		f, err := readConfig(r.config)
		if err != nil {
			return nil, err
		}
		list.Tokens = f.Tokens
	} else if err := decodeFile(r.file, refuseWritableByOthers, &list); err != nil {
		return nil, err
	}
	if list.Tokens == nil { // possibly half written
		return nil, errors.New("no tokens configured; to allow no one, write tokens = []")
	}
	out := make([]keyproxy.Token, 0, len(list.Tokens))
	for _, t := range list.Tokens {
		out = append(out, keyproxy.Token(t))
	}
	return out, nil
}

// refuseWritableByOthers refuses a file that others can write to.
func refuseWritableByOthers(s os.FileInfo) error {
	if s.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("has mode %04o: run chmod go-w on it after checking what it says", s.Mode().Perm())
	}
	return nil
}

// A stamp identifies a state of a file.
type stamp struct {
	time time.Time
	size int64
}

// stamp returns the state of the tokens file; zero if there is none.
func (r tokenSource) stamp() stamp {
	s, err := os.Stat(r.file)
	if err != nil {
		return stamp{}
	}
	return stamp{s.ModTime(), s.Size()}
}

// follow admits the roll's tokens on each signal and whenever its file differs from seen,
// until ctx ends. A roll that cannot be read changes nothing.
func (r tokenSource) follow(ctx context.Context, admit func([]keyproxy.Token) error, seen stamp, told <-chan os.Signal, log zerolog.Logger) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-told:
		case <-tick.C:
			if r.stamp() == seen {
				continue
			}
		}
		seen = r.stamp()
		tokens, err := r.read()
		if err == nil {
			err = admit(tokens)
		}
		if err != nil {
			log.Error().Err(err).Msg("cannot reload tokens; the previous ones stay valid")
			continue
		}
		log.Info().Int("tokens", len(tokens)).Msg("tokens reloaded")
	}
}

func tokenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "token NAME", Short: "Make a token that allows one installation", Args: cobra.ExactArgs(1),
		Long: `token makes a random token. The entry for the tokens file goes to standard output.
The token itself, for the installation, goes to standard error only; the proxy
needs just its hash. A token is also an API key for the price API.`,
		RunE: func(c *cobra.Command, args []string) error {
			return makeToken(args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
}

func makeToken(name string, entry, secret io.Writer) error {
	if name == "" {
		return errors.New("the token needs a name, by which you will know the installation")
	}
	text := rand.Text()
	sum := sha256.Sum256([]byte(text))
	made, err := toml.Marshal(tokensFile{[]token{{name, hex.EncodeToString(sum[:])}}})
	if err != nil {
		return err
	}
	if _, err := entry.Write(made); err != nil {
		return err
	}
	_, err = fmt.Fprintln(secret, text)
	return err
}
