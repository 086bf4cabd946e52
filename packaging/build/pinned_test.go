//go:build packages

package main

import (
	"debug/buildinfo"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestPinned: the machine's settings do not change a program, which erases secrets.
func TestPinned(t *testing.T) {
	r := newRelease(t)
	for name, value := range map[string]string{"GOWORK": filepath.Join(t.TempDir(), "go.work"), "GOFIPS140": "latest", "GOTOOLCHAIN": "go1.0", "GOFLAGS": "-tags=faults", "GOEXPERIMENT": ""} {
		t.Setenv(name, value)
	}
	if err := r.build(targets[0], "swapkeep", "-s -w"); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(r.program(targets[0], "swapkeep"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(info.Settings, debug.BuildSetting{Key: "GOEXPERIMENT", Value: "runtimesecret"}) {
		t.Error("the program leaves secrets in memory: it is built without GOEXPERIMENT=runtimesecret")
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" || s.Key == "GOFIPS140" && s.Value != "off" || s.Key == "DefaultGODEBUG" && strings.Contains(s.Value, "fips140") {
			t.Errorf("%s is %s", s.Key, s.Value)
		}
	}
}
