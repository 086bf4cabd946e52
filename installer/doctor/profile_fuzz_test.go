package doctor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"swapkeep/manifest"
)

// FuzzProfile: whatever a browser's profile contains, each extension found in it has a
// valid id and is listed once, and nothing on the machine is changed.
func FuzzProfile(f *testing.F) {
	for _, s := range []string{
		inPreferences(chromiumID, ""), inPreferences(strangerID, `,"disable_reasons":[1]`), inPreferences(chromiumID, `,"disable_reasons":0,"state":0`), inPreferences("; reboot", ""),
		`{"extensions":{"settings":{"` + strangerID + `":{"path":"../../../.."}}}}`, `{"extensions":{"settings":{"` + strangerID + `":{"path":"/home/ann/unpacked"}}}}`, `{"extensions":{"settings":null}}`, `{"extensions":[]}`, ``,
	} {
		f.Add([]byte(s), false)
	}
	for _, s := range []string{
		`{"addons":[{"id":"test@swapkeep.invalid","active":true}]}`, `{"addons":[{"id":"test@swapkeep.invalid","active":false},{"id":"test@swapkeep.invalid"}]}`,
		`{"addons":[{"id":"{00000000-0000-0000-0000-000000000000}","defaultLocale":{"name":"Swapkeep"}}]}`, `{"addons":[{"id":"x; reboot","defaultLocale":{"name":"Swapkeep"}}]}`, `{"addons":{}}`, `null`,
	} {
		f.Add([]byte(s), true)
	}
	p, files := onLinux(f)
	files.File("/home/ann/unpacked/manifest.json", `{"name":"__MSG_name__","default_locale":"en"}`)
	files.File("/home/ann/unpacked/_locales/en/messages.json", `{"name":{"message":"Swapkeep"}}`)
	f.Fuzz(func(t *testing.T, text []byte, firefox bool) {
		family := manifest.Chromium
		if firefox {
			family = manifest.Firefox
		}
		found := readers[family](p, "/home/ann/profile", text)
		for _, e := range found {
			if !family.ValidID(e.id) || strings.ContainsAny(e.id, " ;\n\"'$`") || e.profile != "/home/ann/profile" {
				t.Fatalf("%q has %+v", text, e)
			}
		}
		if !firefox && len(slices.CompactFunc(found, func(a, b extension) bool { return a.id == b.id })) != len(found) {
			t.Fatalf("%q has one twice: %+v", text, found)
		}
		if len(found) > 0 && !json.Valid(text) {
			t.Fatalf("%q has %+v", text, found)
		}
	})
}

// FuzzPolicy: a policy file blocks the host only if it names it, and the last file that
// sets a key wins.
func FuzzPolicy(f *testing.F) {
	for _, s := range []string{
		"{" + blocksAll + "}", "{" + blocksAll + "," + allowsUs + "}", `{"NativeMessagingUserLevelHosts":false}`, `{"policies":{` + blocksAll + `}}`, `{"policies":{"NativeMessagingBlocklist":["` + manifest.HostName + `"]}}`,
		`{"NativeMessagingBlocklist":"*"}`, `{"NativeMessagingBlocklist":null}`, `{"policies":null}`, `[]`, ``,
	} {
		f.Add([]byte(s), []byte(`{}`), strings.Contains(s, "policies"))
		f.Add([]byte(s), []byte(`{"NativeMessagingBlocklist":[],"NativeMessagingAllowlist":[]}`), false)
	}
	f.Fuzz(func(t *testing.T, first, last []byte, firefox bool) {
		family := manifest.Chromium
		if firefox {
			family = manifest.Firefox
		}
		a, oneRead := parsePolicy(first, family)
		b, otherRead := parsePolicy(last, family)
		if oneRead && !json.Valid(first) || otherRead && !json.Valid(last) {
			t.Fatalf("%q and %q are read", first, last)
		}
		r := merged([]source{{a, "first"}, {b, "last"}})
		names := func(list []string) bool {
			return slices.Contains(list, manifest.HostName) || slices.Contains(list, "*")
		}
		finding, blocked := r.against(browser{Place: manifest.Place{Family: family}})
		switch {
		case blocked && finding.Status != Fail, blocked && !names(a.Blocklist) && !names(b.Blocklist):
			t.Fatalf("%q and %q block it: %+v", first, last, finding)
		case b.Blocklist != nil && !slices.Equal(r.Blocklist, b.Blocklist), b.Allowlist != nil && !slices.Equal(r.Allowlist, b.Allowlist):
			t.Fatalf("%q does not have the last word: %+v", last, r)
		}
	})
}

// FuzzHit: a manifest that is only partly readable yields only values that it contains; a
// valid one yields all.
func FuzzHit(f *testing.F) {
	for _, s := range []string{
		`{"path":"` + linuxHost + `","allowed_origins":["chrome-extension://` + chromiumID + `/"]}`, "\xef\xbb\xbf" + `{"path":"/x","allowed_extensions":["a@b"]}`,
		`{"path":"/x","allowed_origins":"all"}`, `{"path":7,"allowed_extensions":["a@b"]}`, `{"path":"swapkeep"}`, `{`, `null`,
	} {
		f.Add([]byte(s))
	}
	p, files := onLinux(f)
	const file = "/home/ann/.config/chromium/NativeMessagingHosts/app.swapkeep.host.json"
	f.Fuzz(func(t *testing.T, text []byte) {
		files.File(file, string(text))
		for _, family := range manifest.Families() {
			h := p.hitOf(manifest.Place{Family: family}, file)
			if h.err != nil || string(h.text) != string(text) {
				t.Fatalf("%q is read as %q: %v", text, h.text, h.err)
			}
			if p.validate(h) == nil && (h.path == "" || len(h.lists) == 0) {
				t.Fatalf("%s accepts %q, which is read as %+v", family, text, h)
			}
			if p.ours(h) && h.path == "" {
				t.Fatalf("%q is ours", text)
			}
		}
	})
}
