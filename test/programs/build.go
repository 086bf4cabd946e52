//go:build linux

package programs

import (
	"fmt"
	"os"
	"os/exec"
)

// The programs, as they are called; relay is every command too.
const (
	relay  = "swapkeep"
	daemon = "swapkeepd"
)

// Build makes the programs as the Makefile does, into a new folder, with a build tag
// and flags for the linker besides; "" is none.
func Build(dir, tags, flags string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w "+flags, "-tags", tags, "-o", dir, "swapkeep/cmd/"+relay, "swapkeep/cmd/"+daemon)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %q: %w\n%s", tags, err, out)
	}
	return nil
}
