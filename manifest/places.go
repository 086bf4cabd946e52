package manifest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:generate go run ./gen

// A Scope says whether a place serves one user or all.
type Scope string

const (
	User   Scope = "user"
	System Scope = "system"
)

// A Box is a packaging that sandboxes the browser. It determines what the browser sees of
// the system, and what starts the host.
type Box string

// The sandboxes; empty means that the browser is not sandboxed.
const (
	Flatpak Box = "flatpak"
	Snap    Box = "snap"
)

// Evidence is how we know that a browser looks in a place.
type Evidence string

// The kinds of evidence, best first.
const (
	Ran    Evidence = "ran"    // observed: a browser reads it
	Source Evidence = "source" // read in the browser's source or documentation, or in another host's installer
	Thread Evidence = "thread" // reported by users
	Trace  Evidence = "trace"  // somebody else's trace of system calls
	Belief Evidence = "belief" // inferred
)

// Evidences returns all kinds, best first.
func Evidences() []Evidence { return []Evidence{Ran, Source, Thread, Trace, Belief} }

// A Place is where one browser looks for the manifest.
type Place struct {
	Browser  string // name for the command line, a row of Browsers
	Channel  string // "", "beta", "dev" …; a place of the empty one serves every channel
	System   string // a GOOS value
	Scope    Scope
	Family   Family
	Box      Box
	App      string // Flatpak id or snap name
	Dir      string // directory, with placeholders; empty on Windows
	Key      string // Windows: registry key without its hive and the host's name
	Fallback bool   // read if the others have nothing: the doctor checks it, the installer does not write it
	// Footprint has files and directories, with placeholders, any of which shows that the
	// browser is installed. For a system place they are outside every home.
	Footprint []string
	Evidence  Evidence
	Note      string // sources, also contradicting ones
}

// A Browser is a browser in the table.
type Browser struct {
	Name   string // for the command line
	Title  string // for people
	Family Family
}

// Browsers returns the browsers in the order shown to people.
func Browsers() []Browser { return slices.Clone(browsers) }

// ErrUnknownBrowser means that the table has no browser of that name.
var ErrUnknownBrowser = errors.New("unknown browser")

// FindBrowser returns the browser of that name, or ErrUnknownBrowser with all names.
func FindBrowser(name string) (Browser, error) {
	i := slices.IndexFunc(browsers, func(b Browser) bool { return b.Name == name })
	if i < 0 {
		known := make([]string, len(browsers))
		for i, b := range browsers {
			known[i] = b.Name
		}
		return Browser{}, fmt.Errorf("%w %q; use one of %s", ErrUnknownBrowser, name, strings.Join(known, ", "))
	}
	return browsers[i], nil
}

// Places returns all places of a system to which a manifest is written, grouped by
// browser. Several browsers share some.
func Places(goos string) []Place {
	return slices.DeleteFunc(AllPlaces(goos), func(p Place) bool { return p.Fallback })
}

// AllPlaces returns all places of a system where a browser looks: Places and the fallbacks.
// A browser looks at a user's places before the system's, and at those of one scope in
// the order of the result.
func AllPlaces(goos string) []Place {
	table, ok := installations[goos]
	if !ok {
		return nil
	}
	var all []Place
	list := table()
	for _, in := range list {
		all = append(all, in.places(goos, list)...)
	}
	return all
}

// PlacesOf returns a browser's places in one scope of a system; several if it is
// uncertain which one it reads.
func PlacesOf(goos, browser string, scope Scope) []Place {
	return slices.DeleteFunc(Places(goos), func(p Place) bool { return p.Browser != browser || p.Scope != scope })
}

// Folder returns the place's directory in an environment; empty on Windows.
func (p Place) Folder(e Environment) string { return e.expand(p.Dir) }

// File returns the manifest's path; empty on Windows, where a key names the file.
func (p Place) File(e Environment) string {
	if p.Dir == "" {
		return ""
	}
	return path.Join(p.Folder(e), FileName)
}

// HostKey returns the registry key whose default value is the manifest's path, below HKCU
// for a user and HKLM for the system; empty on other systems.
func (p Place) HostKey() string {
	if p.Key == "" {
		return ""
	}
	return p.Key + `\` + HostName
}

// A View is one of the two views of HKLM\Software, for programs of each width. Below HKCU
// both are the same.
type View int

// The views, by the width of the programs that see them.
const (
	View32 View = 32
	View64 View = 64
)

// Views returns the views in which a browser looks, of which the first match wins; none
// on other systems. A manifest is written to the last one.
func (p Place) Views() []View {
	switch {
	case p.Key == "":
		return nil
	case p.Scope == System:
		return []View{View32, View64}
	}
	return []View{View64}
}

// Footprints returns the paths any of which shows that the browser is installed.
func (p Place) Footprints(e Environment) []string {
	var out []string
	for _, f := range p.Footprint {
		name, onPath := strings.CutPrefix(f, "$PATH/")
		if !onPath {
			out = append(out, e.expand(f))
			continue
		}
		for _, dir := range strings.Split(e.Getenv("PATH"), ":") {
			if path.IsAbs(dir) && path.Clean(dir) != snapPrograms {
				out = append(out, path.Join(dir, name))
			}
		}
	}
	return out
}

// snapPrograms is on every PATH if snaps are installed. Browsers in snaps have their own
// rows.
const snapPrograms = "/snap/bin"
