package installer_test

import (
	"errors"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

const userReceipts = "/home/ann/.local/state/swapkeep/receipts.json"

// A receipts file must be complete: its format, its scope and nothing after its end.
func TestReceiptsAreWhole(t *testing.T) {
	const good = `{"format":1,"scope":"user","entries":[]}`
	for text, want := range map[string]error{
		good: nil, good + "\n": nil,
		`{}`: installer.ErrReceipts, `null`: installer.ErrReceipts, `{"entries":[]}`: installer.ErrReceipts,
		good + `{}`: installer.ErrReceipts, good + `]`: installer.ErrReceipts, good + "\x00": installer.ErrReceipts, ``: installer.ErrReceipts,
	} {
		b := newBench("linux", manifest.User)
		b.files.File(userReceipts, text)
		if _, err := installer.ReadReceipts(b.Machine, manifest.User); !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Receipts must belong to the owner of the installation, because what they name is
// removed; root's are readable by everybody.
func TestOwnersOfReceipts(t *testing.T) {
	for _, c := range []struct {
		scope      manifest.Scope
		owner, uid int
		want       error
	}{
		{manifest.User, 1000, 1000, nil},
		{manifest.User, 1001, 1000, installer.ErrReceipts},
		{manifest.User, 0, 1000, installer.ErrReceipts},
		{manifest.System, 0, 1000, nil},
		{manifest.System, 1000, 1000, installer.ErrReceipts},
	} {
		b := newBench("linux", c.scope)
		b.UID, b.Root = c.uid, false
		path, err := installer.ReceiptsPath(b.Machine, c.scope)
		if err != nil {
			t.Fatal(err)
		}
		b.files.File(path, `{"format":1,"scope":"`+string(c.scope)+`","entries":[]}`)
		b.files.Chown(path, c.owner)
		if _, err := installer.ReadReceipts(b.Machine, c.scope); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
