// Package manifest is the file by which a browser finds the host: what each
// family of browsers accepts in it, and how it is written. Sources: Chromium's
// native_messaging_host_manifest.cc and extension_id, Mozilla's
// NativeManifests.sys.mjs and its schema native_manifest.json.
package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// HostName is the name extensions ask for. It never changes.
const HostName = "app.swapkeep.host"

// FileName is the file's name in any browser's folder; both families demand it.
const FileName = HostName + ".json"

// Description is shown by no browser and demanded by all.
const Description = "Swapkeep: a wallet's keys and swaps, outside the browser"

// A Family of browsers shares one form of the file. One file cannot serve
// both: Firefox refuses a key that it does not know.
type Family string

// The families.
const (
	Chromium Family = "chromium"
	Firefox  Family = "firefox"
)

// A familyRule is what one family accepts.
type familyRule struct {
	listKey string // the key of its allow-list
	name    func(string) bool
	id      func(string) bool
	entry   func(id string) string // an id as the allow-list spells it
	strict  bool                   // unknown keys void the file
	about   string                 // an id's form, for a person
}

var rules = map[Family]familyRule{
	Chromium: {
		listKey: "allowed_origins",
		name:    form(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`),
		id:      isChromiumID,
		entry:   ChromiumOrigin,
		about:   "32 letters from a to p",
	},
	Firefox: {
		listKey: "allowed_extensions",
		name:    form(`^\w+(\.\w+)*$`),
		id:      form(`(?i)^(\{[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}|[a-z0-9._-]*@[a-z0-9._-]+)$`),
		entry:   func(id string) string { return id },
		strict:  true,
		about:   "name@domain or {uuid}",
	},
}

// isChromiumID is no pattern: a relay, which starts for every port of a browser,
// compiles none.
func isChromiumID(id string) bool { return len(id) == 32 && strings.Trim(id, "abcdefghijklmnop") == "" }

// form compiles its pattern when it is first used.
func form(pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return compiled().MatchString(s) }
}

// Families in the order they are listed to a person.
func Families() []Family { return []Family{Chromium, Firefox} }

// ErrInvalid: a browser would not accept the file.
var ErrInvalid = errors.New("invalid manifest")

// ValidID reports whether an extension id has the family's form.
func (f Family) ValidID(id string) bool {
	rule, ok := rules[f]
	return ok && rule.id(id)
}

// ChromiumOrigin is how Chromium names an extension.
func ChromiumOrigin(id string) string { return "chrome-extension://" + id + "/" }

// ChromiumID is the id that Chromium gives an extension whose manifest carries
// this key: base64 of a DER public key, as its "key" member.
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

// Render returns the family's file for the host at path, usable by the
// extensions with those ids. The same input gives the same bytes.
func Render(f Family, path string, ids []string) ([]byte, error) {
	rule, ok := rules[f]
	if !ok {
		return nil, fmt.Errorf("%w: no family of browsers is called %q", ErrInvalid, f)
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
	if err := e.Encode(members); err != nil { // keys of a map come out sorted
		return nil, err
	}
	if err := Validate(f, FileName, out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// utf8BOM before the text is accepted by both families.
var utf8BOM = []byte("\xef\xbb\xbf")

// Validate is nil when a browser of the family, on a system whose absolute
// paths are this one's, would accept the file under that name. It does not
// look whether the path exists. Error: ErrInvalid.
func Validate(f Family, fileName string, file []byte) error {
	rule, ok := rules[f]
	if !ok {
		return fmt.Errorf("%w: no family of browsers is called %q", ErrInvalid, f)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(file, utf8BOM), &members); err != nil {
		return fmt.Errorf("%w: not a JSON object: %w", ErrInvalid, err)
	}
	for _, check := range checks {
		if err := check(rule, fileName, members); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return nil
}

// checks are both families' demands; a rule says where they differ.
var checks = []func(rule familyRule, fileName string, members map[string]json.RawMessage) error{
	checkName, checkDescription, checkType, checkPath, checkList, checkUnknown,
}

func checkName(rule familyRule, fileName string, members map[string]json.RawMessage) error {
	name, err := text(members, "name")
	switch {
	case err != nil:
		return err
	case !rule.name(name):
		return fmt.Errorf("name %q has a form that is not allowed", name)
	case fileName != name+".json":
		return fmt.Errorf("the file is called %q, not %q", fileName, name+".json")
	}
	return nil
}

func checkDescription(_ familyRule, _ string, members map[string]json.RawMessage) error {
	_, err := text(members, "description")
	return err
}

func checkType(_ familyRule, _ string, members map[string]json.RawMessage) error {
	kind, err := text(members, "type")
	if err == nil && kind != "stdio" {
		err = fmt.Errorf("type is %q, not stdio", kind)
	}
	return err
}

func checkPath(_ familyRule, _ string, members map[string]json.RawMessage) error {
	path, err := text(members, "path")
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("path %q is not absolute", path)
	}
	return err
}

func checkList(rule familyRule, _ string, members map[string]json.RawMessage) error {
	var list []string
	if err := json.Unmarshal(members[rule.listKey], &list); err != nil || len(list) == 0 {
		return fmt.Errorf("%s is not a list of extensions", rule.listKey)
	}
	for _, entry := range list {
		id := strings.TrimSuffix(strings.TrimPrefix(entry, "chrome-extension://"), "/")
		if !rule.id(id) || entry != rule.entry(id) {
			return fmt.Errorf("%s entry %q voids the file: want %s", rule.listKey, entry, rule.about)
		}
	}
	return nil
}

func checkUnknown(rule familyRule, _ string, members map[string]json.RawMessage) error {
	if !rule.strict {
		return nil
	}
	for key := range members {
		if !slices.Contains([]string{"name", "description", "path", "type", rule.listKey}, key) {
			return fmt.Errorf("unknown key %q voids the file", key)
		}
	}
	return nil
}

func text(members map[string]json.RawMessage, key string) (string, error) {
	var value string
	if err := json.Unmarshal(members[key], &value); err != nil || value == "" {
		return "", fmt.Errorf("%s is missing, empty or no string", key)
	}
	return value, nil
}
