package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// A fixFunc fixes one thing and returns what it did. It touches nothing that is not ours,
// and no wallet. It may be repeated.
type fixFunc func(context.Context) (did string, err error)

// Fix applies every safe remedy, and returns the findings it was for with what was done
// or why nothing was.
func Fix(ctx context.Context, findings []Finding) (out []Finding) {
	installed := false
	for _, f := range findings {
		if f.fix == nil {
			continue
		}
		did, err := f.fix(ctx)
		switch {
		case errors.Is(err, errInPlace) && installed: // done by the remedy of an earlier finding
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

// errInPlace means that an installation would change nothing.
var errInPlace = errors.New("everything from swapkeep install is in place")

const didInstall = "did what swapkeep install does"

// fixByInstalling lets --fix repeat the installation, or names the program that can:
// it neither downgrades nor upgrades unasked. owner is the program that the affected file
// was made for; "" if there is none yet.
func (p *Env) fixByInstalling(f Finding, owner string) Finding {
	if anew := p.tamperedRemedy(); anew != "" {
		return f.withRemedy(anew)
	}
	if other := p.otherCopyRemedy(owner); other != "" {
		return f.withRemedy(other)
	}
	return f.withFix(func(ctx context.Context) (string, error) { return p.reinstall(ctx, owner) })
}

// ownerOf returns the program that a file or key of ours leads browsers to.
func (p *Env) ownerOf(path string) string {
	for _, r := range p.receipts() {
		if r.Path == path && (r.Kind == installer.Manifest || r.Kind == installer.Value) {
			return r.Owner
		}
	}
	return ""
}

// isOtherCopy reports whether owner is an existing copy other than this one.
func (p *Env) isOtherCopy(owner string) bool {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, p.parent(p.Program))
	if err != nil || owner == "" || p.resolved(owner) == p.resolved(layout.Launch) {
		return false
	}
	_, err = p.Machine.Files.Stat(owner)
	return err == nil
}

// servingCopy returns the other copy that serves all of this user's browsers; "" if none does.
func (p *Env) servingCopy() (owner string) {
	for _, r := range p.receipts() {
		switch {
		case r.scope != manifest.User || r.Kind != installer.Manifest:
		case p.isOtherCopy(r.Owner):
			owner = r.Owner
		default:
			return ""
		}
	}
	return owner
}

// otherCopyRemedy returns the command that repairs an installation of another copy or version
// than this program; "" if this program can. An owner of "" means none in particular.
func (p *Env) otherCopyRemedy(owner string) string {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, p.parent(p.Program))
	if err != nil {
		return "" // nothing can be installed
	}
	if owner == "" {
		owner = p.servingCopy()
	}
	if p.isOtherCopy(owner) {
		return p.quoted(owner) + " doctor --fix"
	}
	receipts, err := installer.ReadReceipts(p.Machine, manifest.User)
	if err != nil {
		return ""
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

// chooseCopyRemedy returns which of two copies to use. It never suggests replacing a newer version
// by an older one, which may not be able to read the databases.
func (p *Env) chooseCopyRemedy(other, version string) string {
	if installer.Older(p.Version, version) {
		return "use " + p.quoted(other)
	}
	return "keep one: run swapkeep install from the copy to keep"
}

// installedVersion returns the version that browsers are led to; "" if the programs
// belong to a package or none are installed.
func (p *Env) installedVersion(layout installer.Layout, receipts *installer.Receipts) (version string) {
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

// reinstall repeats the user's installation without replacing anything that is not ours.
func (p *Env) reinstall(ctx context.Context, owner string) (string, error) {
	unlock, err := p.Machine.Lock(ctx, manifest.User)
	if err != nil {
		return "", err
	}
	defer unlock()
	plan, err := p.again(owner)
	if err != nil {
		return "", err
	}
	plan.Force = p.owned(plan.Foreign)
	if _, err := installer.Apply(ctx, p.Machine, plan); err != nil {
		return "", err
	}
	return didInstall + " (" + plural(len(plan.Changes), "change") + ")", nil
}

// again plans the installation for the browsers that it was made for.
func (p *Env) again(owner string) (*installer.Plan, error) {
	if other := p.otherCopyRemedy(owner); other != "" {
		return nil, errors.New("another copy or version is installed: " + other)
	}
	browsers := p.served()
	if len(browsers) == 0 {
		return nil, errors.New("it was installed for browsers that are gone: run swapkeep install again")
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

// owned reports whether everything in the way is a manifest that we installed and that no
// browser accepts or that points to nothing.
func (p *Env) owned(inTheWay []installer.Foreign) bool {
	return !slices.ContainsFunc(inTheWay, func(f installer.Foreign) bool { return !slices.Contains(p.facts.dead, f.Path) })
}

// served returns the browsers that this user installed for, and those that have the
// extension and no manifest of the system, without those that another copy serves.
func (p *Env) served() (names []string) {
	var receipts []installer.Receipt
	if r, err := installer.ReadReceipts(p.Machine, manifest.User); err == nil {
		receipts = r.Entries
	}
	for _, b := range p.facts.browsers {
		was, others := len(b.extensions) > 0 && !p.hasOfSystem(b), false
		for _, place := range b.places {
			kind, path := p.registration(place)
			for _, r := range receipts {
				if r.Kind == kind && r.Path == path {
					was, others = true, others || p.isOtherCopy(r.Owner)
				}
			}
		}
		if was && !others && b.Box == "" && !slices.Contains(names, b.Browser) {
			names = append(names, b.Browser)
		}
	}
	return names
}

// registration returns the kind and path of what makes a browser find the host at a place.
func (p *Env) registration(place manifest.Place) (installer.Kind, string) {
	if place.Key != "" {
		return installer.Value, keyIn(place, manifest.View64)
	}
	return installer.Manifest, place.File(p.environment())
}

// special are the mode bits that chmod keeps.
const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// chmod returns a remedy that changes permissions relative to the mode at that time.
func (p *Env) chmod(path string, give, take fs.FileMode) fixFunc {
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

// restrict returns a remedy that adds permissions for the user and removes those of others
// from something unchanged. Otherwise a replaced file would look safe and be started.
func (p *Env) restrict(path string, give fs.FileMode) fixFunc {
	return func(ctx context.Context) (string, error) {
		if !p.untouched(path) {
			return "", errors.New("it was changed since it was installed; inspect it")
		}
		return p.chmod(path, give, othersWrite)(ctx)
	}
}

// removeSocket removes a socket that no process can be listening on.
func (p *Env) removeSocket(context.Context) (string, error) {
	path := p.Place.SocketPath()
	err := owner.WithLock(p.Place, func() error { return os.Remove(path) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "another daemon has replaced it", nil
	case err != nil:
		return "", err
	}
	return "removed " + p.quoted(path), nil
}

// handoverTime limits how long a daemon may take to finish its requests and exit.
const handoverTime = protocol.RequestTimeout + 30*time.Second

// restart stops a daemon of another version, which the next use starts anew, if the user
// agrees or nothing is interrupted.
func (p *Env) restart(ctx context.Context) (string, error) {
	now := &facts{} // leaves the state for other remedies unchanged
	now.dial(ctx, p.Place, p.Version)
	defer now.close()
	if now.daemon == nil {
		return "", now.dialed
	}
	looking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	status, err := p.settled(looking, now.daemon)
	if err != nil {
		return "", err
	}
	if use := inUse(status); use != "" {
		question := fmt.Sprintf("Stop the daemon of version %s? It has %s. Orders continue at its next start.", status.Version, use)
		if p.Ask == nil || !p.Ask(question) {
			return "", fmt.Errorf("it has %s: run swapkeep stop yourself", use)
		}
	}
	ending, cancelEnding := context.WithTimeout(ctx, handoverTime) // after the question, which may take long
	defer cancelEnding()
	if err := p.end(ending, now.daemon); err != nil {
		return "", err
	}
	return "stopped the daemon of version " + status.Version + "; the next use starts the installed one", nil
}

// settled returns the daemon's status once it has noticed that the connections of the
// launches ended, which takes a moment.
func (p *Env) settled(ctx context.Context, c *client.Client) (status protocol.StatusResult, err error) {
	for until := time.Now().Add(leaveSoon); ; time.Sleep(leaveSoon / 10) {
		status = protocol.StatusResult{}
		if err := c.Call(ctx, "host.status", nil, &status); err != nil || len(status.Connections) <= 1 || time.Now().After(until) {
			return status, err
		}
	}
}

// inUse returns what stopping the daemon would interrupt; "" for nothing.
func inUse(status protocol.StatusResult) string {
	var use []string
	if status.OpenOrders > 0 {
		use = append(use, plural(status.OpenOrders, "open order"))
	}
	if others := len(status.Connections) - 1; others > 0 { // one is ours
		use = append(use, plural(others, "other connection"))
	}
	if status.Keys == protocol.KeysUnlocked {
		use = append(use, "an unlocked wallet")
	}
	return strings.Join(use, ", ")
}
