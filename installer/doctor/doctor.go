// Package doctor examines an installation: what browsers would find of the host, what
// they would start and whether it answers, and how the daemon does. Unless a remedy is
// asked for that is safe, it changes nothing of the installation by itself; it starts the
// host as the browser does, and with it, where none runs, the daemon, which does what it
// does at every start, and stops it again.
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

// A Status is what a check found, by the words of the protocol's.
type Status string

// The statuses. A note is worth knowing and nothing is wrong.
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
	About    string   `json:"about,omitempty"` // the browser, file or program, where there are several
	Status   Status   `json:"status"`
	Evidence string   `json:"evidence"`
	Remedy   string   `json:"remedy,omitempty"`  // a command where there is one
	Fixable  bool     `json:"fixable,omitempty"` // by --fix
	Fixed    string   `json:"fixed,omitempty"`   // what --fix did
	Unfixed  string   `json:"unfixed,omitempty"` // why --fix did nothing
	Details  []string `json:"details,omitempty"` // for a report

	fix remedy
}

// A Patient is the installation that is examined, as this program and its user see it.
type Patient struct {
	Machine installer.Machine
	UID     int    // of the user; -1 where there is none
	Version string // of this program
	Program string // this program, links resolved
	Daemon  string // the daemon's program beside it

	Config  error // why the configuration cannot be read; nil: it can
	Place   transport.Place
	Allowed map[manifest.Family][]string // the extensions that the host lets in
	Environ []string                     // of this process, with what flags say

	Online  bool   // also asks networks
	Browser string // looks at this browser alone; "" = all

	// Plan is what an installation of a scope would change now; without names, for the
	// browsers that are there.
	Plan func(scope manifest.Scope, browsers []string) (*installer.Plan, error)
	// Ask asks the person whether to do what would interrupt them; nil is no.
	Ask func(question string) bool
	// Now is the time; nil is time.Now.
	Now func() time.Time

	seen *sight
}

// A check looks at one thing.
type check struct {
	id, title string
	on        []string // systems; none = all
	run       func(context.Context, *Patient) []Finding
}

// Bounds. What there is no time left for is skipped.
const (
	wholeTime  = 15 * time.Second // for all but the launches
	launchTime = 15 * time.Second // for these, which come last
	askTime    = 2 * time.Second  // for another program that is asked something
)

var noTime = skipped("there was no time left for it")

// groups are all checks but the launches in the order they are told.
var groups = [][]check{configurationChecks, manifestChecks, programChecks, extensionChecks, policyChecks, windowsChecks, boxChecks, daemonChecks, installationChecks}

// Examine makes all checks, within half a minute.
func Examine(ctx context.Context, p *Patient) []Finding { return p.examine(ctx, wholeTime) }

// examine makes the launches last, since they start the daemon, and leaves them time of
// their own: one that is cut off would seem not to answer.
func (p *Patient) examine(ctx context.Context, limit time.Duration) []Finding {
	most, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.look(most)
	defer p.seen.close()
	out := p.make(most, slices.Concat(groups...))
	last, cancelLast := context.WithTimeout(ctx, launchTime)
	defer cancelLast()
	return append(out, p.make(last, launchChecks)...)
}

// make makes those checks that are for the machine's system.
func (p *Patient) make(ctx context.Context, checks []check) (out []Finding) {
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

// Summary counts what is not well, for a person.
func Summary(findings []Finding) string {
	counts := map[Status]int{}
	for _, f := range findings {
		counts[f.Status]++
	}
	return plural(counts[Fail], "failure") + ", " + plural(counts[Warn], "warning") + ", " + plural(counts[Note], "note")
}

// severities are the statuses from harmless to bad.
var severities = []Status{OK, Skipped, Note, Warn, Fail}

// Worst is the worst status of findings.
func Worst(findings []Finding) Status {
	worst := 0
	for _, f := range findings {
		worst = max(worst, slices.Index(severities, f.Status))
	}
	return severities[worst]
}

func (p *Patient) now() time.Time {
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

// of names what a finding is about.
func (f Finding) of(about string) Finding {
	f.About = about
	return f
}

// mendedBy gives a finding what --fix does.
func (f Finding) mendedBy(fix remedy) Finding {
	f.fix = fix
	return f
}

// unless is one good finding where nothing else was found.
func unless(found []Finding, good Finding) []Finding {
	if len(found) > 0 {
		return found
	}
	return []Finding{good}
}
