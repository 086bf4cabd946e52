package installer

import (
	"testing"
	"time"
)

func TestAsideNames(t *testing.T) {
	now := time.Unix(1_700_000_000, 5)
	for _, name := range movable() {
		if aside := asideName(name, now); !wasAside(aside) || wasAside(name) {
			t.Errorf("%s", aside)
		}
	}
	for name, want := range map[string]bool{
		"swapkeep.exe.1.old": true, "swapkeepd.exe.k3x9.old": true,
		"swapkeep-notes.old": false, "swapkeep.old": false, "swapkeep.exe.old": false, "swapkeep.exe..old": false,
		"swapkeep.exe.1.old.bak": false, "swapkeep.exe.My Copy.old": false, "swapkeeper.exe.1.old": false, "my swapkeep.exe.1.old": false,
		"swapkeep.exe.1.old.2.old": false,
	} {
		if wasAside(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
