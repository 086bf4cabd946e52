package installer

import (
	"fmt"
	"slices"

	"swapkeep/manifest"
)

// allowed returns all extensions to allow, sorted. Errors: ErrCannotAllow, ErrBadID,
// ErrNoIDs.
func (o Options) allowed() (map[manifest.Family][]string, error) {
	switch {
	case len(o.IDs) > 0 && o.Scope == manifest.System:
		return nil, fmt.Errorf("%w for all users; each user runs swapkeep install --user --extension-id", ErrCannotAllow)
	case len(o.IDs) > 0 && o.ExtensionsFile == "":
		return nil, fmt.Errorf("%w: the configuration file has a relative path; use an absolute path", ErrCannotAllow)
	}
	out := map[manifest.Family][]string{}
	for f, list := range o.Allowed {
		out[f] = slices.Clone(list)
	}
	for _, id := range o.IDs {
		f, ok := familyOf(id)
		if !ok {
			return nil, fmt.Errorf("%w: %q; Chromium's are %s, Firefox's %s", ErrBadID, id, manifest.Chromium.IDForm(), manifest.Firefox.IDForm())
		}
		out[f] = append(out[f], id)
	}
	known := 0
	for f := range out {
		slices.Sort(out[f])
		out[f] = slices.Compact(out[f])
		known += len(out[f])
	}
	switch {
	case known == 0 && o.Scope == manifest.System:
		return nil, fmt.Errorf("%w: this build has no released extension; each user runs swapkeep install --user --extension-id ID", ErrNoIDs)
	case known == 0:
		return nil, fmt.Errorf("%w: give its id with --extension-id; the popup shows it", ErrNoIDs)
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
