package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
)

// tokenVariable may hold the token on a machine without a keychain. It is not a
// configuration key: a token belongs neither in the file, which others may read, nor in an
// argument, which everybody sees.
const tokenVariable = "SWAPKEEP_PROVIDERS_DEX_TOKEN"

// Bounds on the length of tokens and keys, in characters. They are text without spaces.
const (
	minToken = 22
	minKey   = 1 // the provider decides
	maxToken = 256
)

// checkToken refuses a malformed token. The error does not contain it.
func checkToken(t string) error { return checkSecret("token", t, minToken) }

func checkSecret(what, t string, minLen int) error {
	if len(t) < minLen || len(t) > maxToken || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("no %s: want %d to %d plain characters without spaces", what, minLen, maxToken)
	}
	return nil
}

// InstallationToken is this installation's token for the key proxy, from the environment or
// token_file; "" if neither is set. The file is read each time, so a new token is used at
// once.
func (p Provider) InstallationToken() (string, error) {
	if p.Token != "" || p.TokenFile == "" {
		return p.Token, nil
	}
	return secretIn("token", p.TokenFile, minToken)
}

// Key is the API key in key_file; "" if none is set. The file is read each time.
func (b Bridge) Key() (string, error) {
	if b.KeyFile == "" {
		return "", nil
	}
	return secretIn("key", b.KeyFile, minKey)
}

// secretIn reads a secret from a file that nobody else may read.
func secretIn(what, path string, minLen int) (string, error) {
	b, err := readChecked(path, func(info fs.FileInfo) error {
		if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			return fmt.Errorf("%s can be read by others: run chmod 600 on it, and get a new %s if others had access", path, what)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%s_file: %w", what, err)
	}
	t := strings.TrimSpace(string(b))
	if err := checkSecret(what, t, minLen); err != nil {
		return "", fmt.Errorf("%s_file %s: %w", what, path, err)
	}
	return t, nil
}

// checkToken refuses a token that is given twice or malformed.
func (p Provider) checkToken() error {
	switch {
	case p.Token != "" && p.TokenFile != "":
		return errors.New("token_file is set, and also " + tokenVariable + ": keep one")
	case p.Token != "":
		if err := checkToken(p.Token); err != nil {
			return fmt.Errorf("%s: %w", tokenVariable, err)
		}
	case p.TokenFile != "" && !filepath.IsAbs(p.TokenFile):
		return fmt.Errorf("token_file is %q: must be an absolute path", p.TokenFile)
	}
	return nil
}
