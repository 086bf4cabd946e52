package installer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	ErrForeign    = errors.New("something else is in the way")
	ErrPrograms   = errors.New("the programs to install are not complete")
	ErrUnwritable = errors.New("a folder cannot be written")
	ErrLink       = errors.New("a link leads elsewhere")
)

// A planner makes one plan.
type planner struct {
	m      Machine
	o      Options
	layout Layout
	plan   *Plan
	at     map[string]int  // index of a change by what it is about
	dirs   map[string]bool // folders and keys that will be there

	packaged bool // what is as it should be already is a package's, and no receipt's
}

// NewPlan looks at a machine and says what an installation would change; it changes
// nothing. Foreign things are listed in the plan and refused by [Apply]. Errors: those
// above, ErrReceipts, manifest.ErrUnknownBrowser.
func NewPlan(m Machine, o Options) (*Plan, error) {
	if err := m.may(o.Scope); err != nil {
		return nil, err
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
	b.packaged = layout.Managed && o.Scope == manifest.System ||
		m.OS == "windows" && m.same(o.Programs, layout.Programs) && len(receipts.Entries) == 0 // packages install to the very place
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

// admitted are all extensions that will be let in, sorted.
func (o Options) admitted() (map[manifest.Family][]string, error) {
	if len(o.IDs) > 0 && o.ExtensionsFile == "" {
		return nil, fmt.Errorf("%w: extensions are let in by each user: run swapkeep install --user --extension-id as that user", ErrBadID)
	}
	out := map[manifest.Family][]string{}
	for f, list := range o.Allowed {
		out[f] = slices.Clone(list)
	}
	for _, id := range o.IDs {
		f, ok := familyOf(id)
		if !ok {
			return nil, fmt.Errorf("%w: %q; Chromium's are 32 letters from a to p, Firefox's name@domain or {uuid}", ErrBadID, id)
		}
		out[f] = append(out[f], id)
	}
	known := 0
	for f := range out {
		slices.Sort(out[f])
		out[f] = slices.Compact(out[f])
		known += len(out[f])
	}
	if known == 0 {
		return nil, fmt.Errorf("%w: name it with --extension-id; its popup shows the id", ErrNoIDs)
	}
	return out, nil
}

func familyOf(id string) (manifest.Family, bool) {
	for _, f := range manifest.Families() {
		if f.ValidID(id) {
			return f, true
		}
	}
	return "", false
}

// state is the folder of the receipts.
func (b *planner) state() error { return b.inside(b.layout.Receipts) }

// programs are copied, unless they are a package's, and linked to.
func (b *planner) programs() error {
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		from, to := b.m.join(b.o.Programs, b.m.exe(name)), b.m.join(b.layout.Programs, b.m.exe(name))
		sum, there, err := fileSum(b.m, from, "")
		if err != nil || !there || sum == odd {
			return errors.Join(fmt.Errorf("%w: %s is not beside this program; unpack both into one folder and run it there", ErrPrograms, from), err)
		}
		if b.layout.Managed {
			continue
		}
		if err := b.add(Change{Kind: Program, Path: to, From: from, SHA256: sum}); err != nil {
			return err
		}
	}
	if b.layout.Managed || b.layout.Current == "" {
		return nil
	}
	if err := b.add(Change{Kind: Link, Path: b.layout.Current, To: b.o.Version}); err != nil {
		return err
	}
	return b.command()
}

// command is the link that a shell finds, where there is a folder for such and none
// of another copy in it.
func (b *planner) command() error {
	if b.layout.Command == "" {
		return nil
	}
	dir := b.m.parent(b.layout.Command)
	if there, err := b.m.exists(dir); err != nil || !there {
		return err
	}
	foreign := len(b.plan.Foreign)
	if err := b.add(Change{Kind: Link, Path: b.layout.Command, To: b.layout.Launch}); err != nil || len(b.plan.Foreign) == foreign {
		return err
	}
	b.plan.Foreign = b.plan.Foreign[:foreign]
	b.plan.Changes = b.plan.Changes[:len(b.plan.Changes)-1]
	b.plan.Warnings = append(b.plan.Warnings, fmt.Sprintf("%s is another program's and stays: start swapkeep as %s", b.layout.Command, b.layout.Launch))
	return nil
}

// extensions are let in by a file beside the configuration.
func (b *planner) extensions() error {
	if len(b.o.IDs) == 0 {
		return nil
	}
	lists := map[manifest.Family][]string{}
	for f, listed := range b.o.Listed {
		if len(listed) > 0 {
			lists[f] = listed
		}
	}
	for _, id := range b.o.IDs {
		f, _ := familyOf(id)
		lists[f] = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(lists[f]), id))))
	}
	text, err := json.MarshalIndent(lists, "", "  ")
	if err != nil {
		return err
	}
	return b.add(Change{Kind: Extensions, Path: b.o.ExtensionsFile, Content: string(text) + "\n", ours: true})
}

