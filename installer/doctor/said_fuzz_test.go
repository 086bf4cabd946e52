package doctor

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// asKernel escapes a path like the kernel does in mountinfo.
var asKernel = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace

// FuzzMounts: whatever else is in the table, the mount that the kernel wrote last counts
// for its own mount point, whatever its name; and in any table, the mount found for a
// path contains it.
func FuzzMounts(f *testing.F) {
	const table = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n31 30 8:3 / /home/ann\\040lee rw,noexec - ext4 /dev/sda3 rw\n"
	for _, s := range []string{"home", "home/ann lee", "a\tb", `back\slash`, `a\040b`, "no\u00a0break", "line\nfeed", "a\vb", "", "/"} {
		f.Add(table, s)
	}
	f.Add("22 1 8:1 /  rw,noexec - ext4 x rw\n", "home")
	f.Add("22 1 8:1 / relative rw", "relative")
	f.Fuzz(func(t *testing.T, table, name string) {
		path := "/" + strings.Trim(name, "/")
		if m, found := mountOf(table, path); found && m.point != "/" && path != m.point && !strings.HasPrefix(path, m.point+"/") {
			t.Fatalf("%q has %q on %+v", table, path, m)
		}
		written := table + "\n99 1 0:40 / " + asKernel(path) + " rw,noexec - tmpfs tmpfs rw\n"
		if m, found := mountOf(written, path); !found || m != (mount{path, "rw,noexec"}) {
			t.Fatalf("%q has %q on %+v", written, path, m)
		}
	})
}

