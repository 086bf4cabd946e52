package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenseTexts identify a licence by a pattern that all its texts match, in lower case
// and with single spaces. A licence is skipped if the one in besides, whose text also
// matches, was found.
var licenseTexts = []struct {
	id, words, besides string
}{
	{"Apache-2.0", `apache license,? version 2\.0`, ""},
	{"BSD-3-Clause", `redistribution and use in source and binary forms.*(endorse or promote|neither the name)`, ""},
	{"BSD-2-Clause", `redistribution and use in source and binary forms`, "BSD-3-Clause"},
	{"CC0-1.0", `cc0 1\.0 universal`, ""},
	{"ISC", `distribute this software for any purpose with or without fee`, ""},
	{"LGPL-3.0-or-later", `gnu lesser general public license version 3`, ""}, // "or later" according to the headers of its files
	{"GPL-3.0-or-later", `gnu general public license version 3`, "LGPL-3.0-or-later"},
	{"MIT", `permission is hereby granted, free of charge`, ""},
	{"MPL-2.0", `mozilla public license,? version 2\.0`, ""},
}

var licenseNames = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// license sets the licences of the Go modules, from the texts in their directories.
func (r *release) license(products []product) error {
	var modules []string
	for _, p := range products {
		for _, part := range p.parts {
			if part.module != "" {
				modules = append(modules, part.module)
			}
		}
	}
	slices.Sort(modules)
	ids, err := r.licensesOf(slices.Compact(modules))
	if err != nil {
		return err
	}
	for _, p := range products {
		for i, part := range p.parts {
			if part.module != "" {
				p.parts[i].Licenses = []license{{ids[part.module]}}
			}
		}
	}
	return nil
}

func (r *release) licensesOf(modules []string) (map[string]string, error) {
	ids := map[string]string{}
	if len(modules) == 0 {
		return ids, nil
	}
	list, err := r.output(pinned, "go", append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}, modules...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		module, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ids[module], err = licenseIn(folder); err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
	}
	return ids, nil
}

// licenseIn returns the SPDX expression for the licence texts in a directory.
func licenseIn(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var all []string
	for _, e := range entries {
		if e.Type().IsRegular() && licenseNames.MatchString(e.Name()) {
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return "", err
			}
			all = append(all, strings.Fields(strings.ToLower(string(text)))...)
		}
	}
	id := licenseOf(strings.Join(all, " "))
	if id == "" {
		return "", errors.New("no licence is known by the words of its text: add them to licenses.go")
	}
	return id, nil
}

func licenseOf(text string) string {
	var ids []string
	for _, l := range licenseTexts {
		if !slices.Contains(ids, l.besides) && regexp.MustCompile(l.words).MatchString(text) {
			ids = append(ids, l.id)
		}
	}
	return strings.Join(ids, " AND ")
}