// inside plans the folders that a thing is in.
func (b *planner) inside(path string) error {
	dirs, err := b.m.missing(b.m.parent(path))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if !b.dirs[dir] {
			b.dirs[dir] = true
			b.plan.Changes = append(b.plan.Changes, Change{Kind: Directory, Path: dir})
		}
	}
	return nil
}

// add plans a change with the folders or keys that it is in, unless it is in place, and
// notes what is in its way.
func (b *planner) add(c Change) error {
	about := c.Path + "\x00" + c.Name
	if i, planned := b.at[about]; planned {
		if i >= 0 {
			b.plan.Changes[i].Browsers = joined(b.plan.Changes[i].Browsers, c.Browsers)
		}
		return nil
	}
	b.at[about] = -1
	if c.SHA256 == "" {
		c.SHA256 = Sum([]byte(c.To + c.Content)) // one of them
	}
	sum, there, err := kinds[c.Kind].sum(b.m, c.Path, c.Name)
	if err != nil {
		return fmt.Errorf("look at %s: %w", c.Path, err)
	}
	entry, known := b.plan.receipts.find(c.Kind, c.Path, c.Name)
	before := known && (sum == entry.SHA256 || entry.Pending && sum == entry.Before)
	switch {
	case there && sum == c.SHA256 && (known && !entry.Pending || b.packaged):
		b.plan.InPlace = append(b.plan.InPlace, c.Path)
		return nil
	case there && sum != c.SHA256 && !before && !c.ours:
		b.plan.Foreign = append(b.plan.Foreign, Foreign{c.Path, c.Name, b.stranger(c, known)})
	}
	if there {
		c.Replaces, c.ours = sum, before || sum == c.SHA256
	}
	if c.Kind.inRegistry() {
		err = b.insideKey(c)
	} else {
		err = b.inside(c.Path)
	}
	if err != nil {
		return err
	}
	b.at[about] = len(b.plan.Changes)
	b.plan.Changes = append(b.plan.Changes, c)
	return nil
}

// insideKey plans the keys that a value is in.
func (b *planner) insideKey(c Change) error {
	var missing []string
	for key := c.Path; strings.Contains(key, `\`); key = b.m.parent(key) {
		is, err := b.m.Registry.Exists(key)
		if err != nil {
			return fmt.Errorf("look at %s: %w", key, err)
		}
		if is {
			break
		}
		missing = append(missing, key)
	}
	for _, key := range slices.Backward(missing) {
		if !b.dirs[key] {
			b.dirs[key] = true
			b.plan.Changes = append(b.plan.Changes, Change{Kind: Key, Path: key})
		}
	}
	return nil
}

// joined are two lists of names as one, each name once.
func joined(a, b []string) []string {
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

// stranger says what stands in the way of a change.
func (b *planner) stranger(c Change, known bool) string {
	switch {
	case known:
		return "was changed since it was installed"
	case c.Kind == Value:
		text, _, _ := b.m.Registry.Value(c.Path, c.Name)
		return "names " + text
	case c.Kind != Manifest:
		return "is none of this installation's"
	}
	var file struct{ Path string }
	text, err := b.m.Files.ReadFile(c.Path)
	if err != nil || json.Unmarshal(text, &file) != nil || file.Path == "" {
		return "is none of this installation's"
	}
	if file.Path == b.layout.Launch {
		return "was changed since it was installed"
	}
	return "starts another copy, " + file.Path
}
