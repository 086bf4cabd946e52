package installer

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"swapkeep/manifest"
)

// Options are what is wanted of an installation.
type Options struct {
	Scope     manifest.Scope
	Browsers  []string // names of the table; none and not All: those that are on the machine
	All       bool     // every browser of the table that runs outside of a box
	IDs       []string // extensions to let in besides; their form tells the family
	Autostart bool     // the system starts the daemon at login

	Allowed        map[manifest.Family][]string // extensions that are let in already; for the system the released ones alone
	Listed         map[manifest.Family][]string // those of them that the extensions' file lists
	ExtensionsFile string                       // the extensions' file of the user; "" = none can be let in

	Home     string    // the daemon's state directory, for browsers in boxes
	Version  string    // of the installing program
	Programs string    // the folder of the programs to install, links resolved
	Time     time.Time // for the receipts
}

// A Plan is every change that an installation would make. Without changes there is
// nothing to do.
type Plan struct {
	Scope     manifest.Scope `json:"scope"`
	Version   string         `json:"version"`
	Launch    string         `json:"launch"`   // the program that browsers are to start
	Receipts  string         `json:"receipts"` // the file that will name every change
	Changes   []Change       `json:"changes"`
	InPlace   []string       `json:"in_place,omitempty"` // paths and keys that need no change
	Foreign   []Foreign      `json:"foreign,omitempty"`
	Skipped   []Skip         `json:"skipped,omitempty"`
	Sandboxed []Sandboxed    `json:"sandboxed,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`

	// Force lets what is foreign give way. It is asked for after the plan was seen.
	Force bool `json:"-"`

	time     time.Time
	receipts *Receipts
	served   map[string]bool // browsers by name
}

// A Foreign thing stands where an installation would put its own: another copy's
// manifest, or one of ours that somebody changed.
type Foreign struct {
	Path   string `json:"path"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

func (f Foreign) String() string { return strings.TrimSpace(f.Path+" "+f.Name) + " " + f.Reason }

// A Skip is a browser that nothing is written for.
type Skip struct {
	Browser string `json:"browser"`
	Reason  string `json:"reason"`
	Remedy  string `json:"remedy,omitempty"`
	Absent  bool   `json:"absent,omitempty"` // it is not on this machine
}

func (s Skip) String() string { return strings.TrimSuffix(s.Browser+": "+s.Reason+"; "+s.Remedy, "; ") }

// Browsers is how many browsers find the host once the plan is carried out.
func (p *Plan) Browsers() int { return len(p.served) }

// Why a plan is refused. The words say what to do.
var (
	ErrSudoUser   = errors.New("a user's installation made by root would belong to root")
	ErrNeedsRoot  = errors.New("an installation for all users needs the system's rights")
	ErrNoIDs      = errors.New("no extension is known that may use swapkeep")
	ErrBadID      = errors.New("not the id of an extension")
	ErrNotLetIn   = errors.New("no extension can be let in")
	ErrForeign    = errors.New("something else is in the way")
	ErrPrograms   = errors.New("the programs to install are not complete")
	ErrUnwritable = errors.New("a folder cannot be written")
	ErrLink       = errors.New("a link leads elsewhere")
	ErrShared     = errors.New("others could change the programs")
)

// NewPlan looks at a machine and says what an installation would change; it changes
// nothing. Foreign things are listed in the plan and refused by [Apply]. Errors: those
// above, ErrReceipts, manifest.ErrUnknownBrowser.
func NewPlan(m Machine, o Options) (*Plan, error) {
	if err := m.may(o.Scope); err != nil {
		return nil, err
	}
	for _, name := range o.Browsers {
		if _, err := manifest.FindBrowser(name); err != nil {
			return nil, err
		}
	}
	allowed, err := o.admitted()
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
	b.packaged = layout.Managed && o.Scope == manifest.System || m.OS == "windows" // where packages install to the very place
	for _, step := range []func() error{b.state, b.programs, b.browsers, b.extensions, b.autostart} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.plan, b.check()
}

// may refuses who cannot, or should not, install for a scope.
func (m Machine) may(scope manifest.Scope) error {
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
