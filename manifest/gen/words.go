package main

// head, boxesHead and foot are the page's text around its tables.
const (
	head = `<!-- written by go generate ./manifest; do not edit -->

# Where browsers look for Swapkeep

A browser finds Swapkeep's host by a small file, the manifest, called
` + "`app.swapkeep.host.json`" + `. ` + "`swapkeep install`" + ` writes it and ` + "`swapkeep doctor`" + ` checks it;
` + "`swapkeep install --dry-run`" + ` lists what would be written here. This page is the table that
both go by.

The name in code letters behind a browser is what ` + "`--browser`" + ` takes. Where a line has
several folders, browsers of that name differ, or those who know disagree: all are
written. *then* marks a place that the browser looks in last; Swapkeep writes nothing
there, but the doctor looks, since a forgotten manifest in it may be found.

A browser reads the manifest at each connection: it need not be started again.

`

	boxesHead = `## Browsers in a box

A Flatpak or Snap shows the browser little of the system. Swapkeep changes no permission
by itself: each command here widens what the box may see, and is yours to run. APP is the
application's name from the table; both paths are those of an installation for one user.

`

	foot = `## Not served

| Browser | Why |
|---|---|
| Safari | it takes no manifest, only an extension that comes inside an application |
| DuckDuckGo (macOS) | its manifest has no allow-list: any extension could ask |
| Arc on Linux | there is none |
| browsers under an administrator's policy | Chromium's ` + "`NativeMessagingBlocklist`, `NativeMessagingAllowlist` and `NativeMessagingUserLevelHosts`" + `, and Firefox's of the same names, can forbid the host or every manifest of a user; the doctor says so |

A browser that is missing: see "A browser" in [CONTRIBUTING.md](../CONTRIBUTING.md). Until
then, write its file by hand: ` + "`swapkeep manifest chromium --dir FOLDER`" + `, or ` + "`firefox`" + `.
`
)
