package doctor

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"swapkeep/manifest"
)

var extensionChecks = []check{
	{"extension.allowed", "the installed extension is allowed", nil, allowed},
}

// product is the extension's name in every language.
const product = "Swapkeep"

// An extension is one of ours in a profile, or one with our name.
type extension struct {
	id       string
	profile  string
	disabled bool
}

// allowed compares installed extensions with the manifest and the host's allow list.
func allowed(_ context.Context, p *Env) (out []Finding) {
	seen := 0
	for _, b := range p.facts.browsers {
		for _, e := range b.extensions {
			seen++
			if f, bad := p.admits(b, e); bad {
				out = append(out, f.of(b.title()))
			}
		}
		for _, e := range b.strangers {
			out = append(out, p.stranger(b, e).of(b.title()))
		}
	}
	if seen == 0 && len(out) == 0 {
		return []Finding{note("no profile of these browsers has the extension; temporarily loaded extensions are not detected")}
	}
	return orOK(mergeSame(out), ok("it is let in"))
}

func (p *Env) admits(b browser, e extension) (Finding, bool) {
	entry := e.id
	if b.Family == manifest.Chromium {
		entry = manifest.ChromiumOrigin(e.id)
	}
	first, any := b.first()
	switch {
	case any && p.validate(first) == nil && !slices.Contains(first.lists, entry): // otherwise another check reports it
		return p.fixByInstalling(fail(first.file+" does not name "+e.id, p.installRemedy(first.file)), p.ownerOf(first.file)), true
	case e.disabled:
		return note(e.id + " is switched off in " + e.profile), true
	}
	return Finding{}, false
}

// stranger is the finding for an extension that has our name and is not allowed. It may
// be an impostor, so no command with its id is suggested: whoever copied that would give
// it access to the wallet.
func (p *Env) stranger(b browser, e extension) Finding {
	evidence := e.id + " in " + e.profile + " calls itself " + product + " and is not allowed"
	if len(p.Allowed[b.Family]) == 0 {
		return warn(evidence, "if you installed it yourself, allow it with swapkeep install --extension-id ID and the id of its publisher; otherwise remove it")
	}
	return warn(evidence, "remove it, unless you know this extension id")
}

// profiles are patterns of the profile files of each family, below a browser's footprints
// and sandbox directories.
var profiles = map[manifest.Family][]string{
	manifest.Chromium: {"*/Preferences", "*/Secure Preferences", "User Data/*/Preferences", "User Data/*/Secure Preferences"},
	manifest.Firefox: {"*/extensions.json", "firefox/*/extensions.json", "Profiles/*/extensions.json", "Firefox/Profiles/*/extensions.json",
		"common/.mozilla/firefox/*/extensions.json", ".mozilla/firefox/*/extensions.json"},
}

// maxProfile limits the bytes read from a profile file.
const maxProfile = 32 << 20

// extensionsOf returns the extensions in all profiles of a browser, each once and enabled
// if it is in any profile: ours, and those with our name that are not allowed. If the
// configuration cannot be read, all count as ours.
func (p *Env) extensionsOf(b browser) (ours, strangers []extension) {
	var all []extension
	for _, e := range p.inProfiles(b) {
		i := slices.IndexFunc(all, func(o extension) bool { return o.id == e.id })
		switch {
		case i < 0:
			all = append(all, e)
		case all[i].disabled && !e.disabled:
			all[i] = e
		}
	}
	for _, e := range all {
		if p.Config != nil || p.known(b.Family, e.id) {
			ours = append(ours, e)
		} else {
			strangers = append(strangers, e)
		}
	}
	return ours, strangers
}

var readers = map[manifest.Family]func(*Env, string, []byte) []extension{manifest.Chromium: (*Env).inChromium, manifest.Firefox: (*Env).inFirefox}

