package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// A machine describes where the figures come from. Unknown values are "?".
type machine struct {
	CPUs  int    `json:"cpus"`
	Model string `json:"model"`
	OS    string `json:"os"`
	Go    string `json:"go"`
	CGO   string `json:"cgo"` // 0, as in releases, or 1
	Node  string `json:"node"`
	Load  string `json:"load"` // load average of the last minute, at the start
}

func (m machine) String() string {
	return fmt.Sprintf("%d × %s, %s, %s (CGO_ENABLED=%s), Node %s, load %s at the start", m.CPUs, m.Model, m.OS, m.Go, m.CGO, m.Node, m.Load)
}

func machineOf(ctx context.Context) machine {
	m := machine{CPUs: runtime.NumCPU(), Model: "?", OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), CGO: "?", Node: "?", Load: "?"}
	if model, ok := field("/proc/cpuinfo", "model name"); ok {
		m.Model = model
	}
	if name, ok := field("/etc/os-release", "PRETTY_NAME"); ok {
		m.OS = strings.Trim(name, `"`) + ", " + m.OS
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.OS += ", kernel " + strings.TrimSpace(string(kernel))
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(b), " ")
	}
	if out, err := exec.CommandContext(ctx, "node", "--version").Output(); err == nil {
		m.Node = strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "CGO_ENABLED" {
				m.CGO = s.Value
			}
		}
	}
	return m
}

// field returns the first value of a key in a file with lines "key: value" or
// "key=value".
func field(path, key string) (string, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(b)) {
		if i := strings.IndexAny(line, ":="); i >= 0 && strings.TrimSpace(line[:i]) == key {
			return strings.TrimSpace(line[i+1:]), true
		}
	}
	return "", false
}
