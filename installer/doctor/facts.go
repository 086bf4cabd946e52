package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"swapkeep/host/client"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// A facts is what several checks use, determined once.
type facts struct {
	browsers []browser // installed on the machine
	daemon   *client.Client
	dialed   error     // why there is no connection to a daemon
	pid      int       // of the process that holds the home; 0 = unknown
	locked   bool      // whether a process holds the home
	started  time.Time // time of the first launch without a running daemon; zero: one always ran
	dead     []string  // manifests that we installed and that are invalid or point to nothing
}

// A browser is an installed browser with its manifests.
type browser struct {
	manifest.Place // its first place: has the name, channel, sandbox and family
	places         []manifest.Place
	hits           []foundManifest // in the browser's order: it reads the first
	extensions     []extension
	strangers      []extension // have our extension's name and are not allowed
}

// A foundManifest is a manifest in a place where a browser looks.
type foundManifest struct {
	place manifest.Place
	file  string
	text  []byte
	err   error // why it cannot be read
	path  string
	lists []string // allowed extensions, from the keys of both families
}

// title returns a browser's name for people.
func (b browser) title() string {
	words := []string{b.Browser}
	if b.Channel != "" {
		words = append(words, b.Channel)
	}
	if b.Box != "" {
		words = append(words, "("+string(b.Box)+")")
	}
	return strings.Join(words, " ")
}

// first returns the manifest that the browser reads.
func (b browser) first() (foundManifest, bool) {
	if len(b.hits) == 0 {
		return foundManifest{}, false
	}
	return b.hits[0], true
}

func (p *Env) look(ctx context.Context) {
	p.facts = &facts{}
	p.dial(ctx)
	for _, b := range p.installed() {
		if p.Machine.OS == "windows" { // all the user's keys come before the machine's
			slices.SortStableFunc(b.places, func(x, y manifest.Place) int { return cmp.Compare(scopes[x.Scope], scopes[y.Scope]) })
		}
		for _, place := range b.places {
			b.hits = append(b.hits, p.hitsAt(place)...)
		}
		b.extensions, b.strangers = p.extensionsOf(b)
		p.facts.browsers = append(p.facts.browsers, b)
	}
}

var scopes = map[manifest.Scope]int{manifest.User: 1, manifest.System: 2}

func (s *facts) close() {
	if s.daemon != nil {
		_ = s.daemon.Close()
	}
}

func (p *Env) environment() manifest.Environment {
	return manifest.Environment{Home: p.Machine.Home, Getenv: p.Machine.Env}
}

// installed returns browsers with a footprint, each once per channel and sandbox.
func (p *Env) installed() []browser {
	var out []browser
	looked := manifest.AllPlaces(p.Machine.OS)
	for _, place := range looked {
		known := slices.ContainsFunc(out, func(b browser) bool { return b.same(place) })
		if known || p.Browser != "" && p.Browser != place.Browser || !p.there(place) {
			continue
		}
		b := browser{Place: place}
		for _, l := range looked {
			if b.same(l) || l.Browser == b.Browser && l.Box == b.Box && l.Channel == "" && l.Scope == manifest.System {
				b.places = append(b.places, l)
			}
		}
		out = append(out, b)
	}
	return out
}

func (b browser) same(p manifest.Place) bool {
	return b.Browser == p.Browser && b.Channel == p.Channel && b.Box == p.Box && b.App == p.App
}

func (p *Env) there(place manifest.Place) bool {
	if place.Box == manifest.Flatpak && p.leftover(place.App) {
		return false
	}
	return slices.ContainsFunc(place.Footprints(p.environment()), func(path string) bool {
		_, err := p.Machine.Files.Lstat(path)
		return err == nil
	})
}

// leftover reports whether a Flatpak is not installed any more: its data in the home
// outlives it. The result is false if the administrator configured further installations.
func (p *Env) leftover(app string) bool {
	if len(p.glob("/etc/flatpak/installations.d", "*.conf")) > 0 {
		return false
	}
	data := p.Machine.Env("XDG_DATA_HOME")
	if !path.IsAbs(data) {
		data = p.Machine.Home + "/.local/share"
	}
	for _, dir := range []string{"/var/lib", data} {
		if _, err := p.Machine.Files.Lstat(dir + "/flatpak/app/" + app); err == nil {
			return false
		}
	}
	return true
}

// hitsAt returns the manifests in a place: at most one, except for the two registry views
// on Windows.
func (p *Env) hitsAt(place manifest.Place) []foundManifest {
	if place.Key != "" {
		return p.hitsByKey(place)
	}
	file := place.File(p.environment())
	if _, err := p.Machine.Files.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []foundManifest{p.hitOf(place, file)}
}

// hitsByKey reads the registry views in the order that browsers do.
func (p *Env) hitsByKey(place manifest.Place) (out []foundManifest) {
	if p.Machine.Registry == nil {
		return nil
	}
	for _, view := range place.Views() {
		key := keyIn(place, view)
		if file, is, err := p.Machine.Registry.Value(key, ""); err == nil && is {
			out = append(out, p.hitOf(place, file))
		}
	}
	return out
}

// keyIn returns a place's key in a registry view.
func keyIn(place manifest.Place, view manifest.View) string {
	key := place.HostKey()
	if hive, rest, _ := strings.Cut(key, `\`); view == manifest.View32 {
		key = hive + `\WOW6432Node\` + rest
	}
	if place.Scope == manifest.System {
		return `HKLM\` + key
	}
	return `HKCU\` + key
}

// hitOf reads a manifest as far as it can be read.
func (p *Env) hitOf(place manifest.Place, file string) foundManifest {
	h := foundManifest{place: place, file: file}
	if h.text, h.err = p.Machine.Files.ReadFile(file); h.err != nil {
		return h
	}
	var named struct {
		Path       string   `json:"path"`
		Origins    []string `json:"allowed_origins"`
		Extensions []string `json:"allowed_extensions"`
	}
	_ = json.Unmarshal([]byte(strings.TrimPrefix(string(h.text), bom)), &named)
	h.path, h.lists = named.Path, slices.Concat(named.Origins, named.Extensions)
	if p.Machine.OS == "windows" && h.path != "" && !strings.Contains(h.path, ":") && !strings.HasPrefix(h.path, `\`) {
		h.path = file[:strings.LastIndexByte(file, '\\')+1] + h.path // relative to the manifest
	}
	return h
}

// bom is a byte order mark, which both families accept before the text.
const bom = "\xef\xbb\xbf"

// ours reports whether a manifest is one that we installed, by the program it names.
func (p *Env) ours(h foundManifest) bool {
	if h.err != nil || h.path == "" {
		return false
	}
	for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
		layout, err := installer.LayoutOf(p.Machine, scope, p.Version, "")
		if err == nil && h.path == layout.Launch {
			return true
		}
	}
	return h.path == installer.PackagedProgram(p.Machine) || p.sameProgram(h.path)
}
