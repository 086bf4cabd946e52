package doctor

import (
	"context"
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

// boxed tells what each boxed browser needs besides a manifest.
func boxed(ctx context.Context, p *Patient) (out []Finding) {
	var names []string
	for _, b := range p.seen.browsers {
		if b.Box != "" {
			names = append(names, b.Browser)
		}
	}
	if len(names) == 0 {
		return []Finding{ok("none is here")}
	}
	plan, err := p.Plan(manifest.User, nil)
	if err != nil {
		return []Finding{skipped("what they need is not known: " + oneLine(err))}
	}
	for _, s := range plan.Sandboxed {
		if p.Browser == "" || p.Browser == s.Browser {
			out = append(out, p.boxedFinding(ctx, s).of(s.Browser+" ("+string(s.Box)+")"))
		}
	}
	return unless(out, ok(strings.Join(names, ", ")))
}

func (p *Patient) boxedFinding(ctx context.Context, s installer.Sandboxed) Finding {
	switch s.Box {
	case manifest.Snap:
		if table, err := ask(ctx, "flatpak", "permissions", "webextensions", manifest.HostName); err == nil && strings.Contains(table, "snap."+s.App) {
			return ok("the portal has asked, or was answered")
		}
	case manifest.Flatpak:
		granted, err := ask(ctx, "flatpak", "info", "--show-permissions", s.App)
		switch {
		case err == nil && strings.Contains(granted, transport.HomeVariable):
			return ok("its box was opened for the host")
		case missing(err):
			return note("there is no flatpak command to ask whether its box was opened. " + strings.Join(s.Needs, " ")).withRemedy(strings.Join(s.Commands, " && "))
		}
	}
	return note(strings.Join(s.Needs, " ")).withRemedy(strings.Join(s.Commands, " && "))
}

// starters are services that start hosts for boxed browsers.
var starters = []struct{ name, what string }{
	{"org.freedesktop.NativeMessagingProxy", "xdg-native-messaging-proxy"},
	{"org.freedesktop.portal.Desktop", "xdg-desktop-portal"},
}

// portal looks for them on the session bus.
func portal(ctx context.Context, p *Patient) []Finding {
	if !slices.ContainsFunc(p.seen.browsers, func(b browser) bool { return b.Box != "" }) {
		return []Finding{skipped("no browser is in a box")}
	}
	names, err := busNames(ctx)
	if err != nil {
		return []Finding{skipped("the session bus cannot be asked: " + oneLine(err))}
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

// busNames are the names on the session bus, those that start when asked included.
func busNames(ctx context.Context) (string, error) {
	names, err := ask(ctx, "busctl", "--user", "--no-pager", "list")
	if !missing(err) {
		return names, err
	}
	return ask(ctx, "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.ListActivatableNames")
}
