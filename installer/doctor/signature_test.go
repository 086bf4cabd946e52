//go:build linux || darwin

package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// speaking puts a script in the place of another system's program.
func speaking(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

// The status of each program counts; no output is not a good sign.
func TestAuthenticode(t *testing.T) {
	const daemon = `C:\Users\ann\AppData\Local\swapkeep\bin\swapkeepd.exe`
	for name, row := range map[string]struct {
		script string
		want   Status
		says   string
	}{
		"valid":       {`printf 'Valid\r\nValid\r\n'`, OK, daemon},
		"unsigned":    {`printf 'NotSigned\r\nNotSigned\r\n'`, Note, "is not signed"},
		"changed":     {`printf 'Valid\r\nHashMismatch\r\n'`, Fail, daemon + " was changed"},
		"distrusted":  {`printf 'NotTrusted\r\nValid\r\n'`, Warn, windowsHost},
		"unknown":     {`printf 'Valid\r\nUnknownError\r\n'`, Warn, "UnknownError"},
		"half":        {`printf 'Valid\r\n\r\n'`, Skipped, "no answer for every program"},
		"silent":      {`exit 0`, Skipped, "no answer"},
		"failed":      {`echo denied >&2; exit 1`, Skipped, "denied"},
		"asked about": {`case "$SWAPKEEP_FILES" in *'swapkeep.exe|C:'*) echo Valid Valid;; esac`, OK, windowsHost},
	} {
		t.Run(name, func(t *testing.T) {
			speaking(t, "powershell.exe", row.script)
			p, files, _ := onWindows(t)
			files.File(daemon, "daemon")
			if got, text := runCheck(t, p, "program.signature"); got != row.want || !strings.Contains(text, row.says) {
				t.Errorf("%s: %s", got, text)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	p, _, _ := onWindows(t)
	if got, text := runCheck(t, p, "program.signature"); got != Skipped {
		t.Errorf("without PowerShell: %s: %s", got, text)
	}
}

func TestCodesign(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		want   Status
	}{
		"valid":    {"exit 0", OK},
		"unsigned": {`echo "$3: code object is not signed at all" >&2; exit 1`, Warn},
		"changed":  {`echo "$3: invalid signature (code or signature have been modified)" >&2; echo "In architecture: arm64" >&2; exit 1`, Fail},
	} {
		t.Run(name, func(t *testing.T) {
			speaking(t, "codesign", row.script)
			p, program := onDisk(t)
			invalidPath := filepath.Join(filepath.Dir(program), "invalid") // not a word from codesign
			if err := errors.Join(os.Mkdir(invalidPath, 0o755), os.Link(program, filepath.Join(invalidPath, "swapkeep"))); err != nil {
				t.Fatal(err)
			}
			program = filepath.Join(invalidPath, "swapkeep")
			p.Machine = installer.Machine{OS: "darwin", Home: p.Machine.Home, Env: p.Machine.Env, Files: p.Machine.Files}
			p.facts.browsers = []browser{{hits: []foundManifest{{place: manifest.Place{Family: manifest.Chromium}, path: program}}}}
			if found := signatures(t.Context(), p); Worst(found) != row.want {
				t.Errorf("signatures = %+v, want %s at worst", found, row.want)
			}
		})
	}
}
