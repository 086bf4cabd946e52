package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/manifest"
)

var boxChecks = []check{
	{"boxed", "browsers in a Flatpak or Snap", []string{"linux"}, boxed},
	{"boxed.portal", "what starts programs for them", []string{"linux"}, portal},
}

// boxed reports what each sandboxed browser needs in addition to a manifest.
func boxed(ctx context.Context, p *Env) (out []Finding) {
	if !slices.ContainsFunc(p.facts.browsers, func(b browser) bool { return b.Box != "" }) {
		return []Finding{ok("none is here")}
	}
	plan, err := p.Plan(manifest.User, nil)
	if err != nil {
		return []Finding{skipped("unknown requirements: " + oneLine(err))}
	}
	for _, b := range p.facts.browsers {
		if b.Box == "" {
			continue
		}
		f := skipped("not checked: swapkeep install writes nothing for it")
		if i := slices.IndexFunc(plan.Sandboxed, func(s installer.Sandboxed) bool { return b.Box == s.Box && b.App == s.App }); i >= 0 {
			f = p.boxedFinding(ctx, b, plan.Sandboxed[i])
		}
		out = append(out, f.of(b.title()))
	}
	return out
}

func (p *Env) boxedFinding(ctx context.Context, b browser, s installer.Sandboxed) Finding {
	needs, commands := strings.Join(s.Needs, " "), strings.Join(s.Commands, " && ")
	switch {
	case s.Box == manifest.Snap && len(s.Commands) > 0:
		table, err := ask(ctx, "flatpak", "permissions", "webextensions", manifest.HostName)
		if missing(err) {
			return note("cannot check the portal's permission without the flatpak command. " + needs).withRemedy("answer yes when it asks; or install flatpak, then " + commands)
		}
		switch answered(table, s.App) {
		case "yes":
			return ok("the portal may start the host for it")
		case "no":
			return fail("the portal is not allowed to start the host for it", commands)
		}
	case s.Box == manifest.Flatpak:
		granted, err := ask(ctx, "flatpak", "info", "--show-permissions", s.App)
		if missing(err) {
			return note("cannot check its sandbox permissions without the flatpak command. " + needs).withRemedy(commands)
		}
		if err != nil {
			break
		}
		lacks := p.lacks(ctx, b, granted)
		switch {
		case len(lacks) == 0:
			return ok("its sandbox lets it start the host")
		case len(b.extensions) > 0:
			return fail("its sandbox blocks the host: "+strings.Join(lacks, ", "), commands)
		}
	}
	return note(needs).withRemedy(commands)
}

// answered returns the portal's stored answer for a snap, yes or no; "" if it will ask.
// Each line of the table has the app followed by the permission.
func answered(table, app string) string {
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if i := slices.Index(words, "snap."+app); i >= 0 && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

// lacks returns what a Flatpak does not give the host, which would run inside it: access
// to the program or the daemon's socket, or the variable that locates the socket.
func (p *Env) lacks(ctx context.Context, b browser, granted string) (out []string) {
	for _, path := range p.insideNeeds(b) {
		access, err := ask(ctx, "flatpak", "info", "--file-access="+path, b.App)
		if mode := strings.TrimSpace(access); err != nil || mode != "read-only" && mode != "read-write" {
			out = append(out, path+" cannot be seen")
		}
	}
	if home := inKeyFile(granted, "Environment", transport.HomeVariable); home != p.Place.Home {
		out = append(out, fmt.Sprintf("%s is %q", transport.HomeVariable, home))
	}
	return out
}

// insideNeeds returns the program that a sandboxed browser starts, as named and with
// links resolved, and the directory of the daemon's socket.
func (p *Env) insideNeeds(b browser) []string {
	program := p.Program
	if layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, p.parent(p.Program)); err == nil {
		program = layout.Launch
	}
	if first, any := b.first(); any && first.path != "" {
		program = first.path
	}
	return slices.Compact([]string{program, p.resolved(program), p.Place.RunDir()})
}

// keyFileEscapes unescapes a value of a GLib key file.
var keyFileEscapes = strings.NewReplacer(`\s`, " ", `\t`, "\t", `\n`, "\n", `\r`, "\r", `\\`, `\`)

// inKeyFile returns the last value of a key in a GLib key file; "" if there is none.
func inKeyFile(text, group, key string) (found string) {
	in := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n") // trailing blanks belong to the value
		if name, begins := strings.CutPrefix(line, "["); begins {
			in = strings.TrimSuffix(strings.TrimSpace(name), "]")
		} else if name, value, is := strings.Cut(line, "="); is && in == group && strings.TrimSpace(name) == key {
			found = keyFileEscapes.Replace(strings.TrimLeft(value, " \t"))
		}
	}
	return found
}

// starters are the services that start hosts for sandboxed browsers.
var starters = []struct{ name, what string }{
	{"org.freedesktop.NativeMessagingProxy", "xdg-native-messaging-proxy"},
	{"org.freedesktop.portal.Desktop", "xdg-desktop-portal"},
}

// portal checks whether one of the starters is on the session bus.
func portal(ctx context.Context, p *Env) []Finding {
	if !slices.ContainsFunc(p.facts.browsers, func(b browser) bool { return b.Box != "" }) {
		return []Finding{skipped("no browser is sandboxed (Flatpak or Snap)")}
	}
	names, err := busNames(ctx)
	if err != nil {
		return []Finding{skipped("cannot query the session bus: " + oneLine(err))}
	}
	var there []string
	for _, s := range starters {
		if strings.Contains(names, s.name) {
			there = append(there, s.what)
		}
	}
	if len(there) == 0 {
		return []Finding{note("neither xdg-desktop-portal nor xdg-native-messaging-proxy is on the session bus")}
	}
	return []Finding{ok(strings.Join(there, ", "))}
}

// busNames lists the names on the session bus, including activatable ones.
func busNames(ctx context.Context) (string, error) {
	names, err := ask(ctx, "busctl", "--user", "--no-pager", "list")
	if !missing(err) {
		return names, err
	}
	return ask(ctx, "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.ListActivatableNames")
}
