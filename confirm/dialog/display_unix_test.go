//go:build unix

package dialog

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// listening makes a socket that takes connections, until the test ends.
func listening(t *testing.T, path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}

// TestFreshestDisplay checks that programs get the display told of last that answers.
func TestFreshestDisplay(t *testing.T) {
	dir, err := os.MkdirTemp("", "d") // short, for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	before := x11Sockets
	x11Sockets = dir
	defer func() { x11Sockets = before }()
	listening(t, filepath.Join(dir, "X1"))
	listening(t, filepath.Join(dir, "wayland-0"))
	if err := os.WriteFile(filepath.Join(dir, "X3"), nil, 0o600); err != nil { // no socket
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		told []Display
		want []string // of the environment; nil = no display
	}{
		"none":             {nil, nil},
		"none that is one": {[]Display{{RuntimeDir: dir}}, nil},
		"one":              {[]Display{{X11: ":1.0", Authority: "/a"}}, []string{"DISPLAY=:1.0", "XAUTHORITY=/a"}},
		"a dead one":       {[]Display{{X11: ":1"}, {X11: ":2"}}, []string{"DISPLAY=:1"}},
		"a file":           {[]Display{{X11: ":3"}}, nil},
		"another machine":  {[]Display{{X11: "host:1"}, {X11: "localhost:10.0"}}, nil},
		"a path in a name": {[]Display{{X11: ":../X1"}, {Wayland: "../" + filepath.Base(dir) + "/wayland-0", RuntimeDir: dir}}, nil},
		"wayland":          {[]Display{{X11: ":1"}, {Wayland: "wayland-0", RuntimeDir: dir, Bus: "unix:path=/b"}}, []string{"WAYLAND_DISPLAY=wayland-0", "DBUS_SESSION_BUS_ADDRESS=unix:path=/b"}},
		"half dead":        {[]Display{{X11: ":2", Wayland: "wayland-0", RuntimeDir: dir}}, []string{"WAYLAND_DISPLAY=wayland-0"}},
		"again":            {[]Display{{X11: ":1"}, {X11: ":2"}, {X11: ":1"}}, []string{"DISPLAY=:1"}},
	} {
		var d Displays
		for _, x := range c.told {
			d.Add(x)
		}
		env, ok := d.Environ()
		if ok != (c.want != nil) {
			t.Errorf("%s: %v %v", name, env, ok)
		}
		for _, v := range c.want {
			if !slices.Contains(env, v) {
				t.Errorf("%s: %v lacks %s", name, env, v)
			}
		}
		if slices.ContainsFunc(env, func(v string) bool { return v == "DISPLAY=:2" }) {
			t.Errorf("%s: %v has a dead display", name, env)
		}
	}
	var d Displays
	for range 100 {
		d.Add(Display{X11: ":" + t.TempDir()})
	}
	if len(d.all) != maxDisplays {
		t.Errorf("%d displays are remembered", len(d.all))
	}
}
