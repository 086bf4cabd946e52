// Package manifest describes the native-messaging manifest, by which a browser finds the
// host: what each family of browsers accepts in it, how it is written, and where every
// browser looks for it. Sources of the rules: Chromium's
// native_messaging_host_manifest.cc and extension_id, Mozilla's NativeManifests.sys.mjs
// and its schema native_manifest.json. The sources for the places are in their rows.
package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// HostName is the name that extensions ask for. It never changes.
const HostName = "app.swapkeep.host"

// FileName is the file's name in any browser's directory; both families require it.
const FileName = HostName + ".json"

// WindowsFileName is the manifest's file name on Windows, where a registry key names the
// file and one directory has both families'. Firefox passes it to the host.
func WindowsFileName(f Family) string { return HostName + "." + string(f) + ".json" }

// Description is required by all browsers and shown by none.
const Description = "Swapkeep: a wallet's keys and swaps, outside the browser"

// A Family of browsers shares one form of the manifest. One file cannot serve both,
// because Firefox refuses unknown keys.
type Family string

const (
	Chromium Family = "chromium"
	Firefox  Family = "firefox"
)

// A familyRule is what one family accepts.
type familyRule struct {
	listKey string // key of the allow list
	name    func(string) bool
	id      func(string) bool
	entry   func(id string) string // an id as an entry of the allow list
	about   string                 // form of an id, for people
	spelled string                 // form of an entry, for people

	strict    bool // unknown keys invalidate the file
	described bool // an empty description invalidates the file
}

