//go:build linux

package programs

import (
	"fmt"
	"os"
	"os/exec"
)

// Program names. swapkeep is both the relay and the command line.
const (
	relay  = "swapkeep"
	daemon = "swapkeepd"
)

// Build builds both programs into a new directory as the Makefile does, with the given
// build tags and extra linker flags; either may be "".
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
