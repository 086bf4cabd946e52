package doctor

import (
	"io"
	"os"
	"strings"
	"testing"

	"swapkeep/manifest"
)

// TestMain lets the test binary also run as a host that echoes its input.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "chrome-extension://") {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// The command processor passes a host its pipes, and its arguments unchanged.
func TestStartedByCommandProcessor(t *testing.T) {
	p, _, _ := onWindows(t)
	p.Machine.Env = os.Getenv
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := p.hostCommand(manifest.Chromium, foundManifest{path: self}, chromiumID)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader("a frame")
	if out, err := cmd.Output(); err != nil || string(out) != "a frame" {
		t.Errorf("the program wrote %q, %v; want its input", out, err)
	}
}
