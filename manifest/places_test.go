package manifest_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swapkeep/manifest"
)

// somebody is a user on each system.
var somebody = map[string]manifest.Environment{
	"linux":   {"/home/ann", variables{"PATH": "/usr/local/bin:/usr/bin:/snap/bin:games"}.get},
	"darwin":  {"/Users/ann", variables{"PATH": "/usr/bin"}.get},
	"windows": {`C:\Users\ann`, variables{"ProgramFiles": `C:\Program Files`}.get},
}

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

// everyPlace calls check with each place of each system, including fallbacks.
func everyPlace(check func(goos string, p manifest.Place)) {
	for goos := range somebody {
		for _, p := range manifest.AllPlaces(goos) {
			check(goos, p)
		}
	}
}

func TestPlacesGolden(t *testing.T) {
	for goos, e := range somebody {
		var out bytes.Buffer
		for _, p := range manifest.AllPlaces(goos) {
			fmt.Fprintln(&out, resolved(p, e))
			for _, f := range p.Footprints(e) {
				fmt.Fprintln(&out, "\tif", f)
			}
		}
		golden(t, "places-"+goos+".golden", out.Bytes())
	}
}

// resolved returns a place on one line.
func resolved(p manifest.Place, e manifest.Environment) string {
	words := []string{p.Browser, p.Channel, string(p.Box), p.App, string(p.Scope), p.File(e) + p.HostKey(), string(p.Evidence)}
	for _, v := range p.Views() {
		words = append(words, fmt.Sprintf("view %d", v))
	}
	if p.Fallback {
		words = append(words, "fallback")
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " | ")
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("SWAPKEEP_BLESS") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what comes out now:\n%s", file, got)
	}
}

func TestNoPlaceTwice(t *testing.T) {
	seen := map[string]bool{}
	everyPlace(func(goos string, p manifest.Place) {
		// Volumes on two of the systems ignore case.
		id := strings.ToLower(fmt.Sprint(goos, p.Browser, p.Channel, p.App, p.Scope, p.Dir, p.Key))
		if seen[id] {
			t.Errorf("%s is there twice", resolved(p, somebody[goos]))
		}
		seen[id] = true
	})
}

// One file cannot serve both families.
func TestAPlaceHasOneFamily(t *testing.T) {
	families := map[string]manifest.Family{}
	everyPlace(func(goos string, p manifest.Place) {
		where := strings.ToLower(goos + string(p.Scope) + p.File(somebody[goos]) + p.HostKey())
		if f, ok := families[where]; ok && f != p.Family {
			t.Errorf("%s is of %s and %s", where, f, p.Family)
		}
		families[where] = p.Family
	})
}

var absoluteOn = map[string]*regexp.Regexp{
	"linux":   regexp.MustCompile(`^(/[^/$\\]+)+$`),
	"darwin":  regexp.MustCompile(`^(/[^/$\\]+)+$`),
	"windows": regexp.MustCompile(`^[A-Z]:(\\[^\\/$]+)+$`),
}

func TestEveryPlaceResolves(t *testing.T) {
	everyPlace(func(goos string, p manifest.Place) {
		name := resolved(p, somebody[goos])
		if _, err := manifest.FindBrowser(p.Browser); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.System != goos || p.Note == "" || !slices.Contains(manifest.Evidences(), p.Evidence) {
			t.Errorf("%s: of %q, evidence %q, note %q", name, p.System, p.Evidence, p.Note)
		}
		if goos == "windows" {
			if p.Dir != "" || !regexp.MustCompile(`^Software(\\[A-Za-z -]+)+\\NativeMessagingHosts\\app\.swapkeep\.host$`).MatchString(p.HostKey()) {
				t.Errorf("%s: no key", name)
			}
		} else if file := p.File(somebody[goos]); p.Key != "" || path.Base(file) != manifest.FileName || !absoluteOn[goos].MatchString(file) {
			t.Errorf("%s: no file", name)
		}
		if p.Scope == manifest.User && len(p.Footprint) == 0 {
			t.Errorf("%s: nothing says that it is there", name)
		}
		for _, f := range p.Footprints(somebody[goos]) {
			if !absoluteOn[goos].MatchString(f) {
				t.Errorf("%s: footprint %q", name, f)
			}
		}
	})
}

// An installation for all users has no paths in a home.
func TestSystemPlacesAreOutsideHomes(t *testing.T) {
	everyPlace(func(goos string, p manifest.Place) {
		if p.Scope != manifest.System {
			return
		}
		home := somebody[goos].Home
		for _, f := range append(p.Footprints(somebody[goos]), p.Folder(somebody[goos])) {
			if strings.HasPrefix(f, home) {
				t.Errorf("%s: %s", resolved(p, somebody[goos]), f)
			}
		}
		for _, f := range p.Footprint {
			if strings.HasPrefix(f, "$PATH") {
				t.Errorf("%s: the PATH is somebody's", resolved(p, somebody[goos]))
			}
		}
	})
}

// What serves every channel is written if any channel is installed.
func TestSystemPlacesServeEveryChannel(t *testing.T) {
	for goos, program := range map[string]string{"linux": "/opt/google/chrome-beta", "darwin": "/Applications/Google Chrome Canary.app"} {
		for _, p := range manifest.PlacesOf(goos, "chrome", manifest.System) {
			if !slices.Contains(p.Footprint, program) {
				t.Errorf("%s: footprint %v, want %s in it", resolved(p, somebody[goos]), p.Footprint, program)
			}
		}
	}
}

// absent are browsers that do not exist on a system.
var absent = map[string][]string{
	"linux":   {"arc"},
	"darwin":  {"ungoogled-chromium", "iridium", "slimjet"},
	"windows": {"iridium", "slimjet"},
}

