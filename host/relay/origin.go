package relay

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"swapkeep/host/protocol"
	"swapkeep/manifest"
)

// Errors of CallerOf and AllowList.Check.
var (
	// ErrNotABrowser means that the arguments are not those of a browser.
	ErrNotABrowser = errors.New("not started by a browser")
	// ErrOriginRefused means that a browser's arguments name an extension that may not
	// use the host.
	ErrOriginRefused = errors.New("this extension is not allowed to use swapkeep")
)

// A Caller is the extension that a browser started the host for.
type Caller struct {
	Family manifest.Family // "" if the browser did not say
	ID     string          // the extension's id; "" if not given
}

// Origin returns the caller as the browser named it: chrome-extension://ID/, an add-on
// id, or protocol.UnknownOrigin.
func (c Caller) Origin() string {
	switch c.Family {
	case manifest.Chromium:
		return manifest.ChromiumOrigin(c.ID)
	case manifest.Firefox:
		return c.ID
	}
	return protocol.UnknownOrigin
}

const chromiumScheme = "chrome-extension://"

// CallerOf parses a browser's arguments, without the program's name. Chromium passes the
// origin and then flags of its own, such as --parent-window=0, which are ignored. Firefox
// passes the manifest's path and the add-on's id. Errors: ErrNotABrowser;
// ErrOriginRefused for a malformed origin.
func CallerOf(args []string) (Caller, error) {
	switch {
	case len(args) >= 1 && strings.HasPrefix(args[0], chromiumScheme):
		id := strings.TrimSuffix(strings.TrimPrefix(args[0], chromiumScheme), "/")
		if args[0] != manifest.ChromiumOrigin(id) || !manifest.Chromium.ValidID(id) {
			return Caller{}, ErrOriginRefused
		}
		return Caller{manifest.Chromium, id}, nil
	case len(args) >= 2 && isManifest(args[0]):
		if !manifest.Firefox.ValidID(args[1]) {
			return Caller{}, ErrOriginRefused
		}
		return Caller{manifest.Firefox, args[1]}, nil
	}
	return Caller{}, ErrNotABrowser
}

func isManifest(path string) bool {
	name := filepath.Base(path)
	return filepath.IsAbs(path) && (name == manifest.FileName || name == manifest.WindowsFileName(manifest.Firefox))
}

// An AllowList lists the callers that may use the host.
type AllowList struct {
	Chromium []string // extension ids
	Firefox  []string // add-on ids
	Unknown  bool     // callers that were not named
}

// Check returns ErrOriginRefused for a caller that is not allowed.
func (l AllowList) Check(c Caller) error {
	allowed := l.Unknown
	switch c.Family {
	case manifest.Chromium:
		allowed = slices.Contains(l.Chromium, c.ID)
	case manifest.Firefox:
		allowed = slices.Contains(l.Firefox, c.ID)
	}
	if !allowed {
		return ErrOriginRefused
	}
	return nil
}
