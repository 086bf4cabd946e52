// Package manifesttest has cases of what browsers do with manifests, against which our
// rules are tested, and which real browsers confirm.
package manifesttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"swapkeep/manifest"
)

// A Case is a file, rendered for each family, and whether its browsers accept it.
type Case struct {
	Name     string
	System   string // a GOOS value
	Host     string // name that the extension asks for
	Chromium bool   // accepted
	Firefox  bool
	Stricter manifest.Family // its browsers accept it, we do not
	Evidence manifest.Evidence

	edit  func(m members)
	text  string // instead of members
	bytes func([]byte) []byte
}

// Cases returns all cases. Those of Linux are shown to real browsers (TestBrowsersAgree
// of test/browser).
func Cases() []Case {
	all := slices.Clone(cases)
	for i := range all {
		if all[i].System == "" {
			all[i].System, all[i].Evidence = "linux", manifest.Ran
		}
		if all[i].Host == "" {
			all[i].Host = manifest.HostName
		}
	}
	return all
}

// Accepted reports whether a browser of the family accepts the file, by our rules.
func (c Case) Accepted(f manifest.Family) bool {
	return map[manifest.Family]bool{manifest.Chromium: c.Chromium, manifest.Firefox: c.Firefox}[f]
}

// ID returns a valid extension id of the family.
func ID(f manifest.Family) string { return ids[f] }

var ids = map[manifest.Family]string{manifest.Chromium: strings.Repeat("abcdefghijklmnop", 2), manifest.Firefox: "test@swapkeep.invalid"}

// listKeys are the keys of the allow lists.
var listKeys = map[manifest.Family]string{manifest.Chromium: "allowed_origins", manifest.Firefox: "allowed_extensions"}

// File returns the case's file for a family, an extension id and an absolute program
// path.
func (c Case) File(f manifest.Family, id, program string) []byte {
	if c.text != "" {
		return []byte(c.text)
	}
	m := members{"name": manifest.HostName, "description": manifest.Description, "path": program, "type": "stdio", list: []string{"OK"}}
	if c.edit != nil {
		c.edit(m)
	}
	out, err := json.Marshal(map[string]any(m))
	if err != nil {
		panic(err) // a case that cannot be encoded
	}
	for _, word := range slices.Backward(slices.Sorted(maps.Keys(words(f, id)))) {
		out = bytes.ReplaceAll(out, []byte(word), []byte(words(f, id)[word]))
	}
	if c.bytes != nil {
		out = c.bytes(out)
	}
	return out
}

// words are the placeholders in cases for what differs between families.
func words(f manifest.Family, id string) map[string]string {
	entry, other := id, manifest.Chromium
	if f == manifest.Chromium {
		entry, other = manifest.ChromiumOrigin(id), manifest.Firefox
	}
	return map[string]string{`"LIST"`: `"` + listKeys[f] + `"`, `"OTHER"`: `"` + listKeys[other] + `"`, `"OK"`: `"` + entry + `"`, "//ID": "//" + id, `"ID"`: `"` + id + `"`}
}

// members are the members of a manifest.
type members map[string]any

// list is the placeholder for the key of the family's allow list. "OTHER" is the other
// family's key, "ID" the extension's id and "OK" the family's entry for it.
const list = "LIST"

func set(key string, value any) func(members) { return func(m members) { m[key] = value } }
func drop(key string) func(members)           { return func(m members) { delete(m, key) } }
func entries(all ...any) func(members)        { return set(list, append([]any{}, all...)) }

