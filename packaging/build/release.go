package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"swapkeep/manifest"
)

// A release is what all packages are made from. Exported fields are for the templates.
type release struct {
	Version string
	Time    time.Time // of every file and header
	URL     string
	IDs     map[manifest.Family][]string

	ctx         context.Context
	signer      signer
	nfpm        string
	development bool
	dirty       bool
	out, work   string
}

var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+$`) // the form that all kinds of packages accept

// check refuses an invalid release, adds the released ids, and prints what is left out.
func (r *release) check() error {
	if !versionForm.MatchString(r.Version) {
		return fmt.Errorf("version %q is not of the form 1.2.3", r.Version)
	}
	if r.URL == "" {
		r.URL = "https://swapkeep.invalid/releases/" + r.Version
	}
	if err := r.signer.check(); err != nil {
		return err
	}
	if r.dirty {
		fmt.Println("warning: the source is not as committed: these packages are no release, and their programs are of version " + r.built())
	}
	unreleased, err := unreleasableIDs()
	if err != nil {
		return err
	}
	for _, family := range manifest.Families() {
		ids := slices.Concat(manifest.Released[family], r.IDs[family])
		slices.Sort(ids)
		r.IDs[family] = slices.Compact(ids)
		for _, id := range ids {
			if !family.ValidID(id) {
				return fmt.Errorf("%q is no extension id of %s", id, family)
			}
			if !r.development && slices.Contains(unreleased, id) {
				return fmt.Errorf("%s is an id of development or tests, which everybody may use: no release lets it in", id)
			}
		}
		if len(ids) == 0 {
			fmt.Printf("note: the packages hold no manifest for %s: no id of the extension is released there; give %s_IDS\n", family, strings.ToUpper(string(family)))
		}
	}
	return nil
}

// unreleasable are extensions whose keys are public.
var unreleasable = map[manifest.Family][]string{
	manifest.Chromium: {"extension/manifest/development.json#chromium", "test/browser/extension/chromium.json"},
	manifest.Firefox:  {"extension/manifest/development.json#firefox", "test/browser/extension/firefox.json"},
}

// unreleasableIDs reads the ids of the unreleasable extensions.
func unreleasableIDs() ([]string, error) {
	var ids []string
	for family, files := range unreleasable {
		for _, file := range files {
			id, err := idIn(family, file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// idIn returns the id in an extension's manifest, which is the member after # in file.
func idIn(family manifest.Family, file string) (string, error) {
	path, member, below := strings.Cut(file, "#")
	text, err := os.ReadFile(path)
	if err == nil && below {
		var members map[string]json.RawMessage
		err = json.Unmarshal(text, &members)
		text = members[member]
	}
	if err != nil {
		return "", err
	}
	var extension struct {
		Key      string
		Settings struct{ Gecko struct{ ID string } } `json:"browser_specific_settings"`
	}
	if err := json.Unmarshal(text, &extension); err != nil {
		return "", err
	}
	id := extension.Settings.Gecko.ID
	if family == manifest.Chromium {
		id, err = manifest.ChromiumID(extension.Key)
	}
	if err == nil && !family.ValidID(id) {
		err = errors.New("it names no id")
	}
	return id, err
}

// built returns the version that the programs report. Package names omit the mark.
func (r *release) built() string {
	if r.dirty {
		return r.Version + "+dirty"
	}
	return r.Version
}

// name returns the name of a finished package: swapkeep-VERSION-PLATFORM.EXTENSION.
func (r *release) name(platform, extension string) string {
	return "swapkeep-" + r.Version + "-" + platform + "." + extension
}
