package manifest

import "strings"

// A Starter is what starts the host for a sandboxed browser.
type Starter string

const (
	Inside Starter = "inside" // the browser inside its sandbox: host and daemon socket must be visible there
	Portal Starter = "portal" // a desktop service outside the sandbox
)

// A Packaging is what a sandbox needs in addition to the manifest.
type Packaging struct {
	Box      Box
	Family   Family
	Starter  Starter
	Title    string   // for people
	Needs    []string // sentences
	Commands []string // for the user to run; CommandsFor replaces APP, PROGRAM and STATE
	Evidence Evidence
	Note     string
}

// insideFlatpak is what a host inside a Flatpak needs; the last is for Firefox only.
var insideFlatpak = []string{
	"The sandbox must be able to see the program and the daemon's socket, and must know where the socket is.",
	"The daemon must already be running: one started inside the sandbox would have neither your keychain nor your wallets.",
	"Firefox 157 and later can use a desktop service instead (`org.freedesktop.NativeMessagingProxy`), which is off by default.",
}

// Packagings returns all packagings, in the order shown to people.
func Packagings() []Packaging {
	return []Packaging{
		{
			Flatpak, Chromium, Inside, "Flatpak, Chromium's family",
			insideFlatpak[:2],
			[]string{flatpakOverride}, Source, "the permissions: vdhcoapp; reaching the socket was tested in a namespace mounted like this, not in a Flatpak",
		},
		{
			Flatpak, Firefox, Inside, "Flatpak, Firefox's family",
			insideFlatpak,
			[]string{flatpakOverride}, Source, "the permissions: vdhcoapp; reaching the socket was tested in a namespace mounted like this, not in a Flatpak",
		},
		{
			Snap, Firefox, Portal, "Snap of Firefox",
			[]string{
				"The desktop's WebExtensions portal (Ubuntu 22.04 and later have it) starts the program outside the sandbox. It asks once for each extension; the command answers in advance.",
				"It does not always tell the program which extension is calling, and it kills the program when the browser closes the port. Accepted orders continue in the daemon.",
			},
			[]string{"flatpak permission-set webextensions " + HostName + " snap.APP yes"}, Source, "xdg-desktop-portal's web-extensions.c as Ubuntu patches it; vdhcoapp",
		},
		{
			Snap, Chromium, Inside, "Snaps of Chromium's family",
			[]string{
				"The sandbox cannot see hidden folders of your home, so it sees neither the installed program nor the daemon's socket. Use the browser's own package or its Flatpak.",
			},
			nil, Belief, "from the rules of the home interface",
		},
	}
}

const flatpakOverride = "flatpak override --user --filesystem=PROGRAM:ro --filesystem=STATE/run:ro --env=SWAPKEEP_HOME=STATE APP"

// Packaging returns what a sandboxed place needs; false if it is not sandboxed.
func (p Place) Packaging() (Packaging, bool) {
	for _, k := range Packagings() {
		if k.Box == p.Box && k.Family == p.Family {
			return k, true
		}
	}
	return Packaging{}, false
}

// CommandsFor returns a packaging's commands for an application, with the program's
// directory and the daemon's state directory filled in.
func (k Packaging) CommandsFor(app, program, state string) []string {
	words := strings.NewReplacer("PROGRAM", quoted(program), "STATE", quoted(state), "APP", app)
	out := make([]string, len(k.Commands))
	for i, c := range k.Commands {
		out[i] = words.Replace(c)
	}
	return out
}

// quoted quotes a path for a shell, if necessary. It may be part of a word.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
