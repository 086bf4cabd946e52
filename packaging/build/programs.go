package main

import (
	"path/filepath"
	"runtime"
	"strings"

	"swapkeep/manifest"
)

// A target is a platform with its programs.
type target struct {
	OS, Arch string
	commands []string
}

var (
	walletCommands = []string{"swapkeep", "swapkeepd"}
	serverCommands = []string{"swapkeep", "swapkeepd", "swapkeep-server"}
)

var targets = []target{
	{"linux", "amd64", serverCommands},
	{"linux", "arm64", serverCommands},
	{"darwin", "amd64", walletCommands},
	{"darwin", "arm64", walletCommands},
	{"windows", "amd64", walletCommands},
}

// String returns the target's name in file names.
func (t target) String() string { return t.OS + "-" + t.Arch }

// program returns the path of a built command.
func (r *release) program(t target, command string) string {
	if t.OS == "windows" {
		command += ".exe"
	}
	return filepath.Join(r.work, "programs", t.String(), command)
}

// programs builds all commands. The result does not depend on the directory, the machine
// or the state of the working copy.
func (r *release) programs() error {
	link := "-s -w -X main.version=" + r.built() +
		" -X swapkeep/manifest.chromiumIDs=" + strings.Join(r.IDs[manifest.Chromium], ",") +
		" -X swapkeep/manifest.firefoxIDs=" + strings.Join(r.IDs[manifest.Firefox], ",")
	for _, t := range targets {
		for _, command := range t.commands {
			if err := r.build(t, command, link); err != nil {
				return err
			}
		}
	}
	return r.signPrograms()
}

func (r *release) build(t target, command, link string) error {
	if t.OS == "windows" && command == "swapkeepd" {
		link += " -H windowsgui" // otherwise it would show a console when started at login
	}
	env := append([]string{"GOOS=" + t.OS, "GOARCH=" + t.Arch}, pinned...)
	return r.run(env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", r.program(t, command), "./cmd/"+command)
}

// pinned overrides the machine's settings that would change the programs: workspaces,
// other toolchains and modes. internal/zeroize needs the experiment.
var pinned = []string{
	"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=runtimesecret", "GOFIPS140=off", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off",
}

// hostProgram returns the path of a command that this machine can run.
func (r *release) hostProgram(command string) string {
	return r.program(target{OS: runtime.GOOS, Arch: runtime.GOARCH}, command)
}
