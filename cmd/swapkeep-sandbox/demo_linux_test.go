package main

import (
	"net"
	"path/filepath"
	"testing"
)

func TestSessionBus(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	own := "unix:path=" + filepath.Join(dir, "bus")
	for _, c := range []struct{ address, dir, want string }{
		{"unix:path=/elsewhere", dir, "unix:path=/elsewhere"},
		{"", dir, own},
		{"disabled:", dir, own},
		{"autolaunch:", dir, own},
		{"disabled:", t.TempDir(), ""},
	} {
		env := map[string]string{"DBUS_SESSION_BUS_ADDRESS": c.address, "XDG_RUNTIME_DIR": c.dir}
		got, err := sessionBus(func(name string) string { return env[name] })
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.address, got, err, c.want)
		}
	}
}
