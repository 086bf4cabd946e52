package installer

import (
	"testing"
	"time"
)

// TestAsideNames checks that exactly the names of files that were moved aside are recognized: a
// false positive would delete a file of the user.
func TestAsideNames(t *testing.T) {
	now := time.Unix(1_700_000_000, 5)
	for _, name := range movable() {
		if aside := asideName(name, now); !isAsideName(aside) {
			t.Errorf("%s is not recognized", aside)
		}
		if isAsideName(name) {
			t.Errorf("%s is taken for a file that was moved aside", name)
		}
	}
	for name, want := range map[string]bool{
		"swapkeep.exe.1.old": true, "swapkeepd.exe.k3x9.old": true,
		"swapkeep-notes.old": false, "swapkeep.old": false, "swapkeep.exe.old": false, "swapkeep.exe..old": false,
		"swapkeep.exe.1.old.bak": false, "swapkeep.exe.My Copy.old": false, "swapkeeper.exe.1.old": false, "my swapkeep.exe.1.old": false,
		"swapkeep.exe.1.old.2.old": false,
	} {
		if got := isAsideName(name); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}