func TestEveryBrowserHasAPlace(t *testing.T) {
	for goos := range somebody {
		for _, b := range manifest.Browsers() {
			if found := len(manifest.PlacesOf(goos, b.Name, manifest.User)) > 0; found == slices.Contains(absent[goos], b.Name) {
				t.Errorf("%s on %s: %t", b.Name, goos, found)
			}
		}
	}
	if got := append(manifest.Places("plan9"), manifest.AllPlaces("")...); len(got) != 0 {
		t.Errorf("a system that is not known has %v", got)
	}
}

func TestFallbacksAreNotWritten(t *testing.T) {
	looked, written := manifest.AllPlaces("windows"), manifest.Places("windows")
	if len(written) == 0 || len(looked) <= len(written) {
		t.Fatalf("%d looked at, %d written", len(looked), len(written))
	}
	for _, p := range written {
		if p.Fallback {
			t.Errorf("wrote to the fallback %s", resolved(p, somebody["windows"]))
		}
	}
}

// As measured: Chromium's family follows XDG_CONFIG_HOME, Firefox never does.
func TestXDGConfigHome(t *testing.T) {
	const chromium, firefox = "/chromium/NativeMessagingHosts/" + manifest.FileName, "/home/ann/.mozilla/native-messaging-hosts/" + manifest.FileName
	for _, tt := range []struct {
		env  variables
		base string
	}{
		{nil, "/home/ann/.config"},
		{variables{"XDG_CONFIG_HOME": "/x/y/"}, "/x/y"},
		{variables{"XDG_CONFIG_HOME": "x"}, "/home/ann/.config"},
		{variables{"XDG_CONFIG_HOME": ""}, "/home/ann/.config"},
		{variables{"XDG_CONFIG_HOME": "/x", "CHROME_CONFIG_HOME": "/c"}, "/c"},
	} {
		e := manifest.Environment{"/home/ann", tt.env.get}
		if got := manifest.PlacesOf("linux", "chromium", manifest.User)[0].File(e); got != tt.base+chromium {
			t.Errorf("%v: Chromium in %s", tt.env, got)
		}
		if got := manifest.PlacesOf("linux", "firefox", manifest.User)[0].File(e); got != firefox {
			t.Errorf("%v: Firefox in %s", tt.env, got)
		}
	}
}

// Firefox is detected by its profiles alone, which moved to XDG_CONFIG_HOME with Firefox
// 147, or by its program alone. On macOS the profiles never were next to the manifests.
func TestFirefoxDetection(t *testing.T) {
	e := manifest.Environment{"/home/ann", variables{"XDG_CONFIG_HOME": "/x", "CHROME_CONFIG_HOME": "/c", "PATH": "/opt/bin:relative:/snap/bin/:/usr/bin"}.get}
	got := manifest.PlacesOf("linux", "firefox", manifest.User)[0].Footprints(e)
	for _, want := range []string{"/home/ann/.mozilla", "/x/mozilla", "/opt/bin/firefox", "/usr/bin/firefox"} {
		if !slices.Contains(got, want) {
			t.Errorf("no footprint %s in %v", want, got)
		}
	}
	for _, never := range []string{"/snap/bin/firefox", "relative/firefox", "/c/mozilla"} {
		if slices.Contains(got, never) {
			t.Errorf("footprint %s", never)
		}
	}
	mac := manifest.PlacesOf("darwin", "firefox", manifest.User)[0].Footprints(somebody["darwin"])
	if !slices.Contains(mac, "/Users/ann/Library/Application Support/Firefox") {
		t.Errorf("on macOS %v", mac)
	}
}

func TestFindBrowser(t *testing.T) {
	if b, err := manifest.FindBrowser("zen"); err != nil || b.Family != manifest.Firefox || b.Title != "Zen" {
		t.Errorf("FindBrowser(zen) = %v, %v, want Zen of the family Firefox", b, err)
	}
	_, err := manifest.FindBrowser("netscape")
	if !errors.Is(err, manifest.ErrUnknownBrowser) || !strings.Contains(err.Error(), "chrome-for-testing, chromium") {
		t.Error(err)
	}
}

func TestEveryBoxHasAPackaging(t *testing.T) {
	everyPlace(func(goos string, p manifest.Place) {
		k, ok := p.Packaging()
		if ok != (p.Box != "") || ok != (p.App != "") {
			t.Errorf("%s: packaging %v, %t; want one only of a place with box %q and app %q", resolved(p, somebody[goos]), k, ok, p.Box, p.App)
		}
		if ok && p.Scope != manifest.User {
			t.Errorf("%s: a box sees nothing of the system", resolved(p, somebody[goos]))
		}
	})
}

func TestCommandsOfAPackaging(t *testing.T) {
	tests := []struct {
		browser string
		box     manifest.Box
		want    []string
	}{
		{"chrome", manifest.Flatpak, []string{`flatpak override --user --filesystem='/home/ann o'\''brien/lib':ro --filesystem=/s/run:ro --env=SWAPKEEP_HOME=/s com.google.Chrome`}},
		{"firefox", manifest.Snap, []string{"flatpak permission-set webextensions app.swapkeep.host snap.firefox yes"}},
		{"chromium", manifest.Snap, nil},
	}
	for _, tt := range tests {
		all := manifest.PlacesOf("linux", tt.browser, manifest.User)
		p := all[slices.IndexFunc(all, func(p manifest.Place) bool { return p.Box == tt.box })]
		k, _ := p.Packaging()
		if got := k.CommandsFor(p.App, "/home/ann o'brien/lib", "/s"); !slices.Equal(got, tt.want) {
			t.Errorf("%s as %s: %q", tt.browser, tt.box, got)
		}
	}
}
