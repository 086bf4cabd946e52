package manifest

import "slices"

// browsers are the rows of the table's first column.
var browsers = []Browser{
	{"chrome", "Google Chrome", Chromium},
	{"chrome-for-testing", "Chrome for Testing", Chromium},
	{"chromium", "Chromium", Chromium},
	{"ungoogled-chromium", "Ungoogled Chromium", Chromium},
	{"brave", "Brave", Chromium},
	{"edge", "Microsoft Edge", Chromium},
	{"vivaldi", "Vivaldi", Chromium},
	{"opera", "Opera", Chromium},
	{"arc", "Arc", Chromium},
	{"yandex", "Yandex Browser", Chromium},
	{"helium", "Helium", Chromium},
	{"iridium", "Iridium", Chromium},
	{"slimjet", "Slimjet", Chromium},
	{"firefox", "Firefox", Firefox},
	{"firefox-esr", "Firefox ESR", Firefox},
	{"librewolf", "LibreWolf", Firefox},
	{"waterfox", "Waterfox", Firefox},
	{"floorp", "Floorp", Firefox},
	{"zen", "Zen", Firefox},
	{"tor", "Tor Browser", Firefox},
}

// installations return the known installations of browsers on each system. They are
// functions so that a relay, which needs none, does not build them.
var installations = map[string]func() []installation{
	"linux":   onLinux,
	"darwin":  onMacOS,
	"windows": onWindows,
}

// An installation is a browser, channel and packaging on one system.
type installation struct {
	browser, channel string
	box              Box
	app              string
	used             []string   // paths that a user of it has
	programs         []string   // names on the PATH, on Linux
	installed        []string   // paths of its program, outside every home
	locations        []location // in the browser's order
}

// A location is one place where an installation looks for a manifest.
type location struct {
	scope    Scope
	where    string
	evidence Evidence
	note     string
	fallback bool
}

func user(where string, e Evidence, note string) location {
	return location{scope: User, where: where, evidence: e, note: note}
}

func system(where string, e Evidence, note string) location {
	return location{scope: System, where: where, evidence: e, note: note}
}

// asFallback marks a look as a fallback, which is not written to.
func asFallback(l location) location {
	l.fallback = true
	return l
}

// places returns the places of one installation.
func (in installation) places(goos string, all []installation) []Place {
	b, err := FindBrowser(in.browser)
	if err != nil {
		panic(err) // a row of ours; tests read all of them
	}
	out := make([]Place, len(in.locations))
	for i, l := range in.locations {
		out[i] = Place{
			Browser: b.Name, Channel: in.channel, System: goos, Scope: l.scope, Family: b.Family, Box: in.box, App: in.app,
			Fallback: l.fallback, Footprint: in.footprint(l.scope, all), Evidence: l.evidence, Note: l.note,
		}
		if goos == "windows" {
			out[i].Key = l.where + `\NativeMessagingHosts`
		} else {
			out[i].Dir = l.where + "/" + folder(goos, b.Family, l.scope)
		}
	}
	return out
}

// folder returns the last element of a look's directory.
func folder(goos string, f Family, s Scope) string {
	if goos == "linux" && (f == Firefox || s == System) {
		return "native-messaging-hosts"
	}
	return "NativeMessagingHosts"
}

// footprint returns the paths that show a browser: for a user's place those of this
// installation, for a system place those of every channel, without homes, because the one
// who installs is not the one who browses.
func (in installation) footprint(s Scope, all []installation) []string {
	if s == User {
		out := slices.Clone(in.used)
		for _, p := range in.programs {
			out = append(out, "$PATH/"+p)
		}
		return append(out, in.installed...)
	}
	var out []string
	for _, other := range all {
		if other.browser != in.browser || other.box != in.box {
			continue
		}
		for _, p := range other.programs {
			out = append(out, "/usr/bin/"+p)
		}
		out = append(out, other.installed...)
	}
	return out
}
