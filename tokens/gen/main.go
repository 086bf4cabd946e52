// Gen writes listed.json of package tokens: the tokens of published lists, sorted so that
// people find what they hold. It fetches the pinned versions with npm, and reads the one
// list that no registry has from monad.json. Run it by go generate ./tokens.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A source is a published list.
type source struct {
	Letter  string `json:"letter"` // stands for it in the rows
	Name    string `json:"name"`
	Version string `json:"version"`
	License string `json:"license"` // of the package; only facts are taken from it
	SHA256  string `json:"sha256"`  // of the package, or of the file beside this one
	// counts: the list alone is enough to take up a token. Others are old, and only move a
	// token up.
	counts bool
	// open: anybody may add a token to the list. Its tokens fill what the others leave.
	open bool
	read func(dir string) ([]token, error)
}

// sources in the order in which their spelling of symbols and names is preferred.
var sources = []source{
	{Letter: "u", Name: "@uniswap/default-token-list", Version: "22.21.0", License: "GPL-3.0-or-later", counts: true, read: tokenList("build/uniswap-default.tokenlist.json", "")},
	{Letter: "m", Name: "monad-crypto/token-list", Version: "2.43.0", License: "MIT", counts: true, read: monad},
	{Letter: "a", Name: "@bgd-labs/aave-address-book", Version: "4.44.22", License: "MIT", counts: true, read: tokenList("tokenlist.json", "underlying")},
	{Letter: "o", Name: "@eth-optimism/tokenlist", Version: "10.0.1757", License: "MIT", counts: true, open: true, read: superchain},
	{Letter: "x", Name: "@across-protocol/constants", Version: "3.1.127", License: "AGPL-3.0-only", counts: true, read: across},
	{Letter: "p", Name: "@pancakeswap/tokens", Version: "0.9.1", License: "MIT", counts: true, read: pancake},
	{Letter: "k", Name: "@metamask/contract-metadata", Version: "2.5.0", License: "ISC", read: contractMap},
	{Letter: "s", Name: "@sushiswap/default-token-list", Version: "43.3.0", License: "GPL-3.0-or-later", read: tokenList("build/sushiswap-default.tokenlist.json", "")},
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is called in the folder of package tokens.
func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var found []token
	used := slices.Clone(sources)
	for i := range used {
		s := &used[i]
		at, err := s.fetch(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		rows, err := s.read(at)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		for _, t := range rows {
			t.Lists = s.Letter
			found = append(found, t)
		}
	}
	seed, err := seedOf("seed.json")
	if err != nil {
		return err
	}
	kept, left := choose(found, seed)
	for _, l := range left {
		fmt.Println(l)
	}
	out, err := encode(used, kept)
	if err != nil {
		return err
	}
	return os.WriteFile("listed.json", out, 0o644)
}

// fetch unpacks the source's package into a folder and notes its hash.
func (s *source) fetch(ctx context.Context, dir string) (string, error) {
	if s.Letter == "m" {
		raw, err := os.ReadFile(filepath.Join("gen", monadFile))
		s.SHA256 = hashOf(raw)
		return "gen", err
	}
	at := filepath.Join(dir, s.Letter)
	if err := os.Mkdir(at, 0o700); err != nil {
		return "", err
	}
	pack := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", at, s.Name+"@"+s.Version)
	name, err := pack.Output()
	if err != nil {
		return "", err
	}
	file := filepath.Join(at, strings.TrimSpace(string(name)))
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	s.SHA256 = hashOf(raw)
	return filepath.Join(at, "package"), exec.CommandContext(ctx, "tar", "-xzf", file, "-C", at).Run()
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// encode writes a token per line, so that a change of the list can be read.
func encode(used []source, kept []token) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n\"sources\": [\n")
	if err := lines(&b, used); err != nil {
		return nil, err
	}
	b.WriteString("],\n\"tokens\": [\n")
	if err := lines(&b, kept); err != nil {
		return nil, err
	}
	b.WriteString("]\n}\n")
	return b.Bytes(), nil
}

func lines[T any](b *bytes.Buffer, rows []T) error {
	for i, row := range rows {
		raw, err := json.Marshal(row)
		if err != nil {
			return err
		}
		b.Write(raw)
		if i < len(rows)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return nil
}
