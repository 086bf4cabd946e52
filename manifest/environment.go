package manifest

import (
	"path"
	"strings"
)

// An Environment has the values of a place's placeholders: the home and the variables of
// the user who starts the browser.
type Environment struct {
	Home   string
	Getenv func(string) string
}

// placeholders have the longer name first if one is a prefix of another.
var placeholders = []struct {
	name  string
	value func(Environment) string
}{
	{"$HOME", func(e Environment) string { return e.Home }},
	{"$CONFIG", Environment.chromeConfig},
	{"$XDGCONFIG", Environment.config},
	{"$LOCALAPPDATA", func(e Environment) string { return e.or("LOCALAPPDATA", e.Home+`\AppData\Local`) }},
	{"$APPDATA", func(e Environment) string { return e.or("APPDATA", e.Home+`\AppData\Roaming`) }},
	{"$PROGRAMFILES32", func(e Environment) string { return e.or("ProgramFiles(x86)", `C:\Program Files (x86)`) }},
	{"$PROGRAMFILES", func(e Environment) string { return e.or("ProgramFiles", `C:\Program Files`) }},
}

func (e Environment) or(name, otherwise string) string {
	if v := e.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// config returns the directory for configurations on Linux. A relative XDG_CONFIG_HOME is
// ignored.
func (e Environment) config() string {
	if dir := e.Getenv("XDG_CONFIG_HOME"); path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(e.Home, ".config")
}

// chromeConfig is config for Chromium's family, which has an additional variable.
func (e Environment) chromeConfig() string {
	if dir := e.Getenv("CHROME_CONFIG_HOME"); path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return e.config()
}

// expand replaces the placeholder at the beginning of a place's text, if there is one.
func (e Environment) expand(text string) string {
	for _, p := range placeholders {
		if rest, ok := strings.CutPrefix(text, p.name); ok {
			return p.value(e) + rest
		}
	}
	return text
}