var rules = map[Family]familyRule{
	Chromium: {
		listKey: "allowed_origins",
		name:    form(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`),
		id:      isChromiumID,
		entry:   ChromiumOrigin,
		about:   "32 letters from a to p",
		spelled: "chrome-extension://ID/ with an ID of 32 letters from a to p",

		described: true,
	},
	Firefox: {
		listKey: "allowed_extensions",
		name:    form(`^\w+(\.\w+)*$`),
		id:      form(`(?i)^(\{[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}|[a-z0-9._-]*@[a-z0-9._-]+)$`),
		entry:   func(id string) string { return id },
		about:   "name@domain or {uuid}",
		spelled: "name@domain or {uuid}",

		strict: true,
	},
}

// isChromiumID uses no regular expression, because a relay, which starts for every port
// of a browser, should compile none.
func isChromiumID(id string) bool { return len(id) == 32 && strings.Trim(id, "abcdefghijklmnop") == "" }

// form returns a matcher that compiles its pattern at first use.
func form(pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return compiled().MatchString(s) }
}

// Families returns the families in the order shown to people.
func Families() []Family { return []Family{Chromium, Firefox} }

// ErrInvalid means that a browser would not accept the file.
var ErrInvalid = errors.New("invalid manifest")

// ValidID reports whether an extension id has the family's form.
func (f Family) ValidID(id string) bool {
	rule, ok := rules[f]
	return ok && rule.id(id)
}

// IDForm describes the form of the family's extension ids, for people.
func (f Family) IDForm() string { return rules[f].about }

// ChromiumOrigin returns the origin of an extension in Chromium.
func ChromiumOrigin(id string) string { return "chrome-extension://" + id + "/" }

// ChromiumID returns the id that Chromium derives from the "key" in an extension's
// manifest, which is a DER public key in base64.
func ChromiumID(key string) (string, error) {
	der, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(der) == 0 {
		return "", fmt.Errorf("extension key: not base64 of a public key")
	}
	sum := sha256.Sum256(der)
	id := make([]byte, 0, 32)
	for _, b := range sum[:16] {
		id = append(id, 'a'+b>>4, 'a'+b&15)
	}
	return string(id), nil
}

// Render returns the family's manifest for the host program at path on a system (a GOOS
// value), usable by the extensions with those ids. The same input gives the same bytes.
// It returns ErrInvalid for an invalid path or id.
func Render(f Family, goos, path string, ids []string) ([]byte, error) {
	rule, ok := rules[f]
	if !ok {
		return nil, fmt.Errorf("%w: no family of browsers is called %q", ErrInvalid, f)
	}
	if !utf8.ValidString(path) { // JSON would change it
		return nil, fmt.Errorf("%w: path %q is not UTF-8; rename what the program is in", ErrInvalid, path)
	}
	allowed := make([]string, len(ids))
	for i, id := range ids {
		if !rule.id(id) {
			return nil, fmt.Errorf("%w: extension id %q: a %s id is %s", ErrInvalid, id, f, rule.about)
		}
		allowed[i] = rule.entry(id)
	}
	slices.Sort(allowed)
	allowed = slices.Compact(allowed)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	members := map[string]any{
		"name": HostName, "description": Description, "path": path, "type": "stdio", rule.listKey: allowed,
	}
	if err := e.Encode(members); err != nil { // map keys are sorted
		return nil, err
	}
	if err := Validate(f, goos, HostName, out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// utf8BOM is a byte order mark, which both families accept before the text.
var utf8BOM = []byte("\xef\xbb\xbf")

// Validate returns nil if a browser of the family, on a system (a GOOS value), would
// accept the file for the host it was asked for; otherwise ErrInvalid with the reason.
// host is the name under which the file was found: the file's name without .json, or on
// Windows the last part of the key. It does not check whether the path exists.
//
// Some things are refused that a browser accepts but no installer intends: for Chromium
// comments, an empty list, and an origin with a path or a malformed id; for Firefox a
// path that begins with ~, which it expands to the home.
func Validate(f Family, goos, host string, file []byte) error {
	rule, ok := rules[f]
	if !ok {
		return fmt.Errorf("%w: no family of browsers is called %q", ErrInvalid, f)
	}
	if !utf8.Valid(file) {
		return fmt.Errorf("%w: not UTF-8", ErrInvalid)
	}
	// Of a duplicate key the last one counts, as in both families.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(file, utf8BOM), &members); err != nil {
		return fmt.Errorf("%w: not a JSON object: %w", ErrInvalid, err)
	}
	for _, check := range checks {
		if err := check(checkInput{rule, goos, host}, members); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return nil
}

// checkInput is what a file is checked against.
type checkInput struct {
	familyRule
	goos, host string
}

// checks are the requirements of both families; familyRule has the differences.
var checks = []func(checkInput, map[string]json.RawMessage) error{
	checkName, checkDescription, checkType, checkPath, checkList, checkUnknown,
}

func checkName(a checkInput, members map[string]json.RawMessage) error {
	name, err := text(members, "name")
	switch {
	case err != nil:
		return err
	case !a.name(name):
		return fmt.Errorf("name %q has a form that is not allowed", name)
	case a.host != name:
		return fmt.Errorf("the name is %q, and the browser looked for %q", name, a.host)
	}
	return nil
}

func checkDescription(a checkInput, members map[string]json.RawMessage) error {
	description, err := text(members, "description")
	if err == nil && description == "" && a.described {
		err = fmt.Errorf("description is empty")
	}
	return err
}

func checkType(_ checkInput, members map[string]json.RawMessage) error {
	kind, err := text(members, "type")
	if err == nil && kind != "stdio" {
		err = fmt.Errorf("type is %q, not stdio", kind)
	}
	return err
}

func checkPath(a checkInput, members map[string]json.RawMessage) error {
	path, err := text(members, "path")
	switch {
	case err != nil:
		return err
	case path == "":
		return fmt.Errorf("path is empty")
	case a.goos != "windows" && !strings.HasPrefix(path, "/"): // on Windows it is relative to the file
		return fmt.Errorf("path %q is not absolute", path)
	}
	return nil
}

func checkList(a checkInput, members map[string]json.RawMessage) error {
	var list []*string // null is not an empty text
	if err := json.Unmarshal(members[a.listKey], &list); err != nil || len(list) == 0 || slices.Contains(list, nil) {
		return fmt.Errorf("%s is not a list of extensions", a.listKey)
	}
	for _, entry := range list {
		id := strings.TrimSuffix(strings.TrimPrefix(*entry, "chrome-extension://"), "/")
		if !a.id(id) || *entry != a.entry(id) {
			return fmt.Errorf("%s entry %q voids the file: an entry is %s", a.listKey, *entry, a.spelled)
		}
	}
	return nil
}

func checkUnknown(a checkInput, members map[string]json.RawMessage) error {
	if !a.strict {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains([]string{"name", "description", "path", "type", a.listKey}, key) {
			return fmt.Errorf("unknown key %q voids the file", key)
		}
	}
	return nil
}

// text returns a member that must exist and be text.
func text(members map[string]json.RawMessage, key string) (string, error) {
	var value *string
	if err := json.Unmarshal(members[key], &value); err != nil || value == nil {
		return "", fmt.Errorf("%s is missing or no text", key)
	}
	return *value, nil
}
