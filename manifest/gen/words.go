package main

// head, boxesHead and foot are the page's text around its tables.
const (
	head = `<!-- written by go generate ./manifest; do not edit -->

# Where browsers look for Swapkeep

A browser finds Swapkeep through a small file, the manifest, named
` + "`app.swapkeep.host.json`" + `. ` + "`swapkeep install`" + ` writes it to the places below,
` + "`swapkeep install --dry-run`" + ` lists those of this machine, and ` + "`swapkeep doctor`" + ` checks them.

` + "`--browser`" + ` takes the name in code letters. A line with several folders means that browsers
of that name differ, or that sources disagree: Swapkeep writes to all of them. *then* marks
a place that the browser reads last. Swapkeep writes nothing there, but the doctor checks
it, because a forgotten manifest there can take effect.

A browser reads the manifest at each connection, so it does not have to be restarted.

`

	boxesHead = `## Flatpak and Snap

A browser in a Flatpak or Snap is sandboxed and sees little of the system. Swapkeep changes
no permission by itself: each command here lets the sandbox see more, and it is up to you to
run it. APP is the application's name from the table; the paths are those of an installation
for one user.

`

	foot = `## Unsupported

| Browser | Why |
|---|---|
| Safari | it reads no manifest; its extensions come inside an application |
| DuckDuckGo (macOS) | its manifests have no list of allowed extensions: any extension could connect |
| Arc on Linux | it does not exist |
| browsers under an administrator's policy | Chromium's ` + "`NativeMessagingBlocklist`, `NativeMessagingAllowlist` and `NativeMessagingUserLevelHosts`" + `, and Firefox's of the same names, can block the host, or all manifests of users; the doctor shows it |

To add a browser, see [CONTRIBUTING.md](../CONTRIBUTING.md#a-browser). Until then, write its
manifest with ` + "`swapkeep manifest chromium --dir FOLDER`" + `, or ` + "`firefox`" + `.
`
)
