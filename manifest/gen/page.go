package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"swapkeep/manifest"
)

// page returns the content of docs/browsers.md.
func page() []byte {
	var b bytes.Buffer
	b.WriteString(head)
	b.WriteString("## Evidence\n\n| Mark | Meaning |\n|---|---|\n")
	for _, e := range manifest.Evidences() {
		fmt.Fprintf(&b, "| %s | %s |\n", e, marks[e])
	}
	for _, s := range systems {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", s.title, s.about)
		table(&b, s)
	}
	b.WriteString("\n" + boxesHead)
	boxes(&b)
	b.WriteString(foot)
	return b.Bytes()
}

var marks = map[manifest.Evidence]string{
	manifest.Ran:    "observed: a browser reads it",
	manifest.Source: "the browser's source or documentation, or another host's installer that its users rely on",
	manifest.Thread: "reported by users",
	manifest.Trace:  "somebody's trace of the browser's system calls",
	manifest.Belief: "inferred; nobody has checked, as far as we know",
}

// A system is one chapter.
type system struct {
	goos, title, about string
	short              *strings.Replacer // replaces placeholders by what people write
	columns            string
	scopes             []manifest.Scope // one column each; Windows has the same keys for both
}

const (
	twoColumns = "| Browser | For one user | For everybody | Source |\n|---|---|---|---|\n"
	oneColumn  = "| Browser | Key | Source |\n|---|---|---|\n"
)

var eachScope = []manifest.Scope{manifest.User, manifest.System}

var systems = []system{
	{
		"linux", "Linux",
		"`~/.config` means `$XDG_CONFIG_HOME` if that is set (Chromium's family also obeys\n`$CHROME_CONFIG_HOME`). Firefox's family never uses it for manifests, even if its profiles\nare there. A browser that is started with `--user-data-dir=X` looks in\n`X/NativeMessagingHosts` instead: copy the manifest there.",
		strings.NewReplacer("$HOME", "~", "$CONFIG", "~/.config", "$XDGCONFIG", "~/.config"), twoColumns, eachScope,
	},
	{
		"darwin", "macOS",
		"`~/L` means `~/Library/Application Support`.",
		strings.NewReplacer("$HOME/Library/Application Support", "~/L", "$HOME", "~"), twoColumns, eachScope,
	},
	{
		"windows", "Windows",
		"These are registry keys, in `HKEY_CURRENT_USER` for one user and in `HKEY_LOCAL_MACHINE` for\neverybody. Append `\\" + manifest.HostName + "` to each; the default value of that key is the\nmanifest's path. The user's key takes precedence. In `HKEY_LOCAL_MACHINE` a browser reads\nthe 32-bit view first and then the 64-bit view, where Swapkeep writes; in\n`HKEY_CURRENT_USER` they are the same.",
		strings.NewReplacer(), oneColumn, eachScope[:1],
	},
}

// table writes a row for each browser, channel and packaging.
func table(b *bytes.Buffer, s system) {
	b.WriteString(s.columns)
	for all := manifest.AllPlaces(s.goos); len(all) > 0; {
		n := slices.IndexFunc(all, func(p manifest.Place) bool { return name(p) != name(all[0]) })
		if n < 0 {
			n = len(all)
		}
		fmt.Fprintf(b, "| %s |", name(all[0]))
		for _, scope := range s.scopes {
			fmt.Fprintf(b, " %s |", s.places(all[:n], scope))
		}
		fmt.Fprintf(b, " %s |\n", notes(all[:n]))
		all = all[n:]
	}
}

// name returns the browser's name in a row.
func name(p manifest.Place) string {
	browser, err := manifest.FindBrowser(p.Browser)
	if err != nil {
		panic(err) // a row of the table
	}
	words := browser.Title
	if p.Channel != "" {
		words += " " + p.Channel
	}
	words += " `" + p.Browser + "`"
	if p.Box != "" {
		words += ", " + box[p.Box] + " `" + p.App + "`"
	}
	return words
}

var box = map[manifest.Box]string{manifest.Flatpak: "Flatpak", manifest.Snap: "Snap"}

func (s system) places(all []manifest.Place, scope manifest.Scope) string {
	var out []string
	for _, p := range all {
		if p.Scope != scope {
			continue
		}
		where := "`" + s.short.Replace(p.Dir+p.Key) + "` " + string(p.Evidence)
		if p.Fallback {
			where = "*then* " + where
		}
		out = append(out, where)
	}
	if len(out) == 0 {
		return "–"
	}
	return strings.Join(out, "<br>")
}

// notes joins the notes of places, without duplicates.
func notes(all []manifest.Place) string {
	var out []string
	for _, p := range all {
		if !slices.Contains(out, p.Note) {
			out = append(out, p.Note)
		}
	}
	return strings.Join(out, "<br>")
}

// boxes writes what packagings need, with the paths of an installation for one user.
func boxes(b *bytes.Buffer) {
	words := strings.NewReplacer("PROGRAM", "$HOME/.local/lib/swapkeep", "STATE", "$HOME/.local/state/swapkeep")
	for _, k := range manifest.Packagings() {
		fmt.Fprintf(b, "### %s\n\n%s\n\n", k.Title, starters[k.Starter])
		for _, text := range k.Needs {
			fmt.Fprintf(b, "%s\n\n", text)
		}
		for _, c := range k.Commands {
			fmt.Fprintf(b, "    %s\n\n", words.Replace(c))
		}
		fmt.Fprintf(b, "(%s: %s)\n\n", k.Evidence, k.Note)
	}
}

var starters = map[manifest.Starter]string{
	manifest.Inside: "The browser starts the host inside its sandbox.",
	manifest.Portal: "A service outside the sandbox starts the host.",
}
