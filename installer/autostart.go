package installer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"strings"

	"swapkeep/manifest"
)

// AutostartName is the daemon's name on systems that use reversed domain names.
const AutostartName = "app.swapkeep.daemon"

// ErrNoAutostart means that there is no known way to start the daemon at login.
var ErrNoAutostart = errors.New("autostart is not supported here; a browser starts the daemon when needed")

// A autostartMethod is how a system starts a program when its user logs in. It takes effect at the
// next login and does not start the daemon now.
type autostartMethod struct {
	// moving are the variables that select the daemon's home and configuration. A login
	// does not have variables set in a shell, so that the daemon would use another home.
	moving []string
	// plan returns no change if the daemon's path cannot be expressed.
	plan func(m Machine, daemon string, moved []variable) ([]Change, error)
}

// A variable is an environment variable.
type variable struct{ name, value string }

var autostarts = map[string]autostartMethod{
	"linux":   {[]string{"SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}, systemdUnit},
	"darwin":  {[]string{"SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "XDG_CONFIG_HOME"}, launchAgent},
	"windows": {[]string{"SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "XDG_CONFIG_HOME"}, runValue},
}

// autostart plans the start of the daemon at login, if wanted.
func (b *planner) autostart() error {
	if !b.o.Autostart {
		return nil
	}
	changes, err := b.atLogin()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := b.add(c); err != nil {
			return err
		}
	}
	return nil
}

func (b *planner) atLogin() ([]Change, error) {
	if b.o.Scope != manifest.User {
		return nil, fmt.Errorf("%w; each user may: swapkeep install --user --autostart", ErrNoAutostart)
	}
	way, ok := autostarts[b.m.OS]
	if !ok {
		return nil, ErrNoAutostart
	}
	moved, err := b.m.moved(way.moving)
	if err != nil {
		return nil, err
	}
	changes, err := way.plan(b.m, b.layout.Daemon, moved)
	if err == nil && len(changes) == 0 {
		err = fmt.Errorf("%w: the path %s holds quotation marks", ErrNoAutostart, b.layout.Daemon)
	}
	return changes, err
}

// moved returns those variables that are set. A value that is not an absolute path or
// cannot be written down is an error.
func (m Machine) moved(names []string) (out []variable, err error) {
	for _, name := range names {
		value := m.Env(name)
		if value == "" || strings.HasPrefix(name, "XDG_") && !m.isAbs(value) { // a relative XDG path is ignored by everyone
			continue
		}
		if !m.isAbs(value) || !encodable(value) {
			return nil, fmt.Errorf("%w: %s is %q: make it an absolute path without control characters, or unset it", ErrNoAutostart, name, value)
		}
		out = append(out, variable{name, value})
	}
	return out, nil
}

// unitText is a unit for the user's systemd. Exit status 75 means that a daemon is
// already running, started by a browser. A database that is locked, read-only, full or
// newer (76 to 79) needs a person. TimeoutStopSec lets requests finish.
const unitText = `[Unit]
Description=Swapkeep: a wallet's keys and swaps, outside the browser
StartLimitIntervalSec=60
StartLimitBurst=3

[Service]
%sExecStart=%s
WorkingDirectory=/
UMask=0077
Restart=on-failure
RestartSec=2
SuccessExitStatus=75
RestartPreventExitStatus=76 77 78 79
TimeoutStopSec=150

[Install]
WantedBy=default.target
`

// inUnit escapes the value of a variable in a unit: backslashes and quotation marks, and
// percent signs, which start systemd's specifiers.
var inUnit = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%")

// systemdUnit plans the unit and the link with which systemctl enables it. It plans
// nothing for a path from which systemd cannot start a program.
func systemdUnit(m Machine, daemon string, moved []variable) (out []Change, _ error) {
	const name = "swapkeepd.service"
	if strings.ContainsAny(daemon, `"'\`) {
		return nil, nil
	}
	set := ""
	for _, v := range moved {
		set += fmt.Sprintf("Environment=\"%s=%s\"\n", v.name, inUnit.Replace(v.value))
	}
	text := fmt.Sprintf(unitText, set, `"`+strings.ReplaceAll(daemon, "%", "%%")+`"`)
	for _, dir := range m.unitFolders() {
		unit := m.join(dir, name)
		out = append(out, Change{Kind: Autostart, Path: unit, Content: text}, Change{Kind: Link, Path: m.join(dir, "default.target.wants", name), To: unit})
	}
	return out, nil
}

// unitFolders returns the directories where the user's systemd may look for units. It
// uses the XDG_CONFIG_HOME of the login, if there is one, not the shell's.
func (m Machine) unitFolders() []string {
	usual := m.join(m.Home, ".config")
	dirs := []string{m.join(usual, "systemd", "user")}
	if config := m.Env("XDG_CONFIG_HOME"); m.isAbs(config) && !m.sameFolder(config, usual) {
		dirs = append(dirs, m.join(config, "systemd", "user"))
	}
	return dirs
}

// sameFolder reports whether two paths lead to the same directory, also through links.
func (m Machine) sameFolder(a, b string) bool {
	if m.join(a) == m.join(b) {
		return true
	}
	one, err := m.Files.Stat(a)
	other, otherErr := m.Files.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// agentText is a launchd agent in the graphical session, where the keychain is available.
// It restarts only after a crash: exit status 75 means that another daemon is running.
const agentText = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
		<string>%s</string>
	</array>
%s%s	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>Crashed</key>
		<true/>
	</dict>
	<key>ExitTimeOut</key>
	<integer>150</integer>
	<key>LimitLoadToSessionType</key>
	<string>Aqua</string>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`

// LaunchAgent returns the text of the agent for a daemon. A disabled one starts nothing
// until its user enables it.
func LaunchAgent(daemon string, disabled bool) string {
	off := ""
	if disabled {
		off = "\t<key>Disabled</key>\n\t<true/>\n"
	}
	return agent(daemon, "", off)
}

func agent(daemon, set, off string) string {
	return fmt.Sprintf(agentText, AutostartName, inXML(daemon), set, off)
}

func inXML(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // writing to a buffer cannot fail
	return out.String()
}

func launchAgent(m Machine, daemon string, moved []variable) ([]Change, error) {
	set := ""
	for _, v := range moved {
		set += fmt.Sprintf("\t\t<key>%s</key>\n\t\t<string>%s</string>\n", v.name, inXML(v.value))
	}
	if set != "" {
		set = "\t<key>EnvironmentVariables</key>\n\t<dict>\n" + set + "\t</dict>\n"
	}
	path := m.join(m.Home, "Library", "LaunchAgents", AutostartName+".plist")
	return []Change{{Kind: Autostart, Path: path, Content: agent(daemon, set, "")}}, nil
}

// accountVariables is the registry key of a user's environment variables.
const accountVariables = `HKCU\Environment`

// runValue plans a value in the registry key of the programs that Windows starts at
// login. The path needs no escaping, because file names cannot contain quotation marks.
// The value cannot set variables, so they have to be set for the account.
func runValue(m Machine, daemon string, moved []variable) ([]Change, error) {
	for _, v := range moved {
		if text, _, err := m.Registry.Value(accountVariables, v.name); err != nil || text != v.value {
			return nil, errors.Join(fmt.Errorf("%w: %s is set here alone: set it for your account with setx %s \"%s\", or unset it", ErrNoAutostart, v.name, v.name, v.value), err)
		}
	}
	return []Change{{Kind: Value, Path: `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`, Name: "Swapkeep", To: `"` + daemon + `"`}}, nil
}
