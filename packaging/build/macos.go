package main

import (
	"path"
	"path/filepath"
	"slices"

	place "swapkeep/installer"
	"swapkeep/manifest"
)

// Paths and identifier of the macOS package, and the suffix of the archive of its tree.
const (
	macFolder   = "/Library/Application Support/swapkeep"
	macPrograms = macFolder + "/lib" // browsers start the program there
	macRemover  = macFolder + "/uninstall.sh"
	macPackage  = "app.swapkeep"
	macTree     = "-pkgroot"
)

// packageTree packs the tree from which pkgbuild makes a macOS package, with a script
// that uninstalls it, because macOS has no way to remove a package.
func (r *release) packageTree(t target) error {
	entries, err := r.macEntries(t)
	if err != nil {
		return err
	}
	remover := entry{Name: macRemover[1:], Mode: 0o755, Source: filepath.Join(r.work, t.String()+"-uninstall.sh")}
	entries = append(entries, remover)
	err = r.fill(remover.Source, "macos/uninstall.sh", struct {
		Package        string
		Files, Folders []string
	}{macPackage, macFiles(entries), macFolders(entries)})
	if err != nil {
		return err
	}
	return r.archive(r.File(t.String()+macTree, "tar.gz"), entries)
}

// macEntries returns the programs, the system manifests and the daemon's LaunchAgent,
// disabled until a user enables it. Like any system package it writes to no home.
func (r *release) macEntries(t target) ([]entry, error) {
	entries, err := r.documentsIn("usr/local/share")
	if err != nil {
		return nil, err
	}
	for _, command := range walletCommands {
		entries = append(entries, entry{Name: path.Join(macPrograms, command)[1:], Mode: 0o755, Source: r.program(t, command)})
	}
	entries = append(entries, entry{Name: "usr/local/bin/swapkeep", Link: path.Join(macPrograms, "swapkeep")})
	hosts, err := r.hosts("darwin", "darwin", path.Join(macPrograms, "swapkeep"), manifest.System)
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		entries = append(entries, entry{Name: h.Path[1:], Mode: 0o644, Source: h.Source})
	}
	agent := filepath.Join(r.work, "agent.plist")
	err = r.write(agent, []byte(place.LaunchAgent(path.Join(macPrograms, "swapkeepd"), true)))
	return append(entries, entry{Name: "Library/LaunchAgents/" + place.AutostartName + ".plist", Mode: 0o644, Source: agent}), err
}

// macFiles returns the names of what is installed, manifests first.
func macFiles(entries []entry) []string {
	var hosts, others []string
	for _, e := range entries {
		if path.Base(e.Name) == manifest.FileName {
			hosts = append(hosts, e.Name)
		} else {
			others = append(others, e.Name)
		}
	}
	return append(hosts, others...)
}

// macOwn are directories that exist on every Mac.
var macOwn = []string{".", "Library", "Library/Application Support", "Library/LaunchAgents", "usr", "usr/local", "usr/local/bin", "usr/local/share"}

// macFolders returns the directories of what is installed, innermost first.
func macFolders(entries []entry) []string {
	var folders []string
	for _, e := range entries {
		for dir := path.Dir(e.Name); !slices.Contains(macOwn, dir); dir = path.Dir(dir) {
			folders = append(folders, dir)
		}
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	slices.Reverse(folders)
	return folders
}
