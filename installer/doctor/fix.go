package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// A remedy mends one thing and says what it did. It touches nothing that is not ours
// and no wallet; it may be repeated.
type remedy func(context.Context) (did string, err error)

// Fix applies every remedy that is safe, and returns the findings that it was about with
// what was done or why not.
func Fix(ctx context.Context, findings []Finding) (out []Finding) {
	installed := false
	for _, f := range findings {
		if f.fix == nil {
			continue
		}
		did, err := f.fix(ctx)
		switch {
		case errors.Is(err, errInPlace) && installed: // by the remedy of an earlier finding
			f.Fixed = errInPlace.Error()
		case err != nil:
			f.Unfixed = oneLine(err)
		default:
			f.Fixed = did
			installed = installed || strings.HasPrefix(did, didInstall)
		}
		out = append(out, f)
	}
	return out
}

// errInPlace: an installation would change nothing.
var errInPlace = errors.New("what swapkeep install makes is in its place")

const didInstall = "did what swapkeep install does"

// mendedByInstalling lets --fix install again what is there, or names the program that
// can: it neither goes back to an older version nor brings a newer one unasked.
func (p *Patient) mendedByInstalling(f Finding) Finding {
	if other := p.elsewhere(); other != "" {
		f.Remedy = other
		return f
	}
	return f.mendedBy(p.reinstall)
}

// elsewhere is what mends an installation of another copy or version than this program;
// "" is for one of this.
func (p *Patient) elsewhere() string {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, p.parent(p.Program))
	if err != nil {
		return "" // nothing can be installed
	}
	receipts, err := installer.ReadReceipts(p.Machine, manifest.User)
	if err != nil {
		return ""
	}
	for _, r := range receipts.Entries {
		if _, err := p.Machine.Files.Stat(r.Owner); r.Kind == installer.Manifest && r.Owner != layout.Launch && err == nil {
			return p.quoted(r.Owner) + " doctor --fix"
		}
	}
	version := p.installedVersion(layout, receipts)
	if version == "" || version == p.Version {
		return ""
	}
	if _, err := p.Machine.Files.Stat(layout.Launch); err != nil {
		return "swapkeep install, which puts version " + p.Version + " in the place of " + version
	}
	return p.quoted(layout.Launch) + " doctor --fix"
}

// installedVersion is the one that browsers are led to; "" where the programs are a
// package's, or none are there.
func (p *Patient) installedVersion(layout installer.Layout, receipts *installer.Receipts) (version string) {
	if layout.Current != "" {
		if at, err := p.Machine.Files.Readlink(layout.Current); err == nil && !strings.Contains(at, "/") {
			return at
		}
	}
	for _, r := range receipts.Entries {
		linked := r.Kind == installer.Link && r.Path == layout.Current
		if linked || r.Kind == installer.Program && r.Path == layout.Launch && !r.Pending {
			version = r.Version
		}
	}
	return version
}

// reinstall makes what an installation for this user would make, and replaces nothing
// that is another's.
func (p *Patient) reinstall(ctx context.Context) (string, error) {
	unlock, err := p.Machine.Lock(ctx, manifest.User)
	if err != nil {
		return "", err
	}
	defer unlock()
	plan, err := p.again()
	if err != nil {
		return "", err
	}
	plan.Force = p.owned(plan.Foreign)
	if _, err := installer.Apply(ctx, p.Machine, plan); err != nil {
		return "", err
	}
	return didInstall + " (" + plural(len(plan.Changes), "change") + ")", nil
}

// again is the plan to install what was installed, for those whom it was installed for.
func (p *Patient) again() (*installer.Plan, error) {
	if other := p.elsewhere(); other != "" {
		return nil, errors.New("another copy or version is installed: " + other)
	}
	browsers := p.served()
	if len(browsers) == 0 {
		return nil, errors.New("it was installed for no browser that is here: swapkeep install chooses anew")
	}
	plan, err := p.Plan(manifest.User, browsers)
	switch {
	case err != nil:
		return nil, err
	case len(plan.Changes) == 0:
		return nil, errInPlace
	case slices.ContainsFunc(plan.Changes, replacesProgram):
		return nil, errors.New("another build of this version is installed: swapkeep install replaces it")
	}
	return plan, nil
}

