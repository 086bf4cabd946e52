package manifest

// onWindows: a key is read below HKCU and then HKLM, whatever the user data directory and
// the channel. Below HKLM a browser of either width reads both registry views.
func onWindows() []installation {
	return []installation{
		windows("chrome", []string{`$LOCALAPPDATA\Google\Chrome`, `$LOCALAPPDATA\Google\Chrome Beta`, `$LOCALAPPDATA\Google\Chrome Dev`, `$LOCALAPPDATA\Google\Chrome SxS`}, `Google\Chrome`,
			both(`Google\Chrome`, Source, "Chromium: launch_context_win.cc")...),
		windows("chrome-for-testing", []string{`$LOCALAPPDATA\Google\Chrome for Testing`}, "",
			both(`Google\Chrome`, Belief, "as Chrome")...),
		windows("chromium", []string{`$LOCALAPPDATA\Chromium`}, `Chromium`,
			append(both(`Chromium`, Source, "Chromium: launch_context_win.cc"),
				asFallbacks(both(`Google\Chrome`, Source, "Chromium: launch_context_win.cc, after its own"))...)...),
		windows("ungoogled-chromium", []string{`$LOCALAPPDATA\Chromium`}, "",
			append(both(`Chromium`, Belief, "as Chromium"), asFallbacks(both(`Google\Chrome`, Belief, "as Chromium"))...)...),
		windows("brave", []string{`$LOCALAPPDATA\BraveSoftware\Brave-Browser`}, `BraveSoftware\Brave-Browser`,
			append(both(`Google\Chrome`, Source, "KeePassXC, gopass and firenvim"),
				both(`BraveSoftware\Brave-Browser`, Source, "Bitwarden and tailchrome write it too; unproven")...)...),
		windows("edge", []string{`$LOCALAPPDATA\Microsoft\Edge`, `$LOCALAPPDATA\Microsoft\Edge Beta`, `$LOCALAPPDATA\Microsoft\Edge Dev`, `$LOCALAPPDATA\Microsoft\Edge SxS`}, `Microsoft\Edge`,
			append(both(`Microsoft\Edge`, Source, "Microsoft's documentation; the first hit wins"),
				append(asFallbacks(both(`Chromium`, Source, "Microsoft's documentation, second")),
					asFallbacks(both(`Google\Chrome`, Source, "Microsoft's documentation, third"))...)...)...),
		windows("vivaldi", []string{`$LOCALAPPDATA\Vivaldi`}, "Vivaldi",
			append(both(`Google\Chrome`, Source, "KeePassXC; keepassxc-browser#48"),
				both(`Vivaldi`, Source, "other hosts' installers write it too; unproven")...)...),
		windows("opera", []string{`$APPDATA\Opera Software\Opera Stable`, `$LOCALAPPDATA\Programs\Opera`}, "Opera",
			append(both(`Google\Chrome`, Source, "Opera's documentation"),
				both(`Opera Software\Opera Stable`, Source, "tailchrome writes it too; unproven")...)...),
		windows("arc", []string{`$LOCALAPPDATA\Packages\TheBrowserCompany.Arc_ttt1ap7aakyb4`}, "",
			both(`Google\Chrome`, Source, "firenvim; unproven")...),
		windows("yandex", []string{`$LOCALAPPDATA\Yandex\YandexBrowser`}, `Yandex\YandexBrowser`,
			append(both(`Yandex\YandexBrowser`, Source, "vdhcoapp"), both(`YandexBrowser`, Source, "vdhcoapp")...)...),
		windows("helium", []string{`$LOCALAPPDATA\imput\Helium`}, `imput\Helium`,
			append(both(`Chromium`, Belief, "as Chromium"), asFallbacks(both(`Google\Chrome`, Belief, "as Chromium"))...)...),
		windows("firefox", []string{`$APPDATA\Mozilla\Firefox`}, "Mozilla Firefox",
			both(`Mozilla`, Source, "Firefox: NativeManifests.sys.mjs")...),
		windows("firefox-esr", []string{`$APPDATA\Mozilla\Firefox`}, "Mozilla Firefox ESR",
			both(`Mozilla`, Source, "Firefox: NativeManifests.sys.mjs")...),
		windows("librewolf", []string{`$APPDATA\librewolf`}, "LibreWolf",
			append(both(`Mozilla`, Thread, "librewolf-portable#13; newer KeePassXC"),
				both(`LibreWolf`, Source, "firenvim and passff write it; a removed patch read it")...)...),
		windows("waterfox", []string{`$APPDATA\Waterfox`}, "Waterfox",
			append(both(`Mozilla`, Source, "Waterfox: NativeManifests.sys.mjs"),
				both(`Waterfox`, Source, "firenvim writes it")...)...),
		windows("floorp", []string{`$APPDATA\Floorp`}, "Ablaze Floorp", both(`Mozilla`, Belief, "as Firefox")...),
		windows("zen", []string{`$APPDATA\zen`}, "Zen Browser", both(`Mozilla`, Belief, "as Firefox")...),
		windows("tor", []string{`$HOME\Desktop\Tor Browser`}, "", both(`Mozilla`, Source, "KeePassXC")...),
	}
}

// windows returns a browser with its users' paths and its folder in Program Files.
func windows(browser string, used []string, folder string, looks ...location) installation {
	in := installation{browser: browser, used: used, locations: looks}
	if folder != "" {
		in.installed = []string{`$PROGRAMFILES\` + folder, `$PROGRAMFILES32\` + folder}
	}
	return in
}

// both returns a key's places below HKCU and HKLM.
func both(key string, e Evidence, note string) []location {
	return []location{user(`Software\`+key, e, note), system(`Software\`+key, e, note)}
}

func asFallbacks(looks []location) []location {
	for i := range looks {
		looks[i] = asFallback(looks[i])
	}
	return looks
}
