package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/manifest"
)

var then = time.Unix(1760000000, 0).UTC()

// newRelease returns a release with these Chromium ids, in the repository's root.
func newRelease(t *testing.T, ids ...string) *release {
	t.Helper()
	t.Chdir("../..")
	return &release{
		Version: "1.2.3", Time: then, IDs: map[manifest.Family][]string{manifest.Chromium: ids},
		ctx: t.Context(), out: t.TempDir(), work: t.TempDir(),
	}
}

func TestCheck(t *testing.T) {
	r := newRelease(t, strings.Repeat("abcdefghijklmnop", 2))
	if err := r.check(); err != nil {
		t.Error(err)
	}
	unreleased, err := unreleasableIDs()
	if err != nil || len(unreleased) != 4 {
		t.Fatalf("%v, %v", unreleased, err)
	}
	for name, spoil := range map[string]func(*release){
		"a version that no installer can say": func(r *release) { r.Version = "1.2" },
		"an id of the other family":           func(r *release) { r.IDs[manifest.Chromium] = []string{"a@b.invalid"} },
		"half of a certificate":               func(r *release) { r.signer = signer{cert: "c.pem"} },
		"development 0":                       func(r *release) { r.IDs = idsOf(unreleased[0]) },
		"development 1":                       func(r *release) { r.IDs = idsOf(unreleased[1]) },
		"development 2":                       func(r *release) { r.IDs = idsOf(unreleased[2]) },
		"development 3":                       func(r *release) { r.IDs = idsOf(unreleased[3]) },
	} {
		bad := *r
		bad.IDs = map[manifest.Family][]string{}
		spoil(&bad)
		if err := bad.check(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// idsOf returns an id under its family.
func idsOf(id string) map[manifest.Family][]string {
	family := manifest.Chromium
	if manifest.Firefox.ValidID(id) {
		family = manifest.Firefox
	}
	return map[manifest.Family][]string{family: {id}}
}

// TestReleasedIsReleased: every build allows the extension's ids in the stores.
func TestReleasedIsReleased(t *testing.T) {
	newRelease(t)
	firefox, err := idIn(manifest.Firefox, "extension/manifest/firefox.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range manifest.Released[manifest.Firefox] {
		if id != firefox {
			t.Errorf("Released names %s, and the extension is %s", id, firefox)
		}
	}
	unreleased, err := unreleasableIDs()
	if err != nil {
		t.Fatal(err)
	}
	for family, ids := range manifest.Released {
		for _, id := range ids {
			if slices.Contains(unreleased, id) {
				t.Errorf("Released has %s for %s", id, family)
			}
		}
	}
}

// TestHosts: a family without ids has no manifest, the other has its own in each place.
func TestHosts(t *testing.T) {
	r := newRelease(t, strings.Repeat("abcdefghijklmnop", 2))
	for goos, program := range map[string]string{"linux": installed + "/swapkeep", "darwin": macPrograms + "/swapkeep", "windows": windowsProgram} {
		hosts, err := r.hosts(goos, goos, program, manifest.System)
		if err != nil || len(hosts) != 3 {
			t.Fatalf("%s: %v, %v", goos, hosts, err)
		}
		for _, h := range hosts {
			text, err := os.ReadFile(h.Source)
			if err != nil || h.Family != manifest.Chromium || (h.Key == "") != (goos != "windows") || (h.Path == "") != (goos == "windows") {
				t.Errorf("%s: %+v, %v", goos, h, err)
			}
			if err := manifest.Validate(h.Family, goos, manifest.HostName, text); err != nil {
				t.Errorf("%s: %v", goos, err)
			}
		}
	}
}

// TestTemplatesWithoutIDs: no template names a manifest that does not exist.
func TestTemplatesWithoutIDs(t *testing.T) {
	r := newRelease(t)
	for _, name := range []string{"windows/swapkeep.wxs", "windows/setup.nsi"} {
		text, err := r.filled(name, installer{release: r, msi: msis[0]})
		if err != nil || bytes.Contains(text, []byte(manifest.HostName)) || bytes.Contains(text, []byte("NativeMessagingHosts")) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// TestSettled: in a summary as written by wixl only the times and the package code are
// changed, and both are determined by the release and the content.
func TestSettled(t *testing.T) {
	file := summaryOf("{00000000-1111-2222-3333-444444444444}", 1, 2)
	other := summaryOf("{99999999-1111-2222-3333-444444444444}", 3, 4)
	for _, f := range [][]byte{file, other} {
		if err := settleBytes(f, then); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(file, other) {
		t.Error("the same content is two files")
	}
	if !regexp.MustCompile(`\{[0-9A-F]{8}-[0-9A-F]{4}-5[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}\}`).Match(file) {
		t.Errorf("no package code in %q", file)
	}
	changed := append(summaryOf("{00000000-1111-2222-3333-444444444444}", 1, 2), "more"...)
	if err := settleBytes(changed, then); err != nil || bytes.HasPrefix(changed, file) {
		t.Errorf("other content has the same package code, %v", err)
	}
	for length := range len(file) {
		_ = settleBytes(slices.Clone(file[:length]), then) // truncated: must not panic
	}
	if err := settleBytes([]byte("no msi"), then); err == nil {
		t.Error("no msi was taken")
	}
}

// summaryOf returns a file that contains a property set.
func summaryOf(code string, created, saved uint64) []byte {
	number := binary.LittleEndian.AppendUint32
	section := number(number(nil, 0), 3)
	section = number(number(section, propertyPackage), 32)
	section = number(number(section, propertyCreated), 88)
	section = number(number(section, propertySaved), 100)
	section = append(number(number(section, typeText), uint32(len(code)+1)), code+"\x00\x00"...)
	section = append(section, make([]byte, 88-len(section))...)
	for _, at := range []uint64{created, saved} {
		section = binary.LittleEndian.AppendUint64(number(section, 0x40), at)
	}
	set := append([]byte{0xfe, 0xff}, make([]byte, headerToFormat-2)...)
	set = number(append(set, summaryFormat...), uint32(headerToFormat+len(summaryFormat)+4))
	return append(append(make([]byte, 512), set...), append(section, "the rest of the file"...)...)
}

// TestBill: the bill has what the format requires, each component once, no reference to a
// missing one, and is reproducible.
func TestBill(t *testing.T) {
	r := newRelease(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := productOf(exe, "swapkeep", targets[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := r.license([]product{program}); err != nil {
		t.Fatal(err)
	}
	extension, err := extensionProduct("extension/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOf("1.2.3", then, []product{program, extension})
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := billOf("1.2.3", then, []product{program, extension}); !bytes.Equal(text, again) {
		t.Error("two bills of one release differ")
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Spec != "1.6" || b.Version != 1 || !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Errorf("head is %+v", b)
	}
	refs := map[string]bool{b.Metadata.Component.Ref: true}
	hashes := map[string]int{"SHA-256": 64, "SHA-512": 128}
	for _, c := range b.Components {
		if refs[c.Ref] || c.Ref == "" || c.Name == "" || c.Version == "" || (c.Kind != "application" && c.Kind != "library") {
			t.Errorf("component %+v", c)
		}
		refs[c.Ref] = true
		if len(c.Licenses) != 1 || c.Licenses[0].Expression == "" {
			t.Errorf("%s has no licence", c.Ref)
		}
		for _, h := range c.Hashes {
			if len(h.Content) != hashes[h.Algorithm] {
				t.Errorf("%s: hash %+v", c.Ref, h)
			}
		}
	}
	for _, want := range []string{"pkg:npm/preact@", "pkg:golang/stdlib@"} {
		if !slices.ContainsFunc(b.Components, func(c component) bool { return strings.HasPrefix(c.Ref, want) }) {
			t.Errorf("nothing is %s", want)
		}
	}
	if slices.ContainsFunc(b.Components, func(c component) bool { return strings.HasPrefix(c.Ref, "pkg:npm/vite@") }) {
		t.Error("a tool of developers is in the bill")
	}
	told := map[string]bool{}
	for _, d := range b.Dependencies {
		if told[d.Ref] || !refs[d.Ref] || slices.ContainsFunc(d.On, func(on string) bool { return !refs[on] }) || len(slices.Compact(slices.Sorted(slices.Values(d.On)))) != len(d.On) {
			t.Errorf("dependency %+v", d)
		}
		told[d.Ref] = true
	}
	if len(told) != len(refs) {
		t.Errorf("%d of %d say what they need", len(told), len(refs))
	}
}

// TestModule: a module replaced by another has the other's name; one replaced by a
// directory keeps its own, and the directory is not named.
func TestModule(t *testing.T) {
	was := debug.Module{Path: "a.invalid/b", Version: "v1.2.3", Sum: "h1:b"}
	by := func(m debug.Module) *debug.Module {
		replaced := was
		replaced.Replace = &m
		return &replaced
	}
	for _, c := range []struct {
		m     *debug.Module
		purl  string
		about property
	}{
		{&was, "pkg:golang/a.invalid/b@v1.2.3", property{"go:sum", "h1:b"}},
		{by(debug.Module{Path: "c.invalid/d", Version: "v2.0.0", Sum: "h1:d"}), "pkg:golang/c.invalid/d@v2.0.0", property{"go:sum", "h1:d"}},
		{by(debug.Module{Path: "../elsewhere"}), "pkg:golang/a.invalid/b@v1.2.3", property{"go:replaced", "by a folder"}},
	} {
		part := module(c.m)
		if part.PURL != c.purl || len(part.Properties) != 1 || part.Properties[0] != c.about || part.module != was.Path {
			t.Errorf("%+v", part)
		}
	}
}

func TestLicenseOf(t *testing.T) {
	const forms = "redistribution and use in source and binary forms"
	for text, want := range map[string]string{
		"apache license version 2.0, january 2004":                                                       "Apache-2.0",
		"licensed under the apache license, version 2.0":                                                 "Apache-2.0",
		forms + " are permitted":                                                                         "BSD-2-Clause",
		forms + " ... neither the name of its author nor ...":                                            "BSD-3-Clause",
		"gnu general public license version 3, 29 june 2007 gnu lesser general public license version 3": "LGPL-3.0-or-later",
		"permission is hereby granted, free of charge, to any person " + forms + " neither the name":     "BSD-3-Clause AND MIT",
		"ask the author": "",
	} {
		if got := licenseOf(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestDirtyVersion: programs not built from a commit say so in their version.
func TestDirtyVersion(t *testing.T) {
	r := newRelease(t)
	if r.built() != "1.2.3" {
		t.Errorf("a commit's is %s", r.built())
	}
	if r.dirty = true; r.built() != "1.2.3+dirty" {
		t.Errorf("another's is %s", r.built())
	}
}

// TestParents: the parent keys that the setup program makes, up to those of Windows.
func TestParents(t *testing.T) {
	for key, want := range map[string][]string{
		`Software\Google\Chrome\NativeMessagingHosts\h`:  {`Software\Google\Chrome\NativeMessagingHosts`, `Software\Google\Chrome`, `Software\Google`},
		`Software\Microsoft\Edge\NativeMessagingHosts\h`: {`Software\Microsoft\Edge\NativeMessagingHosts`, `Software\Microsoft\Edge`},
	} {
		if got := (host{Key: key}).Parents(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", key, got)
		}
	}
}

// TestSums: SHA256SUMS names every file by its path.
func TestSums(t *testing.T) {
	r := newRelease(t)
	if err := r.write(filepath.Join(r.out, "winget/a.yaml"), []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := r.sums(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if want := "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  winget/a.yaml\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
