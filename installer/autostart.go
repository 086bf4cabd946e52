package installer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"swapkeep/manifest"
)

// AutostartName is what the systems that name such things by a reversed domain call
// the daemon.
const AutostartName = "app.swapkeep.daemon"

// ErrNoAutostart: nothing that we know of starts a program there when its user logs in.
var ErrNoAutostart = errors.New("the daemon cannot be started at login here; a browser starts it when it is needed")

// autostarts are the ways in which systems start a program when its user logs in. Each
// is read at the next login; none starts the daemon now. No change: that path cannot be.
var autostarts = map[string]func(m Machine, daemon string) []Change{
	"linux": systemdUnit, "darwin": launchAgent, "windows": runValue,
}

// autostart plans what makes the system start the daemon when the user logs in, if
// that is wanted.
func (b *planner) autostart() error {
	if !b.o.Autostart {
		return nil
	}
	if b.o.Scope != manifest.User {
		return fmt.Errorf("%w; each user may: swapkeep install --user --autostart", ErrNoAutostart)
	}
	way, ok := autostarts[b.m.OS]
	if !ok {
		return ErrNoAutostart
	}
	changes := way(b.m, b.layout.Daemon)
	if len(changes) == 0 {
		return fmt.Errorf("%w: the path %s holds quotation marks", ErrNoAutostart, b.layout.Daemon)
	}
	for _, c := range changes {
		c.SHA256 = Sum([]byte(c.Content + c.To)) // one of them is empty
		if err := b.add(c); err != nil {
			return err
		}
	}
	return nil
}

// unitText is a unit of the user's own systemd. 75 says that a daemon is there already,
// which a browser started; a database that is held, read-only, without space or newer
// (76 to 79) wants a person; one that is to stop finishes first what acts.
const unitText = `[Unit]
Description=Swapkeep: a wallet's keys and swaps, outside the browser
StartLimitIntervalSec=60
StartLimitBurst=3

[Service]
ExecStart=%s
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

// systemdUnit is the unit, enabled by the very link that systemctl would make. There is
// none for a path that systemd starts no program at.
func systemdUnit(m Machine, daemon string) []Change {
	const name = "swapkeepd.service"
	if strings.ContainsAny(daemon, `"'\`) {
		return nil
	}
	dir := m.join(m.Home, ".config", "systemd", "user")
	if config := m.Env("XDG_CONFIG_HOME"); m.isAbs(config) {
		dir = m.join(config, "systemd", "user")
	}
	unit := m.join(dir, name)
	return []Change{
		{Kind: Autostart, Path: unit, Content: fmt.Sprintf(unitText, `"`+strings.ReplaceAll(daemon, "%", "%%")+`"`)},
		{Kind: Link, Path: m.join(dir, "default.target.wants", name), To: unit},
	}
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
	<key>RunAtLoad</key>
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

func launchAgent(m Machine, daemon string) []Change {
	var program bytes.Buffer
	_ = xml.EscapeText(&program, []byte(daemon)) // a buffer takes everything
	path := m.join(m.Home, "Library", "LaunchAgents", AutostartName+".plist")
	return []Change{{Kind: Autostart, Path: path, Content: fmt.Sprintf(agentText, AutostartName, &program)}}
}

// runValue is in the key whose programs Windows starts at a login. A file name cannot
// hold a quotation mark there.
func runValue(_ Machine, daemon string) []Change {
	return []Change{{Kind: Value, Path: `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`, Name: "Swapkeep", To: `"` + daemon + `"`}}
}
