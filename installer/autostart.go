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

// AutostartName is what the systems that name such things by a reversed domain call
// the daemon.
const AutostartName = "app.swapkeep.daemon"

// ErrNoAutostart: nothing that we know of starts a program there when its user logs in.
var ErrNoAutostart = errors.New("the daemon cannot be started at login here; a browser starts it when it is needed")

// A way is how a system starts a program when its user logs in. It is read at the next
// login; none starts the daemon now.
type way struct {
	// moving are the variables that say where the daemon reads and writes. A login does
	// not set what a shell has set: the daemon would serve another home.
	moving []string
	// plan has no change where the daemon's path cannot be written down.
	plan func(m Machine, daemon string, moved []variable) ([]Change, error)
}

// A variable is one of the environment.
type variable struct{ name, value string }

var autostarts = map[string]way{
	"linux":   {[]string{"SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}, systemdUnit},
	"darwin":  {[]string{"SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "XDG_CONFIG_HOME"}, launchAgent},
	"windows": {[]string{"SWAPKEEP_HOME", "SWAPKEEP_CONFIG", "XDG_CONFIG_HOME"}, runValue},
}

// autostart plans what makes the system start the daemon when the user logs in, if
// that is wanted.
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

// moved are those of the variables that are set. What is not the same path wherever it is
// read, or cannot be written down, is refused.
func (m Machine) moved(names []string) (out []variable, err error) {
	for _, name := range names {
		value := m.Env(name)
		if value == "" || strings.HasPrefix(name, "XDG_") && !m.isAbs(value) { // such is not read
			continue
		}
		if !m.isAbs(value) || !speakable(value) {
			return nil, fmt.Errorf("%w: %s is %q: make it an absolute path without control characters, or unset it", ErrNoAutostart, name, value)
		}
		out = append(out, variable{name, value})
	}
	return out, nil
}

// unitText is a unit of the user's own systemd. 75 says that a daemon is there already,
// which a browser started; a database that is held, read-only, without space or newer
// (76 to 79) wants a person; one that is to stop finishes first what acts.
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

// inUnit is how a unit spells the value of a variable: backslashes escape within quotation
// marks, and a percent sign begins a name of systemd's own.
var inUnit = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%")

// systemdUnit is the unit, enabled by the very link that systemctl would make. There is
// none for a path that systemd starts no program at.
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

// unitFolders are where the user's systemd may look. It goes by its own XDG_CONFIG_HOME,
// which it has from the login if at all, and not by the shell's.
func (m Machine) unitFolders() []string {
	usual := m.join(m.Home, ".config")
	dirs := []string{m.join(usual, "systemd", "user")}
	if config := m.Env("XDG_CONFIG_HOME"); m.isAbs(config) && !m.sameFolder(config, usual) {
		dirs = append(dirs, m.join(config, "systemd", "user"))
	}
	return dirs
}

// sameFolder reports whether two paths lead to one folder, also by links.
func (m Machine) sameFolder(a, b string) bool {
	if m.join(a) == m.join(b) {
		return true
	}
	one, err := m.Files.Stat(a)
	other, otherErr := m.Files.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// agentText is an agent of launchd, in the graphical session, where the keychain is. It
// is started again only after a crash: 75 says that another daemon is there.
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

// LaunchAgent is the text of the agent for a daemon. A disabled one starts nothing before
// its user enables it.
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
	_ = xml.EscapeText(&out, []byte(text)) // a buffer takes everything
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

// accountVariables is the key of what Windows sets for every program of a user's.
const accountVariables = `HKCU\Environment`

// runValue is in the key whose programs Windows starts at a login. A file name cannot
// hold a quotation mark there. The value has no room for variables: they have to be the
// account's.
func runValue(m Machine, daemon string, moved []variable) ([]Change, error) {
	for _, v := range moved {
		if text, _, err := m.Registry.Value(accountVariables, v.name); err != nil || text != v.value {
			return nil, errors.Join(fmt.Errorf("%w: %s is set here alone: set it for your account with setx %s \"%s\", or unset it", ErrNoAutostart, v.name, v.name, v.value), err)
		}
	}
	return []Change{{Kind: Value, Path: `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`, Name: "Swapkeep", To: `"` + daemon + `"`}}, nil
}
