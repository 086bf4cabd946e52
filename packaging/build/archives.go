package main

import "path"

// archives makes the archives that users unpack on Linux and macOS (swapkeep install does
// the rest), and the file tree from which pkgbuild makes a macOS package.
func (r *release) archives() error {
	for _, t := range targets {
		if t.OS == "windows" {
			continue
		}
		if err := r.plain(t); err != nil {
			return err
		}
		if t.OS == "darwin" {
			if err := r.packageTree(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) plain(t target) error {
	entries, err := r.documentsIn("share")
	if err != nil {
		return err
	}
	for _, command := range walletCommands {
		entries = append(entries, entry{Name: "bin/" + command, Mode: 0o755, Source: r.program(t, command)})
	}
	return r.archive(r.name(t.String(), "tar.gz"), entries)
}

func (r *release) documentsIn(folder string) ([]entry, error) {
	shared, err := r.shared()
	var entries []entry
	for _, d := range shared {
		entries = append(entries, entry{Name: path.Join(folder, d.Path), Mode: 0o644, Source: d.Source})
	}
	return entries, err
}

// container packs the files from which a container of the hosted services is built.
func (r *release) container() error {
	for _, t := range targets {
		if t.OS != "linux" {
			continue
		}
		err := r.archive("swapkeep-server-"+r.Version+"-"+t.String()+".tar.gz", []entry{
			{Name: "swapkeep-server", Mode: 0o755, Source: r.program(t, "swapkeep-server")},
			{Name: "Containerfile", Mode: 0o644, Source: "packaging/container/Containerfile"},
			{Name: "LICENSE", Mode: 0o644, Source: "LICENSE"},
			{Name: "NOTICE", Mode: 0o644, Source: "NOTICE"},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
