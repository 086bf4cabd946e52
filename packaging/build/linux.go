package main

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"swapkeep/manifest"
)

// installed is where Linux packages put the programs; browsers start them by that path.
const installed = "/usr/lib/swapkeep"

// linux makes a deb and an rpm for each architecture.
func (r *release) linux() error {
	hosts, err := r.hosts("linux", "linux", installed+"/swapkeep", manifest.System)
	if err != nil {
		return err
	}
	shared, err := r.shared()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if t.OS != "linux" {
			continue
		}
		config := filepath.Join(r.work, t.String()+".yaml")
		err := r.fill(config, "linux/nfpm.yaml", struct {
			*release
			Target      target
			Programs    string
			Installed   string
			Shared      []document
			Hosts       []host
			Directories []string
		}{r, t, filepath.Dir(r.program(t, "swapkeep")), installed, shared, hosts, directories(hosts)})
		if err != nil {
			return err
		}
		for _, kind := range []string{"deb", "rpm"} {
			if err := r.run(nil, r.nfpm, "package", "--config", config, "--packager", kind, "--target", r.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// RPM reports whether a place exists only on rpm's systems: the 64-bit library directory.
func (h host) RPM() bool { return strings.HasPrefix(h.Path, "/usr/lib64/") }

// directories returns directories of manifests only: rpm removes those a package owns.
func directories(hosts []host) []string {
	var all []string
	for _, h := range hosts {
		for dir := path.Dir(h.Path); !slices.Contains([]string{"/etc", "/etc/opt", "/usr/lib", "/usr/lib64"}, dir); dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
