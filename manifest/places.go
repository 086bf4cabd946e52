package manifest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:generate go run ./gen

// A Scope is whom a place serves.
type Scope string

// The scopes.
const (
	User   Scope = "user"
	System Scope = "system"
)

// A Box is a packaging that shuts the browser in: it decides what the browser sees of
// the system, and who starts the host.
type Box string

// The boxes; the empty one is a browser that runs as any program.
const (
	Flatpak Box = "flatpak"
	Snap    Box = "snap"
)

// Evidence is how it is known that a browser looks in a place.
type Evidence string

// The kinds of evidence, best first.
const (
	Ran    Evidence = "ran"    // a browser was seen to read it
	Source Evidence = "source" // read in the browser's source or documentation, or in a peer's installer
	Thread Evidence = "thread" // reported by users
	Trace  Evidence = "trace"  // somebody else's trace of its system calls
	Belief Evidence = "belief" // inferred
)

// Evidences are all kinds, best first.
func Evidences() []Evidence { return []Evidence{Ran, Source, Thread, Trace, Belief} }

// A Place is where one browser looks for the host.
type Place struct {
	Browser  string // its name at the command line, a row of Browsers
	Channel  string // "", "beta", "dev" …; a place of the empty one serves every channel
	System   string // as GOOS
	Scope    Scope
	Family   Family
	Box      Box
	App      string // its name in the box: a Flatpak id or a snap
	Dir      string // the folder, with placeholders; empty on Windows
	Key      string // Windows: the registry key without its hive and the host's name
	Fallback bool   // read when the others have nothing: a doctor looks there, an installer leaves it alone
	// Footprint: any of these files and folders (with placeholders) says that the browser
	// is there. Those of a system place are outside every home.
	Footprint []string
	Evidence  Evidence
	Note      string // who says so, and who says otherwise
}

// A Browser is one that the table knows.
type Browser struct {
	Name   string // at the command line
	Title  string // to a person
	Family Family
}

// Browsers in the order they are listed to a person.
func Browsers() []Browser { return slices.Clone(browsers) }

// ErrUnknownBrowser: the table has no browser of that name.
var ErrUnknownBrowser = errors.New("unknown browser")

// FindBrowser is the browser of that name. Error: ErrUnknownBrowser, naming all.
func FindBrowser(name string) (Browser, error) {
	i := slices.IndexFunc(browsers, func(b Browser) bool { return b.Name == name })
	if i < 0 {
		known := make([]string, len(browsers))
		for i, b := range browsers {
			known[i] = b.Name
		}
		return Browser{}, fmt.Errorf("%w %q: name one of %s", ErrUnknownBrowser, name, strings.Join(known, ", "))
	}
	return browsers[i], nil
}

// Places are all places of a system to which a manifest is written, grouped by browser.
// Several browsers share some.
func Places(goos string) []Place {
	return slices.DeleteFunc(Looked(goos), func(p Place) bool { return p.Fallback })
}

// Looked are all places of a system where a browser looks: Places and the fallbacks. A
// browser looks at a user's places before the system's, and at those of one scope in the
// order in which they stand here.
func Looked(goos string) []Place {
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

// PlacesOf are a browser's places in one scope of a system; several where it is not
// certain which one it reads.
func PlacesOf(goos, browser string, scope Scope) []Place {
	return slices.DeleteFunc(Places(goos), func(p Place) bool { return p.Browser != browser || p.Scope != scope })
}

// Folder is the place's folder for somebody; empty on Windows.
func (p Place) Folder(e Environment) string { return e.expand(p.Dir) }

// File is where the manifest is; empty on Windows, where a key names the file.
func (p Place) File(e Environment) string {
	if p.Dir == "" {
		return ""
	}
	return path.Join(p.Folder(e), FileName)
}

// HostKey is the registry key whose default value is the manifest's path, below HKCU for
// a user and HKLM for the system; empty elsewhere.
func (p Place) HostKey() string {
	if p.Key == "" {
		return ""
	}
	return p.Key + `\` + HostName
}

// A View is one of the two registries that Windows keeps below HKLM\Software: one for
// programs of each width. Below HKCU they are the same.
type View int

// The views, by the width of the programs that see them.
const (
	View32 View = 32
	View64 View = 64
)

// Views are the views in which a browser looks, the first hit wins; none on other
// systems. A manifest is written to the last one.
func (p Place) Views() []View {
	switch {
	case p.Key == "":
		return nil
	case p.Scope == System:
		return []View{View32, View64}
	}
	return []View{View64}
}

// Footprints are the files and folders of which any says that the browser is there.
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

// snapPrograms is on every PATH where there are snaps; those browsers have rows of their
// own.
const snapPrograms = "/snap/bin"
