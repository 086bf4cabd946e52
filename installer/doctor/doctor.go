// Package doctor examines an installation: what browsers find of the host, what they
// would start and whether it answers, and the state of the daemon. Unless asked to apply
// safe remedies, it does not change the installation. It does start the host as a browser
// does and, if no daemon is running, the daemon, which does what it does at every start;
// afterwards it stops that daemon again.
package doctor

import (
	"context"
	"slices"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// A Status is the result of a check, in the protocol's terms.
type Status string

// The statuses. A Note is information without a problem.
const (
	OK      Status = protocol.CheckOK
	Note    Status = protocol.CheckNote
	Warn    Status = protocol.CheckWarn
	Fail    Status = protocol.CheckFail
	Skipped Status = protocol.CheckSkipped
)

// A Finding is what one check found about one thing.
type Finding struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	About    string   `json:"about,omitempty"` // the browser, file or program, if there are several
	Status   Status   `json:"status"`
	Evidence string   `json:"evidence"`
	Remedy   string   `json:"remedy,omitempty"`  // a command if there is one
	Fixable  bool     `json:"fixable,omitempty"` // with --fix
	Fixed    string   `json:"fixed,omitempty"`   // what --fix did
	Unfixed  string   `json:"unfixed,omitempty"` // why --fix did nothing
	Details  []string `json:"details,omitempty"` // for a report

	fix fixFunc
}

// A Env is the installation to examine, as this program and its user see it.
type Env struct {
	Machine installer.Machine
	UID     int    // of the user; -1 if there is none
	Version string // of this program
	Program string // path of this program, links resolved
	Daemon  string // path of the daemon's program next to it

	Config  error // why cannot read the configuration; nil if it can
	Place   transport.Instance
	Allowed map[manifest.Family][]string // extensions that the host accepts
	Environ []string                     // environment of this process, including flags

	Online  bool   // also query networks
	Browser string // examine only this browser; "" = all

	// Plan returns what an installation of a scope would change now; without names, for
	// the installed browsers.
	Plan func(scope manifest.Scope, browsers []string) (*installer.Plan, error)
	// Ask asks the user whether to do something that interrupts them; nil means no.
	Ask func(question string) bool
	// Now returns the time; nil is time.Now.
	Now func() time.Time

	facts *facts
}

// A check examines one thing.
type check struct {
	id, title string
	on        []string // operating systems; none = all
	run       func(context.Context, *Env) []Finding
}

// Time limits. A check for which no time is left is skipped.
const (
	wholeTime  = 15 * time.Second // for all checks except the launches
	launchTime = 15 * time.Second // for the launches, which come last
	askTime    = 2 * time.Second  // for another program to answer
)

var noTime = skipped("no time left for this check")

// groups are all checks except the launches, in the order of the output.
var groups = [][]check{configurationChecks, manifestChecks, programChecks, extensionChecks, policyChecks, windowsChecks, boxChecks, daemonChecks, installationChecks}

// Examine runs all checks within half a minute.
func Examine(ctx context.Context, p *Env) []Finding { return p.examine(ctx, wholeTime) }

// examine runs the launches last, because they start the daemon. They have their own time
// limit: a launch that is cut off would look as if the host did not answer.
func (p *Env) examine(ctx context.Context, limit time.Duration) []Finding {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.look(limited)
	defer p.facts.close()
	out := p.make(limited, slices.Concat(groups...))
	last, cancelLast := context.WithTimeout(ctx, launchTime)
	defer cancelLast()
	return append(out, p.make(last, launchChecks)...)
}

// make runs the checks that apply to the machine's operating system.
func (p *Env) make(ctx context.Context, checks []check) (out []Finding) {
	for _, c := range checks {
		if len(c.on) > 0 && !slices.Contains(c.on, p.Machine.OS) {
			continue
		}
		found := []Finding{noTime}
		if ctx.Err() == nil {
			found = c.run(ctx, p)
		}
		for _, f := range found {
			if f.ID == "" {
				f.ID, f.Title = c.id, c.title
			}
			f.Fixable = f.fix != nil
			out = append(out, f)
		}
	}
	return out
}

// Summary counts failures, warnings and notes.
func Summary(findings []Finding) string {
	counts := map[Status]int{}
	for _, f := range findings {
		counts[f.Status]++
	}
	return plural(counts[Fail], "failure") + ", " + plural(counts[Warn], "warning") + ", " + plural(counts[Note], "note")
}

// severities are the statuses in ascending order of severity.
var severities = []Status{OK, Skipped, Note, Warn, Fail}

// Worst returns the most severe status of findings.
func Worst(findings []Finding) Status {
	worst := 0
	for _, f := range findings {
		worst = max(worst, slices.Index(severities, f.Status))
	}
	return severities[worst]
}

func (p *Env) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

func ok(evidence string) Finding      { return Finding{Status: OK, Evidence: evidence} }
func note(evidence string) Finding    { return Finding{Status: Note, Evidence: evidence} }
func skipped(evidence string) Finding { return Finding{Status: Skipped, Evidence: evidence} }

func warn(evidence, remedy string) Finding {
	return Finding{Status: Warn, Evidence: evidence, Remedy: remedy}
}

func fail(evidence, remedy string) Finding {
	return Finding{Status: Fail, Evidence: evidence, Remedy: remedy}
}

// of sets what a finding is about.
func (f Finding) of(about string) Finding {
	f.About = about
	return f
}

// withFix sets what --fix does about a finding.
func (f Finding) withFix(fix fixFunc) Finding {
	f.fix = fix
	return f
}

// orOK returns good if nothing else was found.
func orOK(found []Finding, good Finding) []Finding {
	if len(found) > 0 {
		return found
	}
	return []Finding{good}
}
