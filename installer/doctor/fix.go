package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

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
	for _, f := range findings {
		if f.fix == nil {
			continue
		}
		did, err := f.fix(ctx)
		if err != nil {
			f.Unfixed = oneLine(err)
		} else {
			f.Fixed = did
		}
		out = append(out, f)
	}
	return out
}

// reinstall makes what an installation for this user would make, and replaces nothing
// that is another's.
func (p *Patient) reinstall(ctx context.Context) (string, error) {
	plan, err := p.Plan(manifest.User, p.served())
	if err != nil {
		return "", err
	}
	if len(plan.Changes) == 0 {
		return "what swapkeep install makes is in its place", nil
	}
	plan.Force = p.owned(plan.Foreign)
	if _, err := installer.Apply(ctx, p.Machine, plan); err != nil {
		return "", err
	}
	return "did what swapkeep install does (" + plural(len(plan.Changes), "change") + ")", nil
}

// owned reports whether all that is in the way are manifests that we installed and that
// no browser accepts, or that lead nowhere.
func (p *Patient) owned(inTheWay []installer.Foreign) bool {
	return !slices.ContainsFunc(inTheWay, func(f installer.Foreign) bool { return !slices.Contains(p.seen.dead, f.Path) })
}

// served are the browsers that were installed for, and those that have the extension.
func (p *Patient) served() (names []string) {
	receipts := p.receipts()
	for _, b := range p.seen.browsers {
		was := len(b.extensions) > 0
		for _, place := range b.places {
			file := place.File(p.environment())
			was = was || slices.ContainsFunc(receipts, func(r installer.Receipt) bool { return r.Kind == installer.Manifest && r.Path == file })
		}
		if was && b.Box == "" && !slices.Contains(names, b.Browser) {
			names = append(names, b.Browser)
		}
	}
	return names
}

// chmod gives a file of this user's other permissions.
func (p *Patient) chmod(path string, mode fs.FileMode) remedy {
	return func(context.Context) (string, error) {
		if err := os.Chmod(path, mode); err != nil {
			return "", err
		}
		return fmt.Sprintf("chmod %04o %s", mode, quoted(path)), nil
	}
}

// narrowHome takes the rights of others from a state directory of this user's.
func (p *Patient) narrowHome(ctx context.Context) (string, error) {
	info, err := os.Stat(p.Place.Home)
	if err != nil {
		return "", err
	}
	if uid, known := p.Machine.Files.Owner(info); !known || uid != p.UID {
		return "", errors.New("it is not yours")
	}
	if info.Mode().Perm()&0o022 == 0 {
		return "", errors.New("it is another folder: see the remedy")
	}
	return p.chmod(p.Place.Home, 0o700)(ctx)
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
	return "removed " + quoted(path), nil
}

// restart stops a daemon of another version, which the next use starts anew, if the
// person agrees or nothing is open.
func (p *Patient) restart(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, wholeTime)
	defer cancel()
	p.seen = &sight{}
	p.dial(ctx)
	defer p.seen.close()
	if p.seen.daemon == nil {
		return "", p.seen.dialed
	}
	var status protocol.StatusResult
	if err := p.seen.daemon.Call(ctx, "host.status", nil, &status); err != nil {
		return "", err
	}
	question := fmt.Sprintf("Stop the daemon of version %s? %s; they go on at its next start.", status.Version, plural(status.OpenOrders, "open order"))
	if status.OpenOrders > 0 && (p.Ask == nil || !p.Ask(question)) {
		return "", fmt.Errorf("it has %s: run swapkeep stop yourself", plural(status.OpenOrders, "open order"))
	}
	if err := p.stop(ctx); err != nil {
		return "", err
	}
	return "stopped the daemon of version " + status.Version + "; the next use starts this one", nil
}
