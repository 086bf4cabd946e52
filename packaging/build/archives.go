package main

import (
	"path"
	"path/filepath"
	"strings"

	"swapkeep/manifest"
)

// macPrograms is where the macOS package puts the programs; browsers start that path.
const macPrograms = "/Library/Application Support/swapkeep/lib"

// archives makes what is unpacked: for a person's own use on Linux and macOS (swapkeep
// install does the rest), and the tree that pkgbuild makes a macOS package of.
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
	for _, command := range wallet {
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

// packageTree holds system manifests and the daemon's LaunchAgent, which is disabled until
// a user enables it; as any system package it touches no home.
func (r *release) packageTree(t target) error {
	entries, err := r.documentsIn("usr/local/share")
	if err != nil {
		return err
	}
	for _, command := range wallet {
		entries = append(entries, entry{Name: path.Join(macPrograms, command), Mode: 0o755, Source: r.program(t, command)})
	}
	entries = append(entries, entry{Name: "usr/local/bin/swapkeep", Link: path.Join(macPrograms, "swapkeep")})
	hosts, err := r.hosts("darwin", "darwin", path.Join(macPrograms, "swapkeep"), manifest.System)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		entries = append(entries, entry{Name: strings.TrimPrefix(h.Path, "/"), Mode: 0o644, Source: h.Source})
	}
	agent := filepath.Join(r.work, "agent.plist")
	if err := r.fill(agent, "macos/app.swapkeep.daemon.plist", struct{ Programs string }{macPrograms}); err != nil {
		return err
	}
	entries = append(entries, entry{Name: "Library/LaunchAgents/app.swapkeep.daemon.plist", Mode: 0o644, Source: agent})
	return r.archive(r.name(t.String()+"-pkgroot", "tar.gz"), entries)
}

// container packs what a container of the hosted side is built of.
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
