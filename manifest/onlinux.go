package manifest

// onLinux: Chromium's family looks in its user data directory, which follows
// XDG_CONFIG_HOME, and then in a system directory. Firefox looks in ~/.mozilla, even if
// its profiles are in XDG_CONFIG_HOME.
func onLinux() []installation {
	return append(plainOnLinux(), boxedOnLinux()...)
}

func plainOnLinux() []installation {
	return []installation{
		{
			browser: "chrome", used: []string{"$CONFIG/google-chrome"},
			programs: []string{"google-chrome", "google-chrome-stable"}, installed: []string{"/opt/google/chrome"},
			locations: []location{
				user("$CONFIG/google-chrome", Source, "Chromium: chrome_paths_linux.cc"),
				system("/etc/opt/chrome", Source, "Chromium: chrome_paths.cc; serves every channel"),
			},
		},
		{
			browser: "chrome", channel: "beta", used: []string{"$CONFIG/google-chrome-beta"},
			programs: []string{"google-chrome-beta"}, installed: []string{"/opt/google/chrome-beta"},
			locations: []location{user("$CONFIG/google-chrome-beta", Source, "Chromium: chrome_paths_linux.cc")},
		},
		{
			browser: "chrome", channel: "dev", used: []string{"$CONFIG/google-chrome-unstable"},
			programs: []string{"google-chrome-unstable"}, installed: []string{"/opt/google/chrome-unstable"},
			locations: []location{user("$CONFIG/google-chrome-unstable", Source, "Chromium: chrome_paths_linux.cc")},
		},
		{
			browser: "chrome", channel: "canary", used: []string{"$CONFIG/google-chrome-canary"},
			programs: []string{"google-chrome-canary"}, installed: []string{"/opt/google/chrome-canary"},
			locations: []location{user("$CONFIG/google-chrome-canary", Belief, "by the rule of the other channels")},
		},
		{
			browser: "chrome-for-testing", used: []string{"$CONFIG/google-chrome-for-testing"},
			locations: []location{
				user("$CONFIG/google-chrome-for-testing", Source, "Chromium: chrome_paths_linux.cc"),
				system("/etc/opt/chrome_for_testing", Source, "Chromium: chrome_paths.cc; kolide writes it"),
			},
		},
		{
			browser: "chromium", used: []string{"$CONFIG/chromium"}, programs: []string{"chromium", "chromium-browser"},
			locations: []location{
				user("$CONFIG/chromium", Ran, "Chromium 156 of Debian; follows XDG_CONFIG_HOME, and never reads Chrome's"),
				system("/etc/chromium", Source, "Chromium: chrome_paths.cc"),
			},
		},
		{
			browser: "ungoogled-chromium", used: []string{"$CONFIG/ungoogled-chromium"}, programs: []string{"ungoogled-chromium"},
			locations: []location{
				user("$CONFIG/chromium", Source, "firenvim; which of the two depends on the packaging"),
				user("$CONFIG/ungoogled-chromium", Source, "firenvim; which of the two depends on the packaging"),
				system("/etc/chromium", Source, "firenvim"),
			},
		},
		{
			browser: "brave", used: []string{"$CONFIG/BraveSoftware/Brave-Browser"},
			programs: []string{"brave-browser", "brave-browser-stable", "brave"}, installed: []string{"/opt/brave.com/brave"},
			locations: []location{
				user("$CONFIG/BraveSoftware/Brave-Browser", Source, "brave-core; a trace says that --user-data-dir changes nothing"),
				system("/etc/opt/chrome", Source, "brave-core; a trace agrees"),
			},
		},
		{
			browser: "brave", channel: "beta", used: []string{"$CONFIG/BraveSoftware/Brave-Browser-Beta"},
			programs: []string{"brave-browser-beta"}, installed: []string{"/opt/brave.com/brave-beta"},
			locations: []location{user("$CONFIG/BraveSoftware/Brave-Browser-Beta", Source, "brave-core")},
		},
		{
			browser: "brave", channel: "nightly", used: []string{"$CONFIG/BraveSoftware/Brave-Browser-Nightly"},
			programs: []string{"brave-browser-nightly"}, installed: []string{"/opt/brave.com/brave-nightly"},
			locations: []location{user("$CONFIG/BraveSoftware/Brave-Browser-Nightly", Source, "brave-core")},
		},
		{
			browser: "brave", channel: "origin", used: []string{"$CONFIG/BraveSoftware/Brave-Origin"},
			programs: []string{"brave-origin"}, installed: []string{"/opt/brave.com/brave-origin"},
			locations: []location{user("$CONFIG/BraveSoftware/Brave-Origin", Belief, "omarchy#10292 names the product; the folder by the rule of the others")},
		},
		{
			browser: "edge", used: []string{"$CONFIG/microsoft-edge"},
			programs: []string{"microsoft-edge", "microsoft-edge-stable"}, installed: []string{"/opt/microsoft/msedge"},
			locations: []location{
				user("$CONFIG/microsoft-edge", Source, "Plasma's build files; a trace agrees"),
				system("/etc/opt/edge", Source, "Plasma's build files; a trace agrees; serves every channel"),
				asFallback(system("/etc/opt/chrome", Trace, "after its own")),
			},
		},
		{
			browser: "edge", channel: "beta", used: []string{"$CONFIG/microsoft-edge-beta"},
			programs: []string{"microsoft-edge-beta"}, installed: []string{"/opt/microsoft/msedge-beta"},
			locations: []location{user("$CONFIG/microsoft-edge-beta", Source, "Plasma's build files")},
		},
		{
			browser: "edge", channel: "dev", used: []string{"$CONFIG/microsoft-edge-dev"},
			programs: []string{"microsoft-edge-dev"}, installed: []string{"/opt/microsoft/msedge-dev"},
			locations: []location{user("$CONFIG/microsoft-edge-dev", Source, "Plasma's build files")},
		},
		{
			browser: "vivaldi", used: []string{"$CONFIG/vivaldi"},
			programs: []string{"vivaldi", "vivaldi-stable"}, installed: []string{"/opt/vivaldi"},
			locations: []location{
				user("$CONFIG/vivaldi", Source, "vdhcoapp"),
				system("/etc/opt/chrome", Trace, "browserpass and gopass write /etc/opt/vivaldi, passff /etc/vivaldi: neither is read"),
			},
		},
		{
			browser: "vivaldi", channel: "snapshot", used: []string{"$CONFIG/vivaldi-snapshot"},
			programs: []string{"vivaldi-snapshot"}, installed: []string{"/opt/vivaldi-snapshot"},
			locations: []location{user("$CONFIG/vivaldi-snapshot", Source, "vdhcoapp")},
		},
		{
			browser: "opera", used: []string{"$CONFIG/opera"}, programs: []string{"opera", "opera-stable"},
			locations: []location{
				user("$CONFIG/google-chrome", Trace, "Opera 136 reads Chrome's folder"),
				user("$CONFIG/opera", Source, "tailchrome and vdhcoapp write it; the trace of Opera 136 does not show it"),
				system("/etc/opt/chrome", Trace, "Opera 136"),
			},
		},
		{
			browser: "yandex", used: []string{"$CONFIG/yandex-browser"},
			programs: []string{"yandex-browser", "yandex-browser-stable"}, installed: []string{"/opt/yandex/browser"},
			locations: []location{
				user("$CONFIG/yandex-browser", Source, "browserpass; unproven"),
				system("/etc/opt/yandex-browser", Source, "browserpass; unproven"),
			},
		},
		{
			browser: "helium", used: []string{"$CONFIG/net.imput.helium"}, programs: []string{"helium", "helium-browser"},
			locations: []location{user("$CONFIG/net.imput.helium", Source, "firenvim and Bitwarden; a folder of the system is not known")},
		},
		{
			browser: "iridium", used: []string{"$CONFIG/iridium"}, programs: []string{"iridium-browser"},
			locations: []location{
				user("$CONFIG/iridium", Source, "browserpass; unproven"),
				system("/etc/iridium-browser", Source, "browserpass; unproven"),
			},
		},
		{
			browser: "slimjet", used: []string{"$CONFIG/slimjet"}, programs: []string{"flashpeak-slimjet"}, installed: []string{"/opt/slimjet"},
			locations: []location{
				user("$CONFIG/slimjet", Source, "browserpass, which misspells it; unproven"),
				system("/etc/opt/slimjet", Source, "browserpass; unproven"),
			},
		},
		{
			browser: "firefox", used: []string{"$HOME/.mozilla", "$XDGCONFIG/mozilla"},
			programs: []string{"firefox", "firefox-beta", "firefox-devedition", "firefox-nightly"},
			locations: []location{
				user("$HOME/.mozilla", Ran, "ESR 153, also with its profiles in XDG_CONFIG_HOME; bug 2005167"),
				system("/usr/lib/mozilla", Ran, "ESR 153 of Debian; a build reads this one or the next"),
				system("/usr/lib64/mozilla", Source, "builds of Fedora's kind; PWAsForFirefox writes both"),
			},
		},
		{
			browser: "firefox-esr", used: []string{"$HOME/.mozilla", "$XDGCONFIG/mozilla"}, programs: []string{"firefox-esr"},
			locations: []location{
				user("$HOME/.mozilla", Ran, "ESR 153"),
				system("/usr/lib/mozilla", Ran, "ESR 153 of Debian"),
				system("/usr/lib64/mozilla", Source, "builds of Fedora's kind"),
			},
		},
		{
			browser: "librewolf", used: []string{"$HOME/.librewolf", "$XDGCONFIG/librewolf"}, programs: []string{"librewolf"},
			locations: []location{
				user("$HOME/.librewolf", Source, "browserpass, passff, firenvim and Plasma"),
				system("/usr/lib/librewolf", Source, "browserpass, passff and Plasma"),
			},
		},
		{
			browser: "waterfox", used: []string{"$HOME/.waterfox"}, programs: []string{"waterfox"},
			locations: []location{
				user("$HOME/.mozilla", Source, "Waterfox: NativeManifests.sys.mjs"),
				user("$HOME/.waterfox", Thread, "vdhcoapp#254 needed this one"),
				system("/usr/lib/mozilla", Source, "Waterfox: NativeManifests.sys.mjs"),
				system("/usr/lib/waterfox", Source, "browserpass"),
			},
		},
		{
			browser: "floorp", used: []string{"$HOME/.floorp"}, programs: []string{"floorp"},
			locations: []location{
				user("$HOME/.mozilla", Thread, "browserpass-native#149: ~/.floorp, which gopass writes, is not read"),
				system("/usr/lib/mozilla", Thread, "as Firefox"),
				system("/usr/lib64/mozilla", Thread, "as Firefox"),
			},
		},
		{
			browser: "zen", used: []string{"$HOME/.zen", "$XDGCONFIG/zen"}, programs: []string{"zen", "zen-browser"},
			locations: []location{
				user("$HOME/.mozilla", Thread, "zen#13214"),
				user("$HOME/.zen", Source, "firenvim writes it"),
				system("/usr/lib/mozilla", Thread, "as Firefox"),
				system("/usr/lib64/mozilla", Thread, "as Firefox"),
			},
		},
		torOnLinux("tor-browser_en-US", "KeePassXC"),
		torOnLinux("tor-browser", "newer bundles; other hosts' installers name it"),
	}
}

