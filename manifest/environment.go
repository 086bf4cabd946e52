package manifest

import (
	"path"
	"strings"
)

// An Environment is what the placeholders of a place stand for: a home and the variables
// of whoever starts the browser.
type Environment struct {
	Home   string
	Getenv func(string) string
}

// placeholders by name, longest first where one begins another.
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

// config is where Linux programs keep what was chosen. A value that is no absolute path
// is as good as none.
func (e Environment) config() string {
	if dir := e.Getenv("XDG_CONFIG_HOME"); path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(e.Home, ".config")
}

// chromeConfig is the same for Chromium's family, which has a variable of its own.
func (e Environment) chromeConfig() string {
	if dir := e.Getenv("CHROME_CONFIG_HOME"); path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return e.config()
}

// expand is a place's text with its placeholder replaced; there is at most one, in front.
func (e Environment) expand(text string) string {
	for _, p := range placeholders {
		if rest, ok := strings.CutPrefix(text, p.name); ok {
			return p.value(e) + rest
		}
	}
	return text
}