// asGLib escapes a value like GLib does in key files.
func asGLib(value string) string {
	rest := strings.TrimLeft(value, " \t")
	lead := strings.NewReplacer(" ", `\s`, "\t", `\t`).Replace(value[:len(value)-len(rest)])
	return lead + strings.NewReplacer("\n", `\n`, "\r", `\r`, `\`, `\\`).Replace(rest)
}

// FuzzKeyFile: a value that GLib wrote is read unchanged, whatever precedes it, and never
// from another group.
func FuzzKeyFile(f *testing.F) {
	for _, s := range []string{"/home/ann", "/home/ann lee ", " /x", "\t\t", `C:\s`, `a\\b`, "a=b", "[x]", "", "a\r\nb", "\u00a0"} {
		f.Add("[Context]\nfilesystems=/home/ann;\n[Environment]\nHOME=/elsewhere\nX=1\n", s)
	}
	f.Add("[Environment", "/home/ann")
	f.Fuzz(func(t *testing.T, before, value string) {
		text := before + "\n[Environment]\nHOME=" + asGLib(value) + "\n"
		if got := inKeyFile(text, "Environment", "HOME"); got != value {
			t.Fatalf("%q of %q is read as %q", value, text, got)
		}
		if got := inKeyFile("[Context]\nHOME="+asGLib(value)+"\n", "Environment", "HOME"); got != "" {
			t.Fatalf("%q is read of another group", got)
		}
	})
}

// FuzzAnswered: an app is allowed only by a line that says so with its full name.
func FuzzAnswered(f *testing.F) {
	const line = "webextensions\tapp.swapkeep.host\tsnap.firefox\tyes\t0x00\n"
	for _, s := range []string{line, strings.Replace(line, "yes", "no", 1), "snap.firefox", strings.Replace(line, "firefox", "firefox-nightly", 1), "yes snap.firefox\n", "snap.firefox snap.firefox yes", "snap.firefox\u00a0yes", ""} {
		f.Add(s)
	}
	says := regexp.MustCompile(`(^|[\s\x{85}\p{Z}])snap\.firefox[\s\v\x{85}\p{Z}]+yes($|[\s\v\x{85}\p{Z}])`)
	f.Fuzz(func(t *testing.T, table string) {
		got := answered(table, "firefox")
		if got == "yes" && !says.MatchString(strings.ReplaceAll(table, "\v", " ")) {
			t.Fatalf("%q lets it", table)
		}
		if got == "" && answered(table+"\n"+line, "firefox") != "yes" {
			t.Fatalf("%q hides what is said after it", table)
		}
	})
}

// FuzzLog: whatever is in the log, its last failure is found and nothing else is reported
// as one; the message is valid text of limited length.
func FuzzLog(f *testing.F) {
	for _, s := range []string{
		`{"level":"error","time":"2026-11-20T09:00:00Z","message":"order","error":"no route"}`, `{"level":"info","time":"2026-11-20T09:00:00Z","message":"started"}`, `{"level":"fatal","message":"without a time"}`,
		`{"level":"error"}`, `{"level":["error"]}`, "panic: index out of range", "fatal error: all goroutines are asleep", "swapkeepd: no: the configuration", `{"level":"error","time":"yesterday"}`, "\xff\xfe", "",
	} {
		f.Add([]byte(s))
	}
	p, _ := onLinux(f)
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	p.Now, p.facts = func() time.Time { return now }, &facts{}
	if err := os.MkdirAll(p.Place.Home, 0o700); err != nil {
		f.Fatal(err)
	}
	const failure = `{"level":"error","time":"2026-11-20T08:59:00Z","message":"last","error":"of all"}` + "\n"
	f.Fuzz(func(t *testing.T, text []byte) {
		message, at := p.lastError(text)
		if quiet, then := p.lastError(append(append([]byte{}, text...), "\n"+`{"level":"info","time":"2026-11-20T09:00:00Z","message":"panic: no"}`+"\n"...)); quiet != message || !then.Equal(at) {
			t.Fatalf("%q says %q at %s, and with a line that is none %q at %s", text, message, at, quiet, then)
		}
		if last, then := p.lastError(append(append([]byte{}, text...), "\n"+failure...)); last != "last: of all" || then.Minute() != 59 {
			t.Fatalf("%q hides the failure after it: %q at %s", text, last, then)
		}
		if err := os.WriteFile(p.Place.LogPath(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, finding := range logged(t.Context(), p) {
			if !utf8.ValidString(finding.Evidence) || len(finding.Evidence) > 400 || finding.Status == OK && message != "" && now.Sub(at) < logRecent {
				t.Fatalf("%q is told as %+v", text, finding)
			}
		}
	})
}

// FuzzUnpacked: an extension in a directory has the name in its files, with the
// placeholder resolved, and none if its files are not JSON.
func FuzzUnpacked(f *testing.F) {
	const named = `{"name":"__MSG_name__","default_locale":"en"}`
	for _, m := range []string{named, `{"name":"Swapkeep"}`, `{"name":"__MSG_","default_locale":".."}`, `{"name":"__MSG_name__","default_locale":"../../en"}`, `{"name":7}`, `null`, ``} {
		f.Add([]byte(m), []byte(`{"name":{"message":"Swapkeep"}}`))
	}
	f.Add([]byte(named), []byte(`{"name":null}`))
	f.Add([]byte(named), []byte(`{"name":{"message":["Swapkeep"]}}`))
	p, files := onLinux(f)
	files.File("/home/ann/other/_locales/en/messages.json", `{"name":{"message":"of another folder"}}`)
	f.Fuzz(func(t *testing.T, manifest, messages []byte) {
		files.File("/home/ann/unpacked/manifest.json", string(manifest))
		files.File("/home/ann/unpacked/_locales/en/messages.json", string(messages))
		name := p.nameIn("/home/ann/unpacked")
		if name != "" && !says(manifest, name) && !(json.Valid(manifest) && says(messages, name)) {
			t.Fatalf("%q and %q name it %q", manifest, messages, name)
		}
		if strings.Contains(name, "of another folder") && !strings.Contains(string(manifest)+string(messages), "of another folder") {
			t.Fatalf("%q is read of another folder", name)
		}
	})
}

// says reports whether a JSON text contains a string.
func says(raw []byte, text string) bool {
	var all any
	if json.Unmarshal(raw, &all) != nil {
		return false
	}
	var in func(any) bool
	in = func(v any) bool {
		switch v := v.(type) {
		case string:
			return v == text
		case []any:
			return slices.ContainsFunc(v, in)
		case map[string]any:
			return slices.ContainsFunc(slices.Collect(maps.Values(v)), in)
		}
		return false
	}
	return in(all)
}