// torOnLinux is a Tor Browser bundle as unpacked by its launcher. It reads nothing
// outside of the bundle.
func torOnLinux(bundle, note string) installation {
	data := "$HOME/.local/share/torbrowser/tbb/x86_64/" + bundle + "/Browser/TorBrowser/Data/Browser"
	return installation{browser: "tor", used: []string{data}, locations: []location{user(data+"/.mozilla", Source, note)}}
}

// boxedOnLinux are sandboxed browsers, none of which reads system directories.
func boxedOnLinux() []installation {
	return []installation{
		flatpak("chrome", "", "com.google.Chrome", "/config/google-chrome", Source, "vdhcoapp and Bitwarden"),
		flatpak("chrome", "dev", "com.google.ChromeDev", "/config/google-chrome-unstable", Source, "vdhcoapp names the application"),
		flatpak("chromium", "", "org.chromium.Chromium", "/config/chromium", Source, "vdhcoapp and Bitwarden"),
		flatpak("ungoogled-chromium", "", "com.github.Eloston.UngoogledChromium", "/config/chromium", Source, "vdhcoapp and Bitwarden"),
		flatpak("ungoogled-chromium", "", "io.github.ungoogled_software.ungoogled_chromium", "/config/chromium", Belief, "its newer id"),
		flatpak("brave", "", "com.brave.Browser", "/config/BraveSoftware/Brave-Browser", Source, "vdhcoapp and Bitwarden"),
		flatpak("edge", "", "com.microsoft.Edge", "/config/microsoft-edge", Source, "vdhcoapp and Bitwarden"),
		flatpak("edge", "dev", "com.microsoft.EdgeDev", "/config/microsoft-edge-dev", Source, "vdhcoapp names the application"),
		flatpak("vivaldi", "", "com.vivaldi.Vivaldi", "/config/vivaldi", Belief, "its profile's folder"),
		flatpak("opera", "", "com.opera.Opera", "/config/google-chrome", Belief, "Opera reads Chrome's folder; another host maps this one"),
		flatpak("firefox", "", "org.mozilla.firefox", "/.mozilla", Source, "vdhcoapp and Bitwarden"),
		flatpak("librewolf", "", "io.gitlab.librewolf-community", "/.librewolf", Thread, "users of KeePassXC"),
		flatpak("waterfox", "", "net.waterfox.waterfox", "/.waterfox", Belief, "another host's installer writes it"),
		flatpak("floorp", "", "one.ablaze.floorp", "/.floorp", Belief, "another host's installer writes it"),
		flatpak("zen", "", "app.zen_browser.zen", "/.zen", Belief, "its profile's folder"),
		{
			browser: "chromium", box: Snap, app: "chromium", used: []string{"$HOME/snap/chromium"}, installed: []string{"/snap/chromium"},
			locations: []location{user("$HOME/snap/chromium/common/chromium", Source, "vdhcoapp; users agree")},
		},
		{
			browser: "brave", box: Snap, app: "brave", used: []string{"$HOME/snap/brave"}, installed: []string{"/snap/brave"},
			locations: []location{user("$HOME/snap/brave/current/.config/BraveSoftware/Brave-Browser", Belief, "its profile's folder")},
		},
		{
			browser: "firefox", box: Snap, app: "firefox", used: []string{"$HOME/snap/firefox"}, installed: []string{"/snap/firefox"},
			locations: []location{user("$HOME/.mozilla", Source, "read by the WebExtensions portal, outside the snap")},
		},
	}
}

func flatpak(browser, channel, app, where string, e Evidence, note string) installation {
	data := "$HOME/.var/app/" + app
	return installation{
		browser: browser, channel: channel, box: Flatpak, app: app, used: []string{data},
		installed: []string{"/var/lib/flatpak/app/" + app}, locations: []location{user(data+where, e, note)},
	}
}
