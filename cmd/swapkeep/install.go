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
	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// scopeFlags choose whether something is installed for the user or for all users.
type scopeFlags struct{ user, system bool }

func scopesOf(cmd *cobra.Command) *scopeFlags {
	f := &scopeFlags{}
	cmd.Flags().BoolVar(&f.user, "user", false, "for yourself (the default)")
	cmd.Flags().BoolVar(&f.system, "system", false, "for all users of this machine; needs administrator rights")
	return f
}

func (f *scopeFlags) scope() manifest.Scope {
	if f.system {
		return manifest.System
	}
	return manifest.User
}

// atMostOne refuses more than one of several flags.
func atMostOne(cmd *cobra.Command, flags ...string) error {
	given := slices.DeleteFunc(flags, func(name string) bool { return !cmd.Flags().Changed(name) })
	if len(given) > 1 {
		return usageError{fmt.Errorf("--%s exclude each other", strings.Join(given, " and --"))}
	}
	return nil
}

// An installFlags is the flags of swapkeep install.
type installFlags struct {
	scope                                   *scopeFlags
	browsers, ids                           []string
	all, detected, force, autostart, dryRun bool
}

func newInstall(t *terminal) *cobra.Command {
	var in installFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install swapkeep and register it with browsers",
		Long: "Install swapkeep and register it with the browsers on this machine; --browser and --all choose others. Every change\n" +
			"is recorded before it is made, so that swapkeep uninstall can undo exactly these changes. Run it again to install\n" +
			"another version, to allow another extension, or after you installed another browser.",
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
	flags.StringSliceVar(&in.browsers, "browser", nil, "only for this `browser`, installed or not; may be repeated")
	flags.BoolVar(&in.all, "all", false, "for every known browser, installed or not")
	flags.BoolVar(&in.detected, "detected", false, "for the installed browsers (the default)")
	flags.StringSliceVar(&in.ids, "extension-id", nil, "also allow the extension with this `id`; may be repeated")
	flags.BoolVar(&in.force, "force", false, "replace files of another copy or a newer version without asking")
	flags.BoolVar(&in.autostart, "autostart", false, "start the daemon at login")
	flags.BoolVar(&in.dryRun, "dry-run", false, "only show what would be changed")
	_ = cmd.RegisterFlagCompletionFunc("browser", completeBrowsers)
	return cmd
}

