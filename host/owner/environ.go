package owner

import (
	"os"
	"path/filepath"
	"strings"

	"swapkeep/host/transport"
)

// Only these variables are passed to the daemon, because a browser's environment contains
// its own keys and library paths. GODEBUG is excluded because http2debug logs the path of
// an RPC URL, GOTRACEBACK because crash dumps the memory.
var (
	passedNames = set(
		"HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
		"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "all_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
		"GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOCOVERDIR", "GORACE",
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP", "PATHEXT",
	)
	passedPrefixes = []string{"LC_", "XDG_", "SWAPKEEP_"}
)

const (
	busVariable = "DBUS_SESSION_BUS_ADDRESS"
	noBus       = "disabled:" // set by Chromium if it has no bus itself
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

func isPassedOn(name string) bool {
	// Names on Windows may be in any case; HTTP_PROXY exists in both.
	if passedNames[name] || passedNames[strings.ToUpper(name)] {
		return true
	}
	for _, prefix := range passedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// daemonEnviron returns the environment of a daemon of this place, taken from env. It
// always sets the home, sets the session bus if there is one, and makes file names
// absolute because the daemon's working directory is the root.
func daemonEnviron(env []string, p transport.Instance) []string {
	values := map[string]string{}
	var names []string
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !isPassedOn(name) {
			continue
		}
		if _, seen := values[name]; !seen {
			names = append(names, name)
		}
		values[name] = value
	}
	put := func(name, value string) {
		if _, seen := values[name]; !seen {
			names = append(names, name)
		}
		values[name] = value
	}
	put(transport.HomeVariable, p.Home)
	if file := values["SWAPKEEP_CONFIG"]; file != "" {
		if abs, err := filepath.Abs(file); err == nil {
			put("SWAPKEEP_CONFIG", abs)
		}
	}
	if bus := sessionBus(values[busVariable], values["XDG_RUNTIME_DIR"]); bus != "" {
		put(busVariable, bus)
	} else {
		delete(values, busVariable)
	}
	var out []string
	for _, name := range names {
		if value, ok := values[name]; ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// sessionBus returns the given address, or that of the user's own bus if none is given,
// or "" if there is none either.
func sessionBus(given, runtimeDir string) string {
	if given != "" && given != noBus {
		return given
	}
	if !filepath.IsAbs(runtimeDir) {
		return ""
	}
	bus := filepath.Join(runtimeDir, "bus")
	if info, err := os.Stat(bus); err != nil || info.Mode()&os.ModeSocket == 0 {
		return ""
	}
	return "unix:path=" + bus
}
