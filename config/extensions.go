package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// InstalledExtensions are the extensions that swapkeep install allowed by --extension-id.
// They are stored in extensions.json next to the configuration file, which only the user
// edits.
type InstalledExtensions struct {
	Chromium []string `json:"chromium,omitempty"`
	Firefox  []string `json:"firefox,omitempty"`
}

// readExtensions adds the extensions that the installer allowed to those of the
// configuration. A missing file adds nothing.
func (c *Config) readExtensions(seen *pathChecker) error {
	if !filepath.IsAbs(c.ExtensionsFile) { // a relative path would name another file for the next program that reads it
		c.ExtensionsFile = ""
		return nil
	}
	b, err := seen.readOwn(c.ExtensionsFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("extensions: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err = d.Decode(&c.Installed)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("it has more than one value")
		}
	}
	if err != nil {
		return fmt.Errorf("extensions: %s: %w; remove it, then allow extensions again with swapkeep install --extension-id", c.ExtensionsFile, err)
	}
	c.Extensions.Chromium = union(c.Extensions.Chromium, c.Installed.Chromium)
	c.Extensions.Firefox = union(c.Extensions.Firefox, c.Installed.Firefox)
	return nil
}

// union is a with those elements of b that it lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
