//go:build linux

package ui

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
)

// atRest is true once fonts are loaded and no finite animation is running.
const atRest = `document.fonts.status === "loaded" && !document.getAnimations().some((a) => a.playState === "running" && a.effect?.getComputedTiming().endTime !== Infinity)`

// Screenshot saves a picture of the viewport once animations have ended, and returns its
// path. name may contain directories and needs no extension.
func (p *Page) Screenshot(name string) string {
	p.b.t.Helper()
	p.until("come to rest for a picture", func() error {
		raw, err := p.tab.run(atRest)
		if err == nil && string(raw) != "true" {
			err = errors.New("something moves")
		}
		return err
	})
	path, err := p.saveScreenshot(name)
	if err != nil {
		p.b.t.Fatalf("%s: picture of %s: %v", p.b.setup.Kind, p.path, err)
	}
	return path
}

// saveScreenshot saves a picture, which has to have the size of the page's viewport.
func (p *Page) saveScreenshot(name string) (string, error) {
	picture, err := p.tab.picture()
	if err != nil {
		return "", err
	}
	size, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return "", err
	}
	if !p.realPopup && (size.Width != p.look.Width || size.Height != p.look.Height) {
		return "", fmt.Errorf("it is %d by %d, not %d by %d", size.Width, size.Height, p.look.Width, p.look.Height)
	}
	dir, err := p.b.screenshotDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, strings.TrimSuffix(name, ".png")+".png")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, picture, 0o644)
}

// fileName maps a rune of a test's name to one of a file name.
func fileName(r rune) rune {
	if r == '/' || r == ' ' || r == ':' {
		return '-'
	}
	return r
}
