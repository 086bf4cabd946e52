package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// scopeFlags are for whom something is installed.
type scopeFlags struct{ user, system bool }

func scopesOf(cmd *cobra.Command) *scopeFlags {
	f := &scopeFlags{}
	cmd.Flags().BoolVar(&f.user, "user", false, "for yourself (the default)")
	cmd.Flags().BoolVar(&f.system, "system", false, "for all users of this machine; needs its rights")
	return f
}

func (f *scopeFlags) scope() manifest.Scope {
	if f.system {
		return manifest.System
	}
	return manifest.User
}

// atMostOne refuses flags that exclude each other.
func atMostOne(cmd *cobra.Command, flags ...string) error {
	given := slices.DeleteFunc(flags, func(name string) bool { return !cmd.Flags().Changed(name) })
	if len(given) > 1 {
		return usageError{fmt.Errorf("--%s exclude each other", strings.Join(given, " and --"))}
	}
	return nil
}

// An installation is what the flags of swapkeep install say.
type installation struct {
	scope                                  *scopeFlags
	browsers, ids                          []string
	all, detected, force, autostart, dryly bool
}

func newInstall(t *terminal) *cobra.Command {
	var in installation
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Put swapkeep in its place and let browsers find it",
		Long: "Put swapkeep in its place and let browsers find it. Without --browser and --all these are the browsers that are on this\n" +
			"machine. Every change is written down before it is made: swapkeep uninstall takes back exactly these. It may be\n" +
			"repeated, also to install another version, to let another extension in, or for a browser that came later.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(atMostOne(cmd, "user", "system"), atMostOne(cmd, "browser", "all", "detected")); err != nil {
				return err
			}
			return t.install(cmd.Context(), in)
		},
	}
	in.scope = scopesOf(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&in.browsers, "browser", nil, "only for this `browser`, there or not; may be repeated")
	flags.BoolVar(&in.all, "all", false, "for every browser that is known, there or not")
	flags.BoolVar(&in.detected, "detected", false, "for the browsers that are there (the default)")
	flags.StringSliceVar(&in.ids, "extension-id", nil, "let the extension of this `id` in besides; may be repeated")
	flags.BoolVar(&in.force, "force", false, "replace what another copy has put in the way, without asking")
	flags.BoolVar(&in.autostart, "autostart", false, "start the daemon at login")
	flags.BoolVar(&in.dryly, "dry-run", false, "only show what would be changed")
	_ = cmd.RegisterFlagCompletionFunc("browser", completeBrowsers)
	return cmd
}

