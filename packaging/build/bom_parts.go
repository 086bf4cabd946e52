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
	"slices"
	"strings"
)

// productOf reads out of a program what it was linked from.
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
	p.parts = append(p.parts, library("golang", "stdlib", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		part := library("golang", m.Path, m.Version)
		part.Properties = []property{{"go:sum", m.Sum}}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

// library is a package of others, by its package URL.
func library(kind, name, version string) component {
	escaped := strings.NewReplacer("%2F", "/", "@", "%40").Replace(url.PathEscape(name))
	purl := "pkg:" + kind + "/" + escaped + "@" + url.PathEscape(version)
	return component{Kind: "library", Ref: purl, Name: name, Version: version, PURL: purl}
}

// extensionProduct reads what the extension ships from its lock file: what is no tool of
// developers.
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
