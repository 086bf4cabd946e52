package installer

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"swapkeep/manifest"
)

// Options describe the wanted installation.
type Options struct {
	Scope     manifest.Scope
	Browsers  []string // names from the table; if empty and not All, the installed ones
	All       bool     // every browser of the table that is not sandboxed
	IDs       []string // additional extensions to allow; their form determines the family
	Autostart bool     // start the daemon at login

	Allowed        map[manifest.Family][]string // extensions already allowed; for the system scope only the released ones
	Listed         map[manifest.Family][]string // those of them that the extensions' file lists
	ExtensionsFile string                       // the user's extensions' file; "" = none can be added

	Home     string    // the daemon's state directory, for sandboxed browsers
	Version  string    // of the installing program
	Programs string    // directory of the programs to install, links resolved
	Time     time.Time // for the receipts
}

// A Plan lists every change that an installation would make. Without changes nothing is
// to be done.
type Plan struct {
	Scope     manifest.Scope `json:"scope"`
	Version   string         `json:"version"`
	Launch    string         `json:"launch"`   // program that browsers will start
	Receipts  string         `json:"receipts"` // file that will list every change
	Changes   []Change       `json:"changes"`
	InPlace   []string       `json:"in_place,omitempty"` // paths and keys that need no change
	Foreign   []Foreign      `json:"foreign,omitempty"`
	Skipped   []Skip         `json:"skipped,omitempty"`
	Sandboxed []Sandboxed    `json:"sandboxed,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`

	// Force allows foreign things to be replaced. It is set after the plan was seen.
	Force bool `json:"-"`

	time     time.Time
	receipts *Receipts
	served   map[string]bool // names of browsers
}

// A Foreign thing is in the place of a change: another copy's manifest, or one of ours
// that somebody changed.
type Foreign struct {
	Path   string `json:"path"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

func (f Foreign) String() string { return strings.TrimSpace(f.Path+" "+f.Name) + " " + f.Reason }

// A Skip is a browser for which nothing is written.
type Skip struct {
	Browser string `json:"browser"`
	Reason  string `json:"reason"`
	Remedy  string `json:"remedy,omitempty"`
	Absent  bool   `json:"absent,omitempty"` // not installed on this machine
}

func (s Skip) String() string { return strings.TrimSuffix(s.Browser+": "+s.Reason+"; "+s.Remedy, "; ") }

// Browsers returns how many browsers find the host once the plan is applied.
func (p *Plan) Browsers() int { return len(p.served) }

// Errors for why a plan is refused. The wrapping error says what to do.
var (
	ErrSudoUser    = errors.New("an installation for a user must not be made by root")
	ErrNeedsRoot   = errors.New("an installation for all users needs administrator rights")
	ErrNoIDs       = errors.New("no extension is allowed to use swapkeep")
	ErrBadID       = errors.New("not an extension id")
	ErrCannotAllow = errors.New("cannot allow an extension")
	ErrForeign     = errors.New("another file is in the way")
	ErrPrograms    = errors.New("the programs to install are incomplete")
	ErrUnwritable  = errors.New("cannot write to a folder")
	ErrLink        = errors.New("a link points elsewhere")
	ErrShared      = errors.New("others could change the programs")
)

// NewPlan examines a machine and returns what an installation would change, without
// changing anything. Foreign things are listed in the plan and refused by [Apply].
// Errors: those above, ErrReceipts, manifest.ErrUnknownBrowser.
func NewPlan(m Machine, o Options) (*Plan, error) {
	if err := m.checkRights(o.Scope); err != nil {
		return nil, err
	}
	for _, name := range o.Browsers {
		if _, err := manifest.FindBrowser(name); err != nil {
			return nil, err
		}
	}
	allowed, err := o.allowed()
	if err != nil {
		return nil, err
	}
	o.Allowed = allowed
	layout, err := LayoutOf(m, o.Scope, o.Version, o.Programs)
	if err != nil {
		return nil, err
	}
	receipts, err := ReadReceipts(m, o.Scope)
	if err != nil {
		return nil, err
	}
	b := &planner{m: m, o: o, layout: layout, at: map[string]int{}, dirs: map[string]bool{}, plan: &Plan{
		Scope: o.Scope, Version: o.Version, Launch: layout.Launch, Receipts: layout.Receipts, Changes: []Change{},
		time: o.Time.UTC().Truncate(time.Second), receipts: receipts, served: map[string]bool{},
	}}
	b.packaged = layout.Managed && o.Scope == manifest.System || m.OS == "windows" // packages install to the same place
	for _, step := range []func() error{b.state, b.programs, b.browsers, b.extensions, b.autostart} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.plan, b.check()
}

// checkRights refuses users who cannot, or should not, install for a scope.
func (m Machine) checkRights(scope manifest.Scope) error {
	switch {
	case scope == manifest.System && !m.Root && m.OS == "windows":
		return fmt.Errorf("%w: run this in a terminal that was opened as administrator", ErrNeedsRoot)
	case scope == manifest.System && !m.Root:
		return fmt.Errorf("%w: run it with sudo, or install for yourself with --user", ErrNeedsRoot)
	case scope == manifest.User && m.Root && m.Sudo:
		return fmt.Errorf("%w: run this without sudo, or install for all users with --system", ErrSudoUser)
	case scope != manifest.User && scope != manifest.System:
		return fmt.Errorf("no scope is called %q", scope)
	case scope == manifest.User && !m.isAbs(m.Home):
		return fmt.Errorf("the home directory is %q: set HOME to yours, an absolute path", m.Home)
	}
	if info, err := m.Files.Stat(m.Home); err == nil && scope == manifest.User && m.Root {
		if uid, known := m.Files.Owner(info); known && uid != 0 {
			return fmt.Errorf("%w: %s belongs to user %d; run this as that user", ErrSudoUser, m.Home, uid)
		}
	}
	return nil
}
