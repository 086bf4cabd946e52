package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/config"
	"swapkeep/installer"
	"swapkeep/installer/doctor"
	"swapkeep/internal/clock"
	"swapkeep/manifest"
)

// Errors for the doctor's exit status.
var (
	errWarned       = errors.New("there are warnings")
	errChecksFailed = errors.New("some checks failed")
)

func newDoctor(t *terminal) *cobra.Command {
	var fix, online, live bool
	var browser, attach string
	var world liveFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out why a browser cannot reach swapkeep, and fix it",
		Long: "Check everything between a browser and the keychain: the manifests that browsers read, the program that they\n" +
			"start, the extension, policies, the daemon, its databases and its keychain. To do so it starts the host as a browser\n" +
			"does. If no daemon is running, that starts one, and the doctor stops it again. Without --fix nothing is repaired,\n" +
			"except what a daemon repairs at every start. --fix repairs only what belongs to swapkeep, never a wallet or\n" +
			"another program's file.\n\n" +
			"--live checks the outside world instead: it compares networks, contracts, tokens, oracles and providers' quotes with\n" +
			"what this version expects. --report writes the results to a file that shows the developers what has changed.\n\n" +
			"--attach writes a report that is safe to send: providers' responses that swapkeep did not understand, without\n" +
			"accounts, signatures and keys.\n\n" +
			"Exit status 14 means warnings, 15 failures.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case live && world.provider != "":
				kind, err := providerKind(world.provider)
				if err != nil {
					return err
				}
				world.provider = kind
				return t.doctorLive(cmd.Context(), world)
			case live:
				return t.doctorLive(cmd.Context(), world)
			case world != (liveFlags{}):
				return usageError{errors.New("--provider, --network and --report need --live")}
			}
			return t.doctor(cmd.Context(), fix, online, browser, attach)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&fix, "fix", false, "apply the safe fixes and show them")
	flags.BoolVar(&online, "online", false, "also query every network and compare the clock with theirs")
	flags.StringVar(&browser, "browser", "", "check only this `browser`")
	flags.StringVar(&attach, "attach", "", "write a report for the developers to this new `file`")
	flags.BoolVar(&live, "live", false, "compare networks, contracts, tokens, oracles and providers' quotes with what swapkeep expects; nothing is signed")
	flags.StringVar(&world.provider, "provider", "", "with --live: only this `provider` (dex, bridge, intent, gasless)")
	flags.Uint64Var(&world.network, "network", 0, "with --live: only the network with this chain `id`")
	flags.StringVar(&world.report, "report", "", "with --live: write all results and responses to this new `file`; it names your RPC hosts, but no account, key or provider address")
	cmd.MarkFlagsMutuallyExclusive("live", "fix")
	cmd.MarkFlagsMutuallyExclusive("live", "online")
	cmd.MarkFlagsMutuallyExclusive("live", "browser")
	cmd.MarkFlagsMutuallyExclusive("live", "attach")
	_ = cmd.RegisterFlagCompletionFunc("browser", completeBrowsers)
	return cmd
}

// doctorOutput is the output of doctor --json.
type doctorOutput struct {
	Version  string           `json:"version"`
	Worst    doctor.Status    `json:"worst"`           // of the findings
	Fixed    []doctor.Finding `json:"fixed,omitempty"` // what --fix repaired or could not repair
	Findings []doctor.Finding `json:"findings"`        // of the last examination
}

func (t *terminal) doctor(ctx context.Context, fix, online bool, browser, attach string) error {
	if _, err := manifest.FindBrowser(browser); browser != "" && err != nil {
		return usageError{err}
	}
	p, err := t.doctorEnv(ctx)
	if err != nil {
		return err
	}
	p.Online, p.Browser = online, browser
	said := doctorOutput{Version: version, Findings: doctor.Examine(ctx, p)}
	if fix {
		said.Fixed = doctor.Fix(ctx, said.Findings)
	}
	if len(said.Fixed) > 0 {
		said.Findings = doctor.Examine(ctx, p)
	}
	said.Worst = doctor.Worst(said.Findings)
	worst := said.Worst
	if t.json {
		err = writeJSON(t.out, said)
	} else {
		t.printDoctor(said, fix)
	}
	if attach != "" && err == nil {
		err = t.attach(attach, p.Place.Home, said)
	}
	if verdict := map[doctor.Status]error{doctor.Warn: errWarned, doctor.Fail: errChecksFailed}[worst]; err == nil && verdict != nil {
		return printedError{verdict}
	}
	return err
}

// doctorEnv returns this installation for the doctor. An unreadable configuration is a
// finding; the rest is then examined with the defaults.
func (t *terminal) doctorEnv(ctx context.Context) (*doctor.Env, error) {
	exe, err := installer.OwnProgram()
	if err != nil {
		return nil, err
	}
	cfg, unreadable := t.load()
	if unreadable != nil {
		cfg = config.Default()
		cfg.Home = t.home
	}
	place, err := placeOf(cfg)
	if err != nil {
		return nil, err
	}
	m := thisMachine()
	list := allowed(cfg)
	return &doctor.Env{
		Machine: m, UID: os.Getuid(), Version: version, Program: exe, Daemon: installer.DaemonBeside(exe),
		Config: unreadable, Place: place, Environ: t.environ(), Now: clock.Now,
		Allowed: map[manifest.Family][]string{manifest.Chromium: list.Chromium, manifest.Firefox: list.Firefox},
		Plan: func(scope manifest.Scope, browsers []string) (*installer.Plan, error) {
			return t.plan(m, installFlags{scope: &scopeFlags{system: scope == manifest.System}, browsers: browsers})
		},
		Ask: func(question string) bool { return !t.json && t.interactive() && t.confirm(ctx, question) == nil },
	}, nil
}

func (t *terminal) printDoctor(said doctorOutput, fix bool) {
	ids := make([]string, 0, len(said.Findings))
	fixable := 0
	for _, f := range said.Findings {
		ids = append(ids, f.ID)
		if f.Fixable {
			fixable++
		}
	}
	s := t.result.Labelled(screen.Longest(ids...))
	for _, f := range said.Fixed {
		printFinding(s, f)
	}
	if len(said.Fixed) > 0 {
		s.Blank()
	}
	for _, f := range said.Findings {
		printFinding(s, f)
	}
	s.Blank()
	s.Paragraph(screen.States[string(said.Worst)], doctor.Summary(said.Findings))
	if fixable > 0 && !fix {
		s.Line(fmt.Sprintf("swapkeep doctor --fix can fix %d of them", fixable))
	}
}

// printFinding prints a finding. The remedy is on one line, so that it can be copied.
func printFinding(s *screen.Screen, f doctor.Finding) {
	text := f.Evidence
	if f.About != "" {
		text = f.About + ": " + text
	}
	s.Event(f.ID, string(f.Status), text)
	label, more := "what to do", f.Remedy
	switch {
	case f.Fixed != "":
		label, more = "done", f.Fixed
	case f.Unfixed != "":
		label, more = "not done", f.Unfixed
	}
	if more != "" {
		s.Line("    " + label + ": " + more)
	}
}
