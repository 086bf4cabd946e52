package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const maxFile = 1 << 20 // bytes of any file read here

// Load reads the configuration for environ (entries as in os.Environ). flags are applied
// last; each is key=value.
func Load(environ []string, flags ...string) (Config, error) {
	c := Default()
	env := environment(environ)
	c.Home, c.Providers.DEX.Token = env["SWAPKEEP_HOME"], env[tokenVariable]
	if c.Home != "" && !filepath.IsAbs(c.Home) {
		return c, fmt.Errorf("SWAPKEEP_HOME is %q: must be an absolute path", c.Home)
	}
	seen := newPathChecker()
	if err := c.readFile(env, seen); err != nil {
		return c, err
	}
	if err := c.applyEnvironment(env); err != nil {
		return c, err
	}
	if err := c.readExtensions(seen); err != nil {
		return c, err
	}
	for _, f := range flags {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			return c, fmt.Errorf("flag %q: want key=value", f)
		}
		path := strings.Split(key, ".")
		if err := c.set(path, value); err != nil {
			return c, fmt.Errorf("flag %s: %w", key, err)
		}
		c.recordOrigin(path, FromFlag, key)
	}
	return c, c.Check()
}

// readFile reads $SWAPKEEP_CONFIG, or the file in the system's configuration directory if
// it exists.
func (c *Config) readFile(env map[string]string, seen *pathChecker) error {
	path, explicit := env["SWAPKEEP_CONFIG"], true
	if path == "" {
		dir := env["XDG_CONFIG_HOME"]
		switch {
		case dir != "" && !filepath.IsAbs(dir): // otherwise relay, daemon and terminal would each read another file
			return fmt.Errorf("XDG_CONFIG_HOME is %q: must be an absolute path", dir)
		case dir == "":
			var err error
			if dir, err = os.UserConfigDir(); err != nil {
				return nil // no home directory: no file
			}
		}
		path, explicit = filepath.Join(dir, "swapkeep", "config.toml"), false
	}
	c.ExtensionsFile = filepath.Join(filepath.Dir(path), "extensions.json")
	b, err := seen.readOwn(path)
	if errors.Is(err, os.ErrNotExist) && !explicit {
		return nil
	}
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	c.File = path
	if err := c.parse(b); err != nil {
		return err
	}
	return c.recordFileOrigins(b)
}

// readOwn reads a file that only this user or root can write or replace: whoever can change
// the configuration can name another extension, provider or RPC.
func (s *pathChecker) readOwn(path string) ([]byte, error) {
	path, err := filepath.Abs(path) // ".." after a link must not lead elsewhere than the path that is checked
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil { // otherwise the error would name the first missing directory
		return nil, err
	}
	open, err := s.writableDirs(path)
	if err != nil {
		return nil, err
	}
	return readChecked(path, func(info fs.FileInfo) error {
		switch bad, err := s.writableByOthers(path, info); {
		case err != nil:
			return err
		case bad:
			open = append(open, path)
		}
		if len(open) == 0 {
			return nil
		}
		return fmt.Errorf("%s can be changed by others: check its content, then run chmod go-w %s", path, shellWords(open))
	})
}

// shellWords quotes paths for a shell.
func shellWords(paths []string) string {
	words := make([]string, 0, len(paths))
	for _, p := range paths {
		if strings.Trim(p, lower+capital+digits+"/._-") != "" {
			p = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
		words = append(words, p)
	}
	return strings.Join(words, " ")
}

// readChecked reads a file of at most maxFile bytes that passes check.
func readChecked(path string, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		err = check(info)
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is over %d bytes", path, maxFile)
	}
	return b, err
}

// parse decodes TOML over the present values of c.
func (c *Config) parse(b []byte) error {
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	err := d.Decode(c)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		e := unknown.Errors[0]
		row, _ := e.Position()
		return fmt.Errorf("configuration %s, line %d: unknown key %s", c.File, row, strings.Join(e.Key(), "."))
	}
	if err != nil {
		return fmt.Errorf("configuration %s: %w", c.File, err)
	}
	return nil
}
