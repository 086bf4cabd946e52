package dialog

import (
	"os"
	"slices"
	"strings"
	"sync"
)

// A Display says where programs show windows: the variables of a program that has some.
type Display struct {
	X11        string // $DISPLAY
	Wayland    string // $WAYLAND_DISPLAY
	Authority  string // $XAUTHORITY
	RuntimeDir string // $XDG_RUNTIME_DIR
	Bus        string // $DBUS_SESSION_BUS_ADDRESS
}

// FromEnviron returns this process's own display.
func FromEnviron() Display {
	return Display{os.Getenv("DISPLAY"), os.Getenv("WAYLAND_DISPLAY"), os.Getenv("XAUTHORITY"), os.Getenv("XDG_RUNTIME_DIR"), os.Getenv("DBUS_SESSION_BUS_ADDRESS")}
}

const maxDisplays = 8

// Displays are those that programs told of, the freshest first: a desktop may have restarted
// under another number, and a daemon may have begun without any. It may be used concurrently.
type Displays struct {
	mu  sync.Mutex
	all []Display
}

// Add tells of a display. One without X11 and Wayland is ignored.
func (d *Displays) Add(x Display) {
	if x.X11 == "" && x.Wayland == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = slices.DeleteFunc(d.all, func(y Display) bool { return y == x })
	d.all = slices.Insert(d.all, 0, x)
	d.all = d.all[:min(len(d.all), maxDisplays)]
}

// kept are the variables of this process that programs get besides those of the display.
var kept = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "XDG_DATA_DIRS", "TMPDIR"}

// Environ returns the environment for programs on the freshest display that answers.
func (d *Displays) Environ() (env []string, ok bool) {
	d.mu.Lock()
	all := slices.Clone(d.all)
	d.mu.Unlock()
	for _, x := range all {
		x, answers := x.answering()
		if !answers {
			continue
		}
		for _, name := range kept {
			if v, set := os.LookupEnv(name); set {
				env = append(env, name+"="+v)
			}
		}
		for _, v := range [][2]string{{"DISPLAY", x.X11}, {"WAYLAND_DISPLAY", x.Wayland}, {"XAUTHORITY", x.Authority}, {"XDG_RUNTIME_DIR", x.RuntimeDir}, {"DBUS_SESSION_BUS_ADDRESS", x.Bus}} {
			if v[1] != "" && !strings.ContainsRune(v[1], 0) {
				env = append(env, v[0]+"="+v[1])
			}
		}
		return env, true
	}
	return nil, false
}
