package installer

import (
	"bytes"
	"encoding/json"
	"strings"

	"swapkeep/manifest"
)

// A manifestFile is the part of a manifest that browsers read.
type manifestFile struct {
	Path       string   `json:"path"`
	Origins    []string `json:"allowed_origins"`
	Extensions []string `json:"allowed_extensions"`

	program string // Path, made absolute: on Windows it may be relative to the manifest
	text    string
}

func (m Machine) readManifest(path string) (f manifestFile, err error) {
	text, err := m.Files.ReadFile(path)
	if err != nil {
		return f, err
	}
	return m.parseManifest(path, text)
}

// parseManifest parses the manifest at a path as browsers do, skipping a byte order mark.
func (m Machine) parseManifest(path string, text []byte) (f manifestFile, err error) {
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &f); err != nil {
		return f, err
	}
	f.text, f.program = string(text), f.Path
	if m.OS == "windows" && f.Path != "" && !m.isAbs(f.Path) {
		f.program = m.join(m.parent(path), f.Path)
	}
	return f, nil
}

func (f manifestFile) family() manifest.Family {
	if len(f.Origins) > 0 {
		return manifest.Chromium
	}
	return manifest.Firefox
}

func (f manifestFile) ids() []string {
	ids := f.Extensions
	for _, o := range f.Origins {
		ids = append(ids, strings.Trim(strings.TrimPrefix(o, "chrome-extension://"), "/"))
	}
	return ids
}