func completeBrowsers(*cobra.Command, []string, string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, b := range manifest.Browsers() {
		names = append(names, described(b.Name, b.Title))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (t *terminal) install(ctx context.Context, in installation) error {
	m := thisMachine()
	plan, err := t.plan(m, in)
	if err != nil {
		return err
	}
	if in.dryly {
		return t.tellPlan(plan, planned, nil)
	}
	plan.Force = in.force
	if len(plan.Foreign) > 0 && !in.force && !t.json && t.attended() {
		if err := t.askToReplace(ctx, plan); err != nil {
			return err
		}
		plan.Force = true
	}
	if _, err := installer.Apply(ctx, m, plan); err != nil {
		return err
	}
	state := installed
	if len(plan.Changes) == 0 {
		state = nothing
	}
	if plan.Scope == manifest.System {
		return t.tellPlan(plan, state, nil)
	}
	given, err := t.handOver(ctx, plan)
	if given == nil && err == nil { // a daemon that started sweeps by itself
		_, err = installer.Sweep(m, installer.RunningFrom)
	}
	return errors.Join(t.tellPlan(plan, state, given), err)
}

// plan is the installation that the flags ask for.
func (t *terminal) plan(m installer.Machine, in installation) (*installer.Plan, error) {
	o, err := t.installOptions(in.scope.scope())
	if err != nil {
		return nil, err
	}
	o.Browsers, o.All, o.IDs, o.Autostart = in.browsers, in.all, in.ids, in.autostart
	return installer.NewPlan(m, o)
}

// installOptions are what the installer is to know of this program and, for a user, of
// the configuration.
func (t *terminal) installOptions(scope manifest.Scope) (installer.Options, error) {
	o := installer.Options{Scope: scope, Version: version, Time: time.Now(), Allowed: manifest.Released}
	exe, err := ownExe()
	if err != nil {
		return o, err
	}
	o.Programs = filepath.Dir(exe)
	if scope == manifest.System {
		return o, nil
	}
	cfg, err := t.load()
	if err != nil {
		return o, err
	}
	place, err := placeOf(cfg)
	if err != nil {
		return o, err
	}
	list := allowed(cfg)
	o.Home, o.ExtensionsFile = place.Home, cfg.ExtensionsFile
	o.Allowed = map[manifest.Family][]string{manifest.Chromium: list.Chromium, manifest.Firefox: list.Firefox}
	o.Listed = map[manifest.Family][]string{manifest.Chromium: cfg.LetIn.Chromium, manifest.Firefox: cfg.LetIn.Firefox}
	return o, nil
}

// askToReplace lets the person at the terminal say whether what is in the way goes.
func (t *terminal) askToReplace(ctx context.Context, plan *installer.Plan) error {
	t.talk.Words(screen.Warn, "Something else is in the way:")
	for _, f := range plan.Foreign {
		t.talk.Line("  " + f.String())
	}
	return t.confirm(ctx, "Replace it?")
}

// The states of an installation, as --json writes them.
const (
	planned   = "planned"
	installed = "installed"
	nothing   = "nothing to do"
)

// planSaid is what install --json writes.
type planSaid struct {
	State string `json:"state"`
	*installer.Plan
	Handover *handover `json:"handover,omitempty"`
}

// titles are the states in words.
var titles = map[string]string{
	planned:   "This would be changed:",
	installed: "Swapkeep is installed.",
	nothing:   "Swapkeep is installed already: there is nothing to do.",
}

func (t *terminal) tellPlan(plan *installer.Plan, state string, given *handover) error {
	if state == planned && len(plan.Changes) == 0 {
		state = nothing
	}
	if t.json {
		return writeJSON(t.out, planSaid{state, plan, given})
	}
	t.result.Title(titles[state])
	if len(plan.Changes) > 0 {
		t.result.Table(make([]screen.Column, 3), changeRows(plan))
	}
	if state == planned && len(plan.Foreign) > 0 {
		t.result.Words(screen.Warn, "Something else is in the way, and is asked about before it is replaced:")
		for _, f := range plan.Foreign {
			t.result.Line("  " + f.String())
		}
	}
	t.tellHandover(given)
	t.tellBrowsers(plan)
	for _, w := range plan.Warnings {
		t.result.Words(screen.Warn, w)
	}
	return nil
}

// verbs are what is done to each kind of thing.
var verbs = map[installer.Kind]string{
	installer.Directory: "make folder", installer.Program: "copy program", installer.Link: "make link", installer.Manifest: "write manifest",
	installer.Extensions: "let extensions in", installer.Autostart: "start at login", installer.Key: "make key", installer.Value: "set value",
}

func changeRows(plan *installer.Plan) (rows [][]string) {
	for _, c := range plan.Changes {
		about := ""
		switch {
		case c.Kind == installer.Link:
			about = "to " + c.To
		case len(c.Browsers) > 0:
			about = "for " + strings.Join(c.Browsers, ", ")
		}
		rows = append(rows, []string{"  " + verbs[c.Kind], strings.TrimSpace(c.Path + " " + c.Name), about})
	}
	return append(rows, []string{"  write receipts", plan.Receipts, ""})
}

// tellBrowsers names the browsers that will not find swapkeep, and those that need more.
func (t *terminal) tellBrowsers(plan *installer.Plan) {
	for _, s := range plan.Sandboxed {
		t.result.Heading(fmt.Sprintf("%s as %s %s needs more:", s.Browser, s.Box, s.App))
		for _, need := range s.Needs {
			t.result.Words(screen.Plain, need)
		}
		for _, command := range s.Commands { // whole lines, to be copied
			t.result.Line("  " + command)
		}
	}
	var absent []string
	for _, s := range plan.Skipped {
		if s.Absent {
			absent = append(absent, s.Browser)
			continue
		}
		t.result.Words(screen.Warn, s.String())
	}
	if plan.Browsers() == 0 {
		t.result.Words(screen.Warn, "No browser will find it: name one with --browser, or take all with --all.")
	}
	if len(absent) > 0 {
		t.result.Words(screen.Faint, "Not found on this machine: "+strings.Join(absent, ", ")+".")
	}
}