// inProfiles returns the extensions of every profile. If two files of a profile list an
// extension, either can mark it as disabled.
func (p *Env) inProfiles(b browser) (out []extension) {
	for _, dir := range p.dataOf(b) {
		for _, pattern := range profiles[b.Family] {
			for _, file := range p.glob(dir, pattern) {
				text, err := p.small(file)
				if err != nil {
					continue
				}
				for _, e := range readers[b.Family](p, p.parent(file), text) {
					i := slices.IndexFunc(out, func(o extension) bool { return o.id == e.id && o.profile == e.profile })
					if i < 0 {
						out = append(out, e)
					} else {
						out[i].disabled = out[i].disabled || e.disabled
					}
				}
			}
		}
	}
	return out
}

// dataOf returns the directories in which a browser keeps its profiles.
func (p *Env) dataOf(b browser) (out []string) {
	for _, place := range b.places {
		dirs := place.Footprints(p.environment())
		if b.Box != "" && place.Dir != "" {
			dirs = append(dirs, p.parent(place.Folder(p.environment())))
		}
		for _, dir := range dirs {
			if info, err := p.Machine.Files.Stat(dir); err == nil && info.IsDir() && !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	return out
}

func (p *Env) small(file string) ([]byte, error) {
	info, err := p.Machine.Files.Stat(file)
	if err != nil || info.Size() > maxProfile {
		return nil, errTooLarge
	}
	return p.Machine.Files.ReadFile(file)
}

// inChromium reads Preferences and Secure Preferences.
func (p *Env) inChromium(profile string, text []byte) (out []extension) {
	var preferences struct {
		Extensions struct {
			Settings map[string]struct {
				Path     string          `json:"path"`
				State    *int            `json:"state"`
				Disabled json.RawMessage `json:"disable_reasons"` // a number, or since 2025 a list
				Manifest struct {
					Name string `json:"name"`
				} `json:"manifest"`
			} `json:"settings"`
		} `json:"extensions"`
	}
	if json.Unmarshal(text, &preferences) != nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(preferences.Extensions.Settings)) {
		e := preferences.Extensions.Settings[id]
		dir := e.Path
		if !path.IsAbs(dir) && !strings.Contains(dir, ":") {
			dir = p.under(profile, "Extensions/"+dir)
		}
		if manifest.Chromium.ValidID(id) && (p.known(manifest.Chromium, id) || e.Manifest.Name == product || p.nameIn(dir) == product) {
			reasons := strings.TrimSpace(string(e.Disabled))
			off := e.State != nil && *e.State == 0 || reasons != "" && reasons != "0" && reasons != "[]" && reasons != "null"
			out = append(out, extension{id, profile, off})
		}
	}
	return out
}

// nameIn returns an extension's name from the files in its directory.
func (p *Env) nameIn(dir string) string {
	var m struct {
		Name   string `json:"name"`
		Locale string `json:"default_locale"`
	}
	text, err := p.small(p.under(dir, "manifest.json"))
	if err != nil || json.Unmarshal(text, &m) != nil {
		return ""
	}
	key, translated := strings.CutPrefix(m.Name, "__MSG_")
	if !translated {
		return m.Name
	}
	var messages map[string]struct {
		Message string `json:"message"`
	}
	text, err = p.small(p.under(dir, "_locales/"+path.Base(m.Locale)+"/messages.json"))
	if err != nil || json.Unmarshal(text, &messages) != nil {
		return ""
	}
	return messages[strings.TrimSuffix(key, "__")].Message
}

// inFirefox reads extensions.json.
func (p *Env) inFirefox(profile string, text []byte) (out []extension) {
	var database struct {
		Addons []struct {
			ID     string `json:"id"`
			Active *bool  `json:"active"`
			Locale struct {
				Name string `json:"name"`
			} `json:"defaultLocale"`
		} `json:"addons"`
	}
	if json.Unmarshal(text, &database) != nil {
		return nil
	}
	for _, a := range database.Addons {
		if manifest.Firefox.ValidID(a.ID) && (p.known(manifest.Firefox, a.ID) || a.Locale.Name == product) {
			out = append(out, extension{a.ID, profile, a.Active != nil && !*a.Active})
		}
	}
	return out
}

func (p *Env) known(f manifest.Family, id string) bool {
	return slices.Contains(p.Allowed[f], id)
}