// What browsers do with the cases of Linux is confirmed by each browser test. For the
// other systems it was read in their source: see package manifest.
var cases = []Case{
	{Name: "plain", Chromium: true, Firefox: true},
	{Name: "byte order mark", bytes: func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) }, Chromium: true, Firefox: true},
	{Name: "two byte order marks", bytes: func(b []byte) []byte { return append([]byte("\xef\xbb\xbf\xef\xbb\xbf"), b...) }},
	{Name: "UTF-16", bytes: func(b []byte) []byte {
		return append([]byte("\xff\xfe"), bytes.Join(bytes.SplitAfter(b, nil), []byte{0})...)
	}},
	{Name: "not UTF-8", bytes: func(b []byte) []byte { return bytes.Replace(b, []byte("wallet"), []byte("w\xe4llet"), 1) }},
	{Name: "unknown key", edit: set("note", "x"), Chromium: true},
	{Name: "both lists", edit: set("OTHER", []string{"x"}), Chromium: true},
	{Name: "the other family's list only", edit: func(m members) { m["OTHER"] = m[list]; delete(m, list) }},
	{Name: "native start asked for", edit: set("supports_native_initiated_connections", true), Chromium: true},

	{Name: "no description", edit: drop("description")},
	{Name: "empty description", edit: set("description", ""), Firefox: true},
	{Name: "description is a number", edit: set("description", 1)},

	{Name: "no name", edit: drop("name")},
	{Name: "name is a number", edit: set("name", 1)},
	{Name: "name is null", edit: set("name", nil)},
	{Name: "upper-case name", Host: "App.host", edit: set("name", "App.host"), Firefox: true},
	{Name: "name with a dash", Host: "app-host", edit: set("name", "app-host")},
	{Name: "name with a leading dot", Host: ".host", edit: set("name", ".host")},
	{Name: "name with a trailing dot", Host: "host.", edit: set("name", "host.")},
	{Name: "name with two dots", Host: "app..host", edit: set("name", "app..host")},
	{Name: "name with a new line", Host: "host\n", edit: set("name", "host\n")},
	{Name: "name beyond ASCII", Host: "höst", edit: set("name", "höst")},
	{Name: "empty name", edit: set("name", "")},
	{Name: "another file name", Host: "app.swapkeep.other"},
	{Name: "another case of the file name", Host: "App.swapkeep.host"},

	{Name: "no type", edit: drop("type")},
	{Name: "type pkcs11", edit: set("type", "pkcs11")},
	{Name: "type in upper case", edit: set("type", "STDIO")},
	{Name: "type is true", edit: set("type", true)},

	{Name: "no path", edit: drop("path")},
	{Name: "empty path", edit: set("path", "")},
	{Name: "empty path", System: "windows", edit: set("path", ""), Evidence: manifest.Belief},
	{Name: "path is a list", edit: set("path", []string{"/opt/swapkeep"})},
	{Name: "relative path", edit: set("path", "swapkeep")},
	{Name: "relative path", System: "darwin", edit: set("path", "./swapkeep"), Evidence: manifest.Source},
	{Name: "relative path", System: "windows", edit: set("path", "swapkeep.exe"), Chromium: true, Firefox: true, Evidence: manifest.Source},
	{Name: "path from a home", edit: set("path", "~/swapkeep"), Stricter: manifest.Firefox},
	{Name: "path of Windows", edit: set("path", `C:\swapkeep.exe`)},
	{Name: "path of Windows", System: "windows", edit: set("path", `C:\swapkeep.exe`), Chromium: true, Firefox: true, Evidence: manifest.Source},
	{Name: "path of Linux", System: "darwin", edit: set("path", "/opt/swapkeep"), Chromium: true, Firefox: true, Evidence: manifest.Source},

	{Name: "no list", edit: drop(list)},
	{Name: "list is text", edit: set(list, "OK")},
	{Name: "list is null", edit: set(list, nil)},
	{Name: "empty list", edit: entries(), Stricter: manifest.Chromium},
	{Name: "one bad entry", edit: entries("OK", "x")},
	{Name: "an entry is a number", edit: entries("OK", 1)},
	{Name: "an entry is null", edit: entries("OK", nil)},
	{Name: "the same entry twice", edit: entries("OK", "OK"), Chromium: true, Firefox: true},
	{Name: "a wildcard", edit: entries("*")},
	{Name: "a wildcard as an origin", edit: entries("chrome-extension://*/")},
	{Name: "an id for the entry", edit: entries("ID"), Firefox: true},
	{Name: "an origin without its slash", edit: entries("chrome-extension://ID")},
	{Name: "an origin", edit: entries("chrome-extension://ID/"), Chromium: true},
	{Name: "an origin with a path", edit: entries("chrome-extension://ID/*"), Stricter: manifest.Chromium},
	{Name: "an origin of another scheme", edit: entries("moz-extension://ID/")},
	{Name: "an id in upper case", edit: entries("OK", "chrome-extension://"+strings.ToUpper(ids[manifest.Chromium])+"/"), Stricter: manifest.Chromium},
	{Name: "a uuid in braces", edit: entries("OK", "{0123ABCD-0123-4567-89ab-0123456789ab}"), Firefox: true},
	{Name: "a uuid without braces", edit: entries("OK", "0123abcd-0123-4567-89ab-0123456789ab")},

	{Name: "a key twice, the last one good", bytes: first(`"type": "pipe", `), Chromium: true, Firefox: true},
	{Name: "a key twice, the last one bad", bytes: final(`, "type": "pipe"`)},
	{Name: "a comma after the last member", bytes: final(",")},
	{Name: "text behind it", bytes: func(b []byte) []byte { return append(b, "{}"...) }},
	{Name: "a comment", bytes: first("/* */"), Stricter: manifest.Chromium},
	{Name: "empty file", text: " "},
	{Name: "null", text: "null"},
	{Name: "a list", text: "[]"},
	{Name: "cut short", text: `{"name":"app.swapkeep.host"`},
}

// first inserts text before the first member, final after the last one.
func first(text string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte("{"+text), 1) }
}

func final(text string) func([]byte) []byte {
	return func(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte("}")), text+"}"...) }
}
