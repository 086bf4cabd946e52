package manifest

const (
	support = "$HOME/Library/Application Support/"
	shared  = "/Library/Application Support/"
)

func onMacOS() []installation {
	return []installation{
		mac("chrome", "", "Google/Chrome", "Google Chrome",
			user(support+"Google/Chrome", Source, "Chromium: chrome_paths.cc"),
			system("/Library/Google/Chrome", Source, "Chromium: chrome_paths.cc; serves every channel")),
		mac("chrome", "beta", "Google/Chrome Beta", "Google Chrome Beta", user(support+"Google/Chrome Beta", Source, "vdhcoapp")),
		mac("chrome", "dev", "Google/Chrome Dev", "Google Chrome Dev", user(support+"Google/Chrome Dev", Source, "vdhcoapp")),
		mac("chrome", "canary", "Google/Chrome Canary", "Google Chrome Canary", user(support+"Google/Chrome Canary", Source, "vdhcoapp")),
		mac("chrome-for-testing", "", "Google/Chrome for Testing", "Google Chrome for Testing",
			user(support+"Google/Chrome for Testing", Belief, "by the rule of the channels"),
			system("/Library/Google/ChromeForTesting", Source, "kolide")),
		mac("chromium", "", "Chromium", "Chromium",
			user(support+"Chromium", Source, "Chromium: chrome_paths.cc"),
			system(shared+"Chromium", Source, "Chromium: chrome_paths.cc")),
		mac("brave", "", "BraveSoftware/Brave-Browser", "Brave Browser",
			user(support+"Google/Chrome", Source, "brave-core: brave_main_delegate.cc takes Chrome's"),
			user(support+"BraveSoftware/Brave-Browser", Source, "KeePassXC, vdhcoapp and tailchrome write it"),
			system("/Library/Google/Chrome", Source, "brave-core")),
		mac("edge", "", "Microsoft Edge", "Microsoft Edge",
			user(support+"Microsoft Edge", Source, "Microsoft's documentation"),
			system("/Library/Microsoft/Edge", Source, "Microsoft's documentation; vdhcoapp adds "+shared+"Microsoft Edge; serves every channel")),
		mac("edge", "beta", "Microsoft Edge Beta", "Microsoft Edge Beta", user(support+"Microsoft Edge Beta", Source, "Microsoft's documentation")),
		mac("edge", "dev", "Microsoft Edge Dev", "Microsoft Edge Dev", user(support+"Microsoft Edge Dev", Source, "Microsoft's documentation")),
		mac("edge", "canary", "Microsoft Edge Canary", "Microsoft Edge Canary", user(support+"Microsoft Edge Canary", Source, "Microsoft's documentation")),
		mac("vivaldi", "", "Vivaldi", "Vivaldi",
			user(support+"Vivaldi", Source, "five other hosts' installers agree"),
			system(shared+"Vivaldi", Source, "browserpass; unproven")),
		mac("opera", "", "com.operasoftware.Opera", "Opera",
			user(support+"Google/Chrome", Thread, "Opera's forum"),
			user(support+"com.operasoftware.Opera", Belief, "its profile's folder, to be safe"),
			system("/Library/Google/Chrome", Thread, "Opera's forum")),
		mac("arc", "", "Arc", "Arc",
			user(support+"Arc/User Data", Source, "browserpass, gopass and tailchrome"),
			user(support+"Google/Chrome", Source, "firenvim relies on Chrome's"),
			system(shared+"Arc/User Data", Source, "browserpass; unproven")),
		mac("yandex", "", "Yandex/YandexBrowser", "Yandex", user(support+"Yandex/YandexBrowser", Source, "other hosts' installers; unproven")),
		mac("helium", "", "net.imput.helium", "Helium", user(support+"net.imput.helium", Source, "firenvim and Bitwarden")),
		mac("firefox", "", "Firefox", "Firefox",
			user(support+"Mozilla", Source, "Firefox: the profiles are beside it, in Firefox"),
			system(shared+"Mozilla", Source, "Firefox")),
		mac("firefox-esr", "", "Firefox", "Firefox",
			user(support+"Mozilla", Source, "Firefox"),
			system(shared+"Mozilla", Source, "Firefox")),
		mac("librewolf", "", "librewolf", "LibreWolf",
			user(support+"librewolf", Source, "browserpass; passff writes LibreWolf, which is the same on volumes that ignore case"),
			system(shared+"librewolf", Source, "browserpass")),
		mac("waterfox", "", "Waterfox", "Waterfox",
			user(support+"Mozilla", Source, "Waterfox: NativeManifests.sys.mjs"),
			system(shared+"Mozilla", Source, "Waterfox: NativeManifests.sys.mjs")),
		mac("floorp", "", "Floorp", "Floorp",
			user(support+"Mozilla", Thread, "as Firefox"),
			system(shared+"Mozilla", Thread, "as Firefox")),
		mac("zen", "", "zen", "Zen",
			user(support+"Mozilla", Thread, "zen#13214: its own folder is not read"),
			user(support+"zen", Source, "firenvim writes it, Bitwarden Zen"),
			system(shared+"Mozilla", Thread, "as Firefox")),
		mac("tor", "", "TorBrowser-Data", "Tor Browser", user(support+"TorBrowser-Data/Browser/Mozilla", Source, "KeePassXC; nothing of the system is read")),
	}
}

// mac returns a browser with its profile directory and the name of its application.
func mac(browser, channel, profiles, app string, looks ...location) installation {
	return installation{
		browser: browser, channel: channel, locations: looks,
		used:      []string{support + profiles, "$HOME/Applications/" + app + ".app"},
		installed: []string{"/Applications/" + app + ".app"},
	}
}
