package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// productOf reads from a program which modules it was linked from.
func productOf(path, command string, t target) (product, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return product{}, err
	}
	sum, err := sumOf(path)
	if err != nil {
		return product{}, err
	}
	p := product{component: component{
		Kind: "application", Ref: command + "/" + t.String(), Name: command, Licenses: apache,
		Hashes:     []hash{{"SHA-256", sum}},
		Properties: []property{{"swapkeep:platform", t.OS + "/" + t.Arch}},
	}}
	std := library("golang", "stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	std.Licenses = []license{{"BSD-3-Clause"}}
	p.parts = append(p.parts, std)
	for _, m := range info.Deps {
		p.parts = append(p.parts, module(m))
	}
	return p, nil
}

// module returns a linked module; one replaced by a directory keeps its name and version.
func module(m *debug.Module) component {
	from, about := m, property{"go:sum", m.Sum}
	switch {
	case m.Replace != nil && m.Replace.Version == "":
		about = property{"go:replaced", "by a folder"}
	case m.Replace != nil:
		from, about.Value = m.Replace, m.Replace.Sum
	}
	part := library("golang", from.Path, from.Version)
	part.Properties, part.module = []property{about}, m.Path
	return part
}

// library returns a third-party package with its package URL.
func library(kind, name, version string) component {
	escaped := strings.NewReplacer("%2F", "/", "@", "%40").Replace(url.PathEscape(name))
	purl := "pkg:" + kind + "/" + escaped + "@" + url.PathEscape(version)
	return component{Kind: "library", Ref: purl, Name: name, Version: version, PURL: purl}
}

// extensionProduct reads the dependencies that the extension ships from its lock file,
// without development tools.
func extensionProduct(lock string) (product, error) {
	text, err := os.ReadFile(lock)
	if err != nil {
		return product{}, err
	}
	var locked struct {
		Packages map[string]struct {
			Version, Integrity, License string
			Dev                         bool
		}
	}
	if err := json.Unmarshal(text, &locked); err != nil {
		return product{}, fmt.Errorf("%s: %w", lock, err)
	}
	p := product{component: component{Kind: "application", Ref: "swapkeep-extension", Name: "swapkeep-extension", Licenses: apache}}
	for _, path := range slices.Sorted(maps.Keys(locked.Packages)) {
		at, m := strings.LastIndex(path, "node_modules/"), locked.Packages[path]
		if at < 0 || m.Dev {
			continue
		}
		part := library("npm", path[at+len("node_modules/"):], m.Version)
		if m.License != "" {
			part.Licenses = []license{{m.License}}
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Integrity, "sha512-"))
		if err != nil || len(sum) != 64 {
			return product{}, fmt.Errorf("%s: %s has no SHA-512", lock, path)
		}
		part.Hashes = []hash{{"SHA-512", hex.EncodeToString(sum)}}
		p.parts = append(p.parts, part)
	}
	return p, nil
}