func replacesProgram(c installer.Change) bool {
	return c.Kind == installer.Program && c.Replaces != "" && c.Replaces != c.SHA256
}

// owned reports whether all that is in the way are manifests that we installed and that
// no browser accepts, or that lead nowhere.
func (p *Patient) owned(inTheWay []installer.Foreign) bool {
	return !slices.ContainsFunc(inTheWay, func(f installer.Foreign) bool { return !slices.Contains(p.seen.dead, f.Path) })
}

// served are the browsers that this user installed for, and those that have the extension
// and nothing of the system's.
func (p *Patient) served() (names []string) {
	var receipts []installer.Receipt
	if r, err := installer.ReadReceipts(p.Machine, manifest.User); err == nil {
		receipts = r.Entries
	}
	for _, b := range p.seen.browsers {
		was := len(b.extensions) > 0 && !p.hasOfSystem(b)
		for _, place := range b.places {
			kind, path := installer.Manifest, place.File(p.environment())
			if place.Key != "" {
				kind, path = installer.Value, keyIn(place, manifest.View64)
			}
			was = was || slices.ContainsFunc(receipts, func(r installer.Receipt) bool { return r.Kind == kind && r.Path == path })
		}
		if was && b.Box == "" && !slices.Contains(names, b.Browser) {
			names = append(names, b.Browser)
		}
	}
	return names
}

// special are the bits of a mode that stay what they are.
const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// chmod gives and takes rights to a file of this user's, of those that it has by then.
func (p *Patient) chmod(path string, give, take fs.FileMode) remedy {
	return func(context.Context) (string, error) {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		mode := (info.Mode().Perm() | give) &^ take
		if err := os.Chmod(path, mode|info.Mode()&special); err != nil {
			return "", err
		}
		return fmt.Sprintf("chmod %04o %s", mode, p.quoted(path)), nil
	}
}

// narrow gives rights to what is ours and takes those of others. What they may have
// replaced is not made to look safe, or it would be started.
func (p *Patient) narrow(path string, give fs.FileMode) remedy {
	return func(ctx context.Context) (string, error) {
		if !p.untouched(path) {
			return "", errors.New("it was changed since it was installed: look at it")
		}
		return p.chmod(path, give, othersWrite)(ctx)
	}
}

// removeSocket removes a socket that no process can be behind.
func (p *Patient) removeSocket(context.Context) (string, error) {
	path := p.Place.SocketPath()
	err := owner.Vacant(p.Place, func() error { return os.Remove(path) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "a daemon has replaced it meanwhile", nil
	case err != nil:
		return "", err
	}
	return "removed " + p.quoted(path), nil
}

// restart stops a daemon of another version, which the next use starts anew, if the
// person agrees or nothing is open.
func (p *Patient) restart(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, wholeTime)
	defer cancel()
	now := &sight{} // what the other remedies go by stays
	now.dial(ctx, p.Place, p.Version)
	defer now.close()
	if now.daemon == nil {
		return "", now.dialed
	}
	var status protocol.StatusResult
	if err := now.daemon.Call(ctx, "host.status", nil, &status); err != nil {
		return "", err
	}
	question := fmt.Sprintf("Stop the daemon of version %s? %s; they go on at its next start.", status.Version, plural(status.OpenOrders, "open order"))
	if status.OpenOrders > 0 && (p.Ask == nil || !p.Ask(question)) {
		return "", fmt.Errorf("it has %s: run swapkeep stop yourself", plural(status.OpenOrders, "open order"))
	}
	if err := p.stop(ctx); err != nil {
		return "", err
	}
	return "stopped the daemon of version " + status.Version + "; the next use starts the installed one", nil
}