func completeBrowsers(*cobra.Command, []string, string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, b := range manifest.Browsers() {
		names = append(names, described(b.Name, b.Title))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (t *terminal) install(ctx context.Context, in installFlags) error {
	m := t.machine()
	if in.dryRun {
		return t.dryRunInstall(ctx, m, in)
	}
	plan, err := t.apply(ctx, m, in)
	if err != nil {
		return err
	}
	said := planOutput{State: installed, Plan: plan}
	if len(plan.Changes) == 0 {
		said.State = nothing
	}
	if plan.Scope == manifest.User { // with the system scope, daemons belong to the users
		said.Handover, err = t.handOver(ctx, plan)
	}
	if said.Handover == nil && err == nil { // a daemon that just started sweeps by itself
		said.Old, err = sweep(ctx, m, plan.Scope)
	}
	return errors.Join(t.printPlan(said), err)
}

// dryRunInstall shows what an installation would do, without doing it.
func (t *terminal) dryRunInstall(ctx context.Context, m installer.Machine, in installFlags) error {
	plan, err := t.plan(m, in)
	if err != nil {
		return err
	}
	said := planOutput{State: planned, Plan: plan}
	if plan.Scope == manifest.User {
		said.Handover, err = t.daemonToReplace(ctx, plan)
		if err != nil {
			plan.Warnings = append(plan.Warnings, "Unknown which daemon would be stopped: "+err.Error()+".")
		}
		if newer := said.Handover.downgrade(plan); newer != nil {
			plan.Foreign = append(plan.Foreign, *newer)
		}
	}
	if said.Old, err = plan.Old(m, installer.RunningFrom); err != nil {
		return err
	}
	if len(plan.Changes)+len(said.Old) == 0 && said.Handover == nil {
		said.State = nothing
	}
	return t.printPlan(said)
}

// apply plans and applies what the flags ask for, holding the installer's lock.
func (t *terminal) apply(ctx context.Context, m installer.Machine, in installFlags) (*installer.Plan, error) {
	unlock, err := m.Lock(ctx, in.scope.scope())
	if err != nil {
		return nil, err
	}
	defer unlock()
	plan, err := t.plan(m, in)
	if err != nil {
		return nil, err
	}
	plan.Force = in.force
	if !in.force {
		if err := t.refuseOlder(ctx, m, plan); err != nil {
			return nil, err
		}
	}
	if len(plan.Foreign) > 0 && !in.force && !t.json && t.interactive() {
		if err := t.askToReplace(ctx, plan); err != nil {
			return nil, err
		}
		plan.Force = true
	}
	_, err = installer.Apply(ctx, m, plan)
	return plan, err
}

// refuseOlder refuses to replace a newer version that is installed or running by an older
// one. The user is not asked, because nobody at a terminal can know whether the older
// version will be able to read the databases.
func (t *terminal) refuseOlder(ctx context.Context, m installer.Machine, plan *installer.Plan) error {
	newer, err := installer.Newer(m, plan.Scope, plan.Version)
	if err != nil {
		return err
	}
	if newer == nil && plan.Scope == manifest.User {
		running, _ := t.daemonToReplace(ctx, plan) // a daemon that does not answer is reported when it has to be replaced
		newer = running.downgrade(plan)
	}
	if newer == nil {
		return nil
	}
	return fmt.Errorf("%w: %s; install it all the same with --force", installer.ErrForeign, newer)
}

// sweep removes the programs of earlier versions that no process runs from.
func sweep(ctx context.Context, m installer.Machine, scope manifest.Scope) (swept []string, err error) {
	unlock, err := m.Lock(ctx, scope)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return installer.Sweep(m, scope, installer.RunningFrom)
}

// machine returns this machine, with the flags' values in its environment, for the entry
// that starts the daemon at login.
func (t *terminal) machine() installer.Machine {
	m := thisMachine()
	set := m.Env
	m.Env = func(name string) string {
		switch {
		case name == transport.HomeVariable && t.home != "":
			return t.home
		case name == "SWAPKEEP_CONFIG" && t.config != "":
			return t.config
		}
		return set(name)
	}
	return m
}

// plan returns the plan for the installation that the flags ask for.
func (t *terminal) plan(m installer.Machine, in installFlags) (*installer.Plan, error) {
	o, err := t.installOptions(in.scope.scope())
	if err != nil {
		return nil, err
	}
	o.Browsers, o.All, o.IDs, o.Autostart = in.browsers, in.all, in.ids, in.autostart
	plan, err := installer.NewPlan(m, o)
	if err != nil {
		return nil, err
	}
	newer, err := installer.Newer(m, o.Scope, o.Version)
	if newer != nil {
		plan.Foreign = append(plan.Foreign, *newer)
	}
	return plan, err
}

// installOptions returns what the installer has to know about this program and, for the
// user scope, about the configuration.
func (t *terminal) installOptions(scope manifest.Scope) (installer.Options, error) {
	o := installer.Options{Scope: scope, Version: version, Time: time.Now(), Allowed: manifest.Released}
	exe, err := installer.OwnProgram()
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
	o.Listed = map[manifest.Family][]string{manifest.Chromium: cfg.Installed.Chromium, manifest.Firefox: cfg.Installed.Firefox}
	return o, nil
}

// askToReplace asks the user whether to replace what is in the way.
func (t *terminal) askToReplace(ctx context.Context, plan *installer.Plan) error {
	t.talk.Paragraph(screen.Warn, "Another file is in the way:")
	for _, f := range plan.Foreign {
		t.talk.Line("  " + f.String())
	}
	return t.confirm(ctx, "Replace it?")
}
