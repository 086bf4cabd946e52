//go:build unix

package dialog

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// x11Sockets is where the sockets of X11 are (X(7)).
var x11Sockets = "/tmp/.X11-unix"

const displayTime = time.Second // for a display to take a connection

// answering returns x without what does not answer, and whether anything does: a local socket
// of this user or of root, who runs some display servers. A display of another machine, as by
// ssh, is none.
func (x Display) answering() (Display, bool) {
	if !takesConnections(x.x11Socket()) {
		x.X11, x.Authority = "", ""
	}
	if !takesConnections(x.waylandSocket()) {
		x.Wayland = ""
	}
	return x, x.X11 != "" || x.Wayland != ""
}

// x11Socket returns the socket of :N or :N.S; "" for other displays.
func (x Display) x11Socket() string {
	number, ok := strings.CutPrefix(x.X11, ":")
	number, _, _ = strings.Cut(number, ".")
	if _, err := strconv.ParseUint(number, 10, 16); !ok || err != nil {
		return ""
	}
	return filepath.Join(x11Sockets, "X"+number)
}

// waylandSocket returns the socket of a name below the runtime directory, or of an absolute path
// (wl_display_connect).
func (x Display) waylandSocket() string {
	switch {
	case x.Wayland == "":
		return ""
	case filepath.IsAbs(x.Wayland):
		return x.Wayland
	case filepath.IsAbs(x.RuntimeDir) && filepath.Base(x.Wayland) == x.Wayland:
		return filepath.Join(x.RuntimeDir, x.Wayland)
	}
	return ""
}

func takesConnections(path string) bool {
	info, err := os.Stat(path)
	if path == "" || err != nil || info.Mode()&os.ModeSocket == 0 {
		return false
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() && owner.Uid != 0 {
		return false
	}
	c, err := net.DialTimeout("unix", path, displayTime)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
