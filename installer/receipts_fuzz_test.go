package installer_test

import (
	"errors"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// FuzzReceipts: receipts are refused, or each of their entries can be examined and an
// uninstall removes nothing whose content differs from them.
func FuzzReceipts(f *testing.F) {
	for _, s := range []string{
		`{"format":1,"scope":"user","entries":[{"kind":"manifest","path":"/home/ann/kept","sha256":"00","time":"2026-01-01T00:00:00Z"}]}`,
		`{"format":1,"scope":"user","entries":[{"kind":"directory","path":"/home/ann"},{"kind":"link","path":"/home/ann/kept","pending":true}]}`,
		`{"format":1,"scope":"user","entries":[{"kind":"value","path":"HKCU"},{"kind":"key","path":"HKCU"}]}`,
		`{"format":2}`, `{"entries":[{}]}`, `null`, `[]`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := newBench("linux", manifest.User)
		b.files.File("/home/ann/kept", "mine")
		b.files.File("/home/ann/.local/state/swapkeep/receipts.json", text)
		r, err := installer.PlanRemoval(b.Machine, manifest.User)
		if err != nil {
			if !errors.Is(err, installer.ErrReceipts) {
				t.Fatal(err)
			}
			return
		}
		_, _ = installer.Remove(t.Context(), b.Machine, r)
		if _, err := b.files.Stat("/home/ann/kept"); err != nil {
			t.Errorf("%s removed what it does not know", text)
		}
	})
}
